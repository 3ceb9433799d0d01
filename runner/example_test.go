package runner_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
	"github.com/toolflow-go/toolflow/runner"
)

const chain = `{
  "name": "greet",
  "tools": [
    {"name": "name", "inputSchema": {"type": "object"},
     "outputSchema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}},
    {"name": "greet", "inputSchema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
     "dependencies": {"requires": ["name"], "bindings": {"who": {"fromTool": "name", "outputPath": "who"}}}}
  ]
}`

// tools is a Caller without any server: one function for all tools.
type tools func(toolflow.Call) string

func (t tools) Call(_ context.Context, call toolflow.Call, _ func(toolflow.Progress)) (toolflow.Result, error) {
	return toolflow.Result{Structured: json.RawMessage(t(call))}, nil
}

var caller = tools(func(call toolflow.Call) string {
	if call.Tool == "name" {
		return `{"who": "Ada"}`
	}
	return `{"said": "hello", "to": ` + string(call.Args) + `}`
})

// A document runs through anything that calls tools; package mcpclient is such a caller for MCP
// servers.
func ExampleRunner_Run() {
	doc, diags := toolflow.ParseDocument([]byte(chain), "greet.json")
	if toolflow.HasErrors(diags) {
		fmt.Println(diags)
		return
	}
	report, err := runner.New(caller, &runner.Options{KeepAll: true}).Run(context.Background(), doc, plan.Input{})
	fmt.Println(report.Status, err)
	fmt.Println(string(report.Output))
	for _, p := range report.Steps[1].Provenance {
		fmt.Printf("%s came from %s %s\n", p.Path, p.Step, p.OutputPath)
	}
	// Output:
	// succeeded <nil>
	// {"said": "hello", "to": {"who":"Ada"}}
	// who came from name $.who
}

// A document can be offered to an agent as one tool.
func ExampleRunner_Tool() {
	doc, _ := toolflow.ParseDocument([]byte(chain), "greet.json")
	tool := runner.New(caller, nil).Tool(doc)
	out, err := tool.Call(context.Background(), json.RawMessage(`{}`))
	fmt.Println(tool.Name, string(out), err)
	// Output: greet {"said": "hello", "to": {"who":"Ada"}} <nil>
}

// A run can go on in the background while its events are read.
func ExampleRunner_Start() {
	doc, _ := toolflow.ParseDocument([]byte(chain), "greet.json")
	run := runner.New(caller, nil).Start(context.Background(), doc, plan.Input{})
	for e := range run.Events() {
		if e.Step != "" {
			fmt.Println(e.Kind, e.Step)
		}
	}
	report, _ := run.Wait()
	fmt.Println(report.Status)
	// Output:
	// step.started name
	// step.ended name
	// step.started greet
	// step.ended greet
	// succeeded
}
