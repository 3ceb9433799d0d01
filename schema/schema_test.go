package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolflow-go/toolflow"
)

const chatSchema = `{"type":"object","properties":{"messages":{"type":"array","items":{"type":"object","properties":{
	"role":{"type":"string","enum":["system","user","assistant"]},"content":{"type":"string"}},"required":["role","content"]}}},"required":["messages"]}`

const chatValue = `{"messages":[{"role":"system","content":"be precise"},{"role":"user","content":"what is a dag?"}]}`

func TestDialects(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{}`, "2020-12"},
		{`true`, "2020-12"},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema"}`, "2020-12"},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema#"}`, "2020-12"},
		{`{"$schema":"http://json-schema.org/draft/2020-12/schema"}`, "2020-12"},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema"}`, "2019-09"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#"}`, "draft-07"},
		{`{"$schema":"http://json-schema.org/draft-07/schema"}`, "draft-07"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$schema":"http://json-schema.org/draft-07/schema"}}}`, "draft-07"},
		{`{"$schema":"http://json-schema.org/draft-06/schema#"}`, ""},
		{`{"$schema":"https://json-schema.org/schema"}`, ""},
		{`{"$schema":"json-schema.org/draft-07/schema"}`, ""},
		{`{"$schema":""}`, ""},
	} {
		s, err := Compile(json.RawMessage(c.schema))
		var e *Error
		switch {
		case c.want == "" && (!errors.As(err, &e) || e.Kind != KindDialect):
			t.Errorf("%s: got %v, want an error of kind dialect", c.schema, err)
		case c.want != "" && err != nil:
			t.Errorf("%s: %v", c.schema, err)
		case c.want != "" && s.Dialect() != c.want:
			t.Errorf("%s: got %s, want %s", c.schema, s.Dialect(), c.want)
		}
	}
}

// TestRawIsKept lets the caller reuse the memory of the text.
func TestRawIsKept(t *testing.T) {
	text := []byte(`{"type":"string"}`)
	s := mustCompile(t, string(text))
	raw := json.RawMessage(text)
	again, err := Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	copy(text, `{"type":"number"}`)
	for _, s := range []*Schema{s, again} {
		if string(s.Raw()) != `{"type":"string"}` || s.Validate("x") != nil {
			t.Errorf("got %s, want the text that was compiled", s.Raw())
		}
	}
}

// TestLargeValues gives large values more steps: what they need grows with them.
func TestLargeValues(t *testing.T) {
	rows := make([]any, 50_000)
	for i := range rows {
		rows[i] = map[string]any{"role": "user", "content": "x"}
	}
	if err := mustCompile(t, chatSchema).Validate(map[string]any{"messages": rows}); err != nil {
		t.Error(err)
	}
	s, err := CompileWith(json.RawMessage(chatSchema), Options{MaxSteps: 500})
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := s.Validate(map[string]any{"messages": rows}); !errors.As(err, &e) || e.Kind != KindLimit {
		t.Errorf("got %v, want a limit error", err)
	}
	if err := s.Validate(map[string]any{"messages": rows[:100]}); err != nil {
		t.Errorf("after a limit error: %v", err)
	}
}

func TestCache(t *testing.T) {
	var c Cache
	one, err := c.Compile(json.RawMessage(chatSchema))
	if err != nil {
		t.Fatal(err)
	}
	two, _ := c.Compile(json.RawMessage(chatSchema))
	other, _ := c.Compile(json.RawMessage(chatSchema + " "))
	if one != two || one == other {
		t.Errorf("got %p, %p and %p, want the same twice and another", one, two, other)
	}
	_, first := c.Compile(json.RawMessage(`{"type":1}`))
	_, second := c.Compile(json.RawMessage(`{"type":1}`))
	if first == nil || first != second {
		t.Errorf("got %v and %v, want the same error twice", first, second)
	}
	small := Cache{Options: Options{MaxBytes: 10}}
	var e *Error
	if _, err := small.Compile(json.RawMessage(chatSchema)); !errors.As(err, &e) || e.Kind != KindLimit {
		t.Errorf("got %v, want a limit error", err)
	}
}

// TestConcurrent shares one cache and its schemas between goroutines; run it with -race.
func TestConcurrent(t *testing.T) {
	var c Cache
	schemas := []string{chatSchema, doubling(8), `{"pattern":"^a+$"}`, `{"$ref":"#"}`}
	value := mustDecode(t, chatValue)
	want := make([]string, len(schemas))
	look := func(i int) string {
		s, err := c.Compile(json.RawMessage(schemas[i]))
		if err != nil {
			return err.Error()
		}
		role, p := walk(s, "messages 0 role")
		return fmt.Sprintln(s.Validate(value), s.Validate("b"), p, role.Enum())
	}
	for i := range schemas {
		want[i] = look(i)
	}
	c = Cache{}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 40 {
				if got := look((g + i) % len(schemas)); got != want[(g+i)%len(schemas)] {
					t.Errorf("got %s, want %s", got, want[(g+i)%len(schemas)])
				}
				runtime.Gosched()
			}
		})
	}
	all.Wait()
}

// FuzzCompile feeds any text and any value: what compiles validates without a panic, twice with the
// same words, and what Node excludes is never accepted.
func FuzzCompile(f *testing.F) {
	for _, seed := range [][2]string{
		{chatSchema, chatValue},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","definitions":{"a":{"items":[{},false]}}}`, `[1,2]`},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"additionalProperties":{"$recursiveRef":"#"}}`, `{"a":{"a":{}}}`},
		{`{"$dynamicAnchor":"x","unevaluatedProperties":false,"anyOf":[{"$dynamicRef":"#x"}]}`, `{"a":1}`},
		{`{"patternProperties":{"^\\u0061{1,2000}(?!b)":{"const":1e400}},"propertyNames":{"maxLength":1}}`, `{"a":1,"bb":2}`},
		{`{"oneOf":[{"const":1},{"enum":[1.0,{"a":null}]},{"not":{}}],"contains":false,"dependentRequired":{"a":["b"]}}`, `{"a":1}`},
		{`{"$id":"urn:x:y","$defs":{"a/b~":{"$id":"#z","$anchor":"w"}},"$ref":"#/$defs/a~1b~0"}`, `null`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, text, value []byte) {
		v, err := toolflow.DecodeValue(value)
		if err != nil {
			v = "sample"
		}
		words := func() string {
			s, err := Compile(text)
			if err != nil {
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("got %T, want an *Error: %v", err, err)
				}
				return err.Error()
			}
			err = s.Validate(v)
			checkExcluded(t, s, v, err)
			return fmt.Sprint(err, s.Warnings(), facts(s.Root()))
		}
		if diff := cmp.Diff(words(), words()); diff != "" {
			t.Errorf("two runs differ:\n%s", diff)
		}
	})
}

// checkExcluded wants err when v has a member or an item that the root excludes.
func checkExcluded(t *testing.T, s *Schema, v any, err error) {
	t.Helper()
	excluded := false
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			_, p := s.Root().Property(name)
			excluded = excluded || p == Excluded
		}
	case []any:
		for i := range v {
			_, p := s.Root().Item(i)
			excluded = excluded || p == Excluded
		}
	}
	if excluded && err == nil {
		t.Errorf("%s\naccepts %s, of which it excludes a part", s.Raw(), toolflow.AppendValue(nil, v))
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(json.RawMessage(chatSchema)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	s, v := mustCompile(b, chatSchema), mustDecode(b, chatValue)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidateParallel(b *testing.B) {
	s, v := mustCompile(b, chatSchema), mustDecode(b, chatValue)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Validate(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCacheHit(b *testing.B) {
	var c Cache
	raw := json.RawMessage(chatSchema)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Compile(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNode(b *testing.B) {
	s := mustCompile(b, chatSchema)
	b.ReportAllocs()
	for b.Loop() {
		if _, p := walk(s, "messages 0 role"); p != Declared {
			b.Fatal(p)
		}
	}
}

func ExampleSchema_Validate() {
	s, err := Compile(json.RawMessage(chatSchema))
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := toolflow.DecodeValue([]byte(`{"messages":[{"role":"robot"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var invalid *Invalid
	if errors.As(s.Validate(v), &invalid) {
		for _, p := range invalid.Problems {
			fmt.Println(p)
		}
	}
	// Output:
	// messages[0]: missing required member "content"
	// messages[0].role: got "robot", want one of "system", "user", "assistant"
}
