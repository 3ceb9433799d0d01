package binding

import (
	"fmt"
	"sync"

	"github.com/ohler55/ojg/jp"
	"github.com/theory/jsonpath/spec"

	"github.com/toolflow-go/toolflow/schema"
)

// A Path is a compiled query into an output. It can be used from several goroutines.
type Path struct {
	front    jp.Expr // the names and indexes at the front; of a singular path, all of it
	singular bool
	full     string // RFC 9535 text, of a path that is not singular
	budget   int
	machines sync.Pool // of *machine, for a path that is not singular
}

// ParsePath compiles text. It is, in this order: the name of a property that under declares, exactly;
// a query with `$.` (or `$`) put in front when it does not start with `$`; and then RFC 9535 decides.
// An error is a [*SyntaxError].
func ParsePath(text string, under schema.Node) (*Path, error) {
	p, err := parsePath(text, under)
	return p, asError("path", err)
}

func parsePath(text string, under schema.Node) (*Path, *SyntaxError) {
	if !bare(text) && declared(text, under) { // a bare name reads the same either way
		return exactProperty(text, under)
	}
	q, full, err := parseQuery(text)
	if err != nil {
		return nil, err
	}
	return newPath(q, full), nil
}

func newPath(q *spec.PathQuery, full string) *Path {
	p := &Path{budget: defaultBudget}
	if p.front, p.singular = front(q); !p.singular {
		p.full = full
		p.machines.New = func() any { return newMachine(q, full) }
	}
	return p
}

func declared(name string, under schema.Node) bool {
	_, presence := under.Property(name)
	return presence == schema.Declared && name != "$" && len(name) <= maxText
}

// exactProperty is the path to the property that is called text, unless text also reads as a path to
// something declared.
func exactProperty(text string, under schema.Node) (*Path, *SyntaxError) {
	p := &Path{front: jp.Expr{jp.Child(text)}, singular: true, budget: defaultBudget}
	q, full, err := parseQuery(text)
	if err != nil {
		return p, nil
	}
	other := newPath(q, full)
	if !reaches(under, other.front) {
		return p, nil
	}
	spelling := other.String()
	if spelling == text {
		spelling = string(appendBrackets([]byte("$"), other.front))
	}
	return nil, &SyntaxError{Text: text, Problem: "it is the name of a property and also a path to another one",
		Write: fmt.Sprintf("%s for the property or %s for the path", p, spelling)}
}

// reaches reports whether under declares everything on the way of x.
func reaches(under schema.Node, x jp.Expr) bool {
	for _, frag := range x {
		var presence schema.Presence
		if under, presence = step(under, frag); presence != schema.Declared {
			return false
		}
	}
	return len(x) > 0
}

// step goes down one name or index in a schema. An index from the end may be any item: unknown.
func step(under schema.Node, frag jp.Frag) (schema.Node, schema.Presence) {
	switch k := frag.(type) {
	case jp.Child:
		return under.Property(string(k))
	case jp.Nth:
		if k >= 0 {
			return under.Item(int(k))
		}
	}
	return schema.Node{}, schema.Unknown
}

func appendBrackets(buf []byte, x jp.Expr) []byte {
	for _, frag := range x {
		buf = frag.Append(buf, true, false)
	}
	return buf
}

// String gives the path in RFC 9535: a singular one in its shortest form, any other as written, with
// `$` in front.
func (p *Path) String() string {
	if !p.singular {
		return p.full
	}
	return string(appendExpr([]byte("$"), p.front))
}

// Singular reports whether the path names at most one value, whatever the data (RFC 9535, 2.3.5.1).
func (p *Path) Singular() bool { return p.singular }

// Node gives what under says about the value at a singular path; the zero Node when it says nothing
// or when the path is not singular.
func (p *Path) Node(under schema.Node) schema.Node {
	if !p.singular {
		return schema.Node{}
	}
	return nodeAt(under, p.front)
}

func nodeAt(under schema.Node, x jp.Expr) schema.Node {
	for _, frag := range x {
		under, _ = step(under, frag)
	}
	return under
}

// Excluded reports whether under certainly has nothing at the path, or at the names and indexes at
// its front, and says so: `$.items[0] has no member "txt" (did you mean "text"?)`.
func (p *Path) Excluded(under schema.Node) (string, bool) {
	e := excluded(under, p.front)
	if e == nil {
		return "", false
	}
	text := string(appendExpr([]byte("$"), e.place)) + " " + e.what
	if e.hint != "" {
		text += " (" + e.hint + ")"
	}
	return text, true
}

// Select gives the values that the path matches in root, in a fixed order: items by index, members by
// name. They belong to root. The error is [ErrBudget].
func (p *Path) Select(root any) (values []any, err error) {
	if p.singular {
		if v, ok := walk(root, p.front); ok {
			values = []any{v}
		}
		return values, nil
	}
	m := p.machines.Get().(*machine)
	defer p.machines.Put(m)
	return m.run(root, p.budget)
}

// walk follows x through root. ok tells an absent value from a null.
func walk(root any, x jp.Expr) (v any, ok bool) {
	for _, frag := range x {
		if root, ok = child(root, frag); !ok {
			return nil, false
		}
	}
	return root, true
}

func child(v any, frag jp.Frag) (any, bool) {
	switch k := frag.(type) {
	case jp.Child:
		m, _ := v.(map[string]any)
		v, ok := m[string(k)]
		return v, ok
	case jp.Nth:
		return item(v, int(k))
	}
	return nil, false
}

// item gives an item of an array; negative indexes count from the end.
func item(v any, i int) (any, bool) {
	a, _ := v.([]any)
	if i < 0 {
		i += len(a)
	}
	if i < 0 || i >= len(a) {
		return nil, false
	}
	return a[i], true
}
