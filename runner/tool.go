package runner

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

// A Tool is a document as one tool of an agent: what a framework needs to offer it, and a function
// to call it with.
type Tool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage // the document's; {"type":"object"} when it has none
	OutputSchema json.RawMessage // nil when the document has none

	// Call runs the document with args as its input and gives its output.
	Call func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
}

// Tool makes one tool of a document. Without an inputSchema its arguments are those of the steps, by
// step id.
func (r *Runner) Tool(doc *toolflow.Document) Tool {
	t := Tool{Name: doc.Name, Title: doc.Title, Description: doc.Description, InputSchema: doc.InputSchema, OutputSchema: doc.OutputSchema}
	if t.InputSchema == nil {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	t.Call = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		if text := bytes.TrimSpace(args); len(text) == 0 || string(text) == "null" {
			args = nil // agents write no arguments in either way
		}
		report, err := r.Run(ctx, doc, plan.Input{Value: args})
		return report.Output, err
	}
	return t
}
