package binding

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/theory/jsonpath/spec"
)

const defaultBudget = 1_000_000 // values that one evaluation may visit

// ErrBudget says that a path visits more values than its work budget allows.
var ErrBudget = errors.New("visits more values than its work budget allows")

// A machine evaluates one query, by one goroutine at a time. It walks the segments itself, so that
// members come in the order of their names and every step is charged to the budget; what stands in a
// filter is evaluated by the parser's library, over selectors that charge the same budget (filter.go).
type machine struct {
	query    *spec.PathQuery
	root     any
	left     int // of the budget
	cost     int // of testing one value with a filter
	patterns map[string]*pattern
}

// newMachine gives a machine for q. A query with a filter is parsed again, since its filters are to
// charge this machine.
func newMachine(q *spec.PathQuery, full string) *machine {
	m := &machine{query: q, cost: 1 + len(full)/32}
	if strings.Contains(full, "?") {
		m.query = m.parse(full)
	}
	return m
}

// run gives the values that the query selects.
func (m *machine) run(root any, budget int) (values []any, err error) {
	m.root, m.left = root, budget
	defer func() {
		m.root = nil
		clear(m.patterns)
		switch r := recover(); r {
		case nil:
		case ErrBudget:
			values, err = nil, ErrBudget
		default: // a filter met something that its library cannot evaluate: this step's failure, no more
			values, err = nil, fmt.Errorf("cannot be evaluated: %v", r)
		}
	}()
	values = []any{root}
	for _, seg := range m.query.Segments() {
		var next []any
		for _, v := range values {
			next = m.segment(next, seg, v)
		}
		values = next
	}
	return values, nil
}

// charge takes n off the budget. It panics with ErrBudget when nothing is left: it is called from
// within the library, which offers no other way out.
func (m *machine) charge(n int) {
	if m.left -= n; m.left < 0 {
		panic(ErrBudget)
	}
}

func (m *machine) segment(out []any, seg *spec.Segment, v any) []any {
	for _, sel := range seg.Selectors() {
		out = m.selector(out, sel, v)
	}
	if seg.IsDescendant() {
		for _, c := range m.children(v) {
			out = m.segment(out, seg, c)
		}
	}
	return out
}

func (m *machine) selector(out []any, sel spec.Selector, v any) []any {
	m.charge(1)
	switch sel := sel.(type) {
	case spec.Name:
		if object, ok := v.(map[string]any); ok {
			if c, ok := object[string(sel)]; ok {
				out = append(out, c)
			}
		}
	case spec.Index:
		if c, ok := item(v, int(sel)); ok {
			out = append(out, c)
		}
	case spec.WildcardSelector:
		out = append(out, m.children(v)...)
	case spec.SliceSelector:
		out = m.slice(out, sel, v)
	case *spec.FilterSelector:
		for _, c := range m.children(v) {
			m.charge(m.cost)
			if sel.Eval(c, m.root) {
				out = append(out, c)
			}
		}
	default:
		panic(fmt.Sprintf("selector %s is not known", sel))
	}
	return out
}

func (m *machine) slice(out []any, sel spec.SliceSelector, v any) []any {
	a, _ := v.([]any)
	low, high := sel.Bounds(len(a))
	switch by := sel.Step(); {
	case by > 0:
		for i := low; i < high; i += by {
			m.charge(1)
			out = append(out, a[i])
		}
	case by < 0:
		for i := high; low < i; i += by {
			m.charge(1)
			out = append(out, a[i])
		}
	}
	return out
}

// children gives the items of an array, or the members of an object by their names.
func (m *machine) children(v any) []any {
	switch v := v.(type) {
	case []any:
		m.charge(len(v))
		return v
	case map[string]any:
		m.charge(len(v))
		out := make([]any, 0, len(v))
		for _, name := range sortedNames(v) {
			out = append(out, v[name])
		}
		return out
	}
	return nil
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
