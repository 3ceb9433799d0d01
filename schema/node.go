package schema

import (
	"encoding/json"
	"slices"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolflow-go/toolflow"
)

// A Node is the conjunction of all sub-schemas that certainly apply at one place of a value: the
// one that stands there and what it reaches through `$ref` and `allOf`, and through `$dynamicRef`
// and `$recursiveRef` when these can only mean one target. In draft-07 a `$ref` stands alone.
//
// What a Node says is certain; a combinator such as anyOf may ask for more. The zero Node knows
// nothing.
type Node struct {
	schema *Schema
	all    []*sjs.Schema // without those that say nothing by themselves
	open   bool          // a reference may lead to more, but where is not certain
}

// Root gives what certainly applies to the whole value.
func (s *Schema) Root() Node { return s.node(s.graph.root) }

// node gathers what holds wherever the starts hold.
func (s *Schema) node(starts ...*sjs.Schema) Node {
	n := Node{schema: s}
	seen := map[*sjs.Schema]bool{}
	var add func(c *sjs.Schema)
	add = func(c *sjs.Schema) {
		if c == nil || seen[c] {
			return
		}
		seen[c] = true
		in := inner(c)
		if !n.silent(in) {
			n.all = append(n.all, in)
		}
		add(in.Ref)
		if in.DynamicRef != nil {
			if in.DynamicRef.Anchor == "" || s.index.single() {
				add(in.DynamicRef.Ref)
			} else {
				n.open = true
			}
		}
		if in.RecursiveRef != nil {
			if s.index.single() {
				add(in.RecursiveRef)
			} else {
				n.open = true
			}
		}
		for _, part := range in.AllOf {
			add(part)
		}
	}
	for _, start := range starts {
		add(start)
	}
	return n
}

// silent reports whether a sub-schema says nothing by itself: `true`, `{}`, or only where to read on.
func (n Node) silent(c *sjs.Schema) bool {
	if c.Bool != nil {
		return *c.Bool
	}
	if c.Ref == nil && c.DynamicRef == nil && c.RecursiveRef == nil && c.AllOf == nil {
		return false
	}
	for name := range n.object(c) {
		switch name {
		case "allOf", "$defs", "definitions", "$schema", "$comment":
		case "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$ref", "$dynamicRef", "$recursiveRef":
		default:
			if !n.schema.index.ignoresSiblings(n.object(c)) {
				return false
			}
		}
	}
	return true
}

// Known reports whether any sub-schema that says something is known to apply.
func (n Node) Known() bool { return len(n.all) > 0 }

// Properties gives the names that `properties` declares here and that are not excluded, sorted.
func (n Node) Properties() []string {
	var names []string
	for _, c := range n.all {
		for name := range c.Properties {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		_, p := n.Property(name)
		return p == Excluded
	})
}

// Required gives the names of the members that must be there, sorted, each once.
func (n Node) Required() []string {
	var names []string
	for _, c := range n.all {
		names = append(names, c.Required...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Types gives the types that every `type` here allows, sorted; nil when none is given, empty when
// no type is left.
func (n Node) Types() []string {
	var out []string
	for _, c := range n.all {
		switch {
		case c.Bool != nil: // false
			return []string{}
		case c.Types == nil:
		case out == nil:
			out = c.Types.ToStrings()
		default:
			out = commonTypes(out, c.Types.ToStrings())
		}
	}
	slices.Sort(out)
	return out
}

// commonTypes intersects two lists of types, where an integer is a number too.
func commonTypes(a, b []string) []string {
	out := []string{}
	add := func(name string, in []string) {
		if !slices.Contains(out, name) && (slices.Contains(in, name) || name == "integer" && slices.Contains(in, "number")) {
			out = append(out, name)
		}
	}
	for _, name := range a {
		add(name, b)
	}
	for _, name := range b {
		add(name, a)
	}
	return out
}

// Default gives the `default` that stands nearest.
func (n Node) Default() (any, bool) {
	for _, c := range n.all {
		if c.Default != nil {
			return toolflow.CopyValue(*c.Default), true
		}
	}
	return nil, false
}

// Const gives the only value that is allowed, from `const` or an `enum` of one.
func (n Node) Const() (any, bool) {
	if values := n.values(); len(values) == 1 {
		return toolflow.CopyValue(values[0]), true
	}
	return nil, false
}

// Enum gives the values that every `enum` and `const` here allows; nil when there is no such limit.
func (n Node) Enum() []any {
	values := n.values()
	if values == nil {
		return nil
	}
	return toolflow.CopyValue(values).([]any)
}

func (n Node) values() []any {
	var out []any
	limit := func(values []any) {
		if out == nil {
			out = append([]any{}, values...)
			return
		}
		out = slices.DeleteFunc(out, func(v any) bool {
			return !slices.ContainsFunc(values, func(w any) bool { return equal(v, w) })
		})
	}
	for _, c := range n.all {
		if c.Const != nil {
			limit([]any{*c.Const})
		}
		if c.Enum != nil {
			limit(c.Enum.Values)
		}
	}
	return out
}

// Description gives the `description` that stands nearest.
func (n Node) Description() string {
	for _, c := range n.all {
		if c.Description != "" {
			return c.Description
		}
	}
	return ""
}

// WriteOnly reports whether a value here is a secret: `writeOnly`, or a format of "password".
func (n Node) WriteOnly() bool {
	return slices.ContainsFunc(n.all, func(c *sjs.Schema) bool {
		return c.WriteOnly || n.keyword(c, "format") == "password"
	})
}

// keyword gives a member of a sub-schema as the text has it: the library drops those it ignores.
func (n Node) keyword(c *sjs.Schema, name string) any {
	object := n.object(c)
	if n.schema.index.ignoresSiblings(object) {
		return nil
	}
	return object[name]
}

func (n Node) object(c *sjs.Schema) map[string]any {
	v, _ := lookup(n.schema.doc, pointerOf(c.Location))
	object, _ := v.(map[string]any)
	return object
}

// equal compares two JSON values; numbers by what they are worth.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && equalNumbers(string(a), string(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			if w, ok := b[name]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case nil, bool, string:
		return a == b
	}
	return false
}
