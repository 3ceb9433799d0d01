package plan_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow/plan"
)

func TestUnknownNames(t *testing.T) {
	check(t, []said{
		{"requires", `{"tools":[
  {"name":"search","inputSchema":{"type":"object"}},
  {"name":"rank","inputSchema":{"type":"object"},"dependencies":{"requires":["serach"]}}]}`, plan.Options{},
			`plan.json:3:78: step "rank": requires: "serach" is no step, and no step calls a tool of that name (did you mean "search"?)`},
		{"fromTool", `{"tools":[
  {"name":"search","inputSchema":{"type":"object"}},
  {"name":"rank","inputSchema":{"type":"object"},
   "dependencies":{"bindings":{
     "q.a/b":{"fromTool":"searc","outputPath":"items"}}}}]}`, plan.Options{},
			`plan.json:5:15: step "rank": input q.a/b: fromTool: "searc" is no step, and no step calls a tool of that name (did you mean "search"?)`},
		{"nothing near", `{"tools":[
  {"name":"rank","inputSchema":{"type":"object"},"dependencies":{"requires":["weather"]}}]}`, plan.Options{},
			`plan.json:2:78: step "rank": requires: "weather" is no step, and no step calls a tool of that name`},
		{"ambiguous", `{"tools":[{"name":"fetch","inputSchema":{"type":"object"}},{"name":"join","inputSchema":{"type":"object"},
  "dependencies":{"requires":["fetch"]}}],
 "steps":[{"id":"a","tool":"fetch"},{"id":"b","tool":"fetch"},
  {"tool":"join"}]}`, plan.Options{},
			`plan.json:2:31: step "join": requires: "fetch" is ambiguous: the steps a, b call that tool (name one by its id, such as "a", in "dependencies" of the step's own)`},
		{"itself", `{"tools":[{"name":"a","inputSchema":{"type":"object"},"dependencies":{"requires":["a"]}}]}`, plan.Options{},
			`plan.json:1:55: tools wait for each other: a -> a (a step cannot wait for itself)`},
		{"own tool", `{"steps":[{"id":"one","tool":"fetch","dependencies":{"requires":["fetch"]}}]}`, plan.Options{},
			`plan.json:1:66: step "one": requires: "fetch" is the tool of this step alone (a step cannot wait for itself)`},
		{"columns count characters", `{"name":"🙂é","steps":[{"id":"é","tool":"t"},{"id":"b","tool":"t","dependencies":{"requires":["weather"]}}]}`, plan.Options{},
			`plan.json:1:23: warning: the name of step "é" has characters outside A-Z a-z 0-9 _ - . (MCP asks for 1 to 128 of A-Z a-z 0-9 _ - .)` + "\n" +
				`plan.json:1:94: step "b": requires: "weather" is no step, and no step calls a tool of that name`},
		{"target", `{"steps":[{"id":"one","tool":"fetch"}]}`, plan.Options{Targets: []string{"on"}},
			`--target: "on" is no step, and no step calls a tool of that name (did you mean "one"?)`},
		{"inputs", `{"steps":[{"id":"one","tool":"fetch"}],
 "inputs":{"onee":{}}}`, plan.Options{},
			`plan.json:2:12: inputs: "onee" is no step, and no step calls a tool of that name (did you mean "one"?)`},
		{"inputs twice", `{"steps":[{"id":"one","tool":"fetch"}],
 "inputs":{"fetch":{"a":1},
  "one":{"b":1}}}`, plan.Options{},
			`plan.json:3:3: inputs: "fetch" and "one" name the same step (leave one)`},
		{"output", `{"steps":[{"id":"one","tool":"fetch"}],
 "output":{"x":{"fromTool":"oen","outputPath":"$"}}}`, plan.Options{},
			`plan.json:2:17: output x: fromTool: "oen" is no step, and no step calls a tool of that name (did you mean "one"?)`},
		{"all at once, in the order of the file", `{"steps":[
  {"id":"one","tool":"fetch","dependencies":{"requires":["tow"]}},
  {"id":"two","tool":"fetch","dependencies":{"requires":["one","one"],"bindings":{"x":{"fromTool":"oen","outputPath":"y"}}}},
  {"id":"two","tool":"fetch"}]}`, plan.Options{Targets: []string{"three"}},
			`--target: "three" is no step, and no step calls a tool of that name` + "\n" +
				`plan.json:2:58: step "one": requires: "tow" is no step, and no step calls a tool of that name (did you mean "two"?)` + "\n" +
				`plan.json:3:64: warning: step "two": requires "one" twice (leave one)` + "\n" +
				`plan.json:3:88: step "two": input x: fromTool: "oen" is no step, and no step calls a tool of that name (did you mean "one"?)` + "\n" +
				`plan.json:4:3: step "two" stands twice (give one of them an "id" of its own)`},
	})
}

func TestCycles(t *testing.T) {
	check(t, []said{
		{"one for each group", `{"steps":[
  {"id":"d","tool":"t","dependencies":{"requires":["c"]}},
  {"id":"c","tool":"t","dependencies":{"bindings":{"x":{"fromTool":"d","outputPath":"$"}}}},
  {"id":"b","tool":"t","dependencies":{"requires":["a","free"]}},
  {"id":"a","tool":"t","dependencies":{"requires":["b"]}},
  {"id":"free","tool":"t"}]}`, plan.Options{},
			`plan.json:3:24: tools wait for each other: c -> d -> c (drop one of these dependencies)` + "\n" +
				`plan.json:5:24: tools wait for each other: a -> b -> a (drop one of these dependencies)`},
		{"the steps are checked all the same", `{"tools":[
  {"name":"a","inputSchema":{"type":"object","required":["q"]},"dependencies":{"requires":["b"]}},
  {"name":"b","inputSchema":{"type":"object"},"dependencies":{"bindings":{"x[*]":{"fromTool":"a","outputPath":"$"}}}}]}`, plan.Options{},
			`plan.json:2:3: a.q is required and nothing provides it (give it with -i 'a.q=…')` + "\n" +
				`plan.json:2:64: tools wait for each other: a -> b -> a (drop one of these dependencies)` + "\n" +
				`plan.json:3:75: step "b": input x[*]: "*" names many places, and an input is one place (write x[0])`},
	})
	if p, _ := compile(t, `{"steps":[{"id":"a","tool":"t","dependencies":{"requires":["a"]}}]}`, plan.Options{}); p != nil {
		t.Errorf("got a plan, want none: there is no graph to show")
	}
}

func TestRequiresLeavesOutASource(t *testing.T) {
	doc := `{"steps":[{"id":"a","tool":"t"},{"id":"b","tool":"t"},
  {"id":"c","tool":"t","dependencies":{"requires":["b"],"bindings":{
    "x":{"fromTool":"a","outputPath":"x"},
    "y":{"fromTool":"a","outputPath":"y"}}}}]}`
	check(t, []said{
		{"warning", doc, plan.Options{},
			`plan.json:3:10: warning: step "c": input x comes from "a", which requires leaves out (add "a" to requires)`},
		{"strict", doc, plan.Options{Strict: true},
			`plan.json:3:10: step "c": input x comes from "a", which requires leaves out (add "a" to requires)`},
	})
	p, _ := compile(t, doc, plan.Options{})
	same(t, "upstream of c", ids(p, p.Graph.Upstream(2)), "a b")
}

func TestStepDependenciesReplaceTheTools(t *testing.T) {
	p := mustCompile(t, `{"tools":[{"name":"t","inputSchema":{"type":"object"},"dependencies":{"requires":["a"]}}],
 "steps":[{"id":"a","tool":"t","dependencies":{}},{"id":"b","tool":"t"},{"id":"c","tool":"t","dependencies":{"requires":["b"]}}]}`, plan.Options{})
	same(t, "upstream of b", ids(p, p.Graph.Upstream(1)), "a")
	same(t, "upstream of c", ids(p, p.Graph.Upstream(2)), "b")
}

func TestTargets(t *testing.T) {
	doc := `{"mcpServers":{"s":{"command":"s"}},"tools":[
  {"name":"t","inputSchema":{"type":"object","properties":{"q":{}},"required":["q"]}}],
 "steps":[
  {"id":"out","tool":"t","dependencies":{"requires":["a"]}},
  {"id":"a","tool":"t"},
  {"id":"b","tool":"t","dependencies":{"requires":["a"]}},
  {"id":"bad","tool":"t","server":"nowhere","dependencies":{"bindings":{"q..z":{"fromTool":"a","outputPath":"x"}}}}]}`
	check(t, []said{{"document errors everywhere, missing inputs inside", doc, plan.Options{Targets: []string{"b"}},
		`plan.json:5:3: a.q is required and nothing provides it (give it with -i 'a.q=…')` + "\n" +
			`plan.json:6:3: b.q is required and nothing provides it (give it with -i 'b.q=…')` + "\n" +
			`plan.json:7:73: step "bad": input q..z: ".." names many places, and an input is one place`}})
	p, _ := compile(t, doc, plan.Options{Targets: []string{"b"}})
	same(t, "steps", steps(p), "a b")
	same(t, "targets", ids(p, p.Targets), "b")
	same(t, "upstream of b", ids(p, p.Graph.Upstream(1)), "a")

	sinks := mustCompile(t, `{"steps":[{"id":"a","tool":"t"},{"id":"b","tool":"t","dependencies":{"requires":["a"]}},{"id":"c","tool":"t"}]}`, plan.Options{})
	same(t, "without --target the sinks", ids(sinks, sinks.Targets), "b c")
}

func TestAListOfTools(t *testing.T) {
	doc := `{"tools":[{"name":"a","inputSchema":{"type":"object"}},
 {"name":"b","inputSchema":{"type":"object"}}]}`
	check(t, []said{{"neither target nor all", doc, plan.Options{},
		`plan.json:1:2: the document lists 2 tools and says nothing about how they depend on each other (choose with --target TOOL, or run every tool with --all)`}})
	same(t, "--target", steps(mustCompile(t, doc, plan.Options{Targets: []string{"b"}})), "b")
	same(t, "--all", steps(mustCompile(t, doc, plan.Options{All: true})), "a b")
	same(t, "one tool", steps(mustCompile(t, `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`, plan.Options{})), "a")
	same(t, "dependencies, even empty", steps(mustCompile(t, `{"tools":[{"name":"a","inputSchema":{"type":"object"},"dependencies":{}},{"name":"b","inputSchema":{"type":"object"}}]}`, plan.Options{})), "a b")
}

func TestALongChain(t *testing.T) {
	const n = 100_000
	p := mustCompile(t, chain(n), plan.Options{})
	if got := len(p.Graph.Stages()); got != n {
		t.Errorf("got %d stages, want %d", got, n)
	}
}

// TestManyProblems compiles documents in which every step is wrong: what it costs must not grow with
// the square of their number.
func TestManyProblems(t *testing.T) {
	const n = 20_000
	for _, c := range []struct{ name, requires string }{
		{"unknown", "stpe%d_"}, {"ambiguous", "t"}, {"waiting for themselves", "step%d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			for i := range n {
				requires := strings.ReplaceAll(c.requires, "%d", strconv.Itoa(i))
				fmt.Fprintf(&b, `,{"id":"step%d","tool":"t","dependencies":{"requires":[%q]}}`, i, requires)
			}
			began := time.Now()
			_, diags := plan.Compile(read(t, `{"steps":[`+b.String()[1:]+`]}`), plan.Options{})
			if len(diags) != n {
				t.Errorf("got %d diagnostics, want %d", len(diags), n)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %s, want well under 10s", took)
			}
		})
	}
}
