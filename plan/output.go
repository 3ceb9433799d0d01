package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
)

// output compiles what the run returns: the outputs of the targets, else the document's `output`,
// else the outputs of the sinks. The document's is checked in any case.
func (c *compiler) output(p *Plan, targets []int) {
	for _, i := range targets {
		p.Targets = append(p.Targets, c.number[i])
	}
	if len(targets) == 0 {
		for _, i := range p.Graph.Sinks() {
			p.Targets = append(p.Targets, int(i))
		}
	}
	slices.Sort(p.Targets)
	p.Targets = slices.Compact(p.Targets)
	p.Reads = readAll(p.Targets)
	if c.doc.Output == nil {
		return
	}
	if args, reads := c.described(len(targets) == 0); len(targets) == 0 {
		p.Output, p.Reads = args, reads
	} else {
		p.OutputSchema = nil // it describes what is not returned
	}
}

func readAll(steps []int) []Read {
	reads := make([]Read, len(steps))
	for k, i := range steps {
		reads[k].Step = i
	}
	return reads
}

// described compiles the document's `output`; returned tells whether the run returns it. Its members
// are names, never locations.
func (c *compiler) described(returned bool) (*binding.Arguments, []Read) {
	var spec binding.Spec
	names := map[string]string{} // by the location that means just that name
	for _, b := range c.doc.Output {
		location := "[" + string(toolflow.AppendValue(nil, b.Input)) + "]"
		names[location] = b.Input
		if source, ok := c.outputSource(b); ok {
			source.Binding.Input = location
			spec.Sources = append(spec.Sources, source)
		}
	}
	args, diags := binding.Compile(spec)
	for _, d := range diags {
		name := names[d.Path]
		d.Pointer = outputAt(name) + strings.TrimPrefix(d.Pointer, "/bindings/"+toolflow.EscapePointer(d.Path))
		for _, shown := range []string{d.Path, strconv.Quote(d.Path)} {
			if what, ok := strings.CutPrefix(d.Message, "input "+shown+": "); ok {
				d.Message = "output " + name + ": " + what
			}
		}
		d.Path = name
		c.say(d)
	}
	if returned {
		c.checkOwnInput(args, "", func(r binding.Read) string { return outputAt(names[spec.Sources[r.Source].Binding.Input]) })
	}
	return args, reads(spec.Sources)
}

func outputAt(name string) string { return "/output/" + toolflow.EscapePointer(name) }

// outputSource finds what one member of the output reads. A problem is reported.
func (c *compiler) outputSource(b toolflow.Binding) (binding.Source, bool) {
	source := binding.Source{Binding: b, Step: -1}
	switch {
	case b.FromTool != "":
		i, message, hint := c.resolver.Resolve(b.FromTool, -1)
		if message != "" {
			c.fail("unknown_tool", outputAt(b.Input)+"/fromTool", "", hint, "output %s: fromTool: %s", b.Input, message)
			return source, false
		}
		source.Step, source.StepID, source.Output = c.number[i], c.steps[i].ID, c.facts[i].outputNode()
		if c.mayLack(b, i) {
			c.fail("binding", outputAt(b.Input), "", hintLack, "output %s: %q may end without output (onError: continue)", b.Input, b.FromTool)
		}
	case b.FromInput != "" && c.doc.InputSchema == nil:
		c.fail("binding", outputAt(b.Input)+"/fromInput", "", hintInput, "output %s: fromInput reads the plan's own input, which it does not describe", b.Input)
		return source, false
	case b.FromInput != "":
		source.Output = c.inputNode
	}
	return source, true
}
