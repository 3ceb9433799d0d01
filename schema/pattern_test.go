package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPatterns holds texts against patterns that RE2 reads differently from ECMA-262, or not at all.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, not []string
	}{
		{`^\u00e9\x41\cJ\0$`, []string{"éA\n\x00"}, []string{"eA\n\x00"}},
		{`^\ud83d\ude00\u{1F600}$`, []string{"😀😀"}, []string{"😀"}},
		{`^[\ud83d\ude00\b]$`, []string{"😀", "\b"}, []string{"x"}},
		{`^\d$`, []string{"7"}, []string{"٧"}},
		{`^\w$`, []string{"a", "_"}, []string{"é"}},
		{`^\s$`, []string{" ", "\v", "\u00a0", "\ufeff", "\u2028", "\u3000"}, []string{"x", "\u180e"}},
		{`^[^\s]$`, []string{"x"}, []string{"\u00a0"}},
		{`^\S$`, []string{"x"}, []string{"\u00a0"}},
		{`^[\S]$`, []string{"x", "\u200b"}, []string{"\u00a0", "\v"}},
		{`^[\s\S]{2}$`, []string{"\n\u2028"}, []string{"x"}},
		{`^.$`, []string{"x", "\v"}, []string{"\n", "\r", "\u2028"}},
		{`(?s)^.$`, []string{"\n"}, nil},
		{`(?i:abc)`, []string{"xABC"}, []string{"ab"}},
		{`^[^]$`, []string{"\n"}, []string{""}},
		{`[]`, nil, []string{"", "x"}},
		{`^[[:alpha:]]$`, []string{"[]", "a]", ":]"}, []string{"x]", "a"}},
		{`^[\w-.]$`, []string{"-", ".", "a"}, []string{"/"}},
		{`^a{,5}$`, []string{"a{,5}"}, []string{"aa"}},
		{`^x{$`, []string{"x{"}, nil},
		{`^a]b}$`, []string{"a]b}"}, nil},
		{`^(?<year>\d{4})-(?P<month>\d\d)$`, []string{"2025-01"}, []string{"2025"}},
		{`^\p{Script=Greek}\p{Lu}\P{L}$`, []string{"αA1"}, []string{"aA1"}},
		{`^\p{Letter}+$`, []string{"aé"}, []string{"1"}},
		{`^a+?b*?$`, []string{"aab"}, []string{"b"}},
		{`^\/\-\_\.$`, []string{"/-_."}, nil},
		{`^(a|b|)c$`, []string{"ac", "c"}, []string{"cc"}},
		{`a$`, []string{"a"}, []string{"a\n"}},

		{`^a{1001}$`, []string{strings.Repeat("a", 1001)}, []string{strings.Repeat("a", 1000), strings.Repeat("a", 1002)}},
		{`^.{2,4096}$`, []string{"ab", strings.Repeat("é", 4096)}, []string{"a", "a\n", strings.Repeat("a", 4097)}},
		{`.{0,65536}`, []string{"", "a"}, nil},
		{`^[a-c]{1,5000}`, []string{"a", strings.Repeat("a", 6000)}, []string{"", "x"}},
		{`[a-c]{2,5000}$`, []string{"xab"}, []string{"xa"}},
		{`^(ab){2,1500}$`, []string{"abab", strings.Repeat("ab", 1500)}, []string{"ab", strings.Repeat("ab", 1501)}},
		{`^x[ab]{1500,}$`, []string{"x" + strings.Repeat("a", 1500)}, []string{"x" + strings.Repeat("a", 1499)}},
		{`^a{1000,2500}b$`, []string{strings.Repeat("a", 1000) + "b", strings.Repeat("a", 2500) + "b"},
			[]string{strings.Repeat("a", 999) + "b", strings.Repeat("a", 2501) + "b"}},
	} {
		p := compilePattern(c.pattern)
		if p.unchecked != nil {
			t.Errorf("%s: %v", c.pattern, p.unchecked)
			continue
		}
		for i, text := range append(c.yes, c.not...) {
			if want := i < len(c.yes); p.match(text) != want {
				t.Errorf("%s: match of %.20q: got %v, want %v (as %.200s)", c.pattern, text, !want, want, p.re)
			}
		}
	}
}

// TestUncheckedPatterns leaves only the pattern unchecked, never the schema.
func TestUncheckedPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{`^(?!x)a`, `RE2 has no look-ahead (?!`},
		{`a(?=b)`, `RE2 has no look-ahead (?=`},
		{`(?<=a)b`, `RE2 has no look-behind (?<=`},
		{`(?<!a)b`, `RE2 has no look-behind (?<!`},
		{`(a)\\1`, `RE2 has no back-reference \1`},
		{`(?<n>a)\\k<n>`, `RE2 has no back-reference \k`},
		{`a\\Z`, `RE2 and ECMA-262 share no escape \Z`},
		{`[\\ud83d]`, `\ud83d names no character that a text can hold`},
		{`\\u12`, `\u names no character`},
		{`\\pL`, `\p names no property`},
		{`(a{1000}){1000}`, `invalid repeat count`},
		{`^(ab){6000}$`, `it is too large`},
		{`(`, `missing closing )`},
		{`a)`, `unexpected )`},
		{`[a`, `missing closing ]`},
		{`a**`, `invalid nested repetition operator`},
		{`*a`, `missing argument to repetition operator`},
		{`[z-a]`, `invalid character class range`},
		{`\\`, `trailing backslash at end of expression`},
		{strings.Repeat("a", 20_000), `it is too large`},
	} {
		s := mustCompile(t, `{"type":"object","properties":{"a":{"type":"string","pattern":"`+c.pattern+`","minLength":1}}}`)
		want := []string{`/properties/a/pattern: pattern ` + show(mustDecode(t, `"`+c.pattern+`"`)) + ` is not checked: ` + c.want}
		if diff := cmp.Diff(want, s.Warnings()); diff != "" {
			t.Errorf("%.40s: -want +got:\n%s", c.pattern, diff)
		}
		if err := s.Validate(map[string]any{"a": "zzz"}); err != nil {
			t.Errorf("%.40s: got %v, want no error", c.pattern, err)
		}
		if err := s.Validate(map[string]any{"a": ""}); err == nil {
			t.Errorf("%.40s: the rest of the schema no longer holds", c.pattern)
		}
	}
}

// TestUncheckedPatternProperties accepts every further member, for it may be one that matches.
func TestUncheckedPatternProperties(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a":{"type":"string"}},"patternProperties":{"^(?!x)":{"type":"integer"},"^y":{"type":"null"}},"additionalProperties":false}`)
	want := []string{`/patternProperties: pattern "^(?!x)" is not checked, so every further member is accepted: RE2 has no look-ahead (?!`}
	if diff := cmp.Diff(want, s.Warnings()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := s.Validate(mustDecode(t, `{"b":"not an integer"}`)); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	err := s.Validate(mustDecode(t, `{"a":1,"y":1}`))
	if got, want := err.Error(), `a: got number, want string; y: got number, want null`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestPatternsTogether keeps the programs of one schema small together.
func TestPatternsTogether(t *testing.T) {
	var parts []string
	for i := range 20 {
		parts = append(parts, fmt.Sprintf(`{"pattern":"^(a|b){900}(c|d){900}(e|f){900}x{%d}$"}`, i+1))
	}
	s := mustCompile(t, `{"anyOf":[`+strings.Join(parts, ",")+`]}`)
	if n := len(s.Warnings()); n == 0 || n == 20 {
		t.Errorf("got %d of 20 patterns unchecked, want some", n)
	}
	for _, w := range s.Warnings() {
		if !strings.HasSuffix(w, "the patterns of this schema are too large together") {
			t.Errorf("got %s", w)
		}
	}
}
