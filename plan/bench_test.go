package plan_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

// distinct is how many tools, and so how many schemas, a generated document has at most.
const distinct = 50

// layered writes a document of n steps in layers of 100. Each step beyond the first layer binds two
// inputs from the layer before.
func layered(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"name":"layered","tools":[`)
	for i := range min(n, distinct) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool%d","inputSchema":{"type":"object","properties":{"left":{"type":"string"},"right":{"type":"object","properties":{"n":{"type":"integer"}}},"limit%d":{"type":"integer"}},"required":["limit%d"]},`+
			`"outputSchema":{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}}}},"total%d":{"type":"integer"}}}}`, i, i, i, i)
	}
	b.WriteString(`],"steps":[`)
	const width = 100
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		tool := i % distinct
		fmt.Fprintf(&b, `{"id":"step%d","tool":"tool%d","arguments":{"limit%d":%d}`, i, tool, tool, i)
		if i >= width {
			first := i/width*width - width
			fmt.Fprintf(&b, `,"dependencies":{"requires":["step%[1]d","step%[2]d"],"bindings":{"left":{"fromTool":"step%[1]d","outputPath":"items[0].text"},"right.n":{"fromTool":"step%[2]d","outputPath":"$.items[1].n"}}}`,
				first+i%width, first+(i*7+1)%width)
		}
		b.WriteByte('}')
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// BenchmarkPlan reads, checks and orders a document: all that a dry run does before it prints.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			text := layered(n)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				p := benchCompile(b, text)
				if got, want := len(p.Graph.Stages()), (n+99)/100; got != want {
					b.Fatalf("got %d stages, want %d", got, want)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
		})
	}
}

func benchCompile(tb testing.TB, text []byte) *plan.Plan {
	doc, diags := toolflow.ParseDocument(text, "plan.json")
	if len(diags) > 0 {
		tb.Fatal(diags[0])
	}
	p, diags := plan.Compile(doc, plan.Options{})
	if len(diags) > 0 {
		tb.Fatal(diags[0])
	}
	return p
}
