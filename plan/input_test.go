package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/toolflow-go/toolflow/plan"
)

// given is what a caller gives; an empty value is none.
func given(value string, assignments ...plan.Assignment) plan.Input {
	in := plan.Input{Assignments: assignments}
	if value != "" {
		in.Value = json.RawMessage(value)
	}
	return in
}

const ask = `{"tools":[{"name":"ask","inputSchema":{"type":"object","properties":{
    "messages":{"type":"array","items":{"type":"object","properties":{"role":{"type":"string","enum":["system","user"]},"content":{"type":"string"}},"required":["role","content"]}},
    "limit":{"type":"integer"},"exact":{"type":"boolean"},"note":{"type":["string","null"]}},"required":["messages"]}}]`

// TestArguments shows where a step's arguments come from, and which wins (rule P5).
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		in        plan.Input
		want      string
	}{
		{"inputs of the document, by step", ask + `,"inputs":{"ask":{"messages":[{"role":"user","content":"hi"}]}}}`, plan.Input{},
			`{"messages":[{"content":"hi","role":"user"}]}`},
		{"a step's arguments over inputs", ask + `,"inputs":{"a":{"limit":1,"messages":[{"role":"user","content":"hi"}]}},"steps":[{"id":"a","tool":"ask","arguments":{"messages":[{"content":"ho"}]}}]}`, plan.Input{},
			`{"limit":1,"messages":[{"content":"ho","role":"user"}]}`},
		{"inputs by tool", ask + `,"inputs":{"ask":{"messages":[]}},"steps":[{"id":"a","tool":"ask"}]}`, plan.Input{}, `{"messages":[]}`},
		{"--inputs over the document", ask + `,"inputs":{"ask":{"limit":1,"messages":[{"role":"user","content":"hi"}]}}}`, given(`{"ask":{"limit":2}}`),
			`{"limit":2,"messages":[{"content":"hi","role":"user"}]}`},
		{"-i over --inputs", ask + `}`, given(`{"ask":{"limit":2,"messages":[]}}`, plan.Assignment{Path: "ask.limit", Text: "3"}),
			`{"limit":3,"messages":[]}`},
		{"-i into an array", ask + `}`, given("", plan.Assignment{Path: "ask.messages[0].role", Text: "user"}, plan.Assignment{Path: "ask.messages[0].content", Text: "5"}),
			`{"messages":[{"content":"5","role":"user"}]}`},
		{"--set means the same without an inputSchema", ask + `}`, given("", plan.Assignment{Path: "ask.messages", Text: "[]", Step: true}), `{"messages":[]}`},
		{"a quoted step", ask + `,"steps":[{"id":"a.b","tool":"ask"}]}`, given("", plan.Assignment{Path: "['a.b'].messages", Text: "[]"}), `{"messages":[]}`},
		{"digits survive", ask + `}`, given(`{"ask":{"limit":123456789012345678901234567890,"messages":[]}}`), `{"limit":123456789012345678901234567890,"messages":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, diags := compile(t, c.doc, plan.Options{Input: c.in})
			if got := arguments(t, p, p.Steps[0].ID); got != c.want || len(p.Steps[0].Missing) > 0 {
				t.Errorf("got  %s\nwant %s\n%s", got, c.want, diags)
			}
		})
	}
}

// TestCoercion shows how the text of -i NAME=VALUE becomes a value.
func TestCoercion(t *testing.T) {
	const schema = `"inputSchema":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"},"x":{"type":"number"},"yes":{"type":"boolean"},"list":{"type":"array"},
 "either":{"type":["integer","string"]},"choice":{"enum":["5",6]},"number":{"enum":[5,6]},"const":{"const":5},"any":{}}}`
	doc := `{` + schema + `,"steps":[{"tool":"t"}]}`
	for _, c := range []struct{ path, text, want string }{
		{"text", "5", `{"text":"5"}`},
		{"text", "", `{"text":""}`},
		{"n", "5", `{"n":5}`},
		{"n", "9007199254740993", `{"n":9007199254740993}`},
		{"x", "0.10", `{"x":0.10}`},
		{"x", "1e2", `{"x":1e2}`},
		{"yes", "true", `{"yes":true}`},
		{"list", `["a"]`, `{"list":["a"]}`},
		{"either", "5", `{"either":"5"}`},
		{"choice", "5", `{"choice":"5"}`},
		{"number", "5", `{"number":5}`},
		{"any", "5", `{"any":"5"}`},
		{"any.unknown", "true", `{"any":{"unknown":"true"}}`},
	} {
		t.Run(c.path+"="+c.text, func(t *testing.T) {
			p := mustCompile(t, doc, plan.Options{Input: given("", plan.Assignment{Path: c.path, Text: c.text})})
			raw, err := json.Marshal(p.Input)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "input", string(raw), c.want)
		})
	}
	p := mustCompile(t, doc, plan.Options{Input: given("", plan.Assignment{Path: "any", Text: "5", JSON: true})})
	same(t, ":=", p.Input, any(map[string]any{"any": json.Number("5")}))
}

func TestTheLongestStepIDWins(t *testing.T) {
	doc := `{"steps":[{"id":"a","tool":"t"},{"id":"a.b","tool":"t"},{"id":"c","tool":"t"}]}`
	p := mustCompile(t, doc, plan.Options{Input: given("", plan.Assignment{Path: "a.b.x", Text: "1"}, plan.Assignment{Path: "a.c", Text: "2"}, plan.Assignment{Path: "c['x y'].z", Text: "3"})})
	same(t, "a", arguments(t, p, "a"), `{"c":"2"}`)
	same(t, "a.b", arguments(t, p, "a.b"), `{"x":"1"}`)
	same(t, "c", arguments(t, p, "c"), `{"x y":{"z":"3"}}`)
}

func TestInputMessages(t *testing.T) {
	plain := `{"steps":[{"id":"ask","tool":"t"}]}`
	own := `{"inputSchema":{"type":"object","properties":{"city":{"type":"string","enum":["Bonn","Ulm"]},"days":{"type":"integer","default":3}},"required":["city","days"]},
 "steps":[{"id":"ask","tool":"t","dependencies":{"bindings":{"place":{"fromInput":"city"}}}}]}`
	check(t, []said{
		{"missing", ask + `}`, plan.Options{},
			`plan.json:1:11: ask.messages is required and nothing provides it (give it with -i 'ask.messages[0].content=…' -i 'ask.messages[0].role=…')`},
		{"missing inside", ask + `}`, plan.Options{Input: given(`{"ask":{"messages":[{"content":"x"}]}}`)},
			`plan.json:1:11: ask.messages[0].role is required and nothing provides it (give it with -i 'ask.messages[0].role=…'; allowed: system, user)`},
		{"missing in an odd step", ask + `,
 "steps":[{"id":"odd.id","tool":"ask"}]}`, plan.Options{},
			`plan.json:4:11: odd.id.messages is required and nothing provides it (give it with -i "['odd.id'].messages[0].content=…" -i "['odd.id'].messages[0].role=…")`},
		{"no such step", plain, plan.Options{Input: given("", plan.Assignment{Path: "aks.x", Text: "1"})},
			`-i aks.x starts with no step of the plan (did you mean "ask"?)`},
		{"only a step", plain, plan.Options{Input: given("", plan.Assignment{Path: "ask", Text: "1"})},
			`-i ask names a step, not one of its arguments (name the argument: -i ask.ARGUMENT=VALUE)`},
		{"no step, only a name", plain, plan.Options{Input: given("", plan.Assignment{Path: "x", Text: "1", Step: true})},
			`--set x starts with no step of the plan (write STEP.PATH=VALUE)`},
		{"several places", plain, plan.Options{Input: given("", plan.Assignment{Path: "ask.x[*]", Text: "1"})},
			`-i ask.x[*]: location "x[*]": "*" names many places, and an input is one place (write x[0])`},
		{"no integer", ask + `}`, plan.Options{Input: given(`{"ask":{"messages":[]}}`, plan.Assignment{Path: "ask.limit", Text: "five"})},
			`-i ask.limit: "five" is no integer`},
		{"no JSON", plain, plan.Options{Input: given("", plan.Assignment{Path: "ask.x", Text: "{", JSON: true})},
			`-i ask.x: not JSON: the text ends in the middle of a JSON value`},
		{"no object", plain, plan.Options{Input: given(`[1]`)},
			`the input must be an object, not array`},
		{"not JSON at all", plain, plan.Options{Input: given(`{"ask":}`)},
			`the input is not JSON: missing value after object name at /ask`},
		{"no arguments", plain, plan.Options{Input: given(`{"ask":5}`)},
			`the input of "ask" must be an object of arguments, not number`},
		{"unknown step", plain, plan.Options{Input: given(`{"aks":{}}`)},
			`the input: "aks" is no step, and no step calls a tool of that name (did you mean "ask"?)`},
		{"a step twice", plain, plan.Options{Input: given(`{"ask":{},"t":{}}`)},
			`the input: it names step "ask" twice (leave one, such as "t")`},
		{"the plan's own, missing", own, plan.Options{},
			`note: the plan's input days: filled with its default 3` + "\n" +
				`plan.json:1:2: the plan's input city is required and nothing provides it (give it with -i 'city=…'; allowed: Bonn, Ulm)`},
		{"the plan's own, not allowed", own, plan.Options{Input: given(`{"city":"Rom"}`)},
			`note: the plan's input days: filled with its default 3` + "\n" +
				`plan.json:1:2: the plan's input city: got "Rom", want one of "Bonn", "Ulm"`},
		{"the plan's own, wrong type", own, plan.Options{Input: given(`{"city":"Ulm","days":"three"}`)},
			`plan.json:1:2: the plan's input days: got string, want integer`},
		{"a value that cannot be placed", ask + `,"inputs":{"ask":{"messages":"x"}}}`, plan.Options{Input: given("", plan.Assignment{Path: "ask.messages[0].role", Text: "user"})},
			`plan.json:1:11: step "ask": input messages[0].role: the value given at the call does not fit: messages is a string, not an array`},
		{"fromInput without an inputSchema", `{"steps":[
  {"tool":"t","dependencies":{"bindings":{"x":{"fromInput":"city"}}}}],
 "output":{"y":{"fromInput":"city"}}}`, plan.Options{},
			`plan.json:2:48: step "t": input x: fromInput reads the plan's own input, which it does not describe (give the plan an "inputSchema")` + "\n" +
				`plan.json:3:17: output y: fromInput reads the plan's own input, which it does not describe (give the plan an "inputSchema")`},
		{"fromInput of what it does not have", `{"inputSchema":{"type":"object","properties":{"city":{}},"additionalProperties":false},"steps":[
  {"tool":"t","dependencies":{"bindings":{"x":{"fromInput":"ctiy"}}}}]}`, plan.Options{},
			`plan.json:2:48: step "t": input x: $.ctiy: the plan's input has no member "ctiy" (did you mean "city"?)`},
	})
}

func TestThePlansOwnInput(t *testing.T) {
	doc := `{"inputSchema":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","default":3}},"required":["city","days"]},
 "steps":[{"id":"ask","tool":"t","dependencies":{"bindings":{"place":{"fromInput":"city"},"n":{"fromInput":"days"},"fixed":{"value":[1.0]}}}}]}`
	p, got := compile(t, doc, plan.Options{Input: given("", plan.Assignment{Path: "city", Text: "Ulm"}, plan.Assignment{Path: "ask.unit", Text: "C", Step: true})})
	same(t, "said", got, `note: the plan's input days: filled with its default 3`)
	same(t, "arguments", arguments(t, p, "ask"), `{"fixed":[1.0],"n":3,"place":"Ulm","unit":"C"}`)
	same(t, "input schema", p.InputSchema != nil, true)
}

// TestRequiredMembersAreFilled is rule P6: what the schema itself can give is no missing input.
func TestRequiredMembersAreFilled(t *testing.T) {
	doc := `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"unit":{"const":"C"},"limit":{"type":"integer","default":10},"note":{"default":"x"}},"required":["unit","limit"]}}],
 "steps":[{"id":"a","tool":"t"},{"id":"b","tool":"t","arguments":{"limit":1}}]}`
	p, got := compile(t, doc, plan.Options{})
	same(t, "said", got, `plan.json:2:11: note: step "a": input limit: filled with its default 10`+"\n"+
		`plan.json:2:11: note: step "a": input unit: filled with its constant "C"`+"\n"+
		`plan.json:2:33: note: step "b": input unit: filled with its constant "C"`)
	same(t, "a", arguments(t, p, "a"), `{"limit":10,"unit":"C"}`)
	same(t, "b", arguments(t, p, "b"), `{"limit":1,"unit":"C"}`)
}

func TestBindingsYieldToTheCall(t *testing.T) {
	doc := `{"steps":[{"id":"a","tool":"t"},
  {"id":"b","tool":"t","arguments":{"y":1},"dependencies":{"bindings":{
    "x":{"fromTool":"a","outputPath":"x"},
    "y":{"fromTool":"a","outputPath":"y"}}}}]}`
	check(t, []said{{"yields and replaces", doc, plan.Options{Input: given(`{"b":{"x":5}}`)},
		`plan.json:3:5: note: step "b": input x: the value given at the call stands, the binding from "a" is not used` + "\n" +
			`plan.json:4:5: warning: step "b": input y: the binding from "a" replaces the literal value in the document (keep one of the two)`}})
	p, _ := compile(t, doc, plan.Options{Input: given(`{"b":{"x":5}}`)})
	same(t, "the upstream step still runs", ids(p, p.Graph.Upstream(1)), "a")
}

func TestLiteralArgumentsAreChecked(t *testing.T) {
	doc := ask + `,"steps":[
  {"id":"a","tool":"ask","arguments":{
    "messages":[{"role":"usr","content":"x"}],
    "limit":1.5}},
  {"id":"b","tool":"ask","arguments":{"limit":"no"},"dependencies":{"bindings":{"messages":{"fromTool":"a","outputPath":"$"}}}}]}`
	check(t, []said{
		{"error", doc, plan.Options{},
			`plan.json:5:18: step "a": argument messages[0].role: got "usr", want one of "system", "user"` + "\n" +
				`plan.json:6:5: step "a": argument limit: got 1.5, want integer` + "\n" +
				`plan.json:7:39: step "b": argument limit: got string, want integer`},
		{"--check=warn", doc, plan.Options{CheckWarn: true},
			`plan.json:5:18: warning: step "a": argument messages[0].role: got "usr", want one of "system", "user"` + "\n" +
				`plan.json:6:5: warning: step "a": argument limit: got 1.5, want integer` + "\n" +
				`plan.json:7:39: warning: step "b": argument limit: got string, want integer`},
		{"in inputs", ask + `,
 "inputs":{"ask":{"messages":[],
   "limit":"x"}}}`, plan.Options{},
			`plan.json:5:4: step "ask": argument limit: got string, want integer`},
	})
}
