package binding

import (
	"slices"
	"strings"

	"github.com/ohler55/ojg/jp"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// A Missing is a required member of the arguments that nothing provides.
type Missing struct {
	Path    string
	Flags   []string // the paths that would give it: of an array of objects, the required members of item 0
	Allowed []any    // the values it may have; nil when the schema has no such list
	Type    string   // "string", "string or null"; empty when the schema does not say

	at jp.Expr
}

// completion collects what a picture of the arguments lacks by their schema. In the picture a *read
// stands for the value that it will write: nothing is known about it, and nothing is filled into it.
type completion struct {
	fills    []fill
	missing  []Missing
	doubtful []*read // required, and filled by nothing but this optional binding
}

func (c *completion) walk(node schema.Node, v any, at jp.Expr) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range node.Required() {
			c.require(node, v, name, at)
		}
		for _, name := range sortedNames(v) {
			if next, _ := node.Property(name); next.Known() {
				c.walk(next, v[name], deeper(at, jp.Child(name)))
			}
		}
	case []any:
		for i, e := range v {
			if next, _ := node.Item(i); next.Known() {
				c.walk(next, e, deeper(at, jp.Nth(i)))
			}
		}
	}
}

func (c *completion) require(node schema.Node, object map[string]any, name string, at jp.Expr) {
	v, has := object[name]
	var hope *read
	if has {
		if hope = onlyOptional(v); hope == nil {
			return
		}
	}
	next, _ := node.Property(name)
	value, what, ok := constant(next)
	switch {
	case ok && !has:
		c.fills = append(c.fills, fill{deeper(at, jp.Child(name)), value, what})
	case !ok && has:
		c.doubtful = append(c.doubtful, hope)
	case !ok:
		c.missing = append(c.missing, missing(next, deeper(at, jp.Child(name))))
	}
}

// onlyOptional gives the first binding in v when v is there only if optional bindings match.
func onlyOptional(v any) *read {
	var first *read
	var one func(v any) bool
	one = func(v any) bool {
		switch v := v.(type) {
		case *read:
			if v.Optional && !v.HasDefault && first == nil {
				first = v
			}
			return v.Optional && !v.HasDefault
		case map[string]any:
			for _, name := range sortedNames(v) {
				if !one(v[name]) {
					return false
				}
			}
			return len(v) > 0
		case []any:
			return len(v) > 0 && !slices.ContainsFunc(v, func(e any) bool { return !one(e) })
		}
		return false
	}
	if !one(v) {
		return nil
	}
	return first
}

func constant(node schema.Node) (v any, what string, ok bool) {
	if v, ok = node.Const(); ok {
		return v, "constant", true
	}
	v, ok = node.Default()
	return v, "default", ok
}

func missing(node schema.Node, at jp.Expr) Missing {
	return Missing{Path: string(appendExpr(nil, at)), Flags: flags(node, at, 0), Allowed: node.Enum(),
		Type: strings.Join(node.Types(), " or "), at: at}
}

const maxFlagDepth = 4 // of required members inside required members

// flags gives the paths that would provide the value at at: its own, or those of what it requires.
func flags(node schema.Node, at jp.Expr, depth int) []string {
	own := []string{string(appendExpr(nil, at))}
	if depth == maxFlagDepth {
		return own
	}
	if slices.Contains(node.Types(), "array") {
		next, _ := node.Item(0)
		return flags(next, deeper(at, jp.Nth(0)), depth+1)
	}
	var out []string
	for _, name := range slices.Sorted(slices.Values(node.Required())) {
		next, _ := node.Property(name)
		if _, _, ok := constant(next); !ok {
			out = append(out, flags(next, deeper(at, jp.Child(name)), depth+1)...)
		}
	}
	if len(out) == 0 {
		return own
	}
	return out
}

// complete finds what is missing, fills what the schema can fill, and settles where all of it comes
// from. It takes the bindings that the call leaves.
func (c *compiler) complete(reads []*read) {
	picture, reads := c.picture(reads)
	c.args.reads = reads
	var found completion
	found.walk(c.args.schema, picture, nil)
	c.args.missing = found.missing
	slices.SortFunc(c.args.missing, func(x, y Missing) int { return compare(x.at, y.at) })
	for _, r := range found.doubtful {
		c.say(r.Source, toolflow.SeverityNote, CodeMayBeMissing, "optional", `give a "default"`, "it is required, and this binding is optional and has no default")
	}
	marks := slices.Clone(c.args.marks)
	for _, f := range found.fills {
		c.sayAt(f.at, toolflow.SeverityNote, CodeFilled, "", "filled with its %s %s", f.what, toolflow.Clip(string(toolflow.AppendValue(nil, f.value)), 60))
		picture = filled(picture, f)
		marks = append(marks, mark{f.at, FromDefault})
		if _, ok := walk(c.args.base, f.at[:len(f.at)-1]); ok {
			c.args.base = filled(c.args.base, f)
			c.args.marks = append(c.args.marks, mark{f.at, FromDefault})
		} else {
			c.args.late = append(c.args.late, f)
		}
	}
	all := origins(picture, reads, marks)
	for _, r := range reads {
		all = append(all, r.origin())
	}
	c.args.origins = provenance(all)
}

// filled gives root with f in it. Its object is there, so nothing can be in the way.
func filled(root any, f fill) any {
	root, _ = set(root, f.at, 0, -1, f.value)
	return root
}

// picture gives the base with every binding in its place, and the bindings that fit there.
func (c *compiler) picture(reads []*read) (any, []*read) {
	picture := c.args.base
	fit := reads[:0]
	var last jp.Expr
	for _, r := range reads {
		next, err := set(picture, r.Input.at, 0, freshAfter(last, r.Input.at), r)
		if err != nil {
			c.fail(r.Source, CodeInputPath, "", "", "%v", err)
			continue
		}
		picture, last = next, r.Input.at
		fit = append(fit, r)
	}
	return picture, fit
}

// freshAfter gives the depth down to which the containers on the way to at were made by the write at
// last, the write before it in order of location; -1 when there was none.
func freshAfter(last, at jp.Expr) int {
	if last == nil {
		return -1
	}
	return shared(last, at)
}
