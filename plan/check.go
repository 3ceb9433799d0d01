package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
	"github.com/toolflow-go/toolflow/schema"
)

// check finds what is wrong with a step beyond its bindings, whose diagnostics are diags. What only
// matters when the step is called is checked when it runs.
func (c *compiler) check(i int, runs bool, s *Step, spec binding.Spec, diags []toolflow.Diagnostic) {
	c.checkTargets(i, s.Args, spec.Schema)
	called := runs && c.facts[i].input != nil
	if c.deps[i].broken {
		return
	}
	if toolflow.HasErrors(diags) {
		if called {
			c.missingBeside(i, s.Args, diags)
		}
		return
	}
	c.checkContinue(i)
	lacks := runs && c.checkOwnInput(s.Args, s.ID, func(r binding.Read) string { return c.bindingAt(i, spec.Sources[r.Source].Binding) })
	if !called {
		return
	}
	s.Missing = s.Args.Missing()
	for _, m := range s.Missing {
		c.missing(i, m, "")
	}
	drifted := c.checkDrift(i, s, spec)
	if len(s.Missing) == 0 && !drifted && !lacks && !slices.ContainsFunc(c.deps[i].sources, func(from int) bool { return from >= 0 }) {
		c.checkStatic(i, s)
		return
	}
	known, _ := s.Args.Known().(map[string]any)
	l := literals{c: c, step: i, reads: s.Args.Reads()}
	l.members(known, spec.Schema, nil, "")
	if s.ServerOnly != nil {
		l.whose = byServer
		l.members(known, s.ServerOnly.Root(), nil, "")
	}
}

// clash is how much it matters that a value does not fit its schema.
func (c *compiler) clash() toolflow.Severity {
	if c.o.CheckWarn {
		return toolflow.SeverityWarning
	}
	return toolflow.SeverityError
}

// checkTargets warns of bindings into a member that an open schema does not declare, when it declares
// one of nearly that name.
func (c *compiler) checkTargets(i int, args *binding.Arguments, node schema.Node) {
	names := node.Properties()
	for _, r := range args.Reads() {
		head := firstName(r.Input.String())
		if hint := toolflow.DidYouMean(head, names); head != "" && hint != "" && !slices.Contains(names, head) {
			c.say(toolflow.Diagnostic{Severity: toolflow.SeverityWarning, Code: "input_unknown", Pointer: c.stepAt(i), Step: c.steps[i].ID, Path: r.Input.String(), Hint: hint,
				Message: fmt.Sprintf("input %s: the input schema declares no %q", r.Input, head)})
		}
	}
}

// missingBeside reports what nothing provides in a step some of whose bindings are broken. What those
// would have filled is left out.
func (c *compiler) missingBeside(i int, args *binding.Arguments, broken []toolflow.Diagnostic) {
	for _, m := range args.Missing() {
		at, err := binding.ParseLocation(m.Path, schema.Node{})
		filled := func(d toolflow.Diagnostic) bool {
			b, badly := binding.ParseLocation(d.Path, schema.Node{})
			return d.Severity == toolflow.SeverityError && (badly != nil || b.Contains(at) || at.Contains(b))
		}
		if err == nil && !slices.ContainsFunc(broken, filled) {
			c.missing(i, m, "")
		}
	}
}

// checkDrift holds a step's arguments against the server's own schema where it differs from the
// document's: what that one requires or excludes breaks the call, whatever the document says.
func (c *compiler) checkDrift(i int, s *Step, spec binding.Spec) (broken bool) {
	if s.ServerOnly == nil {
		return false
	}
	spec.Schema = s.ServerOnly.Root()
	spec.Sources = slices.Clone(spec.Sources)
	for _, r := range s.Args.Reads() { // the place is known: its text is not read anew by another schema
		spec.Sources[r.Source].Binding.Input = r.Input.String()
	}
	args, diags := binding.Compile(spec)
	for _, d := range diags {
		if d.Severity == toolflow.SeverityError {
			d.Step, d.Pointer, broken = s.ID, c.stepAt(i), true
			d.Message += byServer
			c.say(d)
		}
	}
	for _, m := range args.Missing() {
		if !slices.ContainsFunc(s.Missing, func(known binding.Missing) bool { return known.Path == m.Path }) {
			broken = true
			c.missing(i, m, byServer)
		}
	}
	return broken
}

const byServer = " (by the server's own inputSchema)"

// checkOwnInput finds what bindings read from the plan's own input and nobody has given (rule P7). It
// reports whether anything is lacking.
func (c *compiler) checkOwnInput(args *binding.Arguments, step string, at func(binding.Read) string) (lacks bool) {
	for _, r := range args.Reads() {
		if r.From != binding.FromInput || r.Optional || r.HasDefault || r.Yields || !r.Path.Singular() {
			continue
		}
		if _, ok := r.Path.Node(c.inputNode).Default(); ok {
			continue
		}
		if values, err := r.Path.Select(c.inputValue); err != nil || len(values) > 0 {
			continue
		}
		lacks = true
		name := strings.TrimPrefix(r.Path.String(), "$.")
		if slices.ContainsFunc(c.inputLacks, func(m binding.Missing) bool { return m.Path == name }) {
			continue // said already
		}
		what := "input " + r.Input.String()
		if step == "" {
			what = "the plan's output"
		}
		hint := fmt.Sprintf("give it with -i '%s=…'", name)
		if names := c.inputNode.Properties(); !slices.Contains(names, name) {
			hint = cmp.Or(toolflow.DidYouMean(name, names), hint)
		}
		c.fail("missing_input", at(r), step, hint, "%s reads the plan's input %s, which is not given", what, name)
	}
	return lacks
}

// checkContinue holds rule E2: what may end without output needs bindings that can do without.
func (c *compiler) checkContinue(i int) {
	n := &c.deps[i]
	for k, b := range n.bindings {
		if from := n.sources[k]; from >= 0 && c.mayLack(b, from) {
			c.fail("binding", c.bindingAt(i, b), c.steps[i].ID, hintLack, "input %s: %q may end without output (onError: continue)", b.Input, c.steps[from].ID)
		}
	}
}

// mayLack reports whether a binding needs the output of a step that may end without one.
func (c *compiler) mayLack(b toolflow.Binding, from int) bool {
	return !b.Optional && b.Default == nil && c.policy(from, "").Continue
}

// checkStatic validates arguments that nothing upstream has a part in.
func (c *compiler) checkStatic(i int, s *Step) {
	args, _, err := s.Args.Fill(func(int, bool) (any, bool) { return nil, false }, c.inputValue)
	if err != nil {
		c.fail("invalid_arguments", c.stepAt(i), s.ID, "", "%s", err)
		return
	}
	for k, sch := range []*schema.Schema{s.Input, s.ServerOnly} {
		if sch == nil {
			continue
		}
		for _, p := range problems(sch.Validate(args)) {
			whose := ""
			if k == 1 {
				whose = byServer
			}
			c.say(toolflow.Diagnostic{Severity: c.clash(), Code: "invalid_arguments", Pointer: c.argumentsAt(i) + p.Pointer, Step: s.ID, Path: p.Path,
				Message: "argument " + p.String() + whose})
		}
	}
}
