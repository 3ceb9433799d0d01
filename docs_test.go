package toolflow_test

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

// The documentation is held against the code where that is cheap.

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// parsed gives the files of a package, tests aside.
func parsed(t *testing.T, dir string) (*token.FileSet, []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset, files := token.NewFileSet(), []*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return fset, files
}

type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("nothing is imported") }

// constants gives the constants of a package that need no other package, with their types' names.
func constants(t *testing.T, dir string) map[string]*types.Const {
	t.Helper()
	fset, files := parsed(t, dir)
	conf := types.Config{Error: func(error) {}, Importer: nothing{}} // what is imported is unknown, and not looked at
	pkg, _ := conf.Check(dir, fset, files, nil)
	out := map[string]*types.Const{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			out[name] = c
		}
	}
	return out
}

// A fenced block of a document: the words after the fence, its text, and the line where it begins.
type fenced struct {
	info, text string
	line       int
}

func blocks(text string) (out []fenced) {
	var open *fenced
	for i, line := range strings.Split(text, "\n") {
		switch info, fence := strings.CutPrefix(line, "```"); {
		case fence && open == nil:
			open = &fenced{info: info, line: i + 2}
		case fence:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return out
}

// Every JSON block of the spec is JSON, or the inside of an object. Those that are documents can be read
// and compiled, unless their fence says `json invalid`; what toolflow prints has a fence `json output`.
func TestSpecExamplesAreJSON(t *testing.T) {
	documents := 0
	for _, b := range blocks(read(t, "docs/spec.md")) {
		switch b.info {
		case "json", "json invalid":
			if isDocument(t, b) {
				documents++
				checkDocument(t, b)
			}
		case "json output":
			for _, value := range values(b.text) {
				if _, err := toolflow.DecodeValue([]byte(value)); err != nil {
					t.Errorf("docs/spec.md:%d: not JSON: %v", b.line, err)
				}
			}
		case "":
		default:
			t.Errorf("docs/spec.md:%d: the fence says %q; write json, json invalid, json output or nothing", b.line, b.info)
		}
	}
	if documents < 2 {
		t.Errorf("got %d documents in docs/spec.md, want the ones of \"The document\" and P7 at least", documents)
	}
}

// values splits JSON lines; a text of one value stays whole.
func values(text string) []string {
	if _, err := toolflow.DecodeValue([]byte(text)); err == nil {
		return []string{text}
	}
	return strings.Split(strings.TrimSpace(text), "\n")
}

func isDocument(t *testing.T, b fenced) bool {
	v, err := toolflow.DecodeValue([]byte(b.text))
	if err != nil {
		v, err = toolflow.DecodeValue([]byte("{" + b.text + "}"))
	}
	if err != nil {
		t.Errorf("docs/spec.md:%d: neither JSON nor the inside of an object: %v", b.line, err)
	}
	object, _ := v.(map[string]any)
	return object["tools"] != nil || object["steps"] != nil
}

func checkDocument(t *testing.T, b fenced) {
	doc, diags := toolflow.ParseDocument([]byte(b.text), "example.json")
	if doc != nil && !toolflow.HasErrors(diags) {
		var in plan.Input
		if doc.InputSchema != nil {
			in.Value = []byte(`{"topic": "x"}`) // what the examples ask for
		}
		_, more := plan.Compile(doc, plan.Options{Input: in})
		diags = append(diags, more...)
	}
	invalid := b.info == "json invalid"
	if got := toolflow.HasErrors(diags); got != invalid {
		t.Errorf("docs/spec.md:%d: the document has errors: %v, want %v: %v", b.line, got, invalid, diags)
	}
}

// What programs meet in JSON stands in the spec by name.
func TestSpecNamesEveryWord(t *testing.T) {
	spec := read(t, "docs/spec.md")
	n := 0
	for _, dir := range []string{".", "binding"} {
		for name, c := range constants(t, dir) {
			if c.Val().Kind() != constant.String || !regexp.MustCompile(`^(Code|Status|Run|Mapping|Event|Severity)[A-Z]`).MatchString(name) {
				continue
			}
			word := constant.StringVal(c.Val())
			if word == string(toolflow.StatusPending) || word == string(toolflow.StatusRunning) {
				continue // no step ends so
			}
			if n++; !strings.Contains(spec, "`"+word+"`") {
				t.Errorf("docs/spec.md does not have `%s` (%s)", word, name)
			}
		}
	}
	if n < 50 {
		t.Errorf("got %d words, want 50 at least", n)
	}
}

// codeAt says which argument of the functions that make diagnostics is the code.
var codeAt = map[string]int{"fail": 0, "failTool": 0, "blame": 2, "say": 1, "sayAt": 2, "yamlFault": 1}

// Every code of a diagnostic stands in the spec's table, and no other does.
func TestSpecListsTheCodesOfDiagnostics(t *testing.T) {
	used := map[string]bool{}
	for name, c := range constants(t, "binding") {
		if strings.HasPrefix(name, "Code") {
			used[constant.StringVal(c.Val())] = true
		}
	}
	for _, dir := range []string{".", "plan", "runner", "cmd/toolflow"} {
		_, files := parsed(t, dir)
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if code := codeIn(n); code != "" {
					used[code] = true
				}
				return true
			})
		}
	}
	listed := map[string]bool{}
	table := section(t, read(t, "docs/spec.md"), "| code | about |", "\n\n")
	for _, row := range strings.Split(table, "\n") {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				listed[m[1]] = true
			}
		}
	}
	for code := range used {
		if !listed[code] {
			t.Errorf("docs/spec.md: the code `%s` is not in the table of diagnostics", code)
		}
	}
	for code := range listed {
		if !used[code] {
			t.Errorf("docs/spec.md: the table of diagnostics has `%s`, which no diagnostic has", code)
		}
	}
}

// codeIn gives the code of a diagnostic that is made at n, or "".
func codeIn(n ast.Node) string {
	var at ast.Expr
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
			at = n.Value
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "Code" && i < len(n.Rhs) {
				at = n.Rhs[i]
			}
		}
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.SelectorExpr:
			name = f.Sel.Name
		case *ast.Ident:
			name = f.Name
		}
		if i, ok := codeAt[name]; ok && i < len(n.Args) {
			at = n.Args[i]
		}
	}
	if lit, ok := at.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		code, _ := strconv.Unquote(lit.Value)
		if regexp.MustCompile(`^[a-z_]+$`).MatchString(code) {
			return code
		}
	}
	return ""
}

// section gives the text from a start to the next end.
func section(t *testing.T, text, start, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, start)
	if !ok {
		t.Fatalf("no %q", start)
	}
	part, _, _ := strings.Cut(rest, end)
	return part
}

// The table of exit codes is the same in the README and the spec, and has the codes of cmd/toolflow in
// their order.
func TestExitCodes(t *testing.T) {
	const head = "| code | meaning |\n|---|---|\n"
	readme := section(t, read(t, "README.md"), "## Exit codes\n\n"+head, "\n\n")
	spec := read(t, "docs/spec.md")
	if got := section(t, spec, "## Exit codes\n\n"+head, "\n\n"); got != readme {
		t.Errorf("the tables of exit codes differ.\nREADME.md:\n%s\ndocs/spec.md:\n%s", readme, got)
	}
	var documented, real []int
	for _, m := range regexp.MustCompile(`(?m)^\| ([0-9, ]+) \|`).FindAllStringSubmatch(readme, -1) {
		documented = append(documented, numbers(t, m[1])...)
	}
	byName := map[string]int{}
	for name, c := range constants(t, "cmd/toolflow") {
		if strings.HasPrefix(name, "exit") {
			n, _ := constant.Int64Val(c.Val())
			byName[name], real = int(n), append(real, int(n))
		}
	}
	slices.Sort(real)
	if !slices.Equal(documented, real) {
		t.Errorf("documented exit codes: got %v, want %v", documented, real)
	}
	said := numbers(t, section(t, spec, "When several hold in a run, the first of ", " counts."))
	if order := precedence(t, byName); !slices.Equal(said, order) {
		t.Errorf("documented precedence: got %v, want %v", said, order)
	}
}

func numbers(t *testing.T, list string) (out []int) {
	t.Helper()
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// precedence reads the variable of that name in cmd/toolflow.
func precedence(t *testing.T, codes map[string]int) (out []int) {
	t.Helper()
	_, files := parsed(t, "cmd/toolflow")
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || v.Names[0].Name != "precedence" {
				return true
			}
			for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
				out = append(out, codes[e.(*ast.Ident).Name])
			}
			return false
		})
	}
	return out
}

// The limits that the spec names are those of the code.
func TestLimits(t *testing.T) {
	table := section(t, read(t, "docs/spec.md"), "| what | limit |", "\n\n")
	for _, l := range []struct {
		dir, constant string
		value         int64
		row, text     string
	}{
		{".", "MaxDocumentBytes", 256 << 20, "document", "256 MiB"},
		{".", "MaxDocumentDepth", 512, "document", "512 levels"},
		{".", "MaxExponent", 400, "number", "±400"},
		{".", "MaxDepth", 1000, "result", "1,000 levels"},
		{"binding", "maxText", 1 << 10, "path, location", "1 KiB"},
		{"binding", "maxIndex", 9999, "path, location", "9,999"},
		{"binding", "defaultBudget", 1_000_000, "one evaluation of a path", "1,000,000 values"},
		{"schema", "maxProblems", 20, "validation", "20 problems"},
		{"schema", "maxPatternBytes", 16 << 10, "pattern", "16 KiB"},
		{"schema", "maxPatternsBytes", 128 << 10, "pattern", "128 KiB"},
		{"schema", "maxProgram", 10_000, "pattern", "10,000 instructions"},
		{"schema", "maxPrograms", 100_000, "pattern", "100,000 instructions"},
		{"schema", "maxDigits", 10_000, "number", "10,000 digits"},
		{"mcpclient", "maxSkippedLines", 1000, "what a server may write", "1,000 lines"},
		{"mcpclient", "maxSkippedBytes", 1 << 20, "what a server may write", "1 MiB"},
		{"mcpclient", "stderrKept", 64 << 10, "what a server may write", "64 KiB"},
		{"mcpclient", "maxUnread", 4096, "what a server may ask", "4,096 requests"},
	} {
		c := constants(t, l.dir)[l.constant]
		if c == nil {
			t.Errorf("%s has no constant %s", l.dir, l.constant)
			continue
		}
		if got, _ := constant.Int64Val(c.Val()); got != l.value {
			t.Errorf("%s.%s: got %d, want %d: change docs/spec.md too", l.dir, l.constant, got, l.value)
		}
		if row := section(t, table, "\n| "+l.row, "\n"); !strings.Contains(row, l.text) {
			t.Errorf("docs/spec.md: the limit of %q does not say %q: %s", l.row, l.text, row)
		}
	}
}

// A rule that the code names stands in the spec.
func TestRulesExist(t *testing.T) {
	spec := read(t, "docs/spec.md")
	rule := regexp.MustCompile(`\brules? ((?:[DEPRX]\d\b(?:, | and | to )?)+)`)
	n := 0
	for dir := range arrows {
		for name, text := range sources(t, filepath.Join(".", dir)) {
			for _, m := range rule.FindAllStringSubmatch(text, -1) {
				for _, id := range regexp.MustCompile(`[DEPRX]\d`).FindAllString(m[1], -1) {
					if n++; !strings.Contains(spec, `<a id="`+strings.ToLower(id)+`"></a>`) {
						t.Errorf("%s names rule %s, which docs/spec.md does not have", name, id)
					}
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("got %d rules named in the code, want 20 at least", n)
	}
}

// sources gives the text of a package's files by name.
func sources(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range names {
		files[name] = read(t, name)
	}
	return files
}

// Links lead somewhere, and the pages keep their length.
func TestPages(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/spec.md"} {
		text := read(t, page)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			there := text
			if file != "" {
				there = read(t, filepath.Join(filepath.Dir(page), file))
			}
			if anchor != "" && !strings.Contains(there, `<a id="`+anchor+`"></a>`) {
				t.Errorf("%s: %s leads nowhere", page, m[1])
			}
		}
	}
	if n := strings.Count(read(t, "README.md"), "\n"); n < 100 || n > 180 {
		t.Errorf("README.md has %d lines, want 100 to 180", n)
	}
	if n := strings.Count(read(t, "ARCHITECTURE.md"), "\n"); n >= 120 {
		t.Errorf("ARCHITECTURE.md has %d lines, want less than 120", n)
	}
}
