package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A translation is an ECMA-262 pattern rewritten for RE2.
type translation struct {
	re2      string
	min, max int // characters that the whole text must have; max -1 is no limit
}

// White space, line ends and everything else, as ECMA-262 counts them.
const (
	ecmaSpace    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	ecmaNonSpace = `\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}` +
		`\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	ecmaDot  = `[^\n\r\x{2028}\x{2029}]`
	anyRune  = `[\x{0}-\x{10ffff}]`
	noRune   = `[^\x{0}-\x{10ffff}]`
	maxCount = 1000 // RE2 repeats no more than this
)

// translator reads a pattern once from left to right.
type translator struct {
	in     string
	at     int
	dotAll bool // an inline flag group changed what a dot means
}

// A term is one part of a sequence: an anchor, or an atom and how often it comes.
type term struct {
	text     string
	min, max int  // max -1 is no limit
	counted  bool // a quantifier stands behind it
	rune     bool // it takes exactly one character
	anchor   byte // '^' or '$', else 0
}

// translate rewrites a pattern. Its error says what RE2 has no counterpart for.
func translate(pattern string) (translation, error) {
	t := &translator{in: pattern}
	var choices [][]term
	for {
		terms, err := t.sequence()
		if err != nil {
			return translation{}, err
		}
		choices = append(choices, terms)
		if t.at == len(t.in) {
			break
		}
		if t.in[t.at] == ')' {
			return translation{re2: pattern, max: -1}, nil // RE2 says what is wrong with it
		}
		t.at++ // '|'
	}
	if len(choices) == 1 {
		if out, ok := wholeCount(choices[0]); ok {
			return out, nil
		}
	}
	re2, err := alternatives(choices)
	return translation{re2: re2, max: -1}, err
}

// wholeCount handles the usual use of large repeats, to limit the length: `^[a-z]{1,4096}$` becomes
// `^[a-z]*$` and two counts; without one of the anchors only the lower count matters.
func wholeCount(terms []term) (translation, bool) {
	begins, ends := false, false
	if len(terms) > 0 && terms[0].anchor == '^' {
		begins, terms = true, terms[1:]
	}
	if n := len(terms); n > 0 && terms[n-1].anchor == '$' {
		ends, terms = true, terms[:n-1]
	}
	if len(terms) != 1 || !terms[0].rune || terms[0].min <= maxCount && terms[0].max <= maxCount {
		return translation{}, false
	}
	x := terms[0]
	switch {
	case begins && ends:
		return translation{"^" + x.text + "*$", x.min, x.max}, true
	case x.min > maxCount:
		return translation{}, false
	}
	re2 := fmt.Sprintf("%s{%d}", x.text, x.min)
	if begins {
		re2 = "^" + re2
	} else if ends {
		re2 += "$"
	}
	return translation{re2: re2, max: -1}, true
}

// alternatives writes alternatives of terms as RE2.
func alternatives(choices [][]term) (string, error) {
	var b strings.Builder
	for i, terms := range choices {
		if i > 0 {
			b.WriteByte('|')
		}
		for _, x := range terms {
			x.write(&b)
			if b.Len() > maxPatternBytes {
				return "", errTooLarge
			}
		}
	}
	return b.String(), nil
}

// write writes a term; large repeats become several in a row.
func (x term) write(b *strings.Builder) {
	if !x.counted {
		b.WriteString(x.text)
		return
	}
	part := func(quantifier string) { b.WriteString(x.text + quantifier) }
	lower, upper := x.min, x.max
	for ; lower > maxCount && b.Len() <= maxPatternBytes; lower -= maxCount {
		part("{1000}")
		if upper >= 0 {
			upper -= maxCount
		}
	}
	if upper < 0 {
		part(fmt.Sprintf("{%d,}", lower))
		return
	}
	for ; upper > maxCount && b.Len() <= maxPatternBytes; upper -= maxCount {
		part(fmt.Sprintf("{%d,1000}", lower))
		lower = 0
	}
	part(fmt.Sprintf("{%d,%d}", lower, upper))
}

// sequence reads terms up to `|`, `)` or the end.
func (t *translator) sequence() ([]term, error) {
	var terms []term
	for t.at < len(t.in) && t.in[t.at] != '|' && t.in[t.at] != ')' {
		x, err := t.atom()
		if err != nil {
			return nil, err
		}
		if low, high, ok := t.quantifier(); ok && x.text != "" {
			x.min, x.max, x.counted = low, high, true
		}
		terms = append(terms, x)
	}
	return terms, nil
}

// atom reads one atom or anchor.
func (t *translator) atom() (term, error) {
	c := t.in[t.at]
	switch c {
	case '(':
		return t.group()
	case '[':
		text, err := t.class()
		return term{text: text, rune: true}, err
	case '\\':
		text, one, err := t.escape(false)
		return term{text: text, rune: one}, err
	case '.':
		t.at++
		if t.dotAll {
			return term{text: ".", rune: true}, nil
		}
		return term{text: ecmaDot, rune: true}, nil
	case '^', '$':
		t.at++
		return term{text: string(c), anchor: c}, nil
	case '*', '+', '?': // nothing to repeat: RE2 says so
		t.at++
		return term{text: string(c)}, nil
	case '{', '}', ']': // no class, and no quantifier unless it repeats nothing
		if _, _, size := braces(t.in[t.at:]); size > 0 {
			t.at += size
			return term{text: t.in[t.at-size : t.at]}, nil
		}
		t.at++
		return term{text: `\` + string(c), rune: true}, nil
	}
	_, size := utf8.DecodeRuneInString(t.in[t.at:])
	t.at += size
	return term{text: t.in[t.at-size : t.at], rune: true}, nil
}

// group reads `(…)`. Every group becomes a plain one: nothing may refer back to it.
func (t *translator) group() (term, error) {
	rest := t.in[t.at:]
	open := "(?:"
	switch {
	case strings.HasPrefix(rest, "(?="), strings.HasPrefix(rest, "(?!"):
		return term{}, fmt.Errorf("RE2 has no look-ahead %s", rest[:3])
	case strings.HasPrefix(rest, "(?<="), strings.HasPrefix(rest, "(?<!"):
		return term{}, fmt.Errorf("RE2 has no look-behind %s", rest[:4])
	case strings.HasPrefix(rest, "(?<"), strings.HasPrefix(rest, "(?P<"):
		if end := strings.IndexByte(rest, '>'); end > 0 {
			t.at += end + 1
		} else {
			t.at += 2
		}
	case strings.HasPrefix(rest, "(?"):
		end := strings.IndexAny(rest, ":)")
		if end < 0 {
			return term{}, fmt.Errorf("RE2 has no group %s", show(rest[:min(len(rest), 8)]))
		}
		t.at += end + 1
		open = rest[:end+1]
		t.dotAll = t.dotAll || strings.Contains(open, "s")
		if rest[end] == ')' {
			return term{text: open}, nil
		}
	default:
		t.at++
	}
	return t.groupInside(open)
}

func (t *translator) groupInside(open string) (term, error) {
	var choices [][]term
	for {
		terms, err := t.sequence()
		if err != nil {
			return term{}, err
		}
		choices = append(choices, terms)
		if t.at == len(t.in) {
			break // RE2 misses the parenthesis
		}
		t.at++
		if t.in[t.at-1] == ')' {
			inside, err := alternatives(choices)
			return term{text: open + inside + ")"}, err
		}
	}
	inside, err := alternatives(choices)
	return term{text: open + inside}, err
}

// quantifier reads `*`, `+`, `?` or `{…}`, and the lazy mark, which changes nothing here.
func (t *translator) quantifier() (low, high int, ok bool) {
	if t.at == len(t.in) {
		return 0, 0, false
	}
	size := 1
	switch t.in[t.at] {
	case '*':
		low, high = 0, -1
	case '+':
		low, high = 1, -1
	case '?':
		low, high = 0, 1
	default:
		if low, high, size = braces(t.in[t.at:]); size == 0 {
			return 0, 0, false
		}
	}
	t.at += size
	if t.at < len(t.in) && t.in[t.at] == '?' {
		t.at++
	}
	return low, high, true
}

// braces reads `{n}`, `{n,}` or `{n,m}` at the start of s; size 0 means that none stands there.
func braces(s string) (low, high, size int) {
	end := strings.IndexByte(s, '}')
	if s[0] != '{' || end < 0 {
		return 0, 0, 0
	}
	first, second, comma := strings.Cut(s[1:end], ",")
	low, err := strconv.Atoi(first)
	if err != nil || first[0] < '0' || first[0] > '9' {
		return 0, 0, 0
	}
	switch {
	case !comma:
		return low, low, end + 1
	case second == "":
		return low, -1, end + 1
	}
	high, err = strconv.Atoi(second)
	if err != nil || second[0] < '0' || second[0] > '9' {
		return 0, 0, 0
	}
	return low, high, end + 1
}
