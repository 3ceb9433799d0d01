package binding

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/registry"
	"github.com/theory/jsonpath/spec"
)

// parse parses a query whose filters charge m. Queries inside filters stand in two places: in tests
// for existence, which the parse tree shows, and in the arguments of functions, which only their
// validators see.
func (m *machine) parse(full string) *spec.PathQuery {
	functions := registry.New()
	for _, name := range []string{"length", "count", "value", "match", "search"} {
		m.meterFunction(functions.Get(name))
	}
	q := jsonpath.NewParser(jsonpath.WithRegistry(functions)).MustParse(full).Query()
	for _, seg := range q.Segments() {
		for _, sel := range seg.Selectors() {
			if f, ok := sel.(*spec.FilterSelector); ok {
				m.meterTests(f.LogicalOr)
			}
		}
	}
	return q
}

// meterFunction replaces a function in its registry by one that charges m. The library's own match()
// and search() compile the pattern for every value and group it wrongly: `a|b` matched "ab".
func (m *machine) meterFunction(f *spec.FuncExtension) {
	old := *f
	evaluate := old.Evaluate
	switch old.Name() {
	case "match":
		evaluate = func(args []spec.PathValue) spec.PathValue { return m.matches(args, true) }
	case "search":
		evaluate = func(args []spec.PathValue) spec.PathValue { return m.matches(args, false) }
	}
	validate := func(args []spec.FuncExprArg) error {
		for _, arg := range args {
			if q, ok := arg.(*spec.PathQuery); ok {
				m.meterQuery(q)
			}
		}
		return old.Validate(args)
	}
	*f = *spec.Extension(old.Name(), old.ReturnType(), validate, func(args []spec.PathValue) spec.PathValue {
		m.charge(1)
		return evaluate(args)
	})
}

func (m *machine) meterTests(or spec.LogicalOr) {
	for _, and := range or {
		for _, test := range and {
			switch t := test.(type) {
			case *spec.ExistExpr:
				m.meterQuery(t.PathQuery)
			case *spec.NonExistExpr:
				m.meterQuery(t.PathQuery)
			case *spec.ParenExpr:
				m.meterTests(t.LogicalOr)
			case *spec.NotParenExpr:
				m.meterTests(t.LogicalOr)
			}
		}
	}
}

func (m *machine) meterQuery(q *spec.PathQuery) {
	for _, seg := range q.Segments() {
		selectors := seg.Selectors() // the segment's own slice
		for i, sel := range selectors {
			if f, ok := sel.(*spec.FilterSelector); ok {
				m.meterTests(f.LogicalOr)
			}
			selectors[i] = metered{sel, m}
		}
	}
}

// metered is a selector inside a filter.
type metered struct {
	spec.Selector
	m *machine
}

// Select charges for all that the selector will look at, and selects.
func (s metered) Select(current, root any) []any {
	cost := 1
	switch s.Selector.(type) {
	case spec.Name, spec.Index:
	default:
		switch v := current.(type) {
		case []any:
			cost += len(v)
		case map[string]any:
			cost += len(v)
		}
	}
	s.m.charge(cost)
	return s.Selector.Select(current, root)
}

// matches is match() for a whole string, or search().
func (m *machine) matches(args []spec.PathValue, whole bool) spec.PathValue {
	text, ok1 := stringOf(args[0])
	expr, ok2 := stringOf(args[1])
	if !ok1 || !ok2 {
		return spec.LogicalFalse
	}
	p := m.pattern(expr, whole)
	if p.re == nil {
		return spec.LogicalFalse
	}
	m.charge(len(text) * p.size / 1024)
	return spec.Logical(p.re.MatchString(text))
}

func stringOf(arg spec.PathValue) (string, bool) {
	v := spec.ValueFrom(arg)
	if v == nil {
		return "", false
	}
	s, ok := v.Value().(string)
	return s, ok
}

// A pattern is a compiled regular expression; re is nil when the text is none.
type pattern struct {
	re   *regexp.Regexp
	size int // instructions of its program
}

const maxPatterns = 64 // kept compiled during one evaluation

func (m *machine) pattern(expr string, whole bool) *pattern {
	key := "s" + expr
	if whole {
		key = "m" + expr
	}
	if p := m.patterns[key]; p != nil {
		return p
	}
	m.charge(100 + len(expr)) // compiling is slow beside matching
	if len(m.patterns) >= maxPatterns {
		clear(m.patterns)
	}
	if m.patterns == nil {
		m.patterns = map[string]*pattern{}
	}
	p := compilePattern(expr, whole)
	m.patterns[key] = p
	return p
}

func compilePattern(expr string, whole bool) *pattern {
	tree, err := syntax.Parse(expr, syntax.Perl) // by itself: the group below must not complete it
	if err != nil {
		return &pattern{}
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return &pattern{}
	}
	expr = exactDots(expr)
	if whole {
		expr = `\A(?:` + expr + `)\z`
	}
	re, _ := regexp.Compile(expr) // nil, should the dots make it too large
	return &pattern{re: re, size: len(prog.Inst)}
}

// exactDots writes each dot outside a class as RFC 9485 means it: any character but CR and LF.
func exactDots(expr string) string {
	if !strings.Contains(expr, ".") {
		return expr
	}
	var out strings.Builder
	class := false
	for i := 0; i < len(expr); i++ {
		c := expr[i]
		switch {
		case c == '\\' && i+1 < len(expr):
			out.WriteByte(c)
			i++
			c = expr[i]
		case class:
			class = c != ']'
		case c == '[':
			class = true
			for _, first := range "^]" { // right after the bracket, both stand for themselves or negate
				if i+1 < len(expr) && rune(expr[i+1]) == first {
					out.WriteByte(c)
					i++
					c = expr[i]
				}
			}
		case c == '.':
			out.WriteString(`[^\n\r]`)
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}
