package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMessages pins the text of each kind of problem.
func TestMessages(t *testing.T) {
	const chat = `{"type":"object","properties":{
		"messages":{"type":"array","minItems":1,"items":{"type":"object","properties":{
			"role":{"enum":["system","user","assistant"]},"content":{"type":"string"}},
			"required":["role","content"],"additionalProperties":false}},
		"temperature":{"type":"number","maximum":1}},"required":["messages"]}`
	long := strings.Repeat("é", 100)
	for _, c := range []struct{ schema, value, want string }{
		{chat, `{"messages":[{"role":"robot","content":""}]}`, `messages[0].role: got "robot", want one of "system", "user", "assistant"`},
		{chat, `{"messages":[{"content":""}]}`, `messages[0]: missing required member "role"`},
		{chat, `{"messages":[]}`, `messages: got 0 items, want at least 1`},
		{chat, `{"messages":{}}`, `messages: got object, want array`},
		{chat, `[]`, `got array, want object`},
		{chat, `{"messages":[{"role":"user","content":7,"extra":1},{"role":"user"}],"temperature":3}`,
			`messages[0]: unknown member "extra", want one of "content", "role"; messages[0].content: got number, want string; ` +
				`messages[1]: missing required member "content"; temperature: got 3, want at most 1`},

		{`{"type":"integer"}`, `"x"`, `got string, want integer`},
		{`{"type":"integer"}`, `1.5`, `got 1.5, want integer`},
		{`{"type":["string","null"]}`, `1`, `got number, want null or string`},
		{`{"const":9007199254740993}`, `9007199254740992`, `got 9007199254740992, want 9007199254740993`},
		{`{"const":{"a":[1]}}`, `{"a":[2]}`, `got object, want {"a":[1]}`},
		{`{"enum":[1,2.5,null]}`, `true`, `got true, want one of 1, 2.5, null`},
		{`{"enum":[1,2,3,4,5,6,7,8,9,10,11,12]}`, `0`, `got 0, want one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … (2 more)`},
		{`{"const":"x"}`, `"` + long + `"`, `got "` + strings.Repeat("é", 30) + `…", want "x"`},

		{`{"minimum":1}`, `0.5`, `got 0.5, want at least 1`},
		{`{"maximum":1e400}`, `2e400`, `got 2e400, want at most 1e400`},
		{`{"exclusiveMinimum":1}`, `1`, `got 1, want more than 1`},
		{`{"exclusiveMaximum":1.50}`, `1.5`, `got 1.5, want less than 1.50`},
		{`{"multipleOf":0.01}`, `0.015`, `got 0.015, want a multiple of 0.01`},
		{`{"minLength":2}`, `"é"`, `got 1 character, want at least 2`},
		{`{"maxLength":2}`, `"abc"`, `got 3 characters, want at most 2`},
		{`{"pattern":"^\\u00e9$"}`, `"abc"`, `got "abc", want a match of ^\u00e9$`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"date"}`, `"x"`, `got "x", want a string of format date`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"regex"}`, `"("`, `got "(", want a string of format regex`},

		{`{"maxItems":1}`, `[1,2]`, `got 2 items, want at most 1`},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, `items 0 and 2 are equal, want no two equal items`},
		{`{"contains":{"type":"string"}}`, `[1]`, `no item fits "contains"`},
		{`{"contains":{"type":"string"},"minContains":2}`, `["a"]`, `got 1 item that fit "contains", want at least 2`},
		{`{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, `got 2 items that fit "contains", want at most 1`},
		{`{"$schema":"http://json-schema.org/draft-07/schema","items":[true],"additionalItems":false}`, `[1,2]`, `got 2 items, want at most 1 item`},
		{`{"prefixItems":[true],"items":false}`, `[1,2]`, `[1]: no value is allowed here`},

		{`{"minProperties":1}`, `{}`, `got 0 members, want at least 1`},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, `got 2 members, want at most 1`},
		{`{"additionalProperties":false}`, `{"b":1,"a":1}`, `unknown member "a"; unknown member "b"`},
		{`{"unevaluatedProperties":false}`, `{"b":1}`, `b: this member is not allowed`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `a: this member is not allowed`},
		{`{"propertyNames":{"pattern":"^a"}}`, `{"b":1}`, `member name "b" is not allowed: got "b", want a match of ^a`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `missing member "b", which "a" requires`},
		{`{"$schema":"http://json-schema.org/draft-07/schema","dependencies":{"a":["b"]}}`, `{"a":1}`, `missing member "b", which "a" requires`},
		{`false`, `1`, `no value is allowed here`},
		{`{"not":{"type":"string"}}`, `"x"`, `got "x", want a value that "not" does not exclude`},

		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, `got number, want string or null`},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `1.5`, `got 1.5, want string or integer`},
		{`{"oneOf":[{"const":"a"},{"enum":["b","c"]}]}`, `"d"`, `got "d", want one of "a", "b", "c"`},
		{`{"oneOf":[{"const":"a"},{"type":"null"}]}`, `"d"`, `got "d", want "a", or null`},
		{`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `3`, `got a value that fits alternatives 1 and 2, want exactly one`},
		{`{"items":{"anyOf":[{"type":"object","required":["url","name"]},{"type":"object","required":["path"]},{"type":"null"}]}}`, `[{}]`,
			`[0]: fits none of 3 alternatives; the closest, number 2, says: missing required member "path"`},
		{`{"oneOf":[{"properties":{"kind":{"const":"circle"},"size":{"type":"null"}}},{"properties":{"kind":{"const":"square"},"size":{"type":"number"}}}]}`,
			`{"kind":"square","size":"x"}`, `fits none of 2 alternatives; the closest, number 2, says: size: got string, want number`},
		{`{"allOf":[{"required":["a"]},{"required":["a"]},{"$ref":"#/$defs/x"}],"$defs":{"x":{"minProperties":1}}}`, `{}`,
			`got 0 members, want at least 1; missing required member "a"`},

		{`{"additionalProperties":{"type":"string"}}`, `{"odd name":1,"it's":2,"a/b":3,"é":4,"0":5}`,
			`['0']: got number, want string; ['a/b']: got number, want string; ['it\'s']: got number, want string; ` +
				`['odd name']: got number, want string; é: got number, want string`},
		{`{"items":{"type":"string"}}`, `["a","a",0,"a","a","a","a","a","a","a",1]`, `[2]: got number, want string; [10]: got number, want string`},
	} {
		for range 3 { // the library reports in no fixed order
			err := mustCompile(t, c.schema).Validate(mustDecode(t, c.value))
			if err == nil {
				t.Errorf("%s\nholds %s: got no error, want %s", c.schema, c.value, c.want)
			} else if got := err.Error(); got != c.want {
				t.Errorf("%s\nholds %s:\ngot  %s\nwant %s", c.schema, c.value, got, c.want)
			}
		}
	}
}

// TestValid holds values that fit, where exactness or a dialect decides.
func TestValid(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#"`
	for _, c := range []struct{ schema, value string }{
		{`{"const":1}`, `1.0`},
		{`{"const":9007199254740993}`, `9007199254740993.0`},
		{`{"enum":[100]}`, `1e2`},
		{`{"type":"integer"}`, `123456789012345678901234567890`},
		{`{"type":"integer"}`, `1.0`},
		{`{"format":"date"}`, `"x"`},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","format":"email"}`, `"x"`},
		{`{` + draft7 + `,"format":"no such"}`, `"x"`},
		{`{` + draft7 + `,"format":"regex"}`, `"(?=x)"`},
		{`{` + draft7 + `,"$ref":"#/definitions/a","const":1,"if":true,"then":false,"contains":false,"definitions":{"a":{"type":"array"}}}`, `[2]`},
		{`{"$id":"http://a.test/x","items":{"$ref":"x#/$defs/y"},"$defs":{"y":{"$id":"y","$anchor":"z","type":"integer"}},"contains":{"$ref":"y#z"}}`, `[1]`},
		{`{"$ref":"#/components/schemas/A","components":{"schemas":{"A":{"type":"integer"}}}}`, `1`},
		{`{"$ref":"#/$defs/%25%20~1~0","$defs":{"% /~":{"type":"integer"}}}`, `1`},
	} {
		if err := mustCompile(t, c.schema).Validate(mustDecode(t, c.value)); err != nil {
			t.Errorf("%s\nholds %s: got %v", c.schema, c.value, err)
		}
	}
}

func TestProblem(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a/b":{"items":{"properties":{"c":{"minimum":5}},"required":["d"]}}}}`)
	err := s.Validate(mustDecode(t, `{"a/b":[{"c":4}]}`))
	var got *Invalid
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want an *Invalid", err)
	}
	want := &Invalid{Problems: []Problem{
		{Path: "['a/b'][0]", Pointer: "/a~1b/0", Want: `member "d"`, Message: `missing required member "d"`},
		{Path: "['a/b'][0].c", Pointer: "/a~1b/0/c", Want: "at least 5", Got: "4", Message: "got 4, want at least 5"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestProblemsAreClipped(t *testing.T) {
	s := mustCompile(t, `{"additionalProperties":{"type":"string"}}`)
	value := map[string]any{}
	for _, name := range strings.Split(strings.Repeat("x", 25), "") {
		value[strings.Repeat(name, len(value)+1)] = nil
	}
	var got *Invalid
	if err := s.Validate(value); !errors.As(err, &got) {
		t.Fatal(err)
	}
	if len(got.Problems) != 20 || got.More != 5 || !strings.HasSuffix(got.Error(), "; and 5 more") {
		t.Errorf("got %d problems and %d more: %s", len(got.Problems), got.More, got)
	}
}
