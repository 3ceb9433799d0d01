package schema

import (
	"math/big"
	"slices"
	"unicode/utf8"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"
)

// A Presence says whether a member or an item may be there.
//
// Excluded is certain: one sub-schema that applies forbids it, be it through its type, `false`,
// additionalProperties, unevaluatedProperties, propertyNames, maxItems, or the values of const and
// enum. Otherwise Declared holds when it is spelled out, whatever a combinator may add. Otherwise
// the answer is Unknown when something at the same place could still forbid or describe it: anyOf,
// oneOf, not, if, dependentSchemas, a dynamic reference, a pattern that is not checked, or a
// propertyNames that is not simple. Otherwise it is Allowed, and the Node that comes with it knows
// what patternProperties, additionalProperties or additionalItems say; it knows nothing when the
// schema leaves the place open. On a Node that knows nothing everything is Unknown.
type Presence int

// The presences.
const (
	Unknown  Presence = iota
	Declared          // named in properties, or covered by prefixItems or items
	Allowed           // by patternProperties, additionalProperties, additionalItems or an open schema
	Excluded          // a value that has it is refused
)

// String names the presence.
func (p Presence) String() string {
	return [...]string{"unknown", "declared", "allowed", "excluded"}[p]
}

// answer gathers what several sub-schemas say about one member or item.
type answer struct {
	children []*sjs.Schema
	declared bool
	excluded bool
	unsure   bool
}

// child adds a sub-schema that applies to the member or item.
func (a *answer) child(c *sjs.Schema) {
	a.children = append(a.children, c)
	if in := inner(c); in.Bool != nil && !*in.Bool {
		a.excluded = true
	}
}

func (a *answer) give(s *Schema) (Node, Presence) {
	switch {
	case a.excluded:
		return Node{}, Excluded
	case a.declared:
		return s.node(a.children...), Declared
	case a.unsure:
		return s.node(a.children...), Unknown
	}
	return s.node(a.children...), Allowed
}

// Property tells about the member of that name.
func (n Node) Property(name string) (Node, Presence) {
	if !n.Known() {
		return Node{}, Unknown
	}
	a := answer{unsure: n.open}
	for _, c := range n.all {
		if !typesAllow(c, "object") || c.MaxProperties != nil && *c.MaxProperties == 0 {
			a.excluded = true
			break
		}
		evaluated, unsure := memberAt(c, name, &a)
		a.unsure = a.unsure || unsure || combines(c)
		if c.UnevaluatedProperties != nil && !evaluated {
			n.unevaluated(c, c.UnevaluatedProperties, &a, func(d *sjs.Schema) (bool, bool) { return memberAt(d, name, &answer{}) })
		}
		n.checkName(c, name, &a)
	}
	a.excluded = a.excluded || n.valuesLack(func(v any) bool {
		object, ok := v.(map[string]any)
		_, has := object[name]
		return ok && has
	})
	return a.give(n.schema)
}

// memberAt looks at properties, patternProperties and additionalProperties of one sub-schema.
func memberAt(c *sjs.Schema, name string, a *answer) (evaluated, unsure bool) {
	if p, ok := c.Properties[name]; ok {
		a.declared, evaluated = true, true
		a.child(p)
	}
	for _, re := range sortedPatterns(c.PatternProperties) {
		p := re.(*metered)
		if p.unchecked != nil {
			unsure = true
		} else if p.match(name) {
			evaluated = true
			a.child(c.PatternProperties[re])
		}
	}
	if evaluated || unsure || c.AdditionalProperties == nil {
		return evaluated, unsure
	}
	switch more := c.AdditionalProperties.(type) {
	case bool:
		a.excluded = a.excluded || !more
	case *sjs.Schema:
		a.child(more)
	}
	return true, false
}

// Item tells about the item at an index.
func (n Node) Item(index int) (Node, Presence) {
	if index < 0 {
		return Node{}, Excluded
	}
	if !n.Known() {
		return Node{}, Unknown
	}
	a := answer{unsure: n.open}
	for _, c := range n.all {
		if !typesAllow(c, "array") || c.MaxItems != nil && index >= *c.MaxItems {
			a.excluded = true
			break
		}
		evaluated := itemAt(c, index, &a)
		a.unsure = a.unsure || combines(c)
		if c.UnevaluatedItems != nil && !evaluated {
			n.unevaluated(c, c.UnevaluatedItems, &a, func(d *sjs.Schema) (bool, bool) {
				return itemAt(d, index, &answer{}), d.Contains != nil
			})
		}
	}
	a.excluded = a.excluded || n.valuesLack(func(v any) bool {
		array, ok := v.([]any)
		return ok && index < len(array)
	})
	return a.give(n.schema)
}

// itemAt looks at the keywords for items of one sub-schema.
func itemAt(c *sjs.Schema, index int, a *answer) (evaluated bool) {
	tuple, rest := c.PrefixItems, c.Items2020 // 2020-12
	switch items := c.Items.(type) {          // before
	case []*sjs.Schema:
		tuple = items
	case *sjs.Schema:
		rest = items
	}
	if index < len(tuple) {
		rest = tuple[index]
	}
	if rest != nil {
		a.declared = true
		a.child(rest)
		return true
	}
	switch more := c.AdditionalItems.(type) {
	case bool:
		a.excluded = a.excluded || !more
	case *sjs.Schema:
		a.child(more)
	default:
		return false
	}
	return true
}

// typesAllow reports whether a value of that type may fit one sub-schema at all.
func typesAllow(c *sjs.Schema, name string) bool {
	if c.Bool != nil { // false
		return false
	}
	return c.Types == nil || slices.Contains(c.Types.ToStrings(), name)
}

// combines reports whether a sub-schema has keywords that may say more about the same value.
func combines(c *sjs.Schema) bool {
	return len(c.AnyOf)+len(c.OneOf)+len(c.DependentSchemas) > 0 || c.Not != nil || c.If != nil ||
		slices.ContainsFunc(sortedKeys(c.Dependencies), func(name string) bool {
			_, ok := c.Dependencies[name].(*sjs.Schema)
			return ok
		})
}

// valuesLack reports whether const or enum leave no value that has something.
func (n Node) valuesLack(has func(v any) bool) bool {
	values := n.values()
	return values != nil && !slices.ContainsFunc(values, has)
}

// unevaluated applies the sub-schema of an unevaluated… keyword of c when nothing beside or below
// that keyword evaluates the place.
func (n Node) unevaluated(c, rest *sjs.Schema, a *answer, at func(*sjs.Schema) (evaluated, unsure bool)) {
	own := n.schema.node(c)
	unsure := own.open
	for _, d := range own.all {
		evaluated, maybe := at(d)
		if evaluated {
			return
		}
		nested := d != c && (d.UnevaluatedProperties != nil || d.UnevaluatedItems != nil)
		unsure = unsure || maybe || nested || combines(d)
	}
	if unsure {
		a.unsure = true
		return
	}
	a.child(rest)
}

// checkName holds a name against propertyNames where that is simple.
func (n Node) checkName(c *sjs.Schema, name string, a *answer) {
	if c.PropertyNames == nil {
		return
	}
	names := n.schema.node(c.PropertyNames)
	a.unsure = a.unsure || names.open
	for _, d := range names.all {
		length := utf8.RuneCountInString(name)
		pattern, _ := d.Pattern.(*metered)
		if !typesAllow(d, "string") || d.MinLength != nil && length < *d.MinLength ||
			d.MaxLength != nil && length > *d.MaxLength || pattern != nil && !pattern.match(name) {
			a.excluded = true
		}
		a.unsure = a.unsure || combines(d) || d.Format != nil || pattern != nil && pattern.unchecked != nil
	}
	a.excluded = a.excluded || names.valuesLack(func(v any) bool { return v == name })
}

func equalNumbers(a, b string) bool {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}
