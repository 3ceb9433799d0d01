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
// schema certainly refuses: members that it excludes, and values of another type. What a binding
// replaces is left out.
type literals struct {
	c     *compiler
	step  int
	reads []binding.Read
	whose string
}

// members checks the members of an object at a place, nil for the arguments themselves.
func (l *literals) members(object map[string]any, node schema.Node, at *binding.Location, pointer string) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		next, presence := node.Property(name)
		l.value(object[name], next, presence, at.Member(name), pointer+"/"+toolflow.EscapePointer(name))
	}
}

func (l *literals) value(v any, node schema.Node, presence schema.Presence, at *binding.Location, pointer string) {
	if slices.ContainsFunc(l.reads, func(r binding.Read) bool { return !r.Yields && r.Input.Contains(at) }) {
		return
	}
	kind, types := toolflow.KindOf(v), node.Types()
	switch {
	case presence == schema.Excluded:
		l.refuse(at, pointer, "the schema takes no such member")
		return
	case len(types) > 0 && !slices.Contains(types, kind) && !(kind == "number" && slices.Contains(types, "integer")):
		l.refuse(at, pointer, fmt.Sprintf("got %s, want %s", kind, strings.Join(types, " or ")))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		l.members(v, node, at, pointer)
	case []any:
		for k, e := range v {
			next, presence := node.Item(k)
			l.value(e, next, presence, at.Item(k), fmt.Sprintf("%s/%d", pointer, k))
		}
	}
}

func (l *literals) refuse(at *binding.Location, pointer, why string) {
	l.c.say(toolflow.Diagnostic{Severity: l.c.clash(), Code: "invalid_arguments", Pointer: l.c.argumentsAt(l.step) + pointer, Step: l.c.steps[l.step].ID, Path: at.String(),
		Message: fmt.Sprintf("argument %s: %s%s", at, why, l.whose)})
}
