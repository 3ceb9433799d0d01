package binding

import (
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

var fuzzTexts = []string{"", "$", "a.b", "messages[0].content", "['odd name'].x", "$..a[?@.b == 'c' && !@.d]", "a[].b", "/a/b~1c",
	"{{ a.b }}", "a | b", "@.a", "length(@)", "$..true", "a[?(@.b =~ /x'/i)]", "a['\\u00e9\\ud83d\\ude00'][-1]", `["a\"b'c\\"]`, "a[1:2:-1,*,'x']", "日本.語"}

// A path that parses prints as a path that selects the same, and what an error suggests parses.
func FuzzParsePath(f *testing.F) {
	for _, s := range fuzzTexts {
		f.Add(s, `{"a":[{"b":"c"},[1]],"b":null}`)
	}
	f.Fuzz(func(t *testing.T, s, document string) {
		p, err := ParsePath(s, schema.Node{})
		if err != nil {
			e := err.(*SyntaxError)
			if e.Problem == "" {
				t.Fatalf("%q: an error without a problem", s)
			}
			return
		}
		again, err := ParsePath(p.String(), schema.Node{})
		if err != nil {
			if len(p.String()) > maxText { // the quotes made it too long
				return
			}
			t.Fatalf("%q prints as %q: %v", s, p, err)
		}
		if again.String() != p.String() || again.Singular() != p.Singular() {
			t.Fatalf("%q prints as %q, which prints as %q", s, p, again)
		}
		root, err := toolflow.DecodeValue([]byte(document))
		if err != nil {
			return
		}
		x, err1 := p.Select(root)
		y, err2 := again.Select(root)
		if text(append([]any{}, x...)) != text(append([]any{}, y...)) || (err1 == nil) != (err2 == nil) {
			t.Fatalf("%q selects %v, %v and %q selects %v, %v", s, x, err1, p, y, err2)
		}
		if p.Singular() && len(x) > 1 {
			t.Fatalf("%q is singular and selects %d values", s, len(x))
		}
	})
}

// A location prints as itself, and what is set at it is got there, with the root unchanged.
func FuzzLocation(f *testing.F) {
	for _, s := range fuzzTexts {
		f.Add(s, `{"a":[{"b":"c"},[1]],"b":null}`)
	}
	f.Fuzz(func(t *testing.T, s, document string) {
		l, err := ParseLocation(s, schema.Node{})
		if err != nil {
			return
		}
		again, err := ParseLocation(l.String(), schema.Node{})
		if err != nil && len(l.String()) <= maxText {
			t.Fatalf("%q prints as %q: %v", s, l, err)
		}
		if err == nil && (again.String() != l.String() || CompareLocations(l, again) != 0) {
			t.Fatalf("%q prints as %q, which prints as %q", s, l, again)
		}
		root, err := toolflow.DecodeValue([]byte(document))
		if err != nil {
			return
		}
		before := text(root)
		set, err := l.Set(root, "new")
		if text(root) != before {
			t.Fatalf("set %s: the root is now %s, was %s", l, text(root), before)
		}
		if err != nil {
			return
		}
		if got, ok := l.Get(set); !ok || got != "new" {
			t.Fatalf("set %s in %s gives %s: got %v there", l, before, text(set), got)
		}
	})
}

// Filling never changes what it reads, and says where each leaf of the arguments came from.
func FuzzFill(f *testing.F) {
	for _, s := range fuzzTexts {
		f.Add(`{"a":[{"b":"c"}]}`, `{"a":[{"d":1}]}`, s, "a[0].b", "x.y", "$.a", `{"a":{"b":[1]}}`)
	}
	f.Fuzz(func(t *testing.T, literal, given, in1, in2, path1, path2, output string) {
		var spec Spec
		var err error
		if spec.Literal, err = toolflow.DecodeValue([]byte(literal)); err != nil {
			return
		}
		if spec.Given, err = toolflow.DecodeValue([]byte(given)); err != nil {
			return
		}
		up, err := toolflow.DecodeValue([]byte(output))
		if err != nil {
			return
		}
		for i, b := range [][2]string{{in1, path1}, {in2, path2}} {
			spec.Sources = append(spec.Sources, Source{Step: i, StepID: "up",
				Binding: toolflow.Binding{Input: b[0], FromTool: "up", OutputPath: b[1], Optional: i == 1}})
		}
		before := text(up) + text(spec.Literal) + text(spec.Given)
		args, _ := Compile(spec)
		got, prov, err := args.Fill(func(int, bool) (any, bool) { return up, true }, nil)
		if after := text(up) + text(spec.Literal) + text(spec.Given); after != before {
			t.Fatalf("what went in is now %s, was %s", after, before)
		}
		if (err == nil) != (got != nil) {
			t.Fatalf("got %v beside error %v", got, err)
		}
		checkOrigins(t, args, got, prov)
	})
}
