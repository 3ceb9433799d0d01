package plan_test

import (
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

func TestOutput(t *testing.T) {
	typed := `{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"items":{"type":"array"}},"additionalProperties":false}}],
 "steps":[{"id":"a","tool":"t"}],
 "output":{`
	check(t, []said{
		{"unknown step", typed + `
  "x":{"fromTool":"b","outputPath":"$"}}}`, plan.Options{},
			`plan.json:4:8: output x: fromTool: "b" is no step, and no step calls a tool of that name`},
		{"unknown member", typed + `
  "x":{"fromTool":"a","outputPath":"itmes"}}}`, plan.Options{},
			`plan.json:4:23: output x: $.itmes: the output of "a" has no member "itmes" (did you mean "items"?)`},
		{"no path", typed + `
  "x y":{"fromTool":"a","outputPath":"/items"}}}`, plan.Options{},
			`plan.json:4:25: output x y: outputPath "/items": this is a JSON Pointer, not a JSONPath (write $.items)`},
		{"odd names", typed + `"a.b['c']":{"fromTool":"a","outputPath":"$"},"":{"value":1},"x[0]":{"value":2},"x":{"value":3},"ü\u0007":{"value":4}}}`, plan.Options{}, ``},
		{"with targets it is checked too", typed + `
  "x":{"fromTool":"b","outputPath":"$"}}}`, plan.Options{Targets: []string{"a"}},
			`plan.json:4:8: output x: fromTool: "b" is no step, and no step calls a tool of that name`},
	})
}

func TestOutputNamesAreNames(t *testing.T) {
	p := mustCompile(t, `{"steps":[{"id":"a","tool":"t"}],
 "output":{"a.b['c']":{"fromTool":"a","outputPath":"n"},"it's \\":{"value":1},"x[0]":{"value":2},"x":{"value":3}}}`, plan.Options{})
	value, _, err := p.Output.Fill(func(step int, content bool) (any, bool) { return map[string]any{"n": true}, step == 0 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "output", string(toolflow.AppendValue(nil, value)), `{"a.b['c']":true,"it's \\":1,"x":3,"x[0]":2}`)
	same(t, "reads", p.Reads, []plan.Read{{Step: 0}})
}

func TestOutputReadsContent(t *testing.T) {
	p := mustCompile(t, `{"steps":[{"id":"a","tool":"t"},{"id":"b","tool":"t"}],
 "output":{"x":{"fromTool":"b","outputPath":"$"},"y":{"fromTool":"b","contentPath":"[0].text"}}}`, plan.Options{})
	same(t, "reads", p.Reads, []plan.Read{{Step: 1, Content: true}})
}

func TestTargetsTakeThePlaceOfTheOutput(t *testing.T) {
	doc := `{"steps":[{"id":"a","tool":"t"},{"id":"b","tool":"t"}],"output":{"x":{"fromTool":"b","outputPath":"$"}}}`
	p := mustCompile(t, doc, plan.Options{Targets: []string{"a", "a"}})
	same(t, "output", p.Output == nil, true)
	same(t, "targets", ids(p, p.Targets), "a")
	same(t, "reads", p.Reads, []plan.Read{{Step: 0}})
}
