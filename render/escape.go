package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape makes text from a document or a server safe to print on a terminal: what would act instead
// of being seen is shown as \u{…}. That is control characters (so that no escape sequence survives),
// bidirectional controls, zero-width and other invisible characters, and Unicode tags; bytes that are
// not UTF-8 are shown as \x{…}. Line breaks and tabs stay.
//
// What is printable stays as it is, a backslash too: the text is for reading, not for reading back.
func Escape(s string) string { return escape(s, "\n\t") }

// EscapeLine is [Escape] for text that must stay on one line: line breaks and tabs are escaped too.
func EscapeLine(s string) string { return escape(s, "") }

// EscapeJSON is [Escape] for JSON text: it gives JSON text of the same value, in which every such
// character of a string is written as \uXXXX.
func EscapeJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\r': // white space, which on a terminal would overwrite the line
			b.WriteByte(' ')
		case !acts(r) || r == '\n' || r == '\t':
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func escape(s, keep string) string {
	start := unsafeAt(s, keep)
	if start < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:start])
	for i := start; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r != utf8.RuneError || size != 1:
			if acts(r) && !strings.ContainsRune(keep, r) {
				fmt.Fprintf(&b, `\u{%x}`, r)
			} else {
				b.WriteString(s[i : i+size])
			}
		case surrogateAt(s[i:]):
			fmt.Fprintf(&b, `\u{%x}`, 0xd000|rune(s[i+1]&0x3f)<<6|rune(s[i+2]&0x3f))
			size = 3
		default:
			fmt.Fprintf(&b, `\x{%02x}`, s[i])
		}
		i += size
	}
	return b.String()
}

// unsafeAt finds the first place that needs escaping, or -1.
func unsafeAt(s, keep string) int {
	for i, r := range s {
		if r < utf8.RuneSelf && r >= ' ' && r != 0x7f {
			continue
		}
		if acts(r) && !strings.ContainsRune(keep, r) {
			return i
		}
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// acts reports whether a character is not seen itself but changes how others are.
func acts(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
		return true
	case r >= 0xe0100 && r <= 0xe01ef: // variation selectors past those of emoji: room for hidden text
		return true
	}
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// surrogateAt reports whether s starts with a surrogate in the way that UTF-8 forbids, as lone
// surrogates in JSON come out of careless decoders.
func surrogateAt(s string) bool {
	return len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2] >= 0x80 && s[2] <= 0xbf
}
