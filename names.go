package toolflow

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/agext/levenshtein"
	"golang.org/x/text/unicode/norm"
)

// Nearest gives the candidate that name was probably meant to be: one that differs only in case, by
// one edit, or by two when the name has six letters. Two neighbours that changed places are one edit.
// A single letter is near to nothing. It gives "" when none is near.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", 1
	if n := len([]rune(name)); n >= 6 {
		bestDistance = 3
	} else if n >= 2 {
		bestDistance = 2
	}
	for _, c := range candidates {
		if c == name {
			continue
		}
		if strings.EqualFold(c, name) {
			return c
		}
		if d := len(c) - len(name); d > 3 || d < -3 {
			continue
		}
		d := levenshtein.Distance(name, c, nil)
		if d == 2 && swapped(name, c) {
			d = 1
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// swapped reports whether two texts that differ become equal when two neighbours change places.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// DidYouMean makes a hint of the nearest candidate, or "" when none is near.
func DidYouMean(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

// quotedList writes `"a", "b" or "c"`.
func quotedList(words []string, last string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" " + last + " ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(w))
	}
	return b.String()
}

// CheckName says what is wrong with a tool's or step's name (rule D6). A fault refuses the name, an
// oddity only deserves a warning; both are empty for a good name.
func CheckName(name string) (fault, oddity string) {
	plain := len(name) <= 128
	for i := 0; i < len(name) && plain; i++ {
		c := name[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
	}
	if plain && strings.Trim(name, ".") != "" {
		return "", ""
	}
	switch {
	case name == "":
		return "is empty", ""
	case strings.Trim(name, ".") == "":
		return "consists of dots only", ""
	}
	scripts := map[string]bool{}
	for _, r := range name {
		if hidden(r) {
			return fmt.Sprintf("holds the invisible character U+%04X", r), ""
		}
		for _, s := range lookAlikes {
			if unicode.Is(s.table, r) {
				scripts[s.name] = true
			}
		}
	}
	if len(scripts) > 1 {
		return "mixes scripts whose letters look alike", ""
	}
	if len(name) > 128 {
		return "", "is longer than 128 characters"
	}
	return "", "has characters outside A-Z a-z 0-9 _ - ."
}

var lookAlikes = []struct {
	name  string
	table *unicode.RangeTable
}{{"Latin", unicode.Latin}, {"Greek", unicode.Greek}, {"Cyrillic", unicode.Cyrillic}, {"Armenian", unicode.Armenian}, {"Cherokee", unicode.Cherokee}}

// hidden reports whether a character cannot be seen or changes how others are shown.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == unicode.ReplacementChar
}

// sameName gives the form under which two names count as equal.
func sameName(name string) string {
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 {
			return norm.NFKC.String(name)
		}
	}
	return name
}
