package binding

import (
	"slices"

	"github.com/ohler55/ojg/jp"

	"github.com/toolflow-go/toolflow"
)

// A mark is a location in the base whose value comes from elsewhere than the document's literals.
type mark struct {
	at   jp.Expr
	from string
}

// An origin is where the value at a location came from, and all in it.
type origin struct {
	at jp.Expr
	toolflow.Provenance
}

func newOrigin(at jp.Expr, from string) origin {
	return origin{at, toolflow.Provenance{Path: string(appendExpr(nil, at)), From: from}}
}

// origin of what r writes when it reads something.
func (r *read) origin() origin {
	o := origin{r.Input.at, toolflow.Provenance{Path: r.Input.text, From: r.From}}
	if r.From != FromLiteral {
		o.OutputPath = r.path
	}
	if r.From == FromStep {
		o.Step = r.StepID
	}
	return o
}

// provenance sorts by location.
func provenance(origins []origin) []toolflow.Provenance {
	slices.SortFunc(origins, func(x, y origin) int { return compare(x.at, y.at) })
	out := make([]toolflow.Provenance, len(origins))
	for i, o := range origins {
		out[i] = o.Provenance
	}
	return out
}

// origins splits root into the largest parts of one origin each, without the locations that reads
// write. So no two origins overlap.
func origins(root any, reads []*read, marks []mark) []origin {
	slices.SortStableFunc(marks, func(x, y mark) int { return compare(x.at, y.at) })
	s := splitter{}
	s.inside(root, nil, reads, marks, FromLiteral)
	return s.out
}

type splitter struct{ out []origin }

// split takes the value at at, the bindings and marks at or inside at, both in order of location, and
// the origin around it.
func (s *splitter) split(v any, at jp.Expr, reads []*read, marks []mark, from string) {
	if len(reads) > 0 && len(reads[0].Input.at) == len(at) {
		return
	}
	for len(marks) > 0 && len(marks[0].at) == len(at) {
		from, marks = marks[0].from, marks[1:]
	}
	if len(reads) == 0 && len(marks) == 0 {
		s.out = append(s.out, newOrigin(at, from))
		return
	}
	s.inside(v, at, reads, marks, from)
}

func (s *splitter) inside(v any, at jp.Expr, reads []*read, marks []mark, from string) {
	down := func(e any, frag jp.Frag) {
		here := deeper(at, frag)
		var r []*read
		var m []mark
		r, reads = cut(reads, here)
		m, marks = cut(marks, here)
		s.split(e, here, r, m, from)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedNames(v) {
			down(v[name], jp.Child(name))
		}
	case []any:
		for i, e := range v {
			down(e, jp.Nth(i))
		}
	}
}

func (r *read) where() jp.Expr { return r.Input.at }
func (m mark) where() jp.Expr  { return m.at }

// cut takes what lies at or inside at off the front of list, which is in order of location, and
// drops what comes before.
func cut[T interface{ where() jp.Expr }](list []T, at jp.Expr) (inside, after []T) {
	for len(list) > 0 && !contains(at, list[0].where()) && compare(list[0].where(), at) < 0 {
		list = list[1:]
	}
	n := 0
	for n < len(list) && contains(at, list[n].where()) {
		n++
	}
	return list[:n], list[n:]
}
