package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolflow-go/toolflow"
)

// walk follows names and indexes such as `a 0 b` from the root, as far as they lead.
func walk(s *Schema, path string) (Node, Presence) {
	n, p := s.Root(), Declared
	for _, step := range strings.Fields(path) {
		var i int
		if _, err := fmt.Sscanf(step, "%d", &i); err == nil {
			n, p = n.Item(i)
		} else {
			n, p = n.Property(step)
		}
	}
	return n, p
}

// TestPresence asks for members and items in all the ways that a schema speaks about them.
func TestPresence(t *testing.T) {
	const d7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	const d2019 = `"$schema":"https://json-schema.org/draft/2019-09/schema",`
	for _, c := range []struct {
		schema, path string
		want         Presence
		known        bool
	}{
		// members
		{`{"properties":{"a":{"type":"string"}}}`, `a`, Declared, true},
		{`{"properties":{"a":{}}}`, `a`, Declared, false},
		{`{"properties":{"a":{}}}`, `a b`, Unknown, false},
		{`{"properties":{"a":{"type":"string"}}}`, `a b`, Excluded, false},
		{`{"properties":{"a":{"type":["object","null"]}}}`, `a b`, Allowed, false},
		{`{"type":"object"}`, `b`, Allowed, false},
		{`{"type":"object"}`, `b c`, Unknown, false},
		{`{"description":"anything"}`, `b`, Allowed, false},
		{`{}`, `b`, Unknown, false},
		{`true`, `b`, Unknown, false},
		{`false`, `b`, Excluded, false},
		{`{"properties":{"a":false}}`, `a`, Excluded, false},
		{`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"properties":{"b":{"type":"null"}}}}}`, `a b`, Declared, true},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `b`, Excluded, false},
		{`{"additionalProperties":false,"patternProperties":{"^x":{"type":"null"}}}`, `xy`, Allowed, true},
		{`{"additionalProperties":false,"patternProperties":{"^x":{"type":"null"}}}`, `y`, Excluded, false},
		{`{"additionalProperties":false,"patternProperties":{"^(?!x)":{"type":"null"}}}`, `y`, Unknown, false},
		{`{"additionalProperties":{"type":"null"}}`, `b`, Allowed, true},
		{`{"additionalProperties":{"type":"null"},"patternProperties":{"b":false}}`, `b`, Excluded, false},
		{`{"maxProperties":0}`, `b`, Excluded, false},
		{`{"const":{"a":1}}`, `a`, Allowed, false},
		{`{"const":{"a":1}}`, `b`, Excluded, false},
		{`{"enum":[{"a":1},{"b":1},3]}`, `b`, Allowed, false},
		{`{"enum":[[1],"b"]}`, `b`, Excluded, false},
		{`{"propertyNames":{"pattern":"^a"}}`, `ab`, Allowed, false},
		{`{"propertyNames":{"pattern":"^a"}}`, `b`, Excluded, false},
		{`{"propertyNames":{"enum":["a"]}}`, `b`, Excluded, false},
		{`{"propertyNames":{"maxLength":1}}`, `bc`, Excluded, false},
		{`{"propertyNames":{"anyOf":[{"const":"a"}]}}`, `b`, Unknown, false},

		// combinators
		{`{"properties":{"a":{"type":"null"}},"anyOf":[{"required":["a"]}]}`, `a`, Declared, true},
		{`{"anyOf":[{"properties":{"b":{}}}]}`, `b`, Unknown, false},
		{`{"oneOf":[true]}`, `b`, Unknown, false},
		{`{"not":{"required":["b"]}}`, `b`, Unknown, false},
		{`{"if":{"required":["b"]},"then":false}`, `b`, Unknown, false},
		{`{"dependentSchemas":{"b":false}}`, `b`, Unknown, false},
		{`{` + d7 + `"dependencies":{"b":false}}`, `b`, Unknown, false},
		{`{` + d7 + `"dependencies":{"b":["c"]}}`, `b`, Allowed, false},
		{`{"anyOf":[true],"additionalProperties":{"type":"null"}}`, `b`, Unknown, true},
		{`{"anyOf":[true],"additionalProperties":false}`, `b`, Excluded, false},

		// references and allOf
		{`{"allOf":[{"properties":{"a":{"type":"null"}}},{"$ref":"#/$defs/x"}],"$defs":{"x":{"properties":{"b":{"type":"null"}}}}}`, `b`, Declared, true},
		{`{"allOf":[{"properties":{"a":{}}},{"additionalProperties":false}]}`, `a`, Excluded, false},
		{`{"allOf":[{"type":"object"},{"type":"array"}]}`, `a`, Excluded, false},
		{`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}}}`, `a a a`, Declared, true},
		{`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}},"$defs":{"x":{"$id":"http://x.test/"}}}`, `a a`, Unknown, false},
		{`{"properties":{"a":{"$dynamicRef":"#/$defs/x"}},"$defs":{"x":{"$id":"http://x.test/","properties":{"b":{"type":"null"}}}}}`, `a b`, Declared, true},
		{`{` + d2019 + `"$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}}}`, `a a`, Declared, true},
		{`{` + d2019 + `"properties":{"a":{"$recursiveRef":"#"}},"$defs":{"x":{"$id":"http://x.test/"}}}`, `a`, Declared, false},
		{`{` + d7 + `"$ref":"#/definitions/x","properties":{"a":{"type":"null"}},"additionalProperties":false,"definitions":{"x":{"properties":{"b":{"type":"null"}}}}}`, `a`, Allowed, false},
		{`{` + d7 + `"$ref":"#/definitions/x","if":true,"propertyNames":false,"definitions":{"x":{"properties":{"b":{"type":"null"}}}}}`, `b`, Declared, true},
		{`{"$ref":"#/$defs/x","properties":{"a":{"type":"null"}},"$defs":{"x":{}}}`, `a`, Declared, true},

		// unevaluated
		{`{"unevaluatedProperties":false,"properties":{"a":{}}}`, `b`, Excluded, false},
		{`{"unevaluatedProperties":false,"properties":{"a":{}}}`, `a`, Declared, false},
		{`{"unevaluatedProperties":false,"allOf":[{"properties":{"a":{}}}]}`, `a`, Declared, false},
		{`{"unevaluatedProperties":false,"allOf":[{"properties":{"a":{}}}]}`, `b`, Excluded, false},
		{`{"unevaluatedProperties":false,"anyOf":[{"properties":{"b":{}}}]}`, `b`, Unknown, false},
		{`{"unevaluatedProperties":{"type":"null"}}`, `b`, Allowed, true},
		{`{"allOf":[{"unevaluatedProperties":false},{"properties":{"b":{}}}]}`, `b`, Excluded, false},
		{`{"unevaluatedItems":false,"contains":{"const":1}}`, `0`, Unknown, false},
		{`{"unevaluatedItems":false,"prefixItems":[{}]}`, `1`, Excluded, false},

		// items
		{`{"items":{"type":"null"}}`, `7`, Declared, true},
		{`{"prefixItems":[{"type":"null"}],"items":false}`, `0`, Declared, true},
		{`{"prefixItems":[{"type":"null"}],"items":false}`, `1`, Excluded, false},
		{`{"prefixItems":[{"type":"null"}]}`, `1`, Allowed, false},
		{`{"items":{"type":"null"},"maxItems":2}`, `1`, Declared, true},
		{`{"items":{"type":"null"},"maxItems":2}`, `2`, Excluded, false},
		{`{"items":{"type":"null"}}`, `-1`, Excluded, false},
		{`{"type":"object"}`, `0`, Excluded, false},
		{`{"type":"array"}`, `0`, Allowed, false},
		{`{}`, `0`, Unknown, false},
		{`{"const":[1]}`, `0`, Allowed, false},
		{`{"const":[1]}`, `1`, Excluded, false},
		{`{` + d7 + `"items":[{"type":"null"}],"additionalItems":false}`, `1`, Excluded, false},
		{`{` + d7 + `"items":[{"type":"null"}],"additionalItems":{"type":"null"}}`, `1`, Allowed, true},
		{`{` + d2019 + `"items":[{"type":"null"}]}`, `1`, Allowed, false},
		{`{` + d2019 + `"items":[{"type":"null"}]}`, `0`, Declared, true},
		{`{` + d7 + `"items":{"type":"null"},"additionalItems":false}`, `3`, Declared, true},
		{`{"anyOf":[{"items":{"type":"null"}}]}`, `0`, Unknown, false},
	} {
		n, got := walk(mustCompile(t, c.schema), c.path)
		if got != c.want || n.Known() != c.known {
			t.Errorf("%s\nat %s: got %v, known %v, want %v, known %v", c.schema, c.path, got, n.Known(), c.want, c.known)
		}
	}
}

// facts is all that a Node says, as text.
func facts(n Node) string {
	var parts []string
	add := func(name string, v any) {
		parts = append(parts, name+" "+string(toolflow.AppendValue(nil, v)))
	}
	names := func(name string, words []string) {
		if words != nil {
			parts = append(parts, name+" ["+strings.Join(words, " ")+"]")
		}
	}
	names("types", n.Types())
	if p := n.Properties(); len(p) > 0 {
		names("properties", p)
	}
	if r := n.Required(); len(r) > 0 {
		names("required", r)
	}
	if v, ok := n.Default(); ok {
		add("default", v)
	}
	if v, ok := n.Const(); ok {
		add("const", v)
	}
	if v := n.Enum(); v != nil {
		add("enum", v)
	}
	if d := n.Description(); d != "" {
		parts = append(parts, d)
	}
	if n.WriteOnly() {
		parts = append(parts, "writeOnly")
	}
	return strings.Join(parts, ", ")
}

func TestNode(t *testing.T) {
	const d7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, c := range []struct{ schema, path, want string }{
		{`{}`, ``, ``},
		{`false`, ``, `types []`},
		{`{"type":["string","null"]}`, ``, `types [null string]`},
		{`{"type":["string","number"],"allOf":[{"type":["integer","null"]}]}`, ``, `types [integer]`},
		{`{"type":["string","integer"],"allOf":[{"type":["number","string"]}]}`, ``, `types [integer string]`},
		{`{"type":"string","allOf":[{"type":"null"}]}`, ``, `types []`},
		{`{"properties":{"b":{},"a":{},"c":false},"allOf":[{"properties":{"d":{},"a":{}},"required":["d","b"]}],"required":["b","a"]}`, ``,
			`properties [a b d], required [a b d]`},
		{`{"default":{"n":1.50},"$ref":"#/$defs/x","$defs":{"x":{"default":2,"description":"far"}}}`, ``, `default {"n":1.50}, far`},
		{`{"description":"near","$ref":"#/$defs/x","$defs":{"x":{"default":2,"description":"far"}}}`, ``, `default 2, near`},
		{`{"const":9007199254740993}`, ``, `const 9007199254740993, enum [9007199254740993]`},
		{`{"const":null}`, ``, `const null, enum [null]`},
		{`{"enum":["a"]}`, ``, `const "a", enum ["a"]`},
		{`{"enum":["a","b",{"x":[1]},3],"allOf":[{"enum":[3.0,"c",{"x":[1.0]}]}]}`, ``, `enum [{"x":[1]},3]`},
		{`{"enum":["a"],"allOf":[{"enum":["b"]}]}`, ``, `enum []`},
		{`{"properties":{"k":{"type":"string","writeOnly":true}}}`, `k`, `types [string], writeOnly`},
		{`{"properties":{"k":{"type":"string","format":"password"}}}`, `k`, `types [string], writeOnly`},
		{`{` + d7 + `"properties":{"k":{"$ref":"#/definitions/x","description":"void","format":"password","writeOnly":true,"const":1}},"definitions":{"x":{"type":"string"}}}`,
			`k`, `types [string]`},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b","required":["x"]},"b":{"required":["y"],"properties":{"m":{"items":{"$ref":"#/$defs/a"}}}}}}`,
			`m 3`, `properties [m], required [x y]`},
	} {
		n, _ := walk(mustCompile(t, c.schema), c.path)
		if got := facts(n); got != c.want {
			t.Errorf("%s\nat %q: got %s, want %s", c.schema, c.path, got, c.want)
		}
	}
	if got := facts(Node{}); got != "" {
		t.Errorf("the zero Node says %s, want nothing", got)
	}
}

// TestNodeValuesAreCopies lets callers change what they got.
func TestNodeValuesAreCopies(t *testing.T) {
	s := mustCompile(t, `{"default":{"a":[1]},"enum":[{"a":[1]}]}`)
	for range 2 {
		d, _ := s.Root().Default()
		c, _ := s.Root().Const()
		e := s.Root().Enum()
		want := mustDecode(t, `{"a":[1]}`)
		if diff := cmp.Diff([]any{want, want, want}, []any{d, c, e[0]}); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		d.(map[string]any)["a"] = 2
		c.(map[string]any)["a"] = 2
		e[0].(map[string]any)["a"].([]any)[0] = 2
	}
}

// TestNodeStaysSmall gathers each sub-schema once, however often it is referred to.
func TestNodeStaysSmall(t *testing.T) {
	s := mustCompile(t, doubling(20))
	if diff := cmp.Diff([]string{"integer"}, s.Root().Types()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestExcludedIsCertain holds values that have the member against the schema itself.
func TestExcludedIsCertain(t *testing.T) {
	parts := []string{`{"properties":{"a":{}}}`, `{"properties":{"a":false}}`, `{"patternProperties":{"a":{}}}`, `{"additionalProperties":false}`,
		`{"unevaluatedProperties":false}`, `{"type":"object"}`, `{"type":"string"}`, `{"const":{"a":1}}`, `{"enum":[{"b":1},{"a":1}]}`,
		`{"propertyNames":{"const":"a"}}`, `{"maxProperties":1}`, `{"anyOf":[{"properties":{"a":{}}},{"required":["b"]}]}`, `{"$ref":"#/$defs/x"}`, `true`}
	values := []any{mustDecode(t, `{"a":1}`), mustDecode(t, `{"a":1,"b":2}`), mustDecode(t, `{"a":null}`)}
	checked := 0
	for _, one := range parts {
		for _, two := range parts {
			for _, outer := range []string{`"type":"object"`, `"unevaluatedProperties":false`, `"properties":{"b":{}},"additionalProperties":{"type":"integer"}`} {
				text := `{"allOf":[` + one + `,` + two + `],` + outer + `,"$defs":{"x":{"additionalProperties":{"type":"integer"}}}}`
				s := mustCompile(t, text)
				if _, p := s.Root().Property("a"); p != Excluded {
					continue
				}
				checked++
				for _, v := range values {
					if s.Validate(v) == nil {
						t.Errorf("%s\naccepts %s, but Property says excluded", text, toolflow.AppendValue(nil, v))
					}
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d schemas exclude the member", checked)
	}
}

func ExampleNode() {
	s, err := Compile(json.RawMessage(`{"properties": {"messages": {"items": {"$ref": "#/$defs/message"}}},
		"$defs": {"message": {"properties": {"role": {"enum": ["user", "system"]}}, "additionalProperties": false}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	messages, _ := s.Root().Property("messages")
	message, _ := messages.Item(0)
	role, presence := message.Property("role")
	fmt.Println(presence, role.Enum())
	_, presence = message.Property("rule")
	fmt.Println(presence)
	// Output:
	// declared [user system]
	// excluded
}
