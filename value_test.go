package toolflow

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDecodeValue(t *testing.T) {
	for _, c := range []struct{ in, want string }{ // want: the value as text, or the error after "!"
		{` {"b":[1,{"c":null}],"a":true} `, `{"a":true,"b":[1,{"c":null}]}`},
		{`9007199254740993`, `9007199254740993`},
		{`0.10`, `0.10`},
		{`1e2`, `1e2`},
		{`-0`, `-0`},
		{`123456789012345678901234567890`, `123456789012345678901234567890`},
		{`"\u0041<>&\u2028\n\ud83d\ude00"`, `"A<>&` + "\u2028" + `\n😀"`},
		{``, `!no JSON value: the text is empty`},
		{`  `, `!no JSON value: the text is empty`},
		{`{`, `!the text ends in the middle of a JSON value`},
		{`1 2`, `!text after the JSON value`},
		{`01`, `!text after the JSON value`},
		{`1.`, `!the text ends in the middle of a JSON value`},
		{`NaN`, `!invalid character 'N' at start of value`},
		{`{"a":{"b":1,"b":2}}`, `!member "b" stands twice at /a`},
		{`"\ud800"`, "!invalid surrogate pair `\\ud800\"` in string"},
		{"\"\xff\"", `!invalid UTF-8`},
		{"\xef\xbb\xbf1", `!invalid character '\ufeff' at start of value`},
		{`{"n":[1e401]}`, `!number 1e401 has an exponent outside ±400 at /n/0`},
		{`1e-10000000000000000000000`, `!number 1e-10000000000000000000000 has an exponent outside ±400`},
		{strings.Repeat("[", 1001), `!nested more than 1000 levels deep`},
		{strings.Repeat("[", 1_000_000), `!nested more than 1000 levels deep`},
	} {
		v, err := DecodeValue([]byte(c.in))
		got := ""
		if err != nil {
			got = "!" + err.Error()
		} else {
			got = string(AppendValue(nil, v))
		}
		if got != c.want {
			t.Errorf("%.40q: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestMergeValues(t *testing.T) {
	for _, c := range []struct{ under, over, want string }{
		{`{"a":1,"b":{"c":2}}`, `{"b":{"d":3}}`, `{"a":1,"b":{"c":2,"d":3}}`},
		{`{"m":[{"r":"x"},{"r":"y"}]}`, `{"m":[{"c":1}]}`, `{"m":[{"c":1,"r":"x"},{"r":"y"}]}`},
		{`{"m":[1]}`, `{"m":[2,3]}`, `{"m":[2,3]}`},
		{`{"m":[1]}`, `{"m":null}`, `{"m":null}`},
		{`{"m":7}`, `{"m":[1]}`, `{"m":[1]}`},
	} {
		under, _ := DecodeValue([]byte(c.under))
		over, _ := DecodeValue([]byte(c.over))
		if got := string(AppendValue(nil, MergeValues(under, over))); got != c.want {
			t.Errorf("%s under %s: got %s, want %s", c.under, c.over, got, c.want)
		}
		if string(AppendValue(nil, under)) != c.under {
			t.Errorf("%s was changed to %s", c.under, AppendValue(nil, under))
		}
	}
}

func TestDepth(t *testing.T) {
	for text, want := range map[string]int{`7`: 0, `[[[]]]`: 3, `[[],[[]]]`: 3, `{"a":[{"b":1}]}`: 3, `{"[[[\"[[":["{{{{"]}`: 2, `[{"a":[[0]]}]`: 4} {
		if got := Depth([]byte(text)); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"search", "fetch_page", "rank", "Summarize"}
	for name, want := range map[string]string{"serach": "search", "fetch-page": "fetch_page", "ran": "rank", "summarize": "Summarize", "translate": "", "search": "", "x": ""} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	if got := Clip("añb", 2); got != "a…" {
		t.Errorf("got %q", got)
	}
	if got := Clip("añb", 4); got != "añb" {
		t.Errorf("got %q", got)
	}
}

// What DecodeValue takes, AppendValue gives back: the same value, again and again.
func FuzzDecodeValue(f *testing.F) {
	for _, s := range []string{`{"a":[1,0.10,"x\u2028"]}`, `1e400`, `"\ud83d\ude00"`, `[[[]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := DecodeValue(text)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a message")
			}
			return
		}
		once := AppendValue(nil, v)
		again, err := DecodeValue(once)
		if err != nil {
			t.Fatalf("%q became %q, which is refused: %v", text, once, err)
		}
		if twice := AppendValue(nil, again); string(twice) != string(once) {
			t.Fatalf("%q, then %q", once, twice)
		}
		if !json.Valid(once) {
			t.Fatalf("%q is no JSON to encoding/json", once)
		}
		if same := AppendValue(nil, CopyValue(v)); string(same) != string(once) {
			t.Fatalf("the copy is %q, the value %q", same, once)
		}
	})
}

// A pointer finds its way back through any member name.
func TestPointerEscapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		if got := UnescapePointer(EscapePointer(name)); got != name || strings.Contains(EscapePointer(name), "/") {
			t.Fatalf("%q became %q", name, got)
		}
	})
}
