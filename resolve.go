package toolflow

import (
	"fmt"
	"strings"
)

// A Resolver finds the step that a name in `fromTool` or `requires` means (rule D3): a step's id
// first, else a tool that exactly one other step calls.
//
// A Resolver is for one goroutine: it remembers how much it has spent on suggestions.
type Resolver struct {
	steps  []Step
	ids    map[string]int
	byTool map[string][]int
	names  []string // of steps and tools, each once; nil until something must be suggested
	spent  int      // names compared for suggestions
}

const (
	suggestBudget   = 2_000_000 // names compared, all suggestions together
	shownCandidates = 8
)

// NewResolver makes a Resolver over steps. Of two steps with one id the first counts.
func NewResolver(steps []Step) *Resolver {
	r := &Resolver{steps: steps, ids: make(map[string]int, len(steps)), byTool: map[string][]int{}}
	for i, s := range steps {
		if _, taken := r.ids[s.ID]; !taken {
			r.ids[s.ID] = i
		}
	}
	for i, s := range steps {
		if s.Tool != s.ID { // a step named like its tool is found by its id
			r.byTool[s.Tool] = append(r.byTool[s.Tool], i)
		}
	}
	return r
}

// ID gives the number of the step with an id.
func (r *Resolver) ID(id string) (int, bool) {
	i, ok := r.ids[id]
	return i, ok
}

// Resolve gives the number of the step that name means to the step numbered asker. A failure is told
// by a message and a hint; asker is -1 when no step asks.
func (r *Resolver) Resolve(name string, asker int) (step int, message, hint string) {
	if i, ok := r.ids[name]; ok {
		return i, "", ""
	}
	var candidates []string
	for _, i := range r.byTool[name] {
		if i == asker {
			continue
		}
		if candidates, step = append(candidates, r.steps[i].ID), i; len(candidates) == shownCandidates {
			break
		}
	}
	switch len(candidates) {
	case 0:
		if len(r.byTool[name]) > 0 {
			return -1, fmt.Sprintf("%q is the tool of this step alone", name), "a step cannot wait for itself"
		}
		return -1, fmt.Sprintf("%q is no step, and no step calls a tool of that name", name), r.suggest(name)
	case 1:
		return step, "", ""
	}
	return -1, fmt.Sprintf("%q is ambiguous: the steps %s call that tool", name, strings.Join(candidates, ", ")),
		fmt.Sprintf(`name one by its id, such as %q, in "dependencies" of the step's own`, candidates[0])
}

// suggest finds the name that was probably meant. It is careful with time: in a large plan full of
// unknown names, only the first ones get a suggestion.
func (r *Resolver) suggest(name string) string {
	if r.names == nil {
		for _, s := range r.steps {
			r.names = append(r.names, s.ID)
			if same := r.byTool[s.Tool]; len(same) > 0 && r.steps[same[0]].ID == s.ID {
				r.names = append(r.names, s.Tool)
			}
		}
	}
	if r.spent += len(r.names); r.spent > max(suggestBudget, len(r.names)) {
		return ""
	}
	return DidYouMean(name, r.names)
}

// CheckNames says which names of steps and tools are refused, odd, or stand twice (rules D3, D6).
func (d *Document) CheckNames() []Diagnostic {
	c := nameChecker{doc: d}
	if d.Steps != nil {
		seen := map[string]string{}
		for i, s := range d.Steps {
			c.name(fmt.Sprintf("/steps/%d", i), "step", s.ID)
			if s.Tool != s.ID {
				c.name(fmt.Sprintf("/steps/%d/tool", i), "tool", s.Tool)
			}
			c.once(fmt.Sprintf("/steps/%d", i), "step", s.ID, seen, `give one of them an "id" of its own`)
		}
	}
	seen := map[string]map[string]string{}
	for i, t := range d.Tools {
		server := t.Server
		if d.Steps == nil {
			server = "" // each tool is a step, and the ids of steps are unique
		}
		if seen[server] == nil {
			seen[server] = map[string]string{}
		}
		c.name(fmt.Sprintf("/tools/%d/name", i), "tool", t.Name)
		c.once(fmt.Sprintf("/tools/%d/name", i), "tool", t.Name, seen[server], `to call a tool twice, list "steps" with ids of their own`)
	}
	for _, s := range d.Servers {
		if fault, _ := CheckName(s.Name); fault != "" {
			c.diags = append(c.diags, Diagnostic{Severity: SeverityError, Code: "name", Pointer: "/mcpServers/" + EscapePointer(s.Name),
				Message: fmt.Sprintf("the name of server %q %s", s.Name, fault), Hint: "use letters, digits, _ - and ."})
		}
	}
	return c.diags
}

type nameChecker struct {
	doc   *Document
	diags []Diagnostic
}

func (c *nameChecker) name(pointer, what, name string) {
	fault, oddity := CheckName(name)
	switch {
	case name == "": // reported when it was read
	case fault != "":
		c.diags = append(c.diags, Diagnostic{Severity: SeverityError, Code: "name", Pointer: pointer,
			Message: fmt.Sprintf("the name of %s %q %s", what, name, fault), Hint: "use letters, digits, _ - and ."})
	case oddity != "":
		c.diags = append(c.diags, Diagnostic{Severity: SeverityWarning, Code: "name", Pointer: pointer,
			Message: fmt.Sprintf("the name of %s %q %s", what, Clip(name, 60), oddity), Hint: "MCP asks for 1 to 128 of A-Z a-z 0-9 _ - ."})
	}
}

func (c *nameChecker) once(pointer, what, name string, seen map[string]string, hint string) {
	key := sameName(name)
	first, twice := seen[key]
	switch {
	case name == "":
	case !twice:
		seen[key] = name
	case first == name:
		c.diags = append(c.diags, Diagnostic{Severity: SeverityError, Code: "duplicate", Pointer: pointer,
			Message: fmt.Sprintf("%s %q stands twice", what, name), Hint: hint})
	default:
		c.diags = append(c.diags, Diagnostic{Severity: SeverityError, Code: "duplicate", Pointer: pointer,
			Message: fmt.Sprintf("%s %q and %q are the same name to Unicode", what, first, name), Hint: "rename one"})
	}
}
