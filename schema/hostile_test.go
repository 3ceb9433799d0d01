package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow"
)

// patience is how long a hostile schema may take on a slow machine, under the race detector; a second
// is plenty elsewhere. Without limits they take hours.
const patience = 10 * time.Second

// doubling gives a schema that asks for 2^n evaluations of one value.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"a%d":{"type":"integer"}}}`, n)
	return b.String()
}

// nested gives a schema of n subschemas inside each other.
func nested(n int) string {
	return strings.Repeat(`{"properties":{"a":`, n) + `{"type":"integer"}` + strings.Repeat(`}}`, n)
}

// deep gives a value of n objects inside each other.
func deep(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }

func TestHostileSchemas(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.json")
	if err := os.WriteFile(secret, []byte(`{"type":"integer"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprint(w, `{"type":"integer"}`)
	}))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port

	for _, c := range []struct {
		name, schema string
		kind         ErrorKind
		want         string // of the error
	}{
		{"itself", `{"$ref":"#"}`, KindReference, `references go in a circle and never reach a value (# -> #)`},
		{"each other", `{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, KindReference,
			`references go in a circle and never reach a value (#/$defs/a -> #/$defs/b -> #/$defs/b/allOf/0 -> #/$defs/a) at /$defs/a`},
		{"not itself", `{"not":{"$ref":"#"}}`, KindReference, `references go in a circle and never reach a value (# -> #/not -> #)`},
		{"dynamic circle", `{"$dynamicAnchor":"x","$dynamicRef":"#x"}`, KindReference, `references go in a circle and never reach a value (# -> #)`},
		{"recursive circle", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"$recursiveRef":"#"}`, KindReference,
			`references go in a circle and never reach a value (# -> #)`},
		{"file", `{"properties":{"a":{"$ref":"file://` + filepath.ToSlash(secret) + `"}}}`, KindReference,
			`$ref "file://` + toolflow.Clip("file://"+filepath.ToSlash(secret), clipAt)[7:] + `" leads outside the schema, and nothing is loaded from there: copy the target into $defs at /properties/a/$ref`},
		{"http", fmt.Sprintf(`{"$ref":"http://127.0.0.1:%d/x.json"}`, port), KindReference,
			fmt.Sprintf(`$ref "http://127.0.0.1:%d/x.json" leads outside the schema, and nothing is loaded from there: copy the target into $defs at /$ref`, port)},
		{"relative", `{"$ref":"other.json#/a"}`, KindReference, `$ref "other.json#/a" leads outside the schema, and nothing is loaded from there: copy the target into $defs at /$ref`},
		{"metaschema", `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"http://json-schema.org/draft-07/schema#"}`, KindReference,
			`$ref "http://json-schema.org/draft-07/schema#" leads outside the schema, and nothing is loaded from there: copy the target into definitions at /$ref`},
		{"nowhere", `{"$ref":"#/$defs/a"}`, KindReference, `$ref "#/$defs/a" leads to nothing in the schema at /$ref`},
		{"no anchor", `{"items":{"$dynamicRef":"#a"}}`, KindReference, `$dynamicRef "#a" leads to nothing in the schema at /items/$dynamicRef`},
		{"not a schema", `{"$ref":"#/required","required":["a"]}`, KindReference, `$ref "#/required" leads to array, want a schema at /$ref`},
		{"no reference", `{"$ref":"%zz"}`, KindReference, `$ref "%zz" is no URI reference: parse "%zz": invalid URL escape "%zz" at /$ref`},
		{"outside a keyword", `{"$ref":"#/x/y","x":{"y":{"$ref":"http://a.test/"}}}`, KindReference,
			`$ref "http://a.test/" leads outside the schema, and nothing is loaded from there: copy the target into $defs at /x/y/$ref`},
		{"nested 51", nested(51), KindLimit, `subschemas are nested more than 50 levels deep at ` + toolflow.Clip(strings.Repeat("/properties/a", 51), 200)},
		{"nested 1000", strings.Repeat(`{"not":`, 1000) + `true` + strings.Repeat(`}`, 1000), KindLimit,
			`subschemas are nested more than 50 levels deep at ` + toolflow.Clip(strings.Repeat("/not", 51), 200)},
		{"nested 100000", strings.Repeat(`{"not":`, 100_000) + `true` + strings.Repeat(`}`, 100_000), KindLimit, `schema text is nested more than 1000 levels deep`},
		{"large", `{"description":"` + strings.Repeat("x", 1<<20) + `"}`, KindLimit, `schema of 1048594 bytes is larger than 1048576`},
		{"wide", `{"allOf":[` + strings.Repeat(`{},`, 10_000) + `{}]}`, KindLimit, `schema holds more than 10000 subschemas`},
		{"long names", `{"properties":{"` + strings.Repeat("n", 500_000) + `":{"allOf":[` + strings.Repeat("{},", 9000) + `{}]}}}`, KindLimit,
			`names in the schema are too long for its many subschemas at /properties/` + strings.Repeat("n", 188) + `…`},
		{"strays", strays(3000), KindLimit, `3000 references lead to schemas outside every keyword, move these into $defs`},
		{"1e401", `{"maximum":1e401}`, KindSyntax, `number 1e401 has an exponent outside ±400 at /maximum`},
		{"1e10000000", `{"const":1e10000000}`, KindSyntax, `number 1e10000000 has an exponent outside ±400 at /const`},
		{"long number", `{"const":` + strings.Repeat("9", 20_000) + `}`, KindLimit, `number 99999999999999999999… has more than 10000 digits`},
		{"duplicate", `{"type":"object","type":"string"}`, KindSyntax, `member "type" stands twice`},
		{"cut off", `{"type":`, KindSyntax, `the text ends in the middle of a JSON value at /type`},
		{"empty", ``, KindSyntax, `no JSON value: the text is empty`},
		{"number", `12`, KindInvalid, `got 12, want a schema: an object, true or false`},
		{"bad type", `{"properties":{"a":{"type":"strng"}}}`, KindInvalid,
			`got "strng", want one of "array", "boolean", "integer", "null", "number", "object", "string", or array at /properties/a/type`},
		{"two bad members", `{"properties":[],"minimum":"1"}`, KindInvalid, `got string, want number (and 1 problem more) at /minimum`},
		{"bad strays", `{"allOf":[{"$ref":"#/x/b"},{"$ref":"#/x/a"}],"x":{"a":{"type":1},"b":{"type":2}}}`, KindInvalid,
			`got 1, want one of "array", "boolean", "integer", "null", "number", "object", "string", or array at /x/a/type`},
		{"twice the same $id", `{"$defs":{"a":{"$id":"http://a.test/"},"b":{"$id":"http://a.test/"}}}`, KindInvalid,
			`$id "http://a.test/" is also that of #/$defs/a, each may stand once at /$defs/b/$id`},
		{"twice the same anchor", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, KindInvalid,
			`anchor "x" is also that of #/$defs/a, each may stand once at /$defs/b`},
		{"draft-04", `{"$schema":"http://json-schema.org/draft-04/schema#"}`, KindDialect,
			`dialect "http://json-schema.org/draft-04/schema#" is not supported, use https://json-schema.org/draft/2020-12/schema, ` +
				`https://json-schema.org/draft/2019-09/schema or http://json-schema.org/draft-07/schema# at /$schema`},
		{"no dialect", `{"$schema":7}`, KindDialect, `dialect 7 is not supported, use https://json-schema.org/draft/2020-12/schema, ` +
			`https://json-schema.org/draft/2019-09/schema or http://json-schema.org/draft-07/schema# at /$schema`},
		{"two dialects", `{"$defs":{"a":{"$id":"a","$schema":"http://json-schema.org/draft-07/schema#"}}}`, KindDialect,
			`dialect "http://json-schema.org/draft-07/schema#" differs from that of the whole schema, 2020-12 at /$defs/a/$schema`},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			_, err := Compile(json.RawMessage(c.schema))
			took := time.Since(start)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Kind != c.kind || e.Error() != c.want {
				t.Errorf("got  %s: %s\nwant %s: %s", e.Kind, e, c.kind, c.want)
			}
			if took > patience {
				t.Errorf("took %v", took)
			}
		})
	}
	if asked > 0 {
		t.Errorf("%d requests were made", asked)
	}
}

// strays gives a schema whose references lead outside every keyword.
func strays(n int) string {
	var refs, targets []string
	for i := range n {
		refs = append(refs, fmt.Sprintf(`{"$ref":"#/x/%d"}`, i))
		targets = append(targets, fmt.Sprintf(`"%d":{}`, i))
	}
	return `{"anyOf":[` + strings.Join(refs, ",") + `],"x":{` + strings.Join(targets, ",") + `}}`
}

// TestHostileEvaluation holds values against schemas whose evaluation would not end, or not soon.
func TestHostileEvaluation(t *testing.T) {
	numbers := make([]string, 50_000)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i)
	}
	for _, c := range []struct {
		name, schema, value, want string
	}{
		{"doubling", doubling(24), `1`, `validation takes too many steps`},
		{"doubling, invalid", doubling(24), `"x"`, `validation takes too many steps`},
		{"deep doubling", doubling(30), `1`, "validation goes more than 50 subschemas deep at /$defs/a25"},
		{"deep recursion", `{"properties":{"a":{"$ref":"#"}}}`, deep(26), "validation of " +
			strings.TrimSuffix(strings.Repeat("a.", 26), ".") + " goes more than 50 subschemas deep at /properties/a"},
		{"large enum", `{"items":{"enum":[` + strings.Join(numbers, ",") + `]}}`, `[` + strings.Repeat(`-1,`, 1000) + `1]`, `validation takes too many steps`},
		{"large pattern", `{"pattern":"([a-z]{0,30}[0-9]{0,30}){30}x"}`, `"` + strings.Repeat("ab1", 100_000) + `"`, `validation takes too many steps`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, c.schema)
			v := mustDecode(t, c.value)
			start := time.Now()
			err := s.Validate(v)
			took := time.Since(start)
			var e *Error
			if !errors.As(err, &e) || e.Kind != KindLimit || e.Error() != c.want {
				t.Errorf("got  %v\nwant limit: %s", err, c.want)
			}
			if took > patience {
				t.Errorf("took %v", took)
			}
			t.Logf("ended after %v", took)
		})
	}
}

// TestDepth pins what the evaluation depth counts: subschemas and reference hops, the root at 0.
func TestDepth(t *testing.T) {
	list := `{"$ref":"#/$defs/node","$defs":{"node":{"properties":{"a":{"$ref":"#/$defs/node"}}}}}`
	for _, c := range []struct {
		name, schema string
		options      Options
		depth        int
		ok           bool
	}{
		{"50 properties", nested(50), Options{}, 50, true},
		{"51 properties", nested(51), Options{MaxNesting: 60}, 51, false},
		{"51 properties, one more allowed", nested(51), Options{MaxNesting: 60, MaxDepth: 51}, 51, true},
		{"24 references", list, Options{}, 24, true},
		{"25 references", list, Options{}, 25, false},
		{"25 references, more allowed", list, Options{MaxDepth: 60}, 25, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := CompileWith(json.RawMessage(c.schema), c.options)
			if err != nil {
				t.Fatal(err)
			}
			err = s.Validate(mustDecode(t, deep(c.depth)))
			var e *Error
			if limit := errors.As(err, &e) && e.Kind == KindLimit; limit == c.ok || c.ok && err != nil {
				t.Errorf("got %v, want passing %v", err, c.ok)
			}
		})
	}
}

// TestHostileValues holds values that a caller should not have let through.
func TestHostileValues(t *testing.T) {
	s := mustCompile(t, `{"maximum":5,"multipleOf":0.01}`)
	for _, c := range []struct {
		value any
		want  string
	}{
		{json.Number("1e10000000"), `number 1e10000000 has an exponent outside ±400`},
		{[]any{json.Number(strings.Repeat("1", 100_000))}, `number 11111111111111111111… has more than 10000 digits`},
		{json.Number("NaN"), `validation cannot go on: runtime error: invalid memory address or nil pointer dereference`},
		{struct{}{}, `got struct {}, want a JSON value`},
		{map[string]any{"a": []string{"x"}}, ``},
	} {
		got := ""
		if err := s.Validate(c.value); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", toolflow.Clip(fmt.Sprint(c.value), 40), got, c.want)
		}
	}
	if err := s.Validate(json.Number("4.99")); err != nil {
		t.Errorf("the schema no longer works: %v", err)
	}
}

// TestManyProblems bounds the memory of a report, not the verdict.
func TestManyProblems(t *testing.T) {
	s := mustCompile(t, `{"items":{"anyOf":[{"type":"integer"},{"type":"object"},{"type":"null"}]}}`)
	values := make([]any, 100_000)
	for i := range values {
		values[i] = "x"
	}
	var invalid *Invalid
	if err := s.Validate(values); !errors.As(err, &invalid) {
		t.Fatalf("got %v, want an *Invalid", err)
	}
	if len(invalid.Problems) != 20 || invalid.More != 99_980 {
		t.Errorf("got %d problems and %d more, want 20 and 99980", len(invalid.Problems), invalid.More)
	}
	if got, want := invalid.Problems[19].String(), `[19]: got string, want integer, object or null`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLateProblem keeps the words of a problem that comes after many alternatives that did not fit.
func TestLateProblem(t *testing.T) {
	s := mustCompile(t, `{"items":{"anyOf":[{"type":"integer"},{"type":"string","maxLength":1}]}}`)
	values := make([]any, 3*maxKept)
	for i := range values {
		values[i] = "x"
	}
	values[len(values)-1] = "xy"
	want := `[29999]: fits none of 2 alternatives; the closest, number 2, says: got 2 characters, want at most 1`
	if err := s.Validate(values); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func mustCompile(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatalf("%s: %v", toolflow.Clip(schema, 200), err)
	}
	return s
}

func mustDecode(t testing.TB, text string) any {
	t.Helper()
	v, err := toolflow.DecodeValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", toolflow.Clip(text, 200), err)
	}
	return v
}
