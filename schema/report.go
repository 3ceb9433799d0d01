package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxProblems is how many problems an [Invalid] lists.
const maxProblems = 20

// A report turns what the library says about one value into problems.
type report struct {
	value  any
	schema any // the schema's document, to quote its numbers; nil when it is the metaschema
	more   int // problems that were not kept
	circle *sjs.ValidationError
}

// invalid makes the error for a tree of the library.
func (r *report) invalid(tree *sjs.ValidationError) error {
	leaves := r.leaves(tree, nil)
	if r.circle != nil {
		return &Error{Kind: KindReference, Pointer: pointerOf(r.circle.SchemaURL), Message: "references go in a circle and never reach a value"}
	}
	slices.SortStableFunc(leaves, func(a, b *sjs.ValidationError) int {
		return comparePlaces(a.InstanceLocation, b.InstanceLocation)
	})
	out := &Invalid{}
	for len(leaves) > 0 && len(out.Problems) <= maxProblems {
		n := 1 // leaves of the same place are sorted by their messages
		for n < len(leaves) && slices.Equal(leaves[0].InstanceLocation, leaves[n].InstanceLocation) {
			n++
		}
		out.Problems = append(out.Problems, r.problemsAt(leaves[:n])...)
		leaves = leaves[n:]
	}
	out.More = len(leaves) + r.more
	if extra := len(out.Problems) - maxProblems; extra > 0 {
		out.More += extra
		out.Problems = out.Problems[:maxProblems]
	}
	if len(out.Problems) == 0 {
		out.Problems = []Problem{r.problem(tree.InstanceLocation, finding{message: "does not fit the schema"})}
		out.More = max(0, out.More-1)
	}
	return out
}

// problemsAt gives the distinct problems of one place, sorted.
func (r *report) problemsAt(leaves []*sjs.ValidationError) []Problem {
	var out []Problem
	for _, leaf := range leaves {
		for _, f := range r.findings(leaf) {
			out = append(out, r.problem(leaf.InstanceLocation, f))
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return strings.Compare(a.Message, b.Message) })
	return slices.CompactFunc(out, func(a, b Problem) bool { return a.Message == b.Message })
}

func (r *report) problem(place []string, f finding) Problem {
	p := Problem{Want: f.want, Got: f.got, Message: f.text()}
	p.Path, p.Pointer = pathOf(r.value, place)
	return p
}

// leaves appends the problems of a tree that stand for themselves. Unions do: what each of their
// branches says is no problem by itself.
func (r *report) leaves(e *sjs.ValidationError, out []*sjs.ValidationError) []*sjs.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			out = r.leaves(cause, out)
		}
		return out
	case nil, dropped:
		r.more++
		return out
	case *kind.RefCycle:
		r.circle = e
		return out
	}
	return append(out, e)
}

// comparePlaces orders locations: a value before what is inside it, indexes by number.
func comparePlaces(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		i, errX := strconv.Atoi(x)
		j, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return cmp.Or(cmp.Compare(i, j), strings.Compare(x, y))
		}
		return strings.Compare(x, y)
	})
}

// at gives the value at a location.
func (r *report) at(place []string) any {
	v := r.value
	for _, token := range place {
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		}
	}
	return v
}
