package binding

import (
	"regexp"
	"strings"
)

// suggest looks at a text that is no path: which other language it seems to be in, as a sentence,
// and the path that was probably meant. Either is empty when there is no telling.
func suggest(text string) (problem, write string) {
	t := strings.TrimSpace(text)
	for _, l := range languages {
		if l.is(t) {
			return l.problem, l.rewrite(t)
		}
	}
	write = spelled(t)
	switch {
	case strings.Contains(write, "['") && !strings.Contains(t, "['"):
		problem = "such a name stands in brackets and quotes"
	case strings.Count(write, "[") > strings.Count(t, "["):
		problem = "an index stands in brackets"
	}
	return problem, write
}

type language struct {
	problem string
	is      func(t string) bool
	rewrite func(t string) string
}

var languages = []language{
	{"this is a template, and a path stands alone", isTemplate, func(t string) string { return spelled(insideTemplate(t)) }},
	{"values are copied whole, strings have no templates", hasTemplate, nothing},
	{"this is a JSON Pointer, not a JSONPath", isPointer, fromPointer},
	{"JSONPath has no script expressions", isScript, func(t string) string { return spelled(lengthScript.ReplaceAllString(t, "[-$1]")) }},
	{"JSONPath has search() and match(), not =~", isRegexp, func(t string) string { return spelled(regexpFilter.ReplaceAllStringFunc(t, searchCall)) }},
	{"a path selects values and computes none", isCall, fromCall},
	{"this is JMESPath, not JSONPath", isJMESPath, fromJMESPath},
	{"@ stands for the current value, which only a filter has", startsWith("@"), fromAt},
	{"a path starts with a name or with $", startsWith("."), spelled},
	{"a path starts with a name or with $", startsWith("*"), spelled},
	{"$ is followed by a name", isDollarName, func(t string) string { return oneOf("$['"+t+"']", spelled(t)) }},
}

func nothing(string) string { return "" }

func startsWith(prefix string) func(string) bool {
	return func(t string) bool { return strings.HasPrefix(t, prefix) }
}

var templateMarks = [][2]string{{"{{", "}}"}, {"${", "}"}, {"<%=", "%>"}, {"<%", "%>"}, {"#{", "}"}}

func insideTemplate(t string) string {
	for _, m := range templateMarks {
		if rest, ok := strings.CutPrefix(t, m[0]); ok {
			if inner, ok := strings.CutSuffix(rest, m[1]); ok && !strings.Contains(inner, m[0]) {
				return strings.TrimSpace(inner)
			}
		}
	}
	return ""
}

func isTemplate(t string) bool { return insideTemplate(t) != "" }

func hasTemplate(t string) bool {
	return strings.Contains(t, "{{") || strings.Contains(t, "${") || strings.Contains(t, "<%")
}

func isPointer(t string) bool { return strings.HasPrefix(t, "/") || strings.HasPrefix(t, "#/") }

func fromPointer(t string) string {
	t = strings.TrimPrefix(t, "#")
	out := "$"
	for _, token := range strings.Split(t[1:], "/") {
		out += segment(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return valid(out)
}

var lengthScript = regexp.MustCompile(`\[\(\s*@\.length\s*-\s*(\d+)\s*\)\]`)

func isScript(t string) bool { return strings.Contains(t, "[(") }

var regexpFilter = regexp.MustCompile(`(@[^\s=&|()]*)\s*=~\s*/((?:[^/\\]|\\.)*)/`)

func isRegexp(t string) bool { return strings.Contains(t, "=~") }

func searchCall(t string) string {
	m := regexpFilter.FindStringSubmatch(t)
	pattern := strings.NewReplacer(`\/`, `/`, `\`, `\\`, `'`, `\'`).Replace(m[2])
	return "search(" + m[1] + ", '" + pattern + "')"
}

var call = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\(([^,()'"]*)[^()]*\)$`)

func isCall(t string) bool { return call.MatchString(t) }

func fromCall(t string) string {
	argument := strings.TrimSpace(call.FindStringSubmatch(t)[1])
	if argument == "" {
		return ""
	}
	return spelled(argument)
}

var bareFilter = regexp.MustCompile(`\[\?\s*([A-Za-z_][A-Za-z0-9_.]*)\s*(==|!=|<=|>=|<|>)`)

func isJMESPath(t string) bool {
	return strings.Contains(t, "[]") || strings.ContainsAny(t, "`{") || bareFilter.MatchString(t) ||
		strings.Contains(t, "|") && !strings.Contains(t, "[?")
}

func fromJMESPath(t string) string {
	t = bareFilter.ReplaceAllString(t, "[?@.$1 $2")
	t = strings.NewReplacer("[]", "[*]", "`", "").Replace(t)
	left, right, piped := strings.Cut(t, "|")
	left, right = strings.TrimSpace(left), strings.TrimSpace(right)
	switch {
	case strings.Contains(t, "{"): // an object made of parts: no path does that
		return ""
	case !piped:
		return spelled(t)
	case strings.HasPrefix(right, "|"): // a || b: the second is a default
		return spelled(left)
	case right == "[0]" && strings.ContainsAny(left, "*?"):
		if path := spelled(left); path != "" {
			return path + ` and "take": "first"`
		}
		return ""
	case strings.HasPrefix(right, "["):
		return spelled(left + right)
	}
	return spelled(left + "." + right)
}

func fromAt(t string) string {
	if t == "@" || strings.HasPrefix(t, "@.") || strings.HasPrefix(t, "@[") {
		return spelled(t)
	}
	return oneOf("$['"+t+"']", spelled(t))
}

func isDollarName(t string) bool { return len(t) > 1 && t[0] == '$' && bare(t[1:]) }

func oneOf(a, b string) string {
	if a, b = valid(a), valid(b); a == "" || b == "" {
		return a + b
	}
	return a + " or " + b
}

// spelled reads t as names between dots, with what stands in brackets, and writes that in RFC 9535.
func spelled(t string) string {
	t = strings.TrimPrefix(strings.TrimPrefix(t, "$"), "@")
	t = strings.ReplaceAll(t, "?.", ".")
	out := "$"
	for t != "" {
		switch {
		case t[0] == '[':
			end := closing(t)
			out += bracket(t[:end])
			t = t[end:]
		case strings.HasPrefix(t, "..") && !strings.HasPrefix(t, "..["):
			end := nameEnd(t[2:]) + 2
			out += ".." + strings.TrimPrefix(segment(t[2:end]), ".")
			t = t[end:]
		case strings.HasPrefix(t, "..["):
			out += ".."
			t = t[2:]
		default:
			t = strings.TrimPrefix(t, ".")
			end := nameEnd(t)
			if end > 0 {
				out += segment(t[:end])
			}
			t = t[end:]
		}
	}
	return valid(out)
}

func nameEnd(t string) int {
	if end := strings.IndexAny(t, ".["); end >= 0 {
		return end
	}
	return len(t)
}

// closing gives the length of the bracket that t starts with, quotes and inner brackets considered.
func closing(t string) int {
	var quote byte
	depth := 0
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(t)
}

// bracket quotes a lone name: [id] means ['id'].
func bracket(t string) string {
	if inner := strings.TrimSuffix(strings.TrimPrefix(t, "["), "]"); bare(inner) {
		return "['" + inner + "']"
	}
	return t
}

// segment writes one name: a number is an index.
func segment(name string) string {
	switch {
	case name == "*":
		return ".*"
	case name != "" && strings.Trim(name, "0123456789") == "" && (name == "0" || name[0] != '0'):
		return "[" + name + "]"
	case bare(name):
		return "." + name
	}
	return "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "']"
}

// valid gives text if it is a path, else "": what is suggested always parses.
func valid(text string) string {
	if len(text) > maxText {
		return ""
	}
	if _, _, err := parseRFC(text); err != nil {
		return ""
	}
	return text
}
