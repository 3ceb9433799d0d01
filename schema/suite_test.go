package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
)

// suiteDir finds the JSON-Schema-Test-Suite beside the module.
func suiteDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "suites", "jsonschema")
	if _, err := os.Stat(filepath.Join(dir, "tests")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the suite is mandatory in CI: %v", err)
		}
		t.Skipf("no JSON-Schema-Test-Suite in ../shared/suites/jsonschema")
	}
	return dir
}

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// suiteLoader answers what the suite's schemas refer to: its remotes and the metaschemas, which
// the library has built in.
func suiteLoader(dir string) func(string) (any, error) {
	return func(url string) (any, error) {
		name, ok := strings.CutPrefix(url, "http://localhost:1234/")
		if !ok {
			return nil, fmt.Errorf("the suite has no %s", url)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "remotes", filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		return toolflow.DecodeValue(raw)
	}
}

// TestSuite runs every required test of the suite's three dialects.
func TestSuite(t *testing.T) {
	dir := suiteDir(t)
	for _, c := range []struct {
		folder  string
		dialect *dialect
		want    int
	}{
		{"draft2020-12", draft2020, 1299},
		{"draft2019-09", draft2019, 1259},
		{"draft7", draft07, 927},
	} {
		t.Run(c.folder, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, "tests", c.folder, "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			passed, total := 0, 0
			for _, file := range files {
				p, n := runSuiteFile(t, file, settings{Options: Options{}.withDefaults(), dialect: c.dialect, load: suiteLoader(dir)})
				passed, total = passed+p, total+n
			}
			t.Logf("%s: %d of %d required tests pass", c.folder, passed, total)
			if passed != c.want || total != c.want {
				t.Errorf("passed %d of %d, want %d of %d", passed, total, c.want, c.want)
			}
		})
	}
}

func readSuiteFile(t *testing.T, file string) (groups []suiteGroup) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return groups
}

func runSuiteFile(t *testing.T, file string, set settings) (passed, total int) {
	t.Helper()
	for _, g := range readSuiteFile(t, file) {
		name := filepath.Base(file) + ": " + g.Description
		total += len(g.Tests)
		s, err := compile(g.Schema, set)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		passed += runSuiteGroup(t, name, g, s)
	}
	return passed, total
}

func runSuiteGroup(t *testing.T, name string, g suiteGroup, s *Schema) (passed int) {
	t.Helper()
	for _, test := range g.Tests {
		data, err := toolflow.DecodeValue(test.Data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = s.Validate(data)
		var invalid *Invalid
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("%s: %s: %v", name, test.Description, err)
		} else if got := err == nil; got != test.Valid {
			t.Errorf("%s: %s: got valid %v, want %v (%v)", name, test.Description, got, test.Valid, err)
		} else {
			passed++
		}
	}
	return passed
}

// TestSuiteWithoutLoading runs the same tests with nothing to load from, as people's schemas are
// compiled: what compiles must give the suite's answers, what does not must lead outside.
func TestSuiteWithoutLoading(t *testing.T) {
	dir := suiteDir(t)
	for folder, d := range map[string]*dialect{"draft2020-12": draft2020, "draft2019-09": draft2019, "draft7": draft07} {
		files, err := filepath.Glob(filepath.Join(dir, "tests", folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		set := settings{Options: Options{}.withDefaults(), dialect: d}
		compiled, refused := 0, 0
		for _, file := range files {
			for _, g := range readSuiteFile(t, file) {
				s, err := compile(g.Schema, set)
				var e *Error
				if errors.As(err, &e) && (errors.Is(err, errOutside) || e.Kind == KindDialect) {
					refused++
					continue
				}
				compiled++
				if err != nil {
					t.Errorf("%s/%s: %s: %v", folder, filepath.Base(file), g.Description, err)
					continue
				}
				runSuiteGroup(t, filepath.Base(file)+": "+g.Description, g, s)
			}
		}
		t.Logf("%s: %d groups compile, %d lead outside", folder, compiled, refused)
		if compiled < 10*refused {
			t.Errorf("%s: only %d groups compile, %d are refused", folder, compiled, refused)
		}
	}
}

// TestSuitePatterns runs the suite's optional tests about ECMA-262 patterns.
func TestSuitePatterns(t *testing.T) {
	dir := suiteDir(t)
	for folder, d := range map[string]*dialect{"draft2020-12": draft2020, "draft2019-09": draft2019, "draft7": draft07} {
		file := filepath.Join(dir, "tests", folder, "optional", "ecmascript-regex.json")
		passed, total := runSuiteFile(t, file, settings{Options: Options{}.withDefaults(), dialect: d})
		t.Logf("%s: %d of %d tests of patterns pass", folder, passed, total)
		if total != 74 {
			t.Errorf("%s: ran %d tests, want 74", folder, total)
		}
	}
}
