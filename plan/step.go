package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
	"github.com/toolflow-go/toolflow/schema"
)

// step compiles one step. given are the values for its arguments that came with the call.
func (c *compiler) step(i int, runs bool, given given) Step {
	f := &c.facts[i]
	s := Step{ID: c.steps[i].ID, Tool: c.steps[i].Tool, Server: f.server, Title: title(f),
		Input: f.input, ServerOnly: f.serverOnly, Output: f.output, Checked: f.live != nil || f.spec != nil}
	s.Policy = c.policy(i, f.server)
	s.Safe, s.SafeWhy, s.AsksWhy = c.safety(i, f)
	s.Asks = s.AsksWhy != ""
	sources := c.sources(i)
	s.Reads = reads(sources)
	spec := binding.Spec{Literal: c.literal(i), Given: given.value, Set: given.set, Sources: sources, Schema: f.inputNode()}
	args, diags := binding.Compile(spec)
	for _, d := range diags {
		if d.Step = s.ID; d.Pointer == "" {
			d.Pointer = c.stepAt(i)
		} else {
			d.Pointer = c.needsAt(i) + d.Pointer
		}
		c.say(d)
	}
	if s.Args = args; args != nil {
		c.check(i, runs, &s, spec, diags)
	}
	return s
}

func title(f *facts) string {
	for _, t := range []*toolflow.Tool{f.spec, f.live} {
		switch {
		case t == nil:
		case t.Title != "":
			return t.Title
		case t.Annotations.Title != "":
			return t.Annotations.Title
		}
	}
	return ""
}

// sources pairs a step's bindings with the steps that they read.
func (c *compiler) sources(i int) []binding.Source {
	n := &c.deps[i]
	sources := make([]binding.Source, 0, len(n.bindings))
	for k, b := range n.bindings {
		s := binding.Source{Binding: b, Step: -1}
		if from := n.sources[k]; from >= 0 {
			s.Step, s.StepID, s.Output = c.number[from], c.steps[from].ID, c.facts[from].outputNode()
		} else if b.FromTool != "" {
			continue // its name could not be resolved
		} else if b.FromInput != "" {
			if c.doc.InputSchema == nil {
				c.fail("binding", c.bindingAt(i, b)+"/fromInput", c.steps[i].ID, hintInput,
					"input %s: fromInput reads the plan's own input, which it does not describe", b.Input)
				continue
			}
			s.Output = c.inputNode
		}
		sources = append(sources, s)
	}
	return sources
}

// reads lists the steps that sources read, each once.
func reads(sources []binding.Source) []Read {
	var out []Read
	for _, s := range sources {
		if s.Step < 0 {
			continue
		}
		k := slices.IndexFunc(out, func(r Read) bool { return r.Step == s.Step })
		if k < 0 {
			k = len(out)
			out = append(out, Read{Step: s.Step})
		}
		out[k].Content = out[k].Content || s.Binding.ContentPath != ""
	}
	return out
}

// findInputs finds the steps that the document's `inputs` name.
func (c *compiler) findInputs() {
	c.inputs = make(map[int]toolflow.StepInput, len(c.doc.Inputs))
	for _, in := range c.doc.Inputs {
		at := "/inputs/" + toolflow.EscapePointer(in.Step)
		i, message, hint := c.resolver.Resolve(in.Step, -1)
		first, twice := c.inputs[i]
		switch {
		case message != "":
			c.fail("unknown_tool", at, "", hint, "inputs: %s", message)
		case twice:
			c.fail("duplicate", at, "", "leave one", "inputs: %q and %q name the same step", first.Step, in.Step)
		default:
			c.inputs[i] = in
		}
	}
}

// literal gives the document's literal arguments of a step: `inputs`, and over them its own.
func (c *compiler) literal(i int) any {
	in := c.inputs[i]
	under, err := decode(in.Arguments)
	if err != nil {
		c.fail("parse", "/inputs/"+toolflow.EscapePointer(in.Step), c.steps[i].ID, "", "inputs: %s", err)
	}
	own, err := decode(c.steps[i].Arguments)
	if err != nil {
		c.fail("parse", c.stepAt(i)+"/arguments", c.steps[i].ID, "", "arguments: %s", err)
	}
	switch {
	case own == nil:
		return under
	case under == nil:
		return own
	}
	return toolflow.MergeValues(under, own)
}

// argumentsAt is the pointer of a step's literal arguments, or of the step when it has none.
func (c *compiler) argumentsAt(i int) string {
	in, ok := c.inputs[i]
	switch {
	case c.steps[i].Arguments != nil:
		return c.stepAt(i) + "/arguments"
	case ok:
		return "/inputs/" + toolflow.EscapePointer(in.Step)
	}
	return c.stepAt(i)
}

// decode reads what the document keeps as text; nil when there is none.
func decode(raw json.RawMessage) (any, error) {
	if raw == nil {
		return nil, nil
	}
	return toolflow.DecodeValueDepth(raw, toolflow.MaxDocumentDepth)
}

// What to do about a binding that may find nothing to read.
const (
	hintInput = `give the plan an "inputSchema"`
	hintLack  = `add "optional": true or a "default"`
)

// problems lists what a validation found.
func problems(err error) []schema.Problem {
	var invalid *schema.Invalid
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return invalid.Problems
	}
	return []schema.Problem{{Message: err.Error()}}
}

// missing reports an input that nothing provides, with the flags that would give it (rule P6).
func (c *compiler) missing(i int, m binding.Missing, whose string) {
	id := c.steps[i].ID
	c.diags = append(c.diags, toolflow.Diagnostic{Severity: toolflow.SeverityError, Code: "missing_input", Step: id, Path: m.Path,
		Pointer: c.stepAt(i), Message: fmt.Sprintf("%s.%s is required and nothing provides it%s", id, m.Path, whose),
		Hint: c.flagHint(func(path string) string { return stepPath(id, path) }, m)})
}

// stepPath writes where a value for a step's argument goes: STEP.PATH, quoted where it must be.
func stepPath(id, path string) string {
	if strings.ContainsAny(id, ".[] '") {
		id = quoteName(id)
	}
	if strings.HasPrefix(path, "[") {
		return id + path
	}
	return id + "." + path
}

// flagHint writes the flags that would give a missing value, and what is allowed.
func (c *compiler) flagHint(name func(string) string, m binding.Missing) string {
	flag := "-i"
	if c.doc.InputSchema != nil {
		flag = "--set"
	}
	var flags []string
	for _, f := range m.Flags {
		flags = append(flags, flag+" "+shellQuote(name(f)+"=…"))
	}
	hint := "give it with " + strings.Join(flags, " ")
	if len(m.Allowed) > 0 {
		var values []string
		for _, v := range m.Allowed[:min(len(m.Allowed), 8)] {
			if s, ok := v.(string); ok {
				values = append(values, s)
			} else {
				values = append(values, string(toolflow.AppendValue(nil, v)))
			}
		}
		hint += "; allowed: " + strings.Join(values, ", ")
	}
	return hint
}

// quoteName writes a member's name as a location that means just that member.
func quoteName(name string) string {
	return "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "']"
}

// shellQuote quotes a word as a person would type it in a shell.
func shellQuote(word string) string {
	switch {
	case !strings.Contains(word, "'"):
		return "'" + word + "'"
	case !strings.ContainsAny(word, "\"\\$`!"):
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
