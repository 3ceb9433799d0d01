package render

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/toolflow-go/toolflow"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, in, want, line string }{
		{"plain", "Größe 東京 😀 a\\b", "Größe 東京 😀 a\\b", ""},
		{"empty", "", "", ""},
		{"line breaks and tabs", "a\n\tb", "a\n\tb", `a\u{a}\u{9}b`},
		{"carriage return", "good\rbad", `good\u{d}bad`, ""},
		{"terminal sequence", "\x1b]0;title\x07\x1b[31mred", `\u{1b}]0;title\u{7}\u{1b}[31mred`, ""},
		{"C1 sequence", "\u009b31m", `\u{9b}31m`, ""},
		{"delete and nul", "a\x7f\x00", `a\u{7f}\u{0}`, ""},
		{"bidi", "\u202eabc\u2069\u200f\u061c", `\u{202e}abc\u{2069}\u{200f}\u{61c}`, ""},
		{"zero width", "a\u200bb\u200dc\ufeff\u2060", `a\u{200b}b\u{200d}c\u{feff}\u{2060}`, ""},
		{"separators", "a\u2028b\u2029", `a\u{2028}b\u{2029}`, ""},
		{"invisible letters", "a\u3164\u115f\u034f\u00ad", `a\u{3164}\u{115f}\u{34f}\u{ad}`, ""},
		{"Unicode tags", "hi\U000e0041\U000e007f", `hi\u{e0041}\u{e007f}`, ""},
		{"variation selectors", "❤\ufe0f\U000e0101", "❤\ufe0f" + `\u{e0101}`, ""},
		{"not UTF-8", "a\xff\xc3", `a\x{ff}\x{c3}`, ""},
		{"lone surrogates", "\xed\xa0\x80\xed\xbf\xbf!", `\u{d800}\u{dfff}!`, ""},
		{"half a surrogate", "\xed\xa0", `\x{ed}\x{a0}`, ""},
		{"the replacement character itself", "\ufffd", "\ufffd", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Escape(c.in); got != c.want {
				t.Errorf("Escape(%q): got %q, want %q", c.in, got, c.want)
			}
			line := c.line
			if line == "" {
				line = c.want
			}
			if got := EscapeLine(c.in); got != line {
				t.Errorf("EscapeLine(%q): got %q, want %q", c.in, got, line)
			}
		})
	}
}

// checkEscaped holds what a terminal may rely on: nothing invisible is left, text that was safe is
// untouched, and escaping twice changes nothing more.
func checkEscaped(t interface {
	Helper()
	Errorf(string, ...any)
}, in string) {
	t.Helper()
	got, line := Escape(in), EscapeLine(in)
	for _, out := range []string{got, line} {
		if !utf8.ValidString(out) {
			t.Errorf("%q became %q, which is not UTF-8", in, out)
		}
		for _, r := range out {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("%q became %q, which holds %U", in, out, r)
			}
		}
		if again := Escape(out); again != out {
			t.Errorf("%q became %q, and that became %q", in, out, again)
		}
	}
	if strings.ContainsAny(line, "\n\t") {
		t.Errorf("EscapeLine(%q) gave %q, which is more than one line", in, line)
	}
	if safe := func(r rune) bool { return r >= ' ' && r <= '~' }; strings.IndexFunc(in, func(r rune) bool { return !safe(r) }) < 0 && got != in {
		t.Errorf("%q is plain, and became %q", in, got)
	}
}

func TestEscapeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.Int32Range(0, unicode.MaxRune), func(r int32) string { return string(r) }),
		)).Draw(t, "parts")
		checkEscaped(t, strings.Join(parts, ""))
	})
}

func FuzzEscape(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[31m\u202e\xed\xa0\x80\n\U000e0041")
	f.Fuzz(func(t *testing.T, in string) { checkEscaped(t, in) })
}

// However a step is called, Mermaid text has its own lines and nothing else.
func TestMermaidLabelsAddNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("\"#;|[](){}<>%`\n\\°¶:en d")))).Draw(t, "name")
		var b strings.Builder
		p := Picture{Nodes: []Node{{ID: "x", Label: name + "!", Server: name}}, Edges: []Edge{{Labels: []string{name}}}}
		if err := Mermaid(&b, p); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		if len(lines) != 4 || !strings.HasPrefix(lines[1], `  n0["`) || !strings.HasSuffix(lines[1], `"]`) {
			t.Fatalf("label %q gave %q", name, lines)
		}
		inside := strings.ReplaceAll(lines[1][len(`  n0["`):len(lines[1])-len(`"]`)], "<br>", "")
		if strings.ContainsAny(inside, "\"<>&|[](){}`%°¶\\") {
			t.Fatalf("label %q gave %q", name, lines[1])
		}
	})
}

// The escaped text is JSON of the same value, and holds nothing that acts on a terminal.
func TestEscapeJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{"s": strings.ToValidUTF8(rapid.String().Draw(t, "s"), "?") + "\u009b31m\u202e\U000e0041", "n": json.Number("1e2")}
		text := EscapeJSON(string(toolflow.AppendValue(nil, v)))
		if got, err := toolflow.DecodeValue([]byte(text)); err != nil || !reflect.DeepEqual(got, any(v)) {
			t.Fatalf("%q became %q: %v, %v", v, text, got, err)
		}
		if Escape(text) != text {
			t.Fatalf("%q still acts on a terminal", text)
		}
	})
	if got, want := EscapeJSON("{\n\t\"a\": \"\u202e\U000e0041\"}"), "{\n\t\"a\": \"\\u202e\\udb40\\udc41\"}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
