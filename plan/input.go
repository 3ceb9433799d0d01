package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
	"github.com/toolflow-go/toolflow/schema"
)

// Input is what the caller of a plan gives: the plan's own input when the document has an
// inputSchema, else the arguments of its steps by step id.
type Input struct {
	Value       json.RawMessage // an object; nil for none
	Assignments []Assignment    // applied after Value, in order
}

// An Assignment gives one value by its place.
type Assignment struct {
	Path string // a location in the plan's input, or STEP.PATH
	Text string // the value, read by the type that the schema wants at that place
	JSON bool   // Text is JSON, whatever the schema says
	Step bool   // Path is STEP.PATH even when the document has an inputSchema (--set)
}

// flag is what people write it with.
func (a Assignment) flag() string {
	if a.Step {
		return "--set"
	}
	return "-i"
}

// given is what came with the call for one object: a step's arguments, or the plan's own input.
type given struct {
	value any // nil or an object
	set   []binding.Setting
}

// readInput makes the plan's own input and what is given for each step's arguments, by doc number.
func (c *compiler) readInput(p *Plan) map[int]given {
	steps := map[int]given{}
	own := given{}
	var whole map[string]any
	if c.o.Input.Value != nil {
		v, err := toolflow.DecodeValueDepth(c.o.Input.Value, toolflow.MaxDocumentDepth)
		object, ok := v.(map[string]any)
		switch {
		case err != nil:
			c.fail("input", "", "", "", "the input is not JSON: %s", err)
		case !ok:
			c.fail("input", "", "", "", "the input must be an object, not %s", toolflow.KindOf(v))
		}
		whole = object
	}
	if c.doc.InputSchema == nil {
		c.spread(whole, steps)
	} else {
		if p.InputSchema = c.schema(c.doc.InputSchema, "/inputSchema", "the plan", "inputSchema"); p.InputSchema != nil {
			c.inputNode = p.InputSchema.Root()
		}
		if whole != nil {
			own.value = whole
			c.checkMembers(whole, c.inputNode, "the input")
		}
	}
	for _, a := range c.o.Input.Assignments {
		if c.doc.InputSchema != nil && !a.Step {
			c.assign(a, a.Path, c.inputNode, &own)
		} else if i, rest, ok := c.findStep(a); ok {
			g := steps[i]
			c.assign(a, rest, c.facts[i].inputNode(), &g)
			steps[i] = g
		}
	}
	if p.InputSchema != nil {
		c.ownInput(p, own)
	}
	if c.doc.OutputSchema != nil {
		p.OutputSchema = c.schema(c.doc.OutputSchema, "/outputSchema", "the plan", "outputSchema")
	}
	return steps
}

// spread hands the members of an input out to the steps that they name.
func (c *compiler) spread(whole map[string]any, steps map[int]given) {
	for _, id := range slices.Sorted(maps.Keys(whole)) {
		i, message, hint := c.resolver.Resolve(id, -1)
		args, ok := whole[id].(map[string]any)
		_, twice := steps[i]
		switch {
		case message != "":
			c.fail("input", "", "", hint, "the input: %s", message)
		case twice:
			c.fail("input", "", "", fmt.Sprintf("leave one, such as %q", id), "the input: it names step %q twice", c.steps[i].ID)
		case !ok:
			c.fail("input", "", "", "", "the input of %q must be an object of arguments, not %s", id, toolflow.KindOf(whole[id]))
		default:
			steps[i] = given{value: args}
			c.checkMembers(args, c.facts[i].inputNode(), fmt.Sprintf("the input of %q", id))
		}
	}
}

// findStep splits STEP.PATH: the longest step id that matches wins, and ['odd.id'].path always works.
func (c *compiler) findStep(a Assignment) (int, string, bool) {
	path := a.Path
	if strings.HasPrefix(path, "['") {
		if end := strings.Index(path, "']"); end > 0 {
			id := strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(path[2:end])
			if i, ok := c.resolver.ID(id); ok && len(path) > end+2 {
				return i, strings.TrimPrefix(path[end+2:], "."), true
			}
		}
	}
	for end := len(path) - 1; end > 0; end-- {
		if path[end] != '.' && path[end] != '[' {
			continue
		}
		if i, ok := c.resolver.ID(path[:end]); ok {
			return i, strings.TrimPrefix(path[end:], "."), true
		}
	}
	if _, ok := c.resolver.ID(path); ok {
		c.fail("input", "", "", fmt.Sprintf("name the argument: %s %s.ARGUMENT=VALUE", a.flag(), path), "%s %s names a step, not one of its arguments", a.flag(), path)
		return 0, "", false
	}
	_, _, hint := c.resolver.Resolve(firstName(path), -1)
	if hint == "" {
		hint = "write STEP.PATH=VALUE"
	}
	c.fail("input", "", "", hint, "%s %s starts with no step of the plan", a.flag(), path)
	return 0, "", false
}

// assign reads one value for its place.
func (c *compiler) assign(a Assignment, path string, node schema.Node, into *given) {
	location, err := binding.ParseLocation(path, node)
	if err == nil {
		var value any
		if value, err = coerce(a, location.Node(node)); err == nil {
			c.checkDeclared(a, path, node)
			into.set = append(into.set, binding.Setting{At: location, Value: value})
			return
		}
	}
	c.fail("input", "", "", "", "%s %s: %s", a.flag(), a.Path, err)
}

// checkDeclared warns of a value that an open schema takes without knowing it: it may be misspelt.
func (c *compiler) checkDeclared(a Assignment, path string, node schema.Node) {
	head := firstName(path)
	if head == "" || slices.Contains(node.Properties(), path) {
		return
	}
	hint := ""
	if _, isStep := c.resolver.ID(head); isStep && c.doc.InputSchema != nil && !a.Step {
		hint = fmt.Sprintf("a step's argument is given with --set %s=…", a.Path)
	}
	c.undeclared(head, node, a.flag()+" "+a.Path, hint)
}

// firstName gives the bare name that a location starts with, empty when it starts otherwise.
func firstName(path string) string {
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
}

// checkMembers does the same for the members of an object.
func (c *compiler) checkMembers(object map[string]any, node schema.Node, what string) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		c.undeclared(name, node, what, "")
	}
}

func (c *compiler) undeclared(name string, node schema.Node, what, hint string) {
	names := node.Properties()
	if len(names) == 0 || slices.Contains(names, name) {
		return
	}
	if hint == "" {
		hint = toolflow.DidYouMean(name, names)
	}
	c.say(toolflow.Diagnostic{Severity: toolflow.SeverityWarning, Code: "input", Hint: hint, Message: fmt.Sprintf("%s: the schema declares no %q", what, name)})
}

// coerce reads the text of an assignment by what the schema takes: as it stands where a string is
// accepted, else as JSON.
func coerce(a Assignment, node schema.Node) (any, error) {
	if !utf8.ValidString(a.Text) {
		return nil, errors.New("the value is not UTF-8")
	}
	if !a.JSON {
		types := node.Types()
		if len(types) == 0 {
			types = typesOf(node.Enum())
		}
		if len(types) == 0 || slices.Contains(types, "string") {
			return a.Text, nil
		}
		v, err := toolflow.DecodeValue([]byte(a.Text))
		if err != nil {
			return nil, fmt.Errorf("%q is no %s", toolflow.Clip(a.Text, 60), strings.Join(types, " or "))
		}
		return v, nil
	}
	v, err := toolflow.DecodeValue([]byte(a.Text))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return v, nil
}

func typesOf(values []any) []string {
	var types []string
	for _, v := range values {
		types = append(types, toolflow.KindOf(v))
	}
	return types
}

// ownInput checks the plan's own input and fills in its defaults.
func (c *compiler) ownInput(p *Plan, own given) {
	args, diags := binding.Compile(binding.Spec{Given: own.value, Set: own.set, Schema: c.inputNode})
	for _, d := range diags {
		d.Message = "the plan's " + d.Message
		c.say(d)
	}
	p.MissingInput = args.Missing()
	c.inputLacks = p.MissingInput
	for _, m := range p.MissingInput {
		c.diags = append(c.diags, toolflow.Diagnostic{Severity: toolflow.SeverityError, Code: "missing_input", Path: m.Path, Pointer: "/inputSchema",
			Message: fmt.Sprintf("the plan's input %s is required and nothing provides it", m.Path),
			Hint:    strings.ReplaceAll(c.flagHint(func(path string) string { return path }, m), "--set ", "-i ")})
	}
	value, _, err := args.Fill(func(int, bool) (any, bool) { return nil, false }, nil)
	if err != nil {
		c.fail("input", "", "", "", "the plan's input: %s", err)
		return
	}
	c.inputValue, p.Input = value, value
	if len(p.MissingInput) > 0 {
		return
	}
	for _, bad := range problems(p.InputSchema.Validate(value)) {
		c.fail("input", "/inputSchema", "", "", "the plan's input %s", bad)
	}
}
