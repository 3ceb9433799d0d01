package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

// read reads a document in which the reader finds nothing to say.
func read(t testing.TB, text string) *toolflow.Document {
	t.Helper()
	doc, diags := toolflow.ParseDocument([]byte(text), "plan.json")
	if len(diags) > 0 {
		t.Fatalf("the test's document is broken: %s", diags[0])
	}
	return doc
}

// compile compiles a document and gives what is said about it, one diagnostic a line.
func compile(t testing.TB, text string, o plan.Options) (*plan.Plan, string) {
	t.Helper()
	p, diags := plan.Compile(read(t, text), o)
	lines := make([]string, len(diags))
	for i, d := range diags {
		lines[i] = d.String()
	}
	return p, strings.Join(lines, "\n")
}

// mustCompile compiles a document about which there is nothing to say but notes.
func mustCompile(t testing.TB, text string, o plan.Options) *plan.Plan {
	t.Helper()
	p, diags := plan.Compile(read(t, text), o)
	for _, d := range diags {
		if d.Severity != toolflow.SeverityNote {
			t.Fatalf("got a diagnostic, want none: %s", d)
		}
	}
	return p
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// ids gives the ids of the steps with these numbers.
func ids[N int | int32](p *plan.Plan, numbers []N) string {
	var out []string
	for _, i := range numbers {
		out = append(out, p.Steps[i].ID)
	}
	return strings.Join(out, " ")
}

// steps gives the ids of all steps of a plan.
func steps(p *plan.Plan) string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, s.ID)
	}
	return strings.Join(out, " ")
}

// arguments fills a step's arguments as a run would, from nothing upstream.
func arguments(t testing.TB, p *plan.Plan, id string) string {
	t.Helper()
	i, ok := p.Step(id)
	if !ok {
		t.Fatalf("the plan has no step %q", id)
	}
	args, _, err := p.Steps[i].Args.Fill(func(int, bool) (any, bool) { return nil, false }, p.Input)
	if err != nil {
		t.Fatalf("filling %q: %v", id, err)
	}
	return string(toolflow.AppendValue(nil, args))
}

// tool is a live tool with an input schema.
func tool(name, inputSchema string) toolflow.Tool {
	return toolflow.Tool{Name: name, InputSchema: json.RawMessage(inputSchema)}
}

type said struct {
	name, doc string
	o         plan.Options
	want      string
}

// check holds what Compile says about documents against the exact text.
func check(t *testing.T, cases []said) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, got := compile(t, c.doc, c.o); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// chain writes a document of n steps, each of which binds from the one before.
func chain(n int) string {
	var b strings.Builder
	b.WriteString(`{"tools":[{"name":"next","inputSchema":{"type":"object"}}],"steps":[{"id":"s0","tool":"next"}`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, `,{"id":"s%d","tool":"next","dependencies":{"bindings":{"x":{"fromTool":"s%d","outputPath":"x"}}}}`, i, i-1)
	}
	b.WriteString("]}")
	return b.String()
}
