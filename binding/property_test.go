package binding

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// jsonValue draws any JSON value: odd names, long numbers, every code point.
func jsonValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return json.Number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number"))
		case 3:
			return rapid.String().Draw(t, "string")
		case 4:
			return rapid.SliceOfN(jsonValue(depth-1), 0, 4).Draw(t, "array")
		default:
			return rapid.MapOfN(rapid.String(), jsonValue(depth-1), 0, 4).Draw(t, "object")
		}
	})
}

// place draws a location: a name, then names and small indexes.
func place() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := quoted(rapid.String().Draw(t, "name"))
		for range rapid.IntRange(0, 4).Draw(t, "more") {
			if rapid.Bool().Draw(t, "index") {
				text += "[0]"
			} else {
				text += quoted(rapid.String().Draw(t, "name"))
			}
		}
		return text
	})
}

func quoted(name string) string {
	raw, _ := json.Marshal(name)
	return "[" + string(raw) + "]"
}

// Any value passes from a result to an argument unchanged, wherever it is read and written, and the
// result stays as it was.
func TestValuesPassUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, from, to := jsonValue(3).Draw(t, "value"), place().Draw(t, "from"), place().Draw(t, "to")
		source, err := ParseLocation(from, schema.Node{})
		if err != nil {
			t.Fatal(err)
		}
		output, err := source.Set(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		before := text(output)
		args, diags := Compile(Spec{Sources: []Source{{Binding: toolflow.Binding{Input: to, FromTool: "up", OutputPath: from}, StepID: "up"}}})
		if toolflow.HasErrors(diags) {
			t.Fatal(diags)
		}
		got, prov, err := args.Fill(func(int, bool) (any, bool) { return output, true }, nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := ParseLocation(to, schema.Node{})
		if err != nil {
			t.Fatal(err)
		}
		read, ok := target.Get(got)
		if !ok || text(read) != text(v) {
			t.Fatalf("got %s, want %s", text(read), text(v))
		}
		again, err := toolflow.DecodeValue([]byte(text(got)))
		if err != nil {
			t.Fatal(err)
		}
		if read, _ = target.Get(again); text(read) != text(v) {
			t.Fatalf("got %s through bytes, want %s", text(read), text(v))
		}
		if len(prov) != 1 || prov[0].Path != target.String() || prov[0].OutputPath != "$"+source.at[:0].String()+(&Path{front: source.at, singular: true}).String()[1:] {
			t.Fatalf("got provenance %v", prov)
		}
		if text(output) != before {
			t.Fatalf("the output is now %s, was %s", text(output), before)
		}
	})
}

// step draws a step: literals, call values, bindings of small names, so that much gets in each
// other's way, and a schema that requires and fills.
func stepSpec() *rapid.Generator[Spec] {
	node := mustNode(`{"type":"object","required":["a","b"],"properties":{"a":{"$ref":"#"},"b":{"default":[1]},"c":{"type":["array","object"],"items":{"required":["a"],"properties":{"a":{"const":{"k":2}}}}}}}`)
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	small := func(depth int) *rapid.Generator[any] { return smallValue(depth) }
	at := rapid.Custom(func(t *rapid.T) string {
		out := name.Draw(t, "name")
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			out += rapid.SampledFrom([]string{".a", ".b", "[0]", "[1]"}).Draw(t, "next")
		}
		return out
	})
	return rapid.Custom(func(t *rapid.T) Spec {
		s := Spec{Schema: node,
			Literal: rapid.MapOfN(name, small(2), 0, 3).Draw(t, "literal"),
			Given:   rapid.MapOfN(name, small(2), 0, 2).Draw(t, "given"),
		}
		for i, input := range rapid.SliceOfNDistinct(at, 0, 4, rapid.ID[string]).Draw(t, "inputs") {
			b := toolflow.Binding{Input: input, FromTool: "up", OutputPath: rapid.SampledFrom([]string{"$", "a", "b", "$..a", "$.*"}).Draw(t, "path"),
				Optional: rapid.Bool().Draw(t, "optional")}
			if rapid.Bool().Draw(t, "default") {
				b.Default = json.RawMessage(`{"d":[]}`)
			}
			s.Sources = append(s.Sources, Source{Binding: b, Step: i, StepID: "up"})
		}
		return s
	})
}

func smallValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 4
		if depth == 0 {
			kinds = 2
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]any{nil, "x", json.Number("1")}).Draw(t, "scalar")
		case 1:
			return rapid.SampledFrom([]any{[]any{}, map[string]any{}}).Draw(t, "empty")
		case 2:
			return rapid.SliceOfN(smallValue(depth-1), 1, 2).Draw(t, "array")
		default:
			return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), smallValue(depth-1), 1, 2).Draw(t, "object")
		}
	})
}

func mustNode(raw string) schema.Node {
	s, err := schema.Compile(json.RawMessage(raw))
	if err != nil {
		panic(err)
	}
	return s.Root()
}

// Whatever a step is made of: nothing that goes in is changed, the order of the bindings in the file
// means nothing, filling twice gives the same, every leaf has exactly one origin, and the value at a
// location that a binding filled is the one it read.
func TestFillProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := stepSpec().Draw(t, "step")
		output := smallValue(2).Draw(t, "output")
		read := func(int, bool) (any, bool) { return output, true }
		before := text(output) + text(spec.Literal) + text(spec.Given)
		args, diags := Compile(spec)
		got, prov, err := args.Fill(read, nil)
		checkOrigins(t, args, got, prov)

		again, prov2, err2 := args.Fill(read, nil)
		if text(got) != text(again) || provLines(prov) != provLines(prov2) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("got %s, then %s", text(got), text(again))
		}
		shuffled := spec
		shuffled.Sources = rapid.Permutation(spec.Sources).Draw(t, "order")
		args2, diags2 := Compile(shuffled)
		if toolflow.HasErrors(diags) != toolflow.HasErrors(diags2) {
			t.Fatalf("in another order: got %s, want %s", diagLines(diags2), diagLines(diags))
		}
		if other, prov2, err2 := args2.Fill(read, nil); !toolflow.HasErrors(diags) &&
			(text(got) != text(other) || provLines(prov) != provLines(prov2) || fmt.Sprint(err) != fmt.Sprint(err2)) {
			t.Fatalf("in another order: got %s, %v, want %s, %v", text(other), err2, text(got), err)
		}
		if after := text(output) + text(spec.Literal) + text(spec.Given); after != before {
			t.Fatalf("what went in is now %s, was %s", after, before)
		}
	})
}

// checkOrigins holds the provenance against the arguments.
func checkOrigins(t interface{ Fatalf(string, ...any) }, a *Arguments, args map[string]any, prov []toolflow.Provenance) {
	if args == nil {
		return
	}
	var locations []*Location
	for _, p := range prov {
		l, err := ParseLocation(p.Path, schema.Node{})
		if err != nil {
			t.Fatalf("provenance: %v", err)
		}
		if _, ok := l.Get(args); !ok {
			t.Fatalf("provenance %s, but there is nothing in %s", p.Path, text(args))
		}
		locations = append(locations, l)
	}
	if !slices.IsSortedFunc(locations, CompareLocations) {
		t.Fatalf("provenance is not in order: %v", prov)
	}
	for _, leaf := range leaves(args, "") {
		origins := 0
		for _, l := range locations {
			if l.Contains(leaf) {
				origins++
			}
		}
		if origins != 1 {
			t.Fatalf("%s in %s has %d origins in %v, want 1", leaf, text(args), origins, prov)
		}
	}
}

// leaves gives the location of every scalar and every empty container in v, but not of v itself.
func leaves(v any, at string) []*Location {
	var out []*Location
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			out = append(out, leaves(e, at+quoted(name))...)
		}
	case []any:
		for i, e := range v {
			out = append(out, leaves(e, fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	if len(out) == 0 && at != "" {
		l, err := ParseLocation(at, schema.Node{})
		if err != nil {
			panic(err)
		}
		out = append(out, l)
	}
	return out
}
