package binding

import (
	"fmt"
	"testing"

	"github.com/toolflow-go/toolflow"
)

func benchSpec(tb testing.TB) Spec {
	return Spec{
		Schema: under(tb, askSchema),
		Given:  value(tb, `{"messages":[{"role":"user"},{"role":"user"}]}`),
		Sources: []Source{
			{Binding: toolflow.Binding{Input: "messages[0].content", FromTool: "up", OutputPath: "system_response"}, StepID: "up", Output: under(tb, `{"type":"object","properties":{"system_response":{"type":"string"}}}`)},
			{Binding: toolflow.Binding{Input: "messages[1].content", FromTool: "up", OutputPath: "items[0].text"}, StepID: "up"},
		},
	}
}

func BenchmarkBind(b *testing.B) {
	up := value(b, `{"system_response":"x","items":[{"text":"y"}]}`)
	read := func(int, bool) (any, bool) { return up, true }
	b.Run("Compile", func(b *testing.B) {
		spec := benchSpec(b)
		b.ReportAllocs()
		for b.Loop() {
			if _, diags := Compile(spec); len(diags) > 0 {
				b.Fatal(diags)
			}
		}
	})
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("Fill/%d", n), func(b *testing.B) {
			spec := benchSpec(b)
			spec.Sources = spec.Sources[:n]
			benchFill(b, spec, read)
		})
	}
	b.Run("Fill/9999", func(b *testing.B) { // a step that gathers the outputs of many
		var spec Spec
		for i := range 9999 {
			spec.Sources = append(spec.Sources, Source{Binding: toolflow.Binding{Input: fmt.Sprintf("items[%d]", i), FromTool: "up", OutputPath: "$.items[0].text"}, Step: i, StepID: "up"})
		}
		benchFill(b, spec, read)
	})
}

func benchFill(b *testing.B, spec Spec, read func(int, bool) (any, bool)) {
	args, _ := Compile(spec)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := args.Fill(read, nil); err != nil {
			b.Fatal(err)
		}
	}
}
