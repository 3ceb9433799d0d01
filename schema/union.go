package schema

import (
	"fmt"
	"slices"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A branch is one alternative of a union and what it objects to.
type branch struct {
	number int // from 1
	leaves []*sjs.ValidationError
}

// union says in one finding why a value fits no alternative of anyOf or oneOf, or two of oneOf.
func (r *report) union(e *sjs.ValidationError) finding {
	v := r.at(e.InstanceLocation)
	if k, ok := e.ErrorKind.(*kind.OneOf); ok && len(k.Subschemas) == 2 {
		return finding{got: describe(v), want: "a value that fits exactly one alternative", message: fmt.Sprintf(
			"got a value that fits alternatives %d and %d, want exactly one", k.Subschemas[0]+1, k.Subschemas[1]+1)}
	}
	branches := make([]branch, len(e.Causes))
	for i, cause := range e.Causes {
		branches[i] = branch{i + 1, r.leaves(cause, nil)}
	}
	if len(branches) == 0 {
		return finding{got: describe(v), want: "what the schema asks for"}
	}
	if want, ok := simpleUnion(branches, len(e.InstanceLocation)); ok {
		return finding{got: got(v, branches), want: want}
	}
	want := fmt.Sprintf("one of %s", count(len(branches), "alternative"))
	f := finding{got: describe(v), want: want, message: "fits none of " + count(len(branches), "alternative")}
	best := closest(branches, len(e.InstanceLocation))
	if best.leaves == nil {
		return f
	}
	first := slices.MinFunc(best.leaves, func(a, b *sjs.ValidationError) int {
		return comparePlaces(a.InstanceLocation, b.InstanceLocation)
	})
	problems := r.problemsAt(sameplace(best.leaves, first))
	inside, _ := pathOf(v, first.InstanceLocation[len(e.InstanceLocation):])
	text := problems[0].Message
	if inside != "" {
		text = inside + ": " + text
	}
	f.message += fmt.Sprintf("; the closest, number %d, says: %s", best.number, text)
	return f
}

func sameplace(leaves []*sjs.ValidationError, as *sjs.ValidationError) []*sjs.ValidationError {
	var out []*sjs.ValidationError
	for _, l := range leaves {
		if slices.Equal(l.InstanceLocation, as.InstanceLocation) {
			out = append(out, l)
		}
	}
	return out
}

// simpleUnion joins alternatives that each want only a type or certain values.
func simpleUnion(branches []branch, depth int) (string, bool) {
	var types []string
	var values []any
	for _, b := range branches {
		if len(b.leaves) != 1 || len(b.leaves[0].InstanceLocation) != depth {
			return "", false
		}
		switch k := b.leaves[0].ErrorKind.(type) {
		case *kind.Type:
			for _, name := range k.Want {
				if !slices.Contains(types, name) {
					types = append(types, name)
				}
			}
		case *kind.Const:
			values = append(values, k.Want)
		case *kind.Enum:
			values = append(values, k.Want...)
		default:
			return "", false
		}
	}
	switch {
	case len(values) == 0:
		return list(types), true
	case len(types) == 0:
		return oneOf(values), true
	}
	return oneOf(values) + ", or " + list(types), true
}

// got names only the kind of a value when all alternatives want types.
func got(v any, branches []branch) string {
	for _, b := range branches {
		if k, ok := b.leaves[0].ErrorKind.(*kind.Type); !ok || slices.Contains(k.Want, "integer") && kindOf(v) == "number" {
			return describe(v)
		}
	}
	return kindOf(v)
}

// closest picks the alternative that the value was most likely meant for: one whose type it has,
// then one whose distinguishing member it has, then the one with the fewest objections.
func closest(branches []branch, depth int) branch {
	objects := func(b branch, at int, kinds func(sjs.ErrorKind) bool) bool {
		return slices.ContainsFunc(b.leaves, func(l *sjs.ValidationError) bool {
			return len(l.InstanceLocation) == at && kinds(l.ErrorKind)
		})
	}
	keep := func(in []branch, test func(branch) bool) []branch {
		var out []branch
		for _, b := range in {
			if len(b.leaves) > 0 && test(b) {
				out = append(out, b)
			}
		}
		if len(out) == 0 {
			return in
		}
		return out
	}
	left := keep(branches, func(b branch) bool { return !objects(b, depth, isType) })
	left = keep(left, func(b branch) bool { return !objects(b, depth+1, isValue) })
	return slices.MinFunc(left, func(a, b branch) int { return a.objections() - b.objections() })
}

// objections counts what a branch objects to, each missing or unknown member by itself.
func (b branch) objections() int {
	n := 0
	for _, l := range b.leaves {
		switch k := l.ErrorKind.(type) {
		case *kind.Required:
			n += len(k.Missing)
		case *kind.AdditionalProperties:
			n += len(k.Properties)
		default:
			n++
		}
	}
	return n
}

func isType(k sjs.ErrorKind) bool {
	_, ok := k.(*kind.Type)
	return ok
}

func isValue(k sjs.ErrorKind) bool {
	switch k.(type) {
	case *kind.Const, *kind.Enum:
		return true
	}
	return false
}
