package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

// What only the server's own schema says of a step with bindings is found before the first call.
func TestDrift(t *testing.T) {
	const doc = `{"mcpServers":{"s":{"command":"x"}},"tools":[
 {"name":"a","inputSchema":{"type":"object"}},
 {"name":"b","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"dependencies":{"bindings":{"k":{"fromTool":"a","outputPath":"v"}}}}]}`
	live := func(input, output string) plan.Options {
		b := tool("b", input)
		if output != "" {
			b.OutputSchema = json.RawMessage(output)
		}
		return plan.Options{Live: plan.Live{"s": {tool("a", `{ "type": "object" }`), b}}}
	}
	const differs = `plan.json:3:14: note: tool "b": the inputSchema of server "s" differs from the document's`
	check(t, []said{
		{"the same in other words of white space", doc, live(`{ "type":"object" }`, ``), ``},
		{"it takes more", doc, live(`{"type":"object","properties":{"k":{}}}`, ``), differs},
		{"it requires more", doc, live(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, ``),
			`plan.json:3:2: b.text is required and nothing provides it (by the server's own inputSchema) (give it with -i 'b.text=…')` + "\n" + differs},
		{"it excludes what is bound", doc, live(`{"type":"object","properties":{"text":{}},"additionalProperties":false}`, ``),
			`plan.json:3:2: step "b": input k: the input schema has no member "k" (by the server's own inputSchema)` + "\n" + differs},
		{"another output", doc, live(`{"type":"object"}`, `{"type":"string"}`), `plan.json:3:46: note: tool "b": the outputSchema of server "s" differs from the document's`},
	})
}

// A server's own dependencies are followed when the configuration trusts it, and only then.
func TestTrustedDependencies(t *testing.T) {
	a, b := tool("a", `{"type":"object"}`), tool("b", `{"type":"object"}`)
	b.Dependencies = &toolflow.Dependencies{HasRequires: true, Requires: []string{"a"}, Bindings: []toolflow.Binding{{Input: "k", FromTool: "a", OutputPath: "v"}}}
	for trust, want := range map[string]int{`"trust":true`: 1, `"trust":false`: 0, `"timeout":1`: 0} {
		p := mustCompile(t, `{"mcpServers":{"s":{"command":"x",`+trust+`}},"steps":[{"tool":"b"},{"tool":"a"}]}`, plan.Options{Live: plan.Live{"s": {a, b}}})
		if got := len(p.Graph.Upstream(0)); got != want || len(p.Steps[0].Reads) != want {
			t.Errorf("%s: %d upstream, %d reads, want %d", trust, got, len(p.Steps[0].Reads), want)
		}
	}
	p := mustCompile(t, `{"mcpServers":{"s":{"command":"x","trust":true}},"steps":[{"tool":"b","dependencies":{}},{"tool":"a"}]}`, plan.Options{Live: plan.Live{"s": {a, b}}})
	if got := len(p.Graph.Upstream(0)); got != 0 {
		t.Errorf("a step's own dependencies win: got %d upstream, want none", got)
	}
	b.Dependencies.Requires = []string{"c"}
	_, got := compile(t, `{"mcpServers":{"s":{"command":"x","trust":true}},"steps":[{"tool":"b"},{"tool":"a"}]}`, plan.Options{Live: plan.Live{"s": {a, b}}})
	same(t, "said", got, `plan.json:1:59: step "b": requires: "c" is no step, and no step calls a tool of that name`+"\n"+
		`plan.json:1:59: warning: step "b": input k comes from "a", which requires leaves out (add "a" to requires)`)
}

func TestOwnInputThatIsNotGiven(t *testing.T) {
	doc := func(schema, binding string) string {
		return `{"inputSchema":{"type":"object","properties":{"topic":` + schema + `}},
 "steps":[{"tool":"a"},{"tool":"b","dependencies":{"bindings":{"k":{"fromInput":"topic"` + binding + `},"x":{"fromTool":"a","outputPath":"v"}}}}]}`
	}
	given := plan.Options{Input: plan.Input{Assignments: []plan.Assignment{{Path: "topic", Text: "tea"}}}}
	check(t, []said{
		{"absent", doc(`{"type":"string"}`, ``), plan.Options{}, `plan.json:2:64: step "b": input k reads the plan's input topic, which is not given (give it with -i 'topic=…')`},
		{"given", doc(`{"type":"string"}`, ``), given, ``},
		{"the schema has a default", doc(`{"type":"string","default":"tea"}`, ``), plan.Options{}, ``},
		{"the binding has a default", doc(`{"type":"string"}`, `,"default":"tea"`), plan.Options{}, ``},
		{"optional", doc(`{"type":"string"}`, `,"optional":true`), plan.Options{}, ``},
		{"misspelt", doc(`{"type":"string"}`, `,"optional":true`), plan.Options{Input: plan.Input{Assignments: []plan.Assignment{{Path: "topik", Text: "tea"}}}},
			`warning: -i topik: the schema declares no "topik" (did you mean "topic"?)`},
		{"a step's argument", doc(`{"type":"string"}`, `,"optional":true`), plan.Options{Input: plan.Input{Assignments: []plan.Assignment{{Path: "b.z", Text: "tea"}}}},
			`warning: -i b.z: the schema declares no "b" (a step's argument is given with --set b.z=…)`},
	})
}

func TestStrictRefusesWarnings(t *testing.T) {
	doc := `{"steps":[{"tool":"a"},{"tool":"b","dependencies":{"requires":["a","a"]}}]}`
	check(t, []said{
		{"a warning", doc, plan.Options{}, `plan.json:1:68: warning: step "b": requires "a" twice (leave one)`},
		{"strict", doc, plan.Options{Strict: true}, `plan.json:1:68: step "b": requires "a" twice (leave one)`},
	})
}

// One broken binding hides nothing else of its step; what it would have filled is not missing.
func TestMissingBesideABrokenBinding(t *testing.T) {
	const tools = `"tools":[{"name":"a","inputSchema":{"type":"object"}},
 {"name":"e","inputSchema":{"type":"object","properties":{"message":{"type":"string"},"n":{"type":"integer"}},"required":["message","n"]}}]`
	check(t, []said{
		{"another is missing", `{` + tools + `,"steps":[{"tool":"a"},
 {"tool":"e","dependencies":{"bindings":{"message":{"fromTool":"a","outputPath":"x[].y"}}}}]}`, plan.Options{},
			`plan.json:3:2: e.n is required and nothing provides it (give it with -i 'e.n=…')` + "\n" +
				`plan.json:3:68: step "e": input message: outputPath "x[].y": this is JMESPath, not JSONPath (write $.x[*].y)`},
		{"misspelt", `{` + tools + `,"steps":[{"tool":"a"},
 {"tool":"e","arguments":{"n":1},"dependencies":{"bindings":{"mesage":{"fromTool":"a","outputPath":"x"}}}}]}`, plan.Options{},
			`plan.json:3:2: warning: step "e": input mesage: the input schema declares no "mesage" (did you mean "message"?)` + "\n" +
				`plan.json:3:2: e.message is required and nothing provides it (give it with -i 'e.message=…')`},
		{"nothing to run", `{"steps":[]}`, plan.Options{}, `the document has no step: there is nothing to run (it needs "tools" or "steps")`},
	})
}

// A broken schema of a server matters as far as it is used.
func TestBrokenLiveSchema(t *testing.T) {
	live := tool("e", `{"type":"objekt"}`)
	live.OutputSchema = json.RawMessage(`{"type":"objekt"}`)
	o := plan.Options{Live: plan.Live{"s": {live}}}
	_, got := compile(t, `{"mcpServers":{"s":{"command":"x"}},"tools":[{"name":"e","inputSchema":{"type":"object"},"outputSchema":{}}]}`, o)
	const wrong = ` of server "s": got "objekt", want one of "array", "boolean", "integer", "null", "number", "object", "string", or array at /type`
	same(t, "said", got, `warning: tool "e": inputSchema`+wrong+"\n"+`note: tool "e": outputSchema`+wrong)
	_, got = compile(t, `{"mcpServers":{"s":{"command":"x"}},"steps":[{"tool":"e"}]}`, o)
	same(t, "said", got, `tool "e": inputSchema`+wrong+"\n"+`tool "e": outputSchema`+wrong)
}
