package schema

import (
	"fmt"
	"slices"
	"strings"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"
)

// A link leads from one subschema to another.
type link struct {
	to      *sjs.Schema
	inPlace bool // to holds for the same value
	fixed   bool // it leads to the same place in every evaluation
}

// links lists where a subschema leads, in a fixed order.
func links(n *sjs.Schema) []link {
	var out []link
	add := func(inPlace bool, to ...*sjs.Schema) {
		for _, t := range to {
			if t != nil {
				out = append(out, link{t, inPlace, true})
			}
		}
	}
	add(true, n.Ref)
	if n.RecursiveRef != nil {
		out = append(out, link{n.RecursiveRef, true, false})
	}
	if n.DynamicRef != nil {
		out = append(out, link{n.DynamicRef.Ref, true, n.DynamicRef.Anchor == ""})
	}
	add(true, n.AllOf...)
	add(true, n.AnyOf...)
	add(true, n.OneOf...)
	add(true, n.Not, n.If, n.Then, n.Else)
	addMap(add, true, n.DependentSchemas)
	for _, name := range sortedKeys(n.Dependencies) {
		addAny(add, true, n.Dependencies[name])
	}
	addMap(add, false, n.Properties)
	for _, re := range sortedPatterns(n.PatternProperties) {
		add(false, n.PatternProperties[re])
	}
	for _, v := range []any{n.AdditionalProperties, n.Items, n.AdditionalItems} {
		addAny(add, false, v)
	}
	add(false, n.PrefixItems...)
	add(false, n.PropertyNames, n.Items2020, n.Contains, n.UnevaluatedProperties, n.UnevaluatedItems, n.ContentSchema)
	return out
}

func addMap(add func(bool, ...*sjs.Schema), inPlace bool, members map[string]*sjs.Schema) {
	for _, name := range sortedKeys(members) {
		add(inPlace, members[name])
	}
}

func addAny(add func(bool, ...*sjs.Schema), inPlace bool, v any) {
	switch v := v.(type) {
	case *sjs.Schema:
		add(inPlace, v)
	case []*sjs.Schema:
		add(inPlace, v...)
	}
}

func sortedPatterns(m map[sjs.Regexp]*sjs.Schema) []sjs.Regexp {
	out := make([]sjs.Regexp, 0, len(m))
	for re := range m {
		out = append(out, re)
	}
	slices.SortFunc(out, func(a, b sjs.Regexp) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// reachable gives every subschema that an evaluation may enter.
func reachable(starts []*sjs.Schema) []*sjs.Schema {
	var out []*sjs.Schema
	seen := map[*sjs.Schema]bool{}
	add := func(n *sjs.Schema) {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	for _, n := range starts {
		add(n)
	}
	for i := 0; i < len(out); i++ {
		for _, l := range links(inner(out[i])) {
			add(l.to)
		}
	}
	return out
}

// findCircle reports subschemas that lead to each other without ever moving into the value: no
// value could be held against them. With single, dynamic references count too.
func findCircle(nodes []*sjs.Schema, single bool) error {
	const open, done = 1, 2
	state := map[*sjs.Schema]int{}
	var path []*sjs.Schema // of in-place links, from the last move into the value
	var visit func(n *sjs.Schema) error
	visit = func(n *sjs.Schema) error {
		switch state[n] {
		case done:
			return nil
		case open:
			return circleError(path[slices.Index(path, n):])
		}
		state[n] = open
		path = append(path, n)
		for _, l := range links(inner(n)) {
			if l.inPlace && (l.fixed || single) {
				if err := visit(l.to); err != nil {
					return err
				}
			}
		}
		path = path[:len(path)-1]
		state[n] = done
		return nil
	}
	for _, n := range nodes {
		if err := visit(n); err != nil {
			return err
		}
	}
	return nil
}

// circleError names the way around, from its smallest pointer on.
func circleError(circle []*sjs.Schema) error {
	pointers := make([]string, len(circle))
	for i, n := range circle {
		pointers[i] = "#" + pointerOf(n.Location)
	}
	least := slices.Index(pointers, slices.Min(pointers))
	pointers = append(pointers[least:], pointers[:least]...)
	pointers = append(pointers, pointers[0])
	return &Error{Kind: KindReference, Pointer: pointers[0][1:], Message: fmt.Sprintf(
		"references go in a circle and never reach a value (%s)", strings.Join(pointers, " -> "))}
}
