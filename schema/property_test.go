package schema

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolflow-go/toolflow"
)

// drawSchema makes a schema out of few names and values, so that values often fit.
func drawSchema(t *rapid.T, depth int) any {
	if depth == 0 || rapid.IntRange(0, 9).Draw(t, "simple") < 2 {
		return rapid.SampledFrom([]any{true, true, map[string]any{}, false,
			map[string]any{"type": "integer"}, map[string]any{"type": "object"}, map[string]any{"type": []any{"array", "number"}},
			map[string]any{"$ref": "#/$defs/x"}, map[string]any{"$ref": "#/$defs/y"},
			map[string]any{"const": json.Number("1")}, map[string]any{"enum": []any{json.Number("1.0"), map[string]any{}}},
		}).Draw(t, "leaf")
	}
	out := map[string]any{}
	for range rapid.IntRange(1, 3).Draw(t, "keywords") {
		keyword := rapid.SampledFrom([]string{"properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "required",
			"items", "prefixItems", "maxItems", "unevaluatedItems", "contains", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
			"dependentSchemas", "propertyNames", "maxProperties", "type"}).Draw(t, "keyword")
		one := func() any { return drawSchema(t, depth-1) }
		switch keyword {
		case "properties":
			out[keyword] = map[string]any{"a": one(), "b": one()}
		case "patternProperties":
			out[keyword] = map[string]any{rapid.SampledFrom([]string{"^a", "b|c", "^(?!a)"}).Draw(t, "pattern"): one()}
		case "dependentSchemas":
			out[keyword] = map[string]any{"a": one()}
		case "required":
			out[keyword] = []any{rapid.SampledFrom([]any{"a", "b", "c"}).Draw(t, "name")}
		case "prefixItems", "allOf", "anyOf", "oneOf":
			out[keyword] = []any{one(), one()}
		case "maxItems", "maxProperties":
			out[keyword] = json.Number(rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "most"))
		case "propertyNames":
			out[keyword] = map[string]any{"enum": []any{"a", "c"}}
		case "type":
			out[keyword] = rapid.SampledFrom([]any{"object", "array", []any{"object", "array"}}).Draw(t, "type")
		default:
			out[keyword] = one()
		}
	}
	return out
}

func drawValue(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 9).Draw(t, "value"); {
	case n < 4 && depth > 0:
		out := map[string]any{}
		for _, name := range []string{"a", "b", "c"} {
			if rapid.Bool().Draw(t, name) {
				out[name] = drawValue(t, depth-1)
			}
		}
		return out
	case n < 7 && depth > 0:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawValue(t, depth-1) }), 0, 3).Draw(t, "items")
	}
	return rapid.SampledFrom([]any{json.Number("1"), json.Number("2.5"), "x", nil, true}).Draw(t, "scalar")
}

// TestNodesAreTrue draws schemas and values. The verdict is the one of the library alone, and what
// nodes say about a place is true of every value that fits.
func TestNodesAreTrue(t *testing.T) {
	fitting := 0
	rapid.Check(t, func(t *rapid.T) {
		doc := map[string]any{"$defs": map[string]any{"x": drawSchema(t, 2), "y": drawSchema(t, 1)}, "allOf": []any{drawSchema(t, 3)}}
		s, err := Compile(toolflow.AppendValue(nil, doc))
		if err != nil {
			t.Skip(err) // references in a circle
		}
		plain := s.compiler(&meter{steps: 1 << 40})
		if err := plain.AddResource(documentURL, s.doc); err != nil {
			t.Fatal(err)
		}
		alone, err := plain.Compile(documentURL)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			v := drawValue(t, 3)
			err := s.Validate(v)
			if len(s.Warnings()) == 0 && (err == nil) != (alone.Validate(v) == nil) {
				t.Fatalf("%s\nand %s: got %v, the library alone says %v", s.Raw(), toolflow.AppendValue(nil, v), err, alone.Validate(v))
			}
			if err == nil {
				fitting++
				checkTrue(t, s, s.Root(), v)
			}
		}
	})
	if fitting < 100 {
		t.Errorf("only %d values fit their schema", fitting)
	}
	t.Logf("%d values fit their schema", fitting)
}

// checkTrue holds what a node says against a value that fits.
func checkTrue(t *rapid.T, s *Schema, n Node, v any) {
	wrong := func(what string, said any) {
		t.Fatalf("%s\naccepts a value with %s, but the node there says %s %v", s.Raw(), toolflow.AppendValue(nil, v), what, said)
	}
	types := n.Types()
	integer := equal(v, json.Number("1")) && slices.Contains(types, "integer")
	if types != nil && !slices.Contains(types, kindOf(v)) && !integer {
		wrong("types", types)
	}
	if values := n.Enum(); values != nil && !slices.ContainsFunc(values, func(w any) bool { return equal(v, w) }) {
		wrong("enum", values)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range n.Required() {
			if _, ok := v[name]; !ok {
				wrong("required", name)
			}
		}
		for name, e := range v {
			inside, p := n.Property(name)
			if p == Excluded {
				wrong("excluded", name)
			}
			checkTrue(t, s, inside, e)
		}
	case []any:
		for i, e := range v {
			inside, p := n.Item(i)
			if p == Excluded {
				wrong("excluded", i)
			}
			checkTrue(t, s, inside, e)
		}
	}
}
