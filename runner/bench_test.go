package runner

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

// layered writes a plan of n steps in layers of 100: each step reads two steps of the layer before.
func layered(n int) string {
	var b strings.Builder
	b.WriteString(`{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}},"outputSchema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}],"steps":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if i < 100 {
			fmt.Fprintf(&b, `{"id":"s%d","tool":"t","arguments":{"a":%d}}`, i, i)
			continue
		}
		one, two := i-100, i-100+(i*7+3)%100-i%100
		fmt.Fprintf(&b, `{"id":"s%d","tool":"t","dependencies":{"requires":["s%d","s%d"],"bindings":{"a":{"fromTool":"s%d","outputPath":"a"},"b":{"fromTool":"s%d","outputPath":"a"}}}}`, i, one, two, one, two)
	}
	b.WriteString("]}")
	return b.String()
}

// BenchmarkRun runs compiled plans whose tools answer at once: what is left is toolflow's own work.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			doc, diags := toolflow.ParseDocument([]byte(layered(n)), "p.json")
			p, more := plan.Compile(doc, plan.Options{})
			if toolflow.HasErrors(diags) || toolflow.HasErrors(more) {
				b.Fatal(diags, more)
			}
			b.ReportAllocs()
			for b.Loop() {
				report, err := New(echo{}, &Options{Parallel: 64}).Execute(context.Background(), p)
				if err != nil || len(report.Steps) != n {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
		})
	}
}

type echo struct{}

func (echo) Call(_ context.Context, call toolflow.Call, _ func(toolflow.Progress)) (toolflow.Result, error) {
	return toolflow.Result{Structured: call.Args}, nil
}
