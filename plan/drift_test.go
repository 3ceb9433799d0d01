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
	b.Dependencies = &toolflow.Dependencies{Requires: []string{"a"}, Bindings: []toolflow.Binding{{Input: "k", FromTool: "a", OutputPath: "v"}}}
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
		{"nothing to run", `{"steps":[]}`, plan.Options{}, `plan.json:1:2: the document has no step: there is nothing to run (it needs "tools" or "steps")`},
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

// What a schema certainly refuses of a step's literals is found, though its bindings wait for others.
func TestLiteralsBesideBindings(t *testing.T) {
	doc := func(schema, arguments, input string) string {
		return `{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":` + schema + `}],
 "steps":[{"tool":"a"},
  {"tool":"b","arguments":` + arguments + `,"dependencies":{"bindings":{"` + input + `":{"fromTool":"a","outputPath":"x"}}}}]}`
	}
	const closed = `{"type":"object","properties":{"k":{"type":"string"},"n":{"type":"integer"},"o":{"type":"object","properties":{"m":{"type":"string"}},"additionalProperties":false},"l":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}`
	check(t, []said{
		{"all fits", doc(closed, `{"n":1,"o":{"m":"x"},"l":["y"]}`, "k"), plan.Options{}, ``},
		{"a member that is excluded", doc(closed, `{"txt":"x"}`, "k"), plan.Options{}, `plan.json:3:28: step "b": argument txt: the schema takes no such member`},
		{"another type", doc(closed, `{"n":"x","l":["y",5],"o":{"m":"x","q":1}}`, "k"), plan.Options{},
			`plan.json:3:28: step "b": argument n: got string, want integer` + "\n" + `plan.json:3:45: step "b": argument l[1]: got number, want string` + "\n" + `plan.json:3:61: step "b": argument o.q: the schema takes no such member`},
		{"checked less strictly", doc(closed, `{"n":"x"}`, "k"), plan.Options{CheckWarn: true}, `plan.json:3:28: warning: step "b": argument n: got string, want integer`},
		{"what a binding replaces", doc(closed, `{"n":"x"}`, "n"), plan.Options{}, `plan.json:3:65: warning: step "b": input n: the binding from "a" replaces the literal value in the document (keep one of the two)`},
		{"what a binding replaces, under an odd name", doc(`{"type":"object","properties":{"a-b":{"type":"integer"},"$x":{"type":"object","additionalProperties":false}}}`, `{"a-b":"x","$x":{"a b":1}}`, "a-b"), plan.Options{},
			`plan.json:3:44: step "b": argument ['$x']['a b']: the schema takes no such member` + "\n" +
				`plan.json:3:82: warning: step "b": input a-b: the binding from "a" replaces the literal value in the document (keep one of the two)`},
		{"what the call replaces", doc(closed, `{"n":"x"}`, "k"), plan.Options{Input: plan.Input{Assignments: []plan.Assignment{{Path: "b.n", Text: "1"}}}}, ``},
		{"what a union decides", doc(`{"type":"object","anyOf":[{"properties":{"n":{"type":"string"}}},{"properties":{"n":{"type":"integer"}}}]}`, `{"n":true}`, "k"), plan.Options{}, ``},
		{"beside a missing one", doc(`{"type":"object","properties":{"n":{"type":"integer"},"z":{}},"required":["z"]}`, `{"n":"x"}`, "k"), plan.Options{},
			`plan.json:3:3: b.z is required and nothing provides it (give it with -i 'b.z=…')` + "\n" + `plan.json:3:28: step "b": argument n: got string, want integer`},
	})
}

// A place that the document's schema names is not read anew by the server's.
func TestDriftKeepsPlaces(t *testing.T) {
	live := tool("b", `{"type":"object","properties":{"a":{"type":"string"}}}`)
	p := mustCompile(t, `{"mcpServers":{"s":{"command":"x"}},"tools":[{"name":"b","inputSchema":{"type":"object","properties":{"a.b":{},"x y":{}}},"dependencies":{"bindings":{"a.b":{"value":1},"x y":{"value":2}}}}]}`,
		plan.Options{Live: plan.Live{"s": {live}}})
	same(t, "arguments", arguments(t, p, "b"), `{"a.b":1,"x y":2}`)
}

// Values given at the call merge into the literals, however they are given (rule P5).
func TestGivenValuesMerge(t *testing.T) {
	const doc = `{"steps":[{"tool":"d","arguments":{"o":{"a":1},"l":[1,2,3]}}]}`
	for _, in := range []plan.Input{
		{Value: json.RawMessage(`{"d":{"o":{"b":2},"l":[9]}}`)},
		{Assignments: []plan.Assignment{{Path: "d.o", Text: `{"b":2}`, JSON: true}, {Path: "d.l", Text: `[9]`, JSON: true}}},
	} {
		p := mustCompile(t, doc, plan.Options{Input: in})
		same(t, "arguments", arguments(t, p, "d"), `{"l":[9,2,3],"o":{"a":1,"b":2}}`)
	}
}
