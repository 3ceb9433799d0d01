package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// class reads `[…]`.
func (t *translator) class() (string, error) {
	t.at++
	negated := strings.HasPrefix(t.in[t.at:], "^")
	if negated {
		t.at++
	}
	if strings.HasPrefix(t.in[t.at:], "]") { // empty: nothing, or with ^ everything
		t.at++
		if negated {
			return anyRune, nil
		}
		return noRune, nil
	}
	var b strings.Builder
	b.WriteByte('[')
	if negated {
		b.WriteByte('^')
	}
	for t.at < len(t.in) {
		switch c := t.in[t.at]; c {
		case ']':
			t.at++
			return b.String() + "]", nil
		case '\\':
			if err := t.classEscape(&b); err != nil {
				return "", err
			}
		case '[': // `[:alpha:]` has no meaning of its own
			t.at++
			b.WriteString(`\[`)
		default:
			t.at++
			b.WriteByte(c)
		}
	}
	return b.String(), nil // RE2 misses the bracket
}

// classEscape reads an escape inside brackets. A hyphen behind a set of characters is itself.
func (t *translator) classEscape(b *strings.Builder) error {
	set := t.at+1 < len(t.in) && strings.IndexByte("dDwWsSpP", t.in[t.at+1]) >= 0
	text, _, err := t.escape(true)
	if err != nil {
		return err
	}
	b.WriteString(text)
	if set && strings.HasPrefix(t.in[t.at:], "-") && !strings.HasPrefix(t.in[t.at:], "-]") {
		t.at++
		b.WriteString(`\-`)
	}
	return nil
}

// escape reads a backslash and what belongs to it; one tells that it takes one character.
func (t *translator) escape(inClass bool) (text string, one bool, err error) {
	if t.at+1 == len(t.in) {
		t.at++
		return `\`, true, nil // RE2 says what is wrong
	}
	c := t.in[t.at+1]
	rest := t.in[t.at+2:]
	t.at += 2
	switch {
	case strings.IndexByte("dDwWtnvfr", c) >= 0:
		return `\` + string(c), true, nil
	case c == 's' && inClass:
		return ecmaSpace, true, nil
	case c == 's':
		return "[" + ecmaSpace + "]", true, nil
	case c == 'S' && inClass:
		return ecmaNonSpace, true, nil
	case c == 'S':
		return "[^" + ecmaSpace + "]", true, nil
	case c == 'b' && inClass:
		return `\x08`, true, nil
	case c == 'b' || c == 'B' && !inClass:
		return `\` + string(c), false, nil
	case c == 'p' || c == 'P':
		return t.property(c, rest)
	case c == 'u' || c == 'x' || c == 'c' || c == '0':
		return t.character(c, rest)
	case c >= '1' && c <= '9' || c == 'k':
		return "", false, fmt.Errorf(`RE2 has no back-reference \%c`, c)
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return "", false, fmt.Errorf(`RE2 and ECMA-262 share no escape \%c`, c)
	case c < utf8.RuneSelf:
		return `\` + string(c), true, nil
	}
	r, size := utf8.DecodeRuneInString(t.in[t.at-1:])
	t.at += size - 1
	return string(r), true, nil
}

// property reads `{Script=Greek}`, `{Lu}` or the like.
func (t *translator) property(c byte, rest string) (string, bool, error) {
	end := strings.IndexByte(rest, '}')
	if !strings.HasPrefix(rest, "{") || end < 0 {
		return "", false, fmt.Errorf(`\%c names no property`, c)
	}
	name := rest[1:end]
	for _, prefix := range []string{"Script=", "sc=", "General_Category=", "gc="} {
		name = strings.TrimPrefix(name, prefix)
	}
	t.at += end + 1
	return `\` + string(c) + "{" + name + "}", true, nil
}

// character reads `\u0041`, `\u{1F600}`, `\x41`, `\cA` or `\0`.
func (t *translator) character(c byte, rest string) (string, bool, error) {
	code, size := uint64(0), 0
	var err error
	switch {
	case c == 'c' && len(rest) > 0 && (rest[0]|0x20) >= 'a' && (rest[0]|0x20) <= 'z':
		code, size = uint64(rest[0])&0x1f, 1
	case c == '0' && (rest == "" || rest[0] < '0' || rest[0] > '9'):
	case c == 'x' && len(rest) >= 2:
		code, err = strconv.ParseUint(rest[:2], 16, 8)
		size = 2
	case c == 'u' && strings.HasPrefix(rest, "{") && strings.Contains(rest, "}"):
		size = strings.IndexByte(rest, '}') + 1
		code, err = strconv.ParseUint(rest[1:size-1], 16, 32)
	case c == 'u' && len(rest) >= 4:
		code, err = strconv.ParseUint(rest[:4], 16, 16)
		size = 4
		if low, ok := lowSurrogate(rest[4:]); ok && utf16.IsSurrogate(rune(code)) {
			code, size = uint64(utf16.DecodeRune(rune(code), low)), 10
		}
	default:
		return "", false, fmt.Errorf(`\%c names no character`, c)
	}
	if err != nil || !utf8.ValidRune(rune(code)) || code > utf8.MaxRune {
		return "", false, fmt.Errorf(`\%c%s names no character that a text can hold`, c, rest[:size])
	}
	t.at += size
	return fmt.Sprintf(`\x{%x}`, code), true, nil
}

func lowSurrogate(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	code, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(code), err == nil && code >= 0xDC00 && code <= 0xDFFF
}
