package plan

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
	"github.com/toolflow-go/toolflow/dag"
	"github.com/toolflow-go/toolflow/schema"
)

// Compile checks a document and makes a plan of it. All problems are reported, in the order of the
// file, after those about what came with the call. The plan is nil when there is no graph to show;
// with errors among the diagnostics it must not be run.
func Compile(doc *toolflow.Document, o Options) (*Plan, []toolflow.Diagnostic) {
	c := &compiler{doc: doc, o: o, schemas: o.Schemas, learnt: map[pair]schemas{}, believed: map[*toolflow.Tool]bool{}}
	if c.schemas == nil {
		c.schemas = &schema.Cache{}
	}
	c.diags = append(c.diags, doc.CheckNames()...)
	c.steps, c.specs = doc.EffectiveSteps()
	c.resolver = toolflow.NewResolver(c.steps)
	if len(c.steps) == 0 {
		c.fail("empty", "/steps", "", `it needs "tools" or "steps"`, "the document has no step: there is nothing to run")
	}
	c.setServers()
	c.learnSpecs()
	c.facts = make([]facts, len(c.steps))
	for i := range c.steps {
		c.facts[i] = c.findServer(i)
	}
	c.findEdges()
	c.findInputs()
	targets := c.findTargets()
	p := c.plan(targets)
	if o.Strict {
		refuseWarnings(c.diags)
	}
	return p, c.placed()
}

// refuseWarnings is --strict: what otherwise leaves a warning is an error.
func refuseWarnings(ds []toolflow.Diagnostic) {
	for i := range ds {
		if ds[i].Severity == toolflow.SeverityWarning {
			ds[i].Severity = toolflow.SeverityError
		}
	}
}

// placed gives the diagnostics, those about the document with their places in it. One without a
// pointer is about what came with the call or from a server; it has no place, and stands first.
func (c *compiler) placed() []toolflow.Diagnostic {
	var elsewhere, inside []toolflow.Diagnostic
	for _, d := range c.diags {
		if d.Pointer == "" {
			elsewhere = append(elsewhere, d)
		} else {
			inside = append(inside, d)
		}
	}
	return append(elsewhere, c.doc.Locate(inside)...)
}

// compiler holds what one Compile works on. Steps are numbered as in the document (doc numbers)
// until the closure is known; then the steps that run come first (plan numbers).
type compiler struct {
	doc     *toolflow.Document
	o       Options
	schemas *schema.Cache
	diags   []toolflow.Diagnostic

	steps    []toolflow.Step
	specs    []int // doc number -> the tool of the document that specifies it, -1 for none
	resolver *toolflow.Resolver
	deps     []needs
	edges    []dag.Edge  // in doc numbers
	tools    []specFacts // of the document's tools

	servers     []toolflow.Server
	serverNames []string
	noServer    bool                                 // said that none is configured
	offers      map[string]map[string]*toolflow.Tool // server -> name -> its live tool
	learnt      map[pair]schemas
	believed    map[*toolflow.Tool]bool // live tools whose hints are noted to count

	number []int // doc number -> plan number
	facts  []facts
	inputs map[int]toolflow.StepInput // the document's `inputs` by doc number

	inputNode  schema.Node // of the plan's own input
	inputValue any
	inputLacks []binding.Missing
}

// needs is what one step needs from others, resolved.
type needs struct {
	sources  []int // of each binding: the step's doc number, -1 for none or not found
	bindings []toolflow.Binding
	broken   bool // some name in it could not be resolved
}

func (c *compiler) say(d toolflow.Diagnostic) {
	if d.Step != "" {
		d.Message = fmt.Sprintf("step %q: %s", d.Step, d.Message)
	}
	c.diags = append(c.diags, d)
}

func (c *compiler) fail(code, pointer, step, hint, format string, args ...any) {
	c.say(toolflow.Diagnostic{Severity: toolflow.SeverityError, Code: code, Pointer: pointer, Step: step, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// stepAt is the pointer of a step, or of the tool that stands for it.
func (c *compiler) stepAt(i int) string {
	if c.doc.Steps != nil {
		return fmt.Sprintf("/steps/%d", i)
	}
	return fmt.Sprintf("/tools/%d", i)
}

// findEdges resolves what every step needs (rules E1, D3).
func (c *compiler) findEdges() {
	c.deps = make([]needs, len(c.steps))
	for i := range c.steps {
		if d, _ := c.dependencies(i); d != nil {
			c.findNeeds(i, d)
		}
	}
}

// dependencies gives what a step needs from others, and the pointer of what says so: the step, else
// its tool in the document, else its server, when the configuration trusts that (rule D9).
func (c *compiler) dependencies(i int) (d *toolflow.Dependencies, at func() string) {
	here := func() string { return c.stepAt(i) + "/dependencies" }
	f := &c.facts[i]
	switch {
	case c.steps[i].Dependencies != nil:
		return c.steps[i].Dependencies, here
	case f.spec != nil && f.spec.Dependencies != nil:
		return f.spec.Dependencies, func() string { return fmt.Sprintf("/tools/%d/dependencies", c.specs[i]) }
	case f.live != nil && f.live.Dependencies != nil && isTrue(c.trust(f.server)):
		return f.live.Dependencies, here
	}
	return nil, here
}

// needsAt is the pointer of the `dependencies` that hold for a step. Pointers are made for
// diagnostics only, so that a large document without any pays for none.
func (c *compiler) needsAt(i int) string {
	_, at := c.dependencies(i)
	return at()
}

// bindingAt is the pointer of one binding of a step.
func (c *compiler) bindingAt(i int, b toolflow.Binding) string {
	return c.needsAt(i) + "/bindings/" + toolflow.EscapePointer(b.Input)
}

func (c *compiler) findNeeds(i int, d *toolflow.Dependencies) {
	n, id := &c.deps[i], c.steps[i].ID
	required := map[int]bool{}
	at := func(k int) string { return fmt.Sprintf("%s/requires/%d", c.needsAt(i), k) }
	for k, name := range d.Requires {
		from, message, hint := c.resolver.Resolve(name, i)
		switch {
		case message != "":
			c.fail("unknown_tool", at(k), id, hint, "requires: %s", message)
			n.broken = true
			continue
		case required[from]:
			c.say(toolflow.Diagnostic{Severity: toolflow.SeverityWarning, Code: "duplicate", Pointer: at(k), Step: id,
				Message: fmt.Sprintf("requires %q twice", name), Hint: "leave one"})
		}
		required[from] = true
		c.edges = append(c.edges, dag.Edge{From: from, To: i})
	}
	n.bindings, n.sources = d.Bindings, make([]int, len(d.Bindings))
	for k, b := range d.Bindings {
		n.sources[k] = c.findSource(i, b, d.Requires != nil, required)
	}
}

// findSource resolves the step that a binding reads, -1 when it reads none.
func (c *compiler) findSource(i int, b toolflow.Binding, hasRequires bool, required map[int]bool) int {
	if b.FromTool == "" {
		return -1
	}
	id := c.steps[i].ID
	from, message, hint := c.resolver.Resolve(b.FromTool, i)
	if message != "" {
		c.fail("unknown_tool", c.bindingAt(i, b)+"/fromTool", id, hint, "input %s: fromTool: %s", b.Input, message)
		c.deps[i].broken = true
		return -1
	}
	if hasRequires && !required[from] {
		c.say(toolflow.Diagnostic{Severity: toolflow.SeverityWarning, Code: "requires", Pointer: c.bindingAt(i, b) + "/fromTool", Step: id, Path: b.Input,
			Message: fmt.Sprintf("input %s comes from %q, which requires leaves out", b.Input, b.FromTool),
			Hint:    fmt.Sprintf("add %q to requires", b.FromTool)})
		required[from] = true // said once
	}
	c.edges = append(c.edges, dag.Edge{From: from, To: i})
	return from
}

// findTargets gives the doc numbers of the steps that were asked for, nil for all.
func (c *compiler) findTargets() []int {
	var targets []int
	for _, name := range c.o.Targets {
		i, message, hint := c.resolver.Resolve(name, -1)
		if message != "" {
			c.fail("unknown_tool", "", "", hint, "--target: %s", message)
			continue
		}
		targets = append(targets, i)
	}
	if len(c.o.Targets) > 0 || c.o.All || c.doc.Steps != nil || len(c.doc.Tools) < 2 {
		return targets
	}
	for _, t := range c.doc.Tools {
		if t.Dependencies != nil {
			return targets
		}
	}
	c.fail("no_chain", "/tools", "", "choose with --target TOOL, or run every tool with --all",
		"the document lists %d tools and says nothing about how they depend on each other", len(c.doc.Tools))
	return targets
}

// plan builds the plan of the closure of targets.
func (c *compiler) plan(targets []int) *Plan {
	names := make([]string, len(c.steps))
	for i, s := range c.steps {
		names[i] = s.ID
	}
	whole, err := dag.New(names, c.edges)
	if err != nil {
		c.cycles(err)
		whole = c.loose()
	}
	order, k := c.closure(whole, targets)
	for _, i := range order {
		c.learn(i, c.number[i] < k)
	}
	p := &Plan{Name: c.doc.Name, Title: c.doc.Title, Description: c.doc.Description, Servers: c.servers, Steps: make([]Step, k)}
	if p.Name == "" {
		p.Name = strings.TrimSuffix(filepath.Base(c.doc.File), filepath.Ext(c.doc.File))
	}
	given := c.readInput(p)
	for _, i := range order {
		s := c.step(i, c.number[i] < k, given[i])
		if c.number[i] < k {
			p.Steps[c.number[i]] = s
		}
	}
	if p.Graph = whole; k < len(order) && err == nil {
		p.Graph = c.part(order[:k])
	}
	c.output(p, targets)
	if err != nil {
		return nil
	}
	return p
}

// loose is a graph without edges. It stands in for one that cannot be, so that the steps are checked
// all the same and every problem is reported at once.
func (c *compiler) loose() *dag.Graph {
	names := make([]string, len(c.steps))
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	g, err := dag.New(names, nil)
	if err != nil {
		panic(err) // numbers differ, and nothing waits
	}
	return g
}

// closure numbers the steps: those that run first, both parts in document order.
func (c *compiler) closure(g *dag.Graph, targets []int) (order []int, k int) {
	runs := make([]bool, len(c.steps))
	for i := range runs {
		runs[i] = len(targets) == 0
	}
	if len(targets) > 0 {
		for _, i := range g.Closure(targets) {
			runs[i] = true
		}
	}
	for i := range runs {
		if runs[i] {
			order = append(order, i)
		}
	}
	k = len(order)
	for i := range runs {
		if !runs[i] {
			order = append(order, i)
		}
	}
	c.number = make([]int, len(order))
	for n, i := range order {
		c.number[i] = n
	}
	return order, k
}

// part is the graph of the steps that run.
func (c *compiler) part(order []int) *dag.Graph {
	names := make([]string, len(order))
	for n, i := range order {
		names[n] = c.steps[i].ID
	}
	var edges []dag.Edge
	for _, e := range c.edges {
		if c.number[e.To] < len(order) {
			edges = append(edges, dag.Edge{From: c.number[e.From], To: c.number[e.To]})
		}
	}
	g, err := dag.New(names, edges)
	if err != nil {
		panic(err) // a part of a graph without cycles has none
	}
	return g
}

// cycles reports one cycle of each group of steps that wait for each other. Names that stand twice
// make no graph either, but are reported already.
func (c *compiler) cycles(err error) {
	var cyclic *dag.CycleError
	if !errors.As(err, &cyclic) {
		if !toolflow.HasErrors(c.diags) {
			c.fail("graph", "", "", "", "%s", err)
		}
		return
	}
	for _, cycle := range cyclic.Cycles {
		first, _ := c.resolver.ID(cycle[0])
		one, hint := dag.CycleError{Cycles: [][]string{cycle}}, "drop one of these dependencies"
		if len(cycle) == 1 {
			hint = "a step cannot wait for itself"
		}
		c.fail("cycle", c.needsAt(first), "", hint, "%s", one.Error())
	}
}
