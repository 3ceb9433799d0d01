package binding

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ohler55/ojg/jp"
	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/toolflow-go/toolflow"
)

const (
	maxText  = 1024 // bytes of a path or location
	maxIndex = 9999 // in a location

	wholeValue = "$ for the whole value"
)

// A SyntaxError is the text of a path or a location that cannot be followed.
type SyntaxError struct {
	Kind    string // "path" or "location"
	Text    string // as written
	Problem string
	Write   string // what to write instead; empty when there is no telling
}

// Error names the text, the problem and what to write instead.
func (e *SyntaxError) Error() string {
	out := fmt.Sprintf("%s %q: %s", e.Kind, toolflow.Clip(e.Text, 80), e.Problem)
	if e.Write != "" {
		out += " (" + e.hint() + ")"
	}
	return out
}

func (e *SyntaxError) hint() string {
	if e.Write == "" {
		return ""
	}
	return "write " + e.Write
}

var rfc9535 = jsonpath.NewParser()

// parseQuery reads text, with `$` put in front where it is missing. full is the text in RFC 9535.
func parseQuery(text string) (q *spec.PathQuery, full string, err *SyntaxError) {
	if problem, write := unreadable(text); problem != "" {
		return nil, "", &SyntaxError{Text: text, Problem: problem, Write: write}
	}
	q, full, perr := parseRFC(complete(text))
	if perr == nil {
		return q, full, nil
	}
	problem, write := suggest(text)
	if problem == "" {
		problem = grammarProblem(perr, full, text)
	}
	return nil, "", &SyntaxError{Text: text, Problem: problem, Write: write}
}

// unreadable says why a text is not even tried: too long, not UTF-8, empty, or with a beginning that
// would read as something else once `$.` stands in front of it.
func unreadable(text string) (problem, write string) {
	switch {
	case len(text) > maxText:
		return fmt.Sprintf("it is %d bytes long, the limit is %d", len(text), maxText), ""
	case !utf8.ValidString(text):
		return "it is not UTF-8", ""
	case strings.TrimSpace(text) == "":
		return "it is empty", wholeValue
	case strings.ContainsRune(".@*", rune(text[0])):
		problem, write = suggest(text)
		if problem == "" {
			problem = fmt.Sprintf("it starts with %q", text[:1])
		}
		return problem, write
	}
	return "", ""
}

// complete puts `$.` (or `$` before a bracket) in front of a text without it.
func complete(text string) string {
	switch text[0] {
	case '$':
		return text
	case '[':
		return "$" + text
	}
	return "$." + text
}

// parseRFC parses text by RFC 9535. The parser takes the members true, false and null for literals
// after `..` and at the right of a comparison, where the RFC does not: quoted, it takes them too.
func parseRFC(text string) (q *spec.PathQuery, full string, err error) {
	p, err := rfc9535.Parse(text)
	if err != nil {
		full = quoteKeywords(text)
		if full == text {
			return nil, text, err
		}
		var again error
		if p, again = rfc9535.Parse(full); again != nil {
			return nil, text, err
		}
		text = full
	}
	return p.Query(), text, nil
}

// quoteKeywords writes the members .true, .false and .null as ['true'] and so on.
func quoteKeywords(text string) string {
	var out strings.Builder
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == '\\' && i+1 < len(text):
			out.WriteByte(c)
			i++
			c = text[i]
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '.':
			rest, descendant := strings.CutPrefix(text[i:], "..")
			if !descendant {
				rest = rest[1:]
			}
			if word := keywordAt(rest); word != "" {
				if descendant {
					out.WriteString("..")
				}
				out.WriteString("['" + word + "']")
				i = len(text) - len(rest) + len(word) - 1
				continue
			}
		}
		out.WriteByte(c)
	}
	return out.String()
}

func keywordAt(text string) string {
	for _, word := range [...]string{"true", "false", "null"} {
		if rest, ok := strings.CutPrefix(text, word); ok && (rest == "" || rest[0] < utf8.RuneSelf && !bare("a"+rest[:1])) {
			return word
		}
	}
	return ""
}

// grammarProblem words what the parser said, with the position counted in text as it was written.
func grammarProblem(err error, full, text string) string {
	msg := strings.TrimPrefix(err.Error(), "jsonpath: ")
	head, at, ok := strings.Cut(msg, " at position ")
	pos, perr := strconv.Atoi(at)
	if !ok || perr != nil {
		return msg
	}
	if strings.HasSuffix(head, "unexpected eof") {
		return "it ends too soon"
	}
	pos = max(pos-len(full)+len(text), 1)
	return fmt.Sprintf("%s at character %d", head, utf8.RuneCountInString(text[:min(pos-1, len(text))])+1)
}

// front compiles the leading names and indexes of q. whole reports whether that is all of it: then q
// is singular.
func front(q *spec.PathQuery) (x jp.Expr, whole bool) {
	for _, seg := range q.Segments() {
		if seg.IsDescendant() || len(seg.Selectors()) != 1 {
			return x, false
		}
		switch s := seg.Selectors()[0].(type) {
		case spec.Name:
			x = append(x, jp.Child(s))
		case spec.Index:
			x = append(x, jp.Nth(s))
		default:
			return x, false
		}
	}
	return x, true
}

// appendExpr prints x after buf: names in their short form where the RFC has one, else quoted. The
// printing is ojg's but for two things: what counts as a short name, and that it escapes the double
// quote, which the RFC does not allow between single ones.
func appendExpr(buf []byte, x jp.Expr) []byte {
	for _, frag := range x {
		start := len(buf)
		name, isName := frag.(jp.Child)
		buf = frag.Append(buf, isName && !bare(string(name)), start == 0)
		if isName && strings.Contains(string(name), `"`) {
			buf = append(buf[:start], bytes.ReplaceAll(buf[start:], []byte(`\"`), []byte(`"`))...)
		}
	}
	return buf
}

// bare reports whether name can be written after a dot (RFC 9535, member-name-shorthand).
func bare(name string) bool {
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r >= utf8.RuneSelf:
		case r >= '0' && r <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// asError keeps a nil *SyntaxError from becoming an error that is not nil.
func asError(kind string, err *SyntaxError) error {
	if err == nil {
		return nil
	}
	err.Kind = kind
	return err
}
