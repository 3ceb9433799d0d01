package binding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ohler55/ojg/jp"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// The codes of the diagnostics that Compile gives.
const (
	CodeBinding       = "binding"           // its source, take or default is not as it should be
	CodeInputPath     = "input_path"        // the input is no location
	CodeOutputPath    = "output_path"       // the path is none
	CodeInputUnknown  = "input_unknown"     // the input schema has no such place
	CodeOutputUnknown = "output_unknown"    // the output schema has no such place
	CodeOverlap       = "binding_overlap"   // two bindings write the same place
	CodeOverLiteral   = "binding_literal"   // a binding replaces a literal of the document
	CodeYields        = "binding_yields"    // a value given at the call replaces a binding
	CodeMayBeMissing  = "may_be_missing"    // only an optional binding fills a required input
	CodeFilled        = "default_filled"    // a required input gets its constant or default
	CodeArguments     = "arguments_invalid" // literals or call values cannot be arguments
)

// Compile checks everything about the arguments of one step that can be checked before the run. Each
// diagnostic has its Pointer relative to the step's `dependencies`, empty when it is about no
// binding, and a message that `step "x": ` can stand in front of. Bindings with an error are left out
// of the Arguments.
func Compile(spec Spec) (*Arguments, []toolflow.Diagnostic) {
	c := &compiler{spec: spec, args: &Arguments{schema: spec.Schema}}
	c.values()
	reads := c.sources()
	slices.SortStableFunc(reads, func(x, y *read) int { return CompareLocations(x.Input, y.Input) })
	reads = c.settle(c.apart(reads))
	c.complete(reads)
	slices.SortStableFunc(c.said, func(x, y said) int { return cmp.Compare(x.source, y.source) })
	diags := make([]toolflow.Diagnostic, len(c.said))
	for i, s := range c.said {
		diags[i] = s.diag
	}
	return c.args, diags
}

type compiler struct {
	spec  Spec
	args  *Arguments
	calls []callValue
	said  []said
}

type said struct {
	source int
	diag   toolflow.Diagnostic
}

const aboutAll = -1 // said before what is said about bindings

// say adds a diagnostic about the binding with the number source, at member inside it.
func (c *compiler) say(source int, severity toolflow.Severity, code, member, hint, format string, args ...any) {
	b := c.spec.Sources[source].Binding
	pointer := "/bindings/" + toolflow.EscapePointer(b.Input)
	if member != "" {
		pointer += "/" + member
	}
	c.said = append(c.said, said{source, toolflow.Diagnostic{Severity: severity, Code: code, Pointer: pointer, Path: b.Input,
		Message: "input " + shown(b.Input) + ": " + fmt.Sprintf(format, args...), Hint: hint}})
}

func (c *compiler) fail(source int, code, member, hint, format string, args ...any) {
	c.say(source, toolflow.SeverityError, code, member, hint, format, args...)
}

// sayAt adds a diagnostic about a location that is no binding's.
func (c *compiler) sayAt(at jp.Expr, severity toolflow.Severity, code, hint, format string, args ...any) {
	path := string(appendExpr(nil, at))
	prefix := ""
	if path != "" {
		prefix = "input " + path + ": "
	}
	c.said = append(c.said, said{aboutAll, toolflow.Diagnostic{Severity: severity, Code: code, Path: path,
		Message: prefix + fmt.Sprintf(format, args...), Hint: hint}})
}

// shown gives an input as it was written, quoted when it would not stand out in a sentence.
func shown(input string) string {
	if input == "" || strings.ContainsFunc(input, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%q", input)
	}
	return input
}

func (c *compiler) sources() []*read {
	reads := make([]*read, 0, len(c.spec.Sources))
	c.args.all = make([]Read, 0, len(c.spec.Sources))
	for i := range c.spec.Sources {
		if r := c.read(i); r != nil {
			reads = append(reads, r)
		}
	}
	return reads
}

// read compiles one binding; nil after an error.
func (c *compiler) read(i int) *read {
	s := &c.spec.Sources[i]
	r := &read{Read: Read{Source: i, Step: s.Step, StepID: s.StepID, Take: s.Binding.Take, Optional: s.Binding.Optional}}
	located := c.locate(r, s.Binding.Input)
	if !c.source(r, s) || !located {
		return nil
	}
	return r
}

func (c *compiler) locate(r *read, input string) bool {
	l, err := parseLocation(input, c.spec.Schema)
	if err != nil {
		c.fail(r.Source, CodeInputPath, "", err.hint(), "%s", err.Problem)
		return false
	}
	if index, ok := l.at[0].(jp.Nth); ok {
		c.fail(r.Source, CodeInputPath, "", "", "the arguments are an object, so an input starts with a name and not with [%d]", index)
		return false
	}
	r.Input = l
	e := excluded(c.spec.Schema, l.at)
	if e == nil {
		return true
	}
	where := "the input schema"
	if len(e.place) > 0 {
		where = placeName(e.place)
	}
	c.fail(r.Source, CodeInputUnknown, "", e.hint, "%s %s", where, e.what)
	return false
}

func (c *compiler) source(r *read, s *Source) bool {
	b := &s.Binding
	ok := true
	if b.Take != "" && b.Take != "first" && b.Take != "only" {
		c.fail(r.Source, CodeBinding, "take", `write "first" or "only", or leave it out for all matches`, "take %q is not known", b.Take)
		ok = false
	}
	switch {
	case b.FromTool != "" && b.ContentPath != "" && b.OutputPath == "":
		r.From, r.Content = FromStep, true
		ok = c.path(r, "contentPath", b.ContentPath, schema.Node{}) && ok
	case b.FromTool != "":
		r.From = FromStep
		ok = c.path(r, "outputPath", b.OutputPath, s.Output) && ok
	case b.Value != nil:
		r.From = FromLiteral
		return c.decode(r, "value", b.Value) && ok
	default:
		r.From = FromInput
		ok = c.path(r, "fromInput", b.FromInput, s.Output) && ok
	}
	if b.Default != nil {
		r.HasDefault = true
		return c.decode(r, "default", b.Default) && ok
	}
	if ok && r.From == FromInput {
		r.value, r.HasDefault = r.Path.Node(s.Output).Default()
	}
	return ok
}

func (c *compiler) decode(r *read, member string, raw []byte) bool {
	v, err := toolflow.DecodeValue(raw)
	if err != nil {
		c.fail(r.Source, CodeBinding, member, "", "its %s is not JSON: %v", member, err)
		return false
	}
	r.value = v
	return true
}

func (c *compiler) path(r *read, member, text string, under schema.Node) bool {
	p, err := parsePath(text, under)
	if err != nil {
		c.fail(r.Source, CodeOutputPath, member, err.hint(), "%s %q: %s", member, toolflow.Clip(text, 80), err.Problem)
		return false
	}
	if c.spec.Budget > 0 {
		p.budget = c.spec.Budget
	}
	r.Path, r.path = p, p.String()
	if member == "fromInput" && !p.singular {
		c.fail(r.Source, CodeOutputPath, member, "", "fromInput %s may match several values, and it names one", p)
		return false
	}
	if p.singular && (r.Take == "first" || r.Take == "only") {
		c.say(r.Source, toolflow.SeverityWarning, CodeBinding, "take", "leave it out", "take has no meaning: %s names one value", p)
	}
	e := excluded(under, p.front)
	if e == nil {
		return true
	}
	where := string(appendExpr([]byte("$"), e.place)) + " in " + r.of("output")
	if len(e.place) == 0 {
		where = r.of("output")
	}
	c.fail(r.Source, CodeOutputUnknown, member, e.hint, "%s: %s %s", p, where, e.what)
	return false
}

// of names what r reads: `the output of "search"`.
func (r *read) of(what string) string {
	if r.From == FromInput {
		return "the plan's input"
	}
	return fmt.Sprintf("the %s of %q", what, r.StepID)
}

// apart reports bindings of which one writes inside the other, and leaves out the inner ones. reads
// are in order of location, so what lies inside one follows it.
func (c *compiler) apart(reads []*read) []*read {
	out := reads[:0]
	var outer *read
	for _, r := range reads {
		if outer == nil || !outer.Input.Contains(r.Input) {
			outer = r
			out = append(out, r)
			continue
		}
		first, second := outer, r
		if first.Source > second.Source {
			first, second = second, first
		}
		c.fail(second.Source, CodeOverlap, "", "keep one of the two", "the binding of %s writes the same place",
			shown(c.spec.Sources[first.Source].Binding.Input))
	}
	return out
}

// settle holds the bindings against literals and call values, and leaves out those that yield.
func (c *compiler) settle(reads []*read) []*read {
	out := reads[:0:0]
	for _, r := range reads {
		if c.given(r.Input.at) {
			r.Yields = true
			c.say(r.Source, toolflow.SeverityNote, CodeYields, "", "", "the value given at the call stands, %s is not used", r.subject())
			continue
		}
		if _, ok := walk(c.args.base, r.Input.at); ok {
			c.say(r.Source, toolflow.SeverityWarning, CodeOverLiteral, "", "keep one of the two", "%s replaces the literal value in the document", r.subject())
		}
		out = append(out, r)
	}
	byDocument := append(make([]*read, 0, len(reads)), reads...)
	slices.SortFunc(byDocument, func(x, y *read) int { return cmp.Compare(x.Source, y.Source) })
	for _, r := range byDocument {
		c.args.all = append(c.args.all, r.Read)
	}
	return out
}

// subject names the binding by what it reads.
func (r *read) subject() string {
	switch r.From {
	case FromStep:
		return fmt.Sprintf("the binding from %q", r.StepID)
	case FromInput:
		return "the binding from the plan's input"
	}
	return "the bound value"
}
