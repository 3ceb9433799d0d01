package binding

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

func location(t testing.TB, text string) *Location {
	t.Helper()
	l, err := ParseLocation(text, schema.Node{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestParseLocation(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"messages[0].content", "messages[0].content"},
		{"['odd name'].x", "['odd name'].x"},
		{"$.a.b", "a.b"},
		{`["a"][ 0 ]`, "a[0]"},
		{"日本[0]", "日本[0]"},
		{"a[9999]", "a[9999]"},
	} {
		l, err := ParseLocation(c.text, schema.Node{})
		if err != nil || l.String() != c.want {
			t.Errorf("ParseLocation(%q): got %v, %v, want %s", c.text, l, err, c.want)
		}
	}
}

func TestParseLocationErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `location "": it is empty (write a name, such as messages[0].content)`},
		{"$", `location "$": it names all of the arguments: name a member`},
		{"messages[*].content", `location "messages[*].content": "*" names many places, and an input is one place (write messages[0].content)`},
		{"a[0:2]", `location "a[0:2]": a slice names many places, and an input is one place`},
		{"a[?(@.x==1)].y", `location "a[?(@.x==1)].y": a filter names many places, and an input is one place`},
		{"a..b", `location "a..b": ".." names many places, and an input is one place`},
		{"['a','b'].c", `location "['a','b'].c": a list of selectors names many places, and an input is one place`},
		{"*", `location "*": a location starts with a name`},
		{"..x", `location "..x": a location starts with a name`},
		{".a", `location ".a": a location starts with a name (write a)`},
		{"@type", `location "@type": @ stands for the current value, which only a filter has (write ['@type'] or type)`},
		{"$ref", `location "$ref": $ is followed by a name (write ['$ref'] or ref)`},
		{"m[-1].x", `location "m[-1].x": index -1 counts from the end, and an input counts from 0`},
		{"a[10000]", `location "a[10000]": index 10000 is past the limit of 9999`},
		{"m[9999999999999].b", `location "m[9999999999999].b": index 9999999999999 is past the limit of 9999`},
		{"a[18446744073709551616]", `location "a[18446744073709551616]": cannot parse "18446744073709551616", value out of range at character 3`},
		{"/messages/0/content", `location "/messages/0/content": this is a JSON Pointer, not a location (write messages[0].content)`},
		{"messages[].content", `location "messages[].content": this is JMESPath, not a location (write messages[0].content)`},
		{"{{x}}", `location "{{x}}": this is a template, and a location stands alone (write x)`},
		{"a-b", `location "a-b": such a name stands in brackets and quotes (write ['a-b'])`},
		{strings.Repeat("[", 1_000_000), `location "` + strings.Repeat("[", 80) + `…": it is 1000000 bytes long, the limit is 1024`},
	} {
		_, err := ParseLocation(c.text, schema.Node{})
		if err == nil || err.Error() != c.want {
			t.Errorf("ParseLocation(%.60q):\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestLocationSet(t *testing.T) {
	for _, c := range []struct{ root, at, want, err string }{
		{`{}`, "messages[0].content", `{"messages":[{"content":"V"}]}`, ""},
		{`{"messages":[]}`, "messages[0].content", `{"messages":[{"content":"V"}]}`, ""},
		{`{"messages":null}`, "messages[0].content", `{"messages":[{"content":"V"}]}`, ""},
		{`null`, "messages[0].content", `{"messages":[{"content":"V"}]}`, ""},
		{`{"messages":[{"role":"user"}]}`, "messages[0].content", `{"messages":[{"content":"V","role":"user"}]}`, ""},
		{`{"messages":[{"role":"user"}]}`, "messages[1].content", `{"messages":[{"role":"user"},{"content":"V"}]}`, ""},
		{`{"messages":[null]}`, "messages[0].content", `{"messages":[{"content":"V"}]}`, ""},
		{`{}`, "m[0][0]", `{"m":[["V"]]}`, ""},
		{`{}`, "m[2].x", "", "m has 0 items, so index 2 would leave a gap"},
		{`{"a":{}}`, "a[0]", "", "a is an object, not an array"},
		{`{"a":{}}`, "a[0].b", "", "a is an object, not an array"},
		{`{"a":[1]}`, "a.b", "", "a is an array, not an object"},
		{`{"a":1}`, "a.b", "", "a is a number, not an object"},
		{`{"a":{"b c":"x"}}`, "a['b c'].d", "", "a['b c'] is a string, not an object"},
		{`[1]`, "a", "", "the whole is an array, not an object"},
		{`{"a":"old"}`, "a", `{"a":"V"}`, ""},
	} {
		root := value(t, c.root)
		got, err := location(t, c.at).Set(root, "V")
		switch {
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("set %s in %s: got error %v, want %s", c.at, c.root, err, c.err)
		case c.err == "" && (err != nil || text(got) != c.want):
			t.Errorf("set %s in %s: got %v, %v, want %s", c.at, c.root, got, err, c.want)
		}
		if now := text(root); now != text(value(t, c.root)) {
			t.Errorf("set %s in %s: the root is now %s", c.at, c.root, now)
		}
	}
}

// Writing beside a value copies what is on the way and shares the rest.
func TestLocationSetShares(t *testing.T) {
	big := map[string]any{"x": "y"}
	root := map[string]any{"a": map[string]any{"big": big}, "list": []any{big, "end"}}
	got, err := location(t, "list[0]").Set(root, "new")
	if err != nil {
		t.Fatal(err)
	}
	got, err = location(t, "a.new").Set(got, big)
	if err != nil {
		t.Fatal(err)
	}
	big["x"] = "z" // seen wherever the value is shared
	if want := `{"a":{"big":{"x":"z"},"new":{"x":"z"}},"list":["new","end"]}`; text(got) != want {
		t.Errorf("got %s, want %s", text(got), want)
	}
	if want := `{"a":{"big":{"x":"z"}},"list":[{"x":"z"},"end"]}`; text(root) != want {
		t.Errorf("the root is now %s, want %s", text(root), want)
	}
}

func TestLocationContains(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true}, {"a", "a.b", true}, {"a[0]", "a[0].b", true}, {"a.b", "a", false},
		{"a[0]", "a[1]", false}, {"a", "ab", false}, {"['0']", "['0'].x", true}, {"a['0']", "a[0]", false},
	} {
		if got := location(t, c.a).Contains(location(t, c.b)); got != c.want {
			t.Errorf("%s contains %s: got %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestCompareLocations(t *testing.T) {
	want := []string{"a", "a[2]", "a[2].z", "a[10]", "a[10].b", "a.b", "a.b.c", "ab", "b"}
	got := make([]*Location, len(want))
	for i, w := range want {
		got[len(want)-1-i] = location(t, w)
	}
	slices.SortFunc(got, CompareLocations)
	for i := range want {
		if got[i].String() != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestLocationGet(t *testing.T) {
	root := value(t, `{"a":[null,{"b":1}]}`)
	for _, c := range []struct {
		at, want string
		ok       bool
	}{{"a[0]", "null", true}, {"a[1].b", "1", true}, {"a[2]", "null", false}, {"a.b", "null", false}} {
		v, ok := location(t, c.at).Get(root)
		if string(toolflow.AppendValue(nil, v)) != c.want || ok != c.ok {
			t.Errorf("get %s: got %v, %v, want %s, %v", c.at, v, ok, c.want, c.ok)
		}
	}
}
