package binding

import (
	"slices"

	"github.com/ohler55/ojg/jp"

	"github.com/toolflow-go/toolflow"
)

// A callValue is one value that the call gives and the document does not.
type callValue struct {
	at    jp.Expr
	value any
}

// values makes the base of the arguments: the document's literals, with the values that were given at
// the call over them.
func (c *compiler) values() {
	c.args.base = map[string]any{}
	if c.spec.Literal != nil {
		if _, ok := c.spec.Literal.(map[string]any); ok {
			c.args.base = c.spec.Literal
		} else {
			c.sayAt(nil, toolflow.SeverityError, CodeArguments, "", "the arguments are %s, not an object", kind(toolflow.KindOf(c.spec.Literal)))
		}
	}
	if c.spec.Given != nil {
		if _, ok := c.spec.Given.(map[string]any); ok {
			c.differ(c.args.base, c.spec.Given, nil)
		} else {
			c.sayAt(nil, toolflow.SeverityError, CodeArguments, "", "the arguments given at the call are %s, not an object", kind(toolflow.KindOf(c.spec.Given)))
		}
	}
	for _, s := range c.spec.Set {
		literal, has := walk(c.args.base, s.At.at)
		c.differAt(literal, has, s.Value, s.At.at)
	}
	for _, g := range c.calls {
		next, err := set(c.args.base, g.at, 0, -1, g.value)
		if err != nil {
			c.sayAt(g.at, toolflow.SeverityError, CodeArguments, "", "the value given at the call does not fit: %v", err)
			continue
		}
		c.args.base = next
		c.args.marks = append(c.args.marks, mark{g.at, FromCall})
	}
}

// differ collects where given, merged over literal, changes it: objects merge by member, arrays by
// index, and anything else is replaced.
func (c *compiler) differ(literal, given any, at jp.Expr) {
	switch g := given.(type) {
	case map[string]any:
		if l, ok := literal.(map[string]any); ok {
			for _, name := range sortedNames(g) {
				old, ok := l[name]
				c.differAt(old, ok, g[name], deeper(at, jp.Child(name)))
			}
			return
		}
	case []any:
		if l, ok := literal.([]any); ok {
			for i, v := range g {
				old, ok := item(l, i)
				c.differAt(old, ok, v, deeper(at, jp.Nth(i)))
			}
			return
		}
	}
	c.calls = append(c.calls, callValue{at, given})
}

func (c *compiler) differAt(literal any, has bool, given any, at jp.Expr) {
	if has {
		c.differ(literal, given, at)
		return
	}
	c.calls = append(c.calls, callValue{at, given})
}

// deeper gives at with one more name or index, in memory of its own.
func deeper(at jp.Expr, frag jp.Frag) jp.Expr { return append(slices.Clip(at), frag) }

// given reports whether the call gives a value at or inside at.
func (c *compiler) given(at jp.Expr) bool {
	for _, g := range c.calls {
		if contains(at, g.at) {
			return true
		}
		if contains(g.at, at) {
			if _, ok := walk(g.value, at[len(g.at):]); ok {
				return true
			}
		}
	}
	return false
}
