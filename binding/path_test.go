package binding

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// value decodes JSON for a test.
func value(t testing.TB, text string) any {
	t.Helper()
	v, err := toolflow.DecodeValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// text encodes a value for a test.
func text(v any) string { return string(toolflow.AppendValue(nil, v)) }

// under compiles a schema for a test and gives its root.
func under(t testing.TB, raw string) schema.Node {
	t.Helper()
	if raw == "" {
		return schema.Node{}
	}
	s, err := schema.Compile(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s.Root()
}

func TestParsePath(t *testing.T) {
	for _, c := range []struct {
		text, want string
		singular   bool
	}{
		{"$", "$", true},
		{"system_response", "$.system_response", true},
		{"a.b", "$.a.b", true},
		{"$.a.b", "$.a.b", true},
		{"[0].data", "$[0].data", true},
		{"a[0].b", "$.a[0].b", true},
		{"a[-1]", "$.a[-1]", true},
		{`$ ["a"] .b [ 0 ]`, "$.a.b[0]", true},
		{"['a b'].x", "$['a b'].x", true},
		{`a['it"s'].c`, `$.a['it"s'].c`, true},
		{`a["it's"]`, `$.a['it\'s']`, true},
		{`$['0']`, `$['0']`, true},
		{`$['$ref']`, `$['$ref']`, true},
		{`$['\u0000\n\\"']`, `$['\u0000\n\\"']`, true},
		{"日本.x", "$.日本.x", true},
		{"a[9999999999999]", "$.a[9999999999999]", true},
		{"true.null", "$.true.null", true},
		{"a[*].b", "$.a[*].b", false},
		{"$.a[?(@.b>1)]", "$.a[?(@.b>1)]", false},
		{"a[1:3]", "$.a[1:3]", false},
		{"$..true", "$..['true']", false},
		{`$.x['.true'][?@.a==@.null]`, `$.x['.true'][?@.a==@['null']]`, false},
	} {
		p, err := ParsePath(c.text, schema.Node{})
		if err != nil {
			t.Errorf("ParsePath(%q): %v", c.text, err)
			continue
		}
		if p.String() != c.want || p.Singular() != c.singular {
			t.Errorf("ParsePath(%q): got %s (singular: %v), want %s (%v)", c.text, p, p.Singular(), c.want, c.singular)
		}
	}
}

func TestParsePathErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `path "": it is empty (write $ for the whole value)`},
		{" ", `path " ": it is empty (write $ for the whole value)`},
		{".a", `path ".a": a path starts with a name or with $ (write $.a)`},
		{"..a", `path "..a": a path starts with a name or with $ (write $..a)`},
		{"*", `path "*": a path starts with a name or with $ (write $.*)`},
		{"*.a", `path "*.a": a path starts with a name or with $ (write $.*.a)`},
		{"@", `path "@": @ stands for the current value, which only a filter has (write $)`},
		{"@.a.b", `path "@.a.b": @ stands for the current value, which only a filter has (write $.a.b)`},
		{"@type", `path "@type": @ stands for the current value, which only a filter has (write $['@type'] or $.type)`},
		{"$ref", `path "$ref": $ is followed by a name (write $['$ref'] or $.ref)`},
		{"/a/0/b~1c", `path "/a/0/b~1c": this is a JSON Pointer, not a JSONPath (write $.a[0]['b/c'])`},
		{"#/a/b", `path "#/a/b": this is a JSON Pointer, not a JSONPath (write $.a.b)`},
		{"a[].b", `path "a[].b": this is JMESPath, not JSONPath (write $.a[*].b)`},
		{"a | b", `path "a | b": this is JMESPath, not JSONPath (write $.a.b)`},
		{"a | [1]", `path "a | [1]": this is JMESPath, not JSONPath (write $.a[1])`},
		{"a[*].b | [0]", `path "a[*].b | [0]": this is JMESPath, not JSONPath (write $.a[*].b and "take": "first")`},
		{"a || b", `path "a || b": this is JMESPath, not JSONPath (write $.a)`},
		{"a[?n > `5`]", "path \"a[?n > `5`]\": this is JMESPath, not JSONPath (write $.a[?@.n > 5])"},
		{"{x: a}", `path "{x: a}": this is JMESPath, not JSONPath`},
		{"length(@)", `path "length(@)": a path selects values and computes none (write $)`},
		{"length(items)", `path "length(items)": a path selects values and computes none (write $.items)`},
		{"join(',', a)", `path "join(',', a)": a path selects values and computes none`},
		{"{{ items[0] }}", `path "{{ items[0] }}": this is a template, and a path stands alone (write $.items[0])`},
		{"${x.y}", `path "${x.y}": this is a template, and a path stands alone (write $.x.y)`},
		{"hi {{x}}", `path "hi {{x}}": values are copied whole, strings have no templates`},
		{"$.a[(@.length-1)]", `path "$.a[(@.length-1)]": JSONPath has no script expressions (write $.a[-1])`},
		{`$.a[?(@.b=~/x\.y/)]`, `path "$.a[?(@.b=~/x\\.y/)]": JSONPath has search() and match(), not =~ (write $.a[?(search(@.b, 'x\\.y'))])`},
		{"a-b", `path "a-b": such a name stands in brackets and quotes (write $['a-b'])`},
		{"a b", `path "a b": such a name stands in brackets and quotes (write $['a b'])`},
		{"a[id]", `path "a[id]": such a name stands in brackets and quotes (write $.a['id'])`},
		{"a.0.b", `path "a.0.b": an index stands in brackets (write $.a[0].b)`},
		{"a?.b", `path "a?.b": unexpected '?' at character 2 (write $.a.b)`},
		{"a.", `path "a.": it ends too soon (write $.a)`},
		{"a[0", `path "a[0": it ends too soon`},
		{"日本[01]", `path "日本[01]": invalid number literal at character 4`},
		{"[18446744073709551616]", `path "[18446744073709551616]": cannot parse "18446744073709551616", value out of range at character 2`},
		{"\xff", `path "\xff": it is not UTF-8`},
		{strings.Repeat("a", 1025), `path "` + strings.Repeat("a", 80) + `…": it is 1025 bytes long, the limit is 1024`},
	} {
		_, err := ParsePath(c.text, schema.Node{})
		if err == nil || err.Error() != c.want {
			t.Errorf("ParsePath(%q):\n got %v\nwant %s", c.text, err, c.want)
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("ParsePath(%q): got %T, want a *SyntaxError", c.text, err)
		}
	}
}

func TestSelect(t *testing.T) {
	for _, c := range []struct{ path, document, want string }{
		{"$", `null`, `[null]`},
		{"a", `{"a":null}`, `[null]`}, // a null is a value, an absent member is none
		{"a", `{}`, `[]`},
		{"a[-1]", `{"a":[1,2]}`, `[2]`},
		{"a[-3]", `{"a":[1,2]}`, `[]`},
		{"a[9999999999999]", `{"a":[1,2]}`, `[]`},
		{"a[0]", `{"a":{"0":"x"}}`, `[]`},
		{"a.length", `{"a":[1]}`, `[]`},
		{"n", `{"n":12345678901234567890.10}`, `[12345678901234567890.10]`},
		{"$.*", `{"z":1,"a":2,"m":3}`, `[2,3,1]`},
		{"$..x", `{"b":{"x":1},"a":{"x":2},"x":3}`, `[3,2,1]`},
		{"$[?@.k]", `{"z":{"k":1},"a":{"k":2},"b":{}}`, `[{"k":2},{"k":1}]`},
		{"a[::-1]", `{"a":[1,2,3]}`, `[3,2,1]`},
		{"a[0,0,'b']", `{"a":[1]}`, `[1,1]`},
		{"$[?match(@,'a|b')]", `["a","b","ab","xb"]`, `["a","b"]`},
		{"$[?search(@,'^a|c$')]", `["ab","xc","xbx"]`, `["ab","xc"]`},
		{"$[?match(@,'a.b')]", `["axb","a\nb","a\rb"]`, `["axb"]`},
		{"$[?match(@,'a[.]b')]", `["axb","a.b"]`, `["a.b"]`},
		{`$[?match(@,'a\\.[^].]b')]`, `["a..b","a.xb","a.]b"]`, `["a.xb"]`},
		{"$[?match(@,'a)|(b')]", `["a","b"]`, `[]`},           // no regular expression by itself
		{"$[?match(@.s,@.p)]", `[{"s":"x"},{"p":"x"}]`, `[]`}, // the library's own panics
		{"$[?match(@.s,@.p)]", `[{"s":"xy","p":"x."}]`, `[{"p":"x.","s":"xy"}]`},
		{"$[?count(@..x)>1]", `[{"x":{"x":1}},{"x":1}]`, `[{"x":{"x":1}}]`},
		{"$[?length(value(@..x))==2]", `[{"x":"ab"},{"x":"a"},{"x":{"x":"ab"}}]`, `[{"x":"ab"}]`},
		{"$[?!(@.a[?@.b])]", `[{"a":[{"b":1}]},{"a":[{}]}]`, `[{"a":[{}]}]`},
	} {
		p, err := ParsePath(c.path, schema.Node{})
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		values, err := p.Select(value(t, c.document))
		if got := text(append([]any{}, values...)); err != nil || got != c.want {
			t.Errorf("%s on %s: got %s, %v, want %s", c.path, c.document, got, err, c.want)
		}
	}
}

// Work is bounded wherever in a query it hides.
func TestBudget(t *testing.T) {
	deep := any("leaf")
	for range 200 {
		deep = []any{deep, deep} // shared: small in memory, 2^200 values by its paths
	}
	wide := make([]any, 1000)
	for i := range wide {
		wide[i] = wide[:0]
	}
	pattern := make([]any, 20_000)
	for i := range pattern {
		pattern[i] = fmt.Sprintf("x%d{100}", i)
	}
	long := []any{strings.Repeat("a", 8<<20)}
	for _, c := range []struct {
		path string
		root any
	}{
		{"$..*", deep},
		{"$" + strings.Repeat("[*]", 100), deep},
		{"$" + strings.Repeat("[0,0]", 100), deep},
		{"$[?@..x]", deep},
		{"$[?!@..x]", deep},
		{"$[?(@..x)]", deep},
		{"$[?!(@.a || @..x)]", deep},
		{"$[?count(@..*)>1]", deep},
		{"$[?length(value(@" + strings.Repeat("[0,0]", 100) + "))>1]", deep},
		{"$[?@[?@[?@..x]]]", deep},
		{"$[?count(@[?count(@..*)>1])>1]", deep},
		{"$[?$[?$[?$.x]]]", wide},
		{"$[?match('x',@)]", pattern},
		{"$[?search(@,'([a-y]{1,30}){1,30}z')]", long},
	} {
		p, err := ParsePath(c.path, schema.Node{})
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		start := time.Now()
		if _, err := p.Select(c.root); !errors.Is(err, ErrBudget) {
			t.Errorf("%s: got error %v, want %v", c.path, err, ErrBudget)
		}
		t.Logf("%s: %v", c.path, time.Since(start).Round(time.Millisecond))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: took %v to use up its budget", c.path, took)
		}
		if v, err := p.Select("small"); err != nil || len(v) != 0 {
			t.Errorf("%s: got %v, %v after an evaluation that ended early", c.path, v, err)
		}
	}
}

// A filter over 10,000 values ends in well under 50 ms.
func BenchmarkSelect(b *testing.B) {
	items := make([]any, 10_000)
	for i := range items {
		items[i] = map[string]any{"id": json.Number(fmt.Sprint(i)), "name": fmt.Sprintf("n%d", i)}
	}
	root := map[string]any{"items": items, "a": map[string]any{"b": []any{map[string]any{"c": "x"}}}}
	for _, path := range []string{"$.a.b[0].c", "$.items[*].name", "$.items[?@.id > 5000].name", "$.items[?match(@.name,'n1.*')].id", "$..id"} {
		b.Run(path, func(b *testing.B) {
			p, err := ParsePath(path, schema.Node{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if v, err := p.Select(root); err != nil || len(v) == 0 {
					b.Fatal(len(v), err)
				}
			}
		})
	}
}
