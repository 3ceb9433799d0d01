package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
	"github.com/toolflow-go/toolflow/schema"
)

// literals holds what is known of the arguments of a step that cannot be validated yet against what a
// schema certainly refuses: members that it excludes, and values of another type. What a binding replaces is
// left out.
type literals struct {
	c     *compiler
	step  int
	reads []binding.Read
	whose string
}

func (l *literals) check(v any, node schema.Node, path, pointer string) {
	if v == nil && path == "" || l.replaced(path) {
		return
	}
	if types := node.Types(); len(types) > 0 && !slices.Contains(types, toolflow.KindOf(v)) && !(toolflow.KindOf(v) == "number" && slices.Contains(types, "integer")) {
		l.refuse(path, pointer, fmt.Sprintf("got %s, want %s", toolflow.KindOf(v), strings.Join(types, " or ")))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			next, presence := node.Property(name)
			at := inside(path, name)
			if presence == schema.Excluded {
				if !l.replaced(at) {
					l.refuse(at, pointer+"/"+toolflow.EscapePointer(name), "the schema takes no such member")
				}
				continue
			}
			l.check(v[name], next, at, pointer+"/"+toolflow.EscapePointer(name))
		}
	case []any:
		for k, e := range v {
			next, _ := node.Item(k)
			l.check(e, next, fmt.Sprintf("%s[%d]", path, k), fmt.Sprintf("%s/%d", pointer, k))
		}
	}
}

// inside writes the place of a member.
func inside(path, name string) string {
	if strings.ContainsAny(name, ".[]'\" \\") || name == "" {
		return path + quoteName(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// replaced reports whether a binding writes over the literal at a place.
func (l *literals) replaced(path string) bool {
	return slices.ContainsFunc(l.reads, func(r binding.Read) bool {
		to := r.Input.String()
		return !r.Yields && (path == to || strings.HasPrefix(path, to+".") || strings.HasPrefix(path, to+"["))
	})
}

func (l *literals) refuse(path, pointer, why string) {
	severity := toolflow.SeverityError
	if l.c.o.CheckWarn {
		severity = toolflow.SeverityWarning
	}
	l.c.say(toolflow.Diagnostic{Severity: severity, Code: "invalid_arguments", Pointer: l.c.argumentsAt(l.step) + pointer, Step: l.c.steps[l.step].ID, Path: path,
		Message: fmt.Sprintf("argument %s: %s%s", path, why, l.whose)})
}

// over lays what was given over a step's literals. What does not fit there is reported elsewhere.
func (g given) over(literal any) any {
	out := literal
	if g.value != nil {
		out = toolflow.MergeValues(literal, g.value)
	}
	for _, s := range g.set {
		if next, err := s.At.Set(out, s.Value); err == nil {
			out = next
		}
	}
	return out
}
