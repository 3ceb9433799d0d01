package toolflow_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/toolflow-go/toolflow"

// arrows is what each room may import from this module, tests aside. ARCHITECTURE.md draws it.
var arrows = map[string][]string{
	"":             {},
	"schema":       {""},
	"dag":          {""},
	"binding":      {"", "schema"},
	"plan":         {"", "schema", "dag", "binding"},
	"runner":       {"", "schema", "dag", "binding", "plan"},
	"mcpclient":    {"", "schema"},
	"render":       {"", "dag", "plan"},
	"cmd/toolflow": {"", "schema", "dag", "binding", "plan", "runner", "mcpclient", "render"},

	"examples/perplexity":        {},
	"examples/perplexity/server": {},
	"interop":                    {},
	"internal/stubserver":        {},
}

// owners say which room alone may import a library: its types stop there.
var owners = map[string][]string{
	"github.com/modelcontextprotocol/go-sdk": {"mcpclient", "examples/perplexity/server"},
	"github.com/santhosh-tekuri/jsonschema":  {"schema"},
	"github.com/dominikbraun/graph":          {"dag"},
	"github.com/theory/jsonpath":             {"binding"},
	"github.com/spf13/cobra":                 {"cmd/toolflow"},
	"go.yaml.in/yaml":                        {""},
	"github.com/ohler55/ojg/jp":              {"binding"},
	"github.com/ohler55/ojg/oj":              {"cmd/toolflow"},
}

// heavy is what an embedder of the core must not have to link.
var heavy = []string{"modernc.org/sqlite", "go.temporal.io", "go.opentelemetry.io", "github.com/tetratelabs/wazero", "github.com/modelcontextprotocol", "github.com/spf13/cobra", "net/http"}

type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) map[string]listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string]listed{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[room(p.ImportPath)] = p
	}
}

func room(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

func TestArrowsPointDown(t *testing.T) {
	all := packages(t)
	for name, p := range all {
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %q is not in the house: add it to arrows, and to ARCHITECTURE.md", name)
		}
		for _, path := range p.Imports {
			if path != module && !strings.HasPrefix(path, module+"/") {
				continue
			}
			if to := room(path); !slices.Contains(allowed, to) {
				t.Errorf("an arrow points up: %s imports %q", name, to)
			}
		}
	}
	for name := range arrows {
		if _, ok := all[name]; !ok {
			t.Errorf("arrows names %q, which is no package", name)
		}
	}
}

func TestLibrariesStayInTheirRooms(t *testing.T) {
	for name, p := range packages(t) {
		for _, path := range p.Imports {
			for library, rooms := range owners {
				if strings.HasPrefix(path, library) && !slices.Contains(rooms, name) {
					t.Errorf("%q imports %s, which belongs to %q", name, path, rooms)
				}
			}
		}
	}
}

func TestCoreIsLight(t *testing.T) {
	all := packages(t)
	for _, name := range []string{"", "schema", "dag", "binding", "plan", "runner"} {
		for _, dep := range all[name].Deps {
			for _, h := range heavy {
				if dep == h || strings.HasPrefix(dep, h+"/") {
					t.Errorf("%q links %s", name, dep)
				}
			}
		}
	}
	for _, name := range []string{"", "schema", "dag", "binding", "plan"} { // the pure rooms
		if slices.Contains(all[name].Imports, "context") {
			t.Errorf("%q imports context: it is a pure room", name)
		}
	}
}
