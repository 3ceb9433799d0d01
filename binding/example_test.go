package binding_test

import (
	"encoding/json"
	"fmt"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
	"github.com/toolflow-go/toolflow/schema"
)

func ExampleParsePath() {
	search, err := toolflow.DecodeValue([]byte(`{"items": [{"id": 9007199254740993, "title": null}, {"id": 2}]}`))
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"items[0].id", "items[0].title", "items[*].id", "items[].id"} {
		path, err := binding.ParsePath(text, schema.Node{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		values, err := path.Select(search)
		fmt.Println(path, path.Singular(), values, err)
	}
	// Output:
	// $.items[0].id true [9007199254740993] <nil>
	// $.items[0].title true [<nil>] <nil>
	// $.items[*].id false [9007199254740993 2] <nil>
	// path "items[].id": this is JMESPath, not JSONPath (write $.items[*].id)
}

func ExampleArguments_Fill() {
	ask, err := schema.Compile(json.RawMessage(`{"type": "object", "required": ["messages"], "properties": {
		"messages": {"type": "array", "items": {"type": "object", "required": ["role", "content"],
			"properties": {"role": {"enum": ["system", "user"]}, "content": {"type": "string"}}}}}}`))
	if err != nil {
		panic(err)
	}
	spec := binding.Spec{
		Schema: ask.Root(),
		Sources: []binding.Source{{
			Binding: toolflow.Binding{Input: "messages[0].content", FromTool: "research", OutputPath: "system_response"},
			StepID:  "research",
		}},
	}
	args, _ := binding.Compile(spec)
	for _, m := range args.Missing() {
		fmt.Println("missing:", m.Path, m.Allowed)
	}

	spec.Given = map[string]any{"messages": []any{map[string]any{"role": "user"}}}
	args, _ = binding.Compile(spec)
	research := map[string]any{"system_response": "It is so."}
	filled, provenance, err := args.Fill(func(step int, content bool) (any, bool) { return research, true }, nil)
	fmt.Println(string(toolflow.AppendValue(nil, filled)), err)
	for _, p := range provenance {
		fmt.Println(p.Path, "from", p.From, p.Step, p.OutputPath)
	}
	// Output:
	// missing: messages[0].role [system user]
	// {"messages":[{"content":"It is so.","role":"user"}]} <nil>
	// messages[0].content from step research $.system_response
	// messages[0].role from call
}
