package binding

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// askSchema is the input schema of the seed's perplexity_ask.
const askSchema = `{"type":"object","properties":{"messages":{"type":"array","items":{"type":"object","properties":{
	"role":{"type":"string","enum":["system","user","assistant"]},"content":{"type":"string"}},"required":["role","content"]}}},"required":["messages"]}`

// argCase is one step: its bindings as `location <- source`, what is there, and what is wanted.
type argCase struct {
	name     string
	literal  string
	given    string
	set      []string // location=JSON
	bindings []string // see source
	schema   string
	outputs  []string // the output schema of each binding's source
	upstream map[string]string
	input    string

	diags []string // severity, code, pointer, message, hint
	args  string
	prov  []string // path from [step outputPath]
	err   string
}

// source reads `a.b <- search $.x {"optional":true}`: the input, the upstream step (or `input`, or
// `value`), its path or literal, and more members.
func source(t *testing.T, text string, output schema.Node) Source {
	t.Helper()
	input, rest, ok := strings.Cut(text, " <- ")
	from, rest2, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 {
		t.Fatalf("binding %q", text)
	}
	path, more, _ := strings.Cut(rest2, " {")
	s := Source{Binding: toolflow.Binding{Input: input}, Step: -1, Output: output}
	switch from {
	case "input":
		s.Binding.FromInput = path
	case "value":
		s.Binding.Value = json.RawMessage(rest2)
		return s
	default:
		content, isContent := strings.CutPrefix(path, "content:")
		s.Binding.FromTool, s.StepID = from, from
		s.Step = len(from) // any number that tells steps apart in these tests
		if isContent {
			s.Binding.ContentPath = content
		} else {
			s.Binding.OutputPath = path
		}
	}
	if more != "" {
		var m struct {
			Optional bool
			Take     string
			Default  json.RawMessage
		}
		if err := json.Unmarshal([]byte("{"+more), &m); err != nil {
			t.Fatalf("binding %q: %v", text, err)
		}
		s.Binding.Optional, s.Binding.Take, s.Binding.Default = m.Optional, m.Take, m.Default
	}
	return s
}

func (c argCase) spec(t *testing.T) Spec {
	t.Helper()
	s := Spec{Schema: under(t, c.schema)}
	if c.literal != "" {
		s.Literal = value(t, c.literal)
	}
	if c.given != "" {
		s.Given = value(t, c.given)
	}
	for _, at := range c.set {
		where, what, _ := strings.Cut(at, "=")
		s.Set = append(s.Set, Setting{location(t, where), value(t, what)})
	}
	for i, b := range c.bindings {
		output := ""
		if i < len(c.outputs) {
			output = c.outputs[i]
		}
		s.Sources = append(s.Sources, source(t, b, under(t, output)))
	}
	return s
}

// reader gives the outputs of upstream steps, and their content blocks under "content:NAME".
func (c argCase) reader(t *testing.T, spec Spec) func(int, bool) (any, bool) {
	outputs := map[string]any{}
	for name, raw := range c.upstream {
		outputs[name] = value(t, raw)
	}
	return func(step int, content bool) (any, bool) {
		for _, s := range spec.Sources {
			if s.Step == step {
				name := s.StepID
				if content {
					name = "content:" + name
				}
				v, ok := outputs[name]
				return v, ok
			}
		}
		t.Fatalf("step %d is not known", step)
		return nil, false
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []argCase{
		{
			name: "the seed's example", schema: askSchema,
			given:    `{"messages":[{"role":"user"}]}`,
			bindings: []string{"messages[0].content <- research system_response"},
			upstream: map[string]string{"research": `{"system_response":"found"}`},
			args:     `{"messages":[{"content":"found","role":"user"}]}`,
			prov:     []string{"messages[0].content step research $.system_response", "messages[0].role call"},
		},
		{
			name:     "literals, call values and bindings side by side",
			literal:  `{"a":{"x":1,"y":2},"list":[1,{"k":1}],"keep":{}}`,
			given:    `{"a":{"y":3},"list":[9,{"m":2},"more"],"new":{"z":0}}`,
			bindings: []string{"a.b <- up $.v", "list[1].n <- up $.v"},
			upstream: map[string]string{"up": `{"v":[1.10]}`},
			args:     `{"a":{"b":[1.10],"x":1,"y":3},"keep":{},"list":[9,{"k":1,"m":2,"n":[1.10]},"more"],"new":{"z":0}}`,
			prov: []string{"a.b step up $.v", "a.x literal", "a.y call", "keep literal", "list[0] call", "list[1].k literal",
				"list[1].m call", "list[1].n step up $.v", "list[2] call", "new call"},
		},
		{
			name:    "settings come after all else given at the call",
			literal: `{"m":[{"r":"u"}]}`, given: `{"m":[{"r":"s"}]}`, set: []string{"m[1].r=\"a\"", "m[1].c=null"},
			args: `{"m":[{"r":"s"},{"c":null,"r":"a"}]}`,
			prov: []string{"m[0].r call", "m[1].c call", "m[1].r call"},
		},
		{
			name: "a setting that does not fit", literal: `{"m":"x"}`, set: []string{"m[0]=1", "k[1]=1"},
			diags: []string{"error arguments_invalid  input m[0]: the value given at the call does not fit: m is a string, not an array",
				"error arguments_invalid  input k[1]: the value given at the call does not fit: k has 0 items, so index 1 would leave a gap"},
		},
		{
			name: "arguments that are no objects", literal: `[1]`, given: `"x"`,
			diags: []string{"error arguments_invalid  the arguments are an array, not an object",
				"error arguments_invalid  the arguments given at the call are a string, not an object"},
		},
		{
			name: "every kind of source", input: `{"q":"why"}`,
			bindings: []string{"a <- up $", "b <- up content:[0].data", "c <- input q", `d <- value {"k":[1,2]}`},
			upstream: map[string]string{"up": `null`, "content:up": `[{"type":"image","data":"AA=="}]`},
			args:     `{"a":null,"b":"AA==","c":"why","d":{"k":[1,2]}}`,
			prov:     []string{"a step up $", "b step up $[0].data", "c input $.q", "d literal"},
		},
		{
			name:     "the shape follows the form of the query",
			bindings: []string{"all <- up items[*].id", "none <- up none[*]", `first <- up items[*].id {"take":"first"}`, `only <- up items[?@.id==2].id {"take":"only"}`},
			upstream: map[string]string{"up": `{"items":[{"id":1},{"id":2}]}`},
			args:     `{"all":[1,2],"first":1,"none":[],"only":2}`,
			prov:     []string{"all step up $.items[*].id", "first step up $.items[*].id", "none step up $.none[*]", "only step up $.items[?@.id==2].id"},
		},
		{
			name: "no match", bindings: []string{"q <- up items[0].text"},
			upstream: map[string]string{"up": `{"items":[{"txt":1}]}`},
			err:      `input q: $.items[0].text selected nothing in the result of "up": $.items[0] has no member "text" (did you mean "txt"?)`,
		},
		{
			name: "no match at the root", bindings: []string{"q <- up respons"},
			upstream: map[string]string{"up": `{"id":1,"title":2}`},
			err:      `input q: $.respons selected nothing in the result of "up": it has no member "respons", but "id", "title"`,
		},
		{
			name: "no match in an array", bindings: []string{"q <- up items[0].text"},
			upstream: map[string]string{"up": `{"items":[]}`},
			err:      `input q: $.items[0].text selected nothing in the result of "up": $.items has 0 items`,
		},
		{
			name: "no match in text", bindings: []string{"q <- up items[0]"},
			upstream: map[string]string{"up": `"text"`},
			err:      `input q: $.items[0] selected nothing in the result of "up": it is a string`,
		},
		{
			name: "no match of several", bindings: []string{`q <- up $..x {"take":"first"}`},
			upstream: map[string]string{"up": `{}`},
			err:      `input q: $..x selected nothing in the result of "up"`,
		},
		{
			name: "too many matches", bindings: []string{`q <- up $[*] {"take":"only"}`},
			upstream: map[string]string{"up": `[1,2,3]`},
			err:      `input q: $[*] selected 3 values in the result of "up", and "take" is "only"`,
		},
		{
			name: "nothing in the plan's input", bindings: []string{"q <- input a.b"}, input: `{"a":{}}`,
			err: `input q: $.a.b selected nothing in the plan's input: $.a has no member "b"`,
		},
		{
			name: "a step without output", bindings: []string{"q <- up x"},
			err: `input q: $.x reads "up", which ended without output`,
		},
		{
			name:     "optional and default cover no match and no output",
			bindings: []string{`a <- up x {"optional":true}`, `b <- up x {"default":[null]}`, `c <- gone x {"optional":true}`, `d <- gone x {"default":1.0}`, `e <- up $..x {"optional":true}`, `f <- up $..x {"default":0}`, `g <- up n {"default":1}`},
			upstream: map[string]string{"up": `{"n":null}`},
			args:     `{"b":[null],"d":1.0,"f":0,"g":null}`,
			prov:     []string{"b default", "d default", "f default", "g step up $.n"},
		},
		{
			name: "an omitted binding leaves the literal alone", literal: `{"a":{"b":1,"c":2},"d":[]}`,
			bindings: []string{`a.b <- up x {"optional":true}`, `d[0].x <- up x {"optional":true}`},
			upstream: map[string]string{"up": `{}`},
			diags:    []string{`warning binding_literal /bindings/a.b input a.b: the binding from "up" replaces the literal value in the document (keep one of the two)`},
			args:     `{"a":{"b":1,"c":2},"d":[]}`,
			prov:     []string{"a literal", "d literal"},
		},
		{
			name:     "an omitted binding leaves a gap",
			bindings: []string{`m[0] <- up x {"optional":true}`, "m[1] <- up y"},
			upstream: map[string]string{"up": `{"y":1}`},
			err:      `input m[1]: m has 0 items, so index 1 would leave a gap: an optional binding before it selected nothing`,
		},
		{
			name:     "items come in order of index, wherever the file has them",
			bindings: []string{"m[10] <- up y", "m[9] <- up y", "m[0] <- up y", "m[1] <- up y", "m[2] <- up y", "m[3] <- up y", "m[4].z <- up y", "m[5] <- up y", "m[6] <- up y", "m[7] <- up y", "m[8] <- up y", "m[4].a[0] <- up y"},
			upstream: map[string]string{"up": `{"y":1}`},
			args:     `{"m":[1,1,1,1,{"a":[1],"z":1},1,1,1,1,1,1]}`,
			prov: []string{"m[0] step up $.y", "m[1] step up $.y", "m[2] step up $.y", "m[3] step up $.y", "m[4].a[0] step up $.y", "m[4].z step up $.y",
				"m[5] step up $.y", "m[6] step up $.y", "m[7] step up $.y", "m[8] step up $.y", "m[9] step up $.y", "m[10] step up $.y"},
		},
		{
			name: "a call value stands", literal: `{"z":0}`, given: `{"a":"A","b":{"c":{"d":1}},"e":{"f":1}}`,
			bindings: []string{"a <- up y", "b <- up y", "b.c <- up y", "e.g <- up y", "e.f <- up y"},
			upstream: map[string]string{"up": `{"y":1}`},
			diags: []string{
				`note binding_yields /bindings/a input a: the value given at the call stands, the binding from "up" is not used`,
				`note binding_yields /bindings/b input b: the value given at the call stands, the binding from "up" is not used`,
				`error binding_overlap /bindings/b.c input b.c: the binding of b writes the same place (keep one of the two)`,
				`note binding_yields /bindings/e.f input e.f: the value given at the call stands, the binding from "up" is not used`,
			},
		},
		{
			name:     "bindings in each other's way",
			bindings: []string{"a.b <- up y", "['a'].b <- up z", "a <- up w", "k[1] <- up y", "k <- up y", "s.t[0] <- up y", "s.u <- value 1", "s['t'][0].x <- input y"},
			diags: []string{
				`error binding_overlap /bindings/a input a: the binding of a.b writes the same place (keep one of the two)`,
				`error binding_overlap /bindings/a input a: the binding of ['a'].b writes the same place (keep one of the two)`,
				`error binding_overlap /bindings/k input k: the binding of k[1] writes the same place (keep one of the two)`,
				`error binding_overlap /bindings/s['t'][0].x input s['t'][0].x: the binding of s.t[0] writes the same place (keep one of the two)`,
			},
		},
		{
			name: "the way is blocked or has a gap", literal: `{"a":"text","l":[1]}`,
			bindings: []string{"a.b <- up y", "l[2] <- up y", "m[1] <- up y"},
			diags: []string{
				`error input_path /bindings/a.b input a.b: a is a string, not an object`,
				`error input_path /bindings/l[2] input l[2]: l has 1 items, so index 2 would leave a gap`,
				`error input_path /bindings/m[1] input m[1]: m has 0 items, so index 1 would leave a gap`,
			},
		},
		{
			name:     "paths and locations that are none",
			bindings: []string{"a[*] <- up /x/y", "[0].x <- up x", "b <- up ", "c <- input x[*]", "d <- value {", `e <- up x {"take":"last","default":1}`, `f <- up x {"take":"first"}`, "~a/b <- up .x"},
			diags: []string{
				`error input_path /bindings/a[*] input a[*]: "*" names many places, and an input is one place (write a[0])`,
				`error output_path /bindings/a[*]/outputPath input a[*]: outputPath "/x/y": this is a JSON Pointer, not a JSONPath (write $.x.y)`,
				`error input_path /bindings/[0].x input [0].x: the arguments are an object, so an input starts with a name and not with [0]`,
				`error output_path /bindings/b/outputPath input b: outputPath "": it is empty (write $ for the whole value)`,
				`error output_path /bindings/c/fromInput input c: fromInput $.x[*] may match several values, and it names one`,
				`error binding /bindings/d/value input d: its value is not JSON: the text ends in the middle of a JSON value`,
				`error binding /bindings/e/take input e: take "last" is not known (write "first" or "only", or leave it out for all matches)`,
				`warning binding /bindings/f/take input f: take has no meaning: $.x names one value (leave it out)`,
				`error input_path /bindings/~0a~1b input ~a/b: such a name stands in brackets and quotes (write ['~a/b'])`,
				`error output_path /bindings/~0a~1b/outputPath input ~a/b: outputPath ".x": a path starts with a name or with $ (write $.x)`,
			},
		},
		{
			name:     "places that the schemas rule out",
			schema:   `{"type":"object","properties":{"query":{"type":"string"},"opts":{"type":"object","properties":{"limit":{"type":"integer"}},"additionalProperties":false}},"additionalProperties":false}`,
			bindings: []string{"qury <- up itms[0].text", "opts.limt <- up items[0].txt", "query.x <- up items.x", "opts.limit <- up $.itms[*]", "query <- input zzz"},
			outputs: []string{
				`{"type":"object","properties":{"items":{"type":"array"}},"additionalProperties":false}`,
				`{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"text":{}},"additionalProperties":false}}}}`,
				`{"type":"object","properties":{"items":{"type":"array"}}}`,
				`{"type":"object","properties":{"items":{"type":"array"}},"additionalProperties":false}`,
				`{"type":"object","properties":{"items":{"type":"array"}},"additionalProperties":false}`,
			},
			diags: []string{
				`error input_unknown /bindings/qury input qury: the input schema has no member "qury" (did you mean "query"?)`,
				`error output_unknown /bindings/qury/outputPath input qury: $.itms[0].text: the output of "up" has no member "itms" (did you mean "items"?)`,
				`error input_unknown /bindings/opts.limt input opts.limt: opts has no member "limt" (did you mean "limit"?)`,
				`error output_unknown /bindings/opts.limt/outputPath input opts.limt: $.items[0].txt: $.items[0] in the output of "up" has no member "txt" (did you mean "text"?)`,
				`error input_unknown /bindings/query.x input query.x: query is a string, which has no members`,
				`error output_unknown /bindings/query.x/outputPath input query.x: $.items.x: $.items in the output of "up" is an array, which has no members`,
				`error output_unknown /bindings/opts.limit/outputPath input opts.limit: $.itms[*]: the output of "up" has no member "itms" (did you mean "items"?)`,
				`error output_unknown /bindings/query/fromInput input query: $.zzz: the plan's input has no member "zzz"`,
			},
		},
		{
			name:     "a property's exact name comes first",
			schema:   `{"type":"object","properties":{"a.b":{"type":"string"},"$ref":{},"x[0]":{},"x":{"type":"array","items":{}}}}`,
			bindings: []string{"a.b <- up user-name", "$ref <- up @type", "x[0] <- up c.d"},
			outputs: []string{`{"type":"object","properties":{"user-name":{}}}`, `{"allOf":[{"$ref":"#/$defs/t"}],"$defs":{"t":{"properties":{"@type":{}}}}}`,
				`{"type":"object","properties":{"c.d":{},"c":{"type":"object","properties":{"d":{}}}}}`},
			diags: []string{
				`error input_path /bindings/x[0] input x[0]: it is the name of a property and also a path to another one (write $['x[0]'] for the property or $.x[0] for the path)`,
				`error output_path /bindings/x[0]/outputPath input x[0]: outputPath "c.d": it is the name of a property and also a path to another one (write $['c.d'] for the property or $.c.d for the path)`,
			},
		},
		{
			name:     "an exact name is read and written as such",
			schema:   `{"type":"object","properties":{"a.b":{"type":"string"},"$ref":{}}}`,
			bindings: []string{"a.b <- up user-name", "$ref <- up @type"},
			outputs:  []string{`{"type":"object","properties":{"user-name":{}}}`, `{"properties":{"@type":{}}}`},
			upstream: map[string]string{"up": `{"user-name":"u","@type":"t"}`},
			args:     `{"$ref":"t","a.b":"u"}`,
			prov:     []string{"['$ref'] step up $['@type']", "['a.b'] step up $['user-name']"},
		},
		{
			name:     "constants and defaults of required members",
			schema:   `{"type":"object","required":["kind","lang","q","opts"],"properties":{"kind":{"const":"ask"},"lang":{"default":"en"},"q":{},"opts":{"type":"object","required":["n","m"],"properties":{"n":{"default":5},"m":{"default":6}}},"free":{"default":1}}}`,
			literal:  `{"opts":{"m":1}}`,
			bindings: []string{"q <- up y"},
			upstream: map[string]string{"up": `{"y":{"lang":"x"}}`},
			diags: []string{
				`note default_filled  input kind: filled with its constant "ask"`,
				`note default_filled  input lang: filled with its default "en"`,
				`note default_filled  input opts.n: filled with its default 5`,
			},
			args: `{"kind":"ask","lang":"en","opts":{"m":1,"n":5},"q":{"lang":"x"}}`,
			prov: []string{"kind default", "lang default", "opts.m literal", "opts.n default", "q step up $.y"},
		},
		{
			name:     "a default beside what a binding writes, and never inside it",
			schema:   `{"type":"object","properties":{"m":{"type":"array","items":{"type":"object","required":["r"],"properties":{"r":{"default":"user"},"c":{"type":"object","required":["d"],"properties":{"d":{"default":1}}}}}}}}`,
			bindings: []string{"m[0].c <- up y", "m[1].r <- up y", `m[2].c <- up z {"optional":true}`},
			upstream: map[string]string{"up": `{"y":{}}`},
			diags: []string{
				`note default_filled  input m[0].r: filled with its default "user"`,
				`note default_filled  input m[2].r: filled with its default "user"`,
			},
			args: `{"m":[{"c":{},"r":"user"},{"r":{}}]}`, // the third binding wrote nothing, so there is nothing to fill
			prov: []string{"m[0].c step up $.y", "m[0].r default", "m[1].r step up $.y"},
		},
		{
			name:     "a default for what an omitted binding left out",
			schema:   `{"type":"object","required":["lang","m"],"properties":{"lang":{"default":"en"},"m":{"type":"object"}}}`,
			bindings: []string{`lang <- up x {"optional":true}`, `m.k <- up x {"optional":true}`},
			upstream: map[string]string{"up": `{}`},
			diags:    []string{`note may_be_missing /bindings/m.k/optional input m.k: it is required, and this binding is optional and has no default (give a "default")`},
			args:     `{"lang":"en"}`,
			prov:     []string{"lang default"},
		},
		{
			name: "the default of the plan's own input", input: `{}`,
			bindings: []string{"a <- input lang"}, outputs: []string{`{"type":"object","properties":{"lang":{"default":"en"}}}`},
			args: `{"a":"en"}`, prov: []string{"a default"},
		},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

func (c argCase) check(t *testing.T) {
	spec := c.spec(t)
	before := text(spec.Literal) + text(spec.Given)
	args, diags := Compile(spec)
	if got, want := diagLines(diags), strings.Join(c.diags, "\n"); got != want {
		t.Fatalf("diagnostics:\n got %s\nwant %s", got, want)
	}
	if c.args == "" && c.err == "" {
		return
	}
	var input any
	if c.input != "" {
		input = value(t, c.input)
	}
	for range 2 { // the second time as the first
		got, prov, err := args.Fill(c.reader(t, spec), input)
		if fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Fatalf("got error %v\nwant %s", err, c.err)
		}
		if err != nil {
			if got != nil || prov != nil {
				t.Errorf("got %v, %v beside an error", got, prov)
			}
			continue
		}
		if text(got) != c.args {
			t.Errorf("got  %s\nwant %s", text(got), c.args)
		}
		if got := provLines(prov); got != strings.Join(c.prov, "\n") {
			t.Errorf("provenance:\n got %s\nwant %s", got, strings.Join(c.prov, "\n"))
		}
	}
	if after := text(spec.Literal) + text(spec.Given); after != before {
		t.Errorf("literals are now %s, were %s", after, before)
	}
}

func diagLines(diags []toolflow.Diagnostic) string {
	lines := make([]string, len(diags))
	for i, d := range diags {
		line := fmt.Sprintf("%s %s %s %s", d.Severity, d.Code, d.Pointer, d.Message)
		if d.Hint != "" {
			line += " (" + d.Hint + ")"
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

func provLines(prov []toolflow.Provenance) string {
	lines := make([]string, len(prov))
	for i, p := range prov {
		lines[i] = strings.TrimRight(strings.Join([]string{p.Path, p.From, p.Step, p.OutputPath}, " "), " ")
		lines[i] = strings.ReplaceAll(lines[i], "  ", " ")
	}
	return strings.Join(lines, "\n")
}

// Errors can be told apart by what they wrap, and carry what they are about.
func TestError(t *testing.T) {
	spec := argCase{bindings: []string{"m[0].c <- up x[0]"}}.spec(t)
	args, _ := Compile(spec)
	_, _, err := args.Fill(func(int, bool) (any, bool) { return map[string]any{}, true }, nil)
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrNoMatch) {
		t.Fatalf("got %v, want an *Error that wraps ErrNoMatch", err)
	}
	if e.Input != "m[0].c" || e.Path != "$.x[0]" || e.Step != 2 || e.StepID != "up" {
		t.Errorf("got %+v", e)
	}
	_, _, err = args.Fill(func(int, bool) (any, bool) { return nil, false }, nil)
	if !errors.Is(err, ErrNoOutput) {
		t.Errorf("got %v, want ErrNoOutput", err)
	}
	spec.Budget = 3
	spec.Sources[0].Binding.OutputPath = "$..x"
	args, _ = Compile(spec)
	_, _, err = args.Fill(func(int, bool) (any, bool) { return value(t, `[1,2,3,4]`), true }, nil)
	want := "input m[0].c: $..x visits more values than its work budget allows"
	if !errors.Is(err, ErrBudget) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		name, schema, literal, want string
		bindings                    []string
	}{
		{"the seed's role", askSchema, "", `messages[0].role string [messages[0].role] ["system","user","assistant"]`, []string{"messages[0].content <- up x"}},
		{"a whole array of objects", askSchema, "", `messages array [messages[0].content messages[0].role]`, nil},
		{"nothing", askSchema, `{"messages":[]}`, "", nil},
		{"in every item, in order", askSchema, `{"messages":[{"role":"user"},{}]}`,
			`messages[0].content string [messages[0].content]
messages[1].content string [messages[1].content]
messages[1].role string [messages[1].role] ["system","user","assistant"]`, nil},
		{"several, by path", `{"type":"object","required":["z","tags","o","any"],"properties":{"z":{"type":["string","null"]},"tags":{"type":"array","items":{"type":"string"}},
			"o":{"type":"object","required":["b","a","k"],"properties":{"a":{},"b":{"type":"array","items":{"type":"object","required":["c"]}},"k":{"const":1}}}}}`, "",
			`any  [any]
o object [o.a o.b[0].c]
tags array [tags[0]]
z null or string [z]`, nil},
		{"required without being declared", `{"required":["a-b"]}`, "", `['a-b']  [['a-b']]`, nil},
		{"a schema that needs itself", `{"type":"object","required":["n"],"properties":{"n":{"$ref":"#"}}}`, "", `n object [n.n.n.n.n]`, nil},
		{"an optional binding is a hope", `{"required":["a","b"]}`, "", "", []string{`a <- up x {"optional":true}`, `b.c <- up x {"optional":true}`}},
		{"a binding over all of it", askSchema, "", "", []string{"messages <- up x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args, _ := Compile(argCase{schema: c.schema, literal: c.literal, bindings: c.bindings}.spec(t))
			var lines []string
			for _, m := range args.Missing() {
				line := fmt.Sprintf("%s %s %v", m.Path, m.Type, m.Flags)
				if m.Allowed != nil {
					line += " " + text(m.Allowed)
				}
				lines = append(lines, line)
			}
			if got := strings.Join(lines, "\n"); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReads(t *testing.T) {
	args, _ := Compile(argCase{
		given:    `{"z":1}`,
		bindings: []string{"z <- up a.b", "a <- up content:[0].text", `c <- input q {"optional":true}`, "b <- value 1"},
	}.spec(t))
	var lines []string
	for _, r := range args.Reads() {
		lines = append(lines, fmt.Sprintf("%s %s %d %s %v content=%v optional=%v yields=%v", r.Input, r.From, r.Step, r.StepID, r.Path, r.Content, r.Optional, r.Yields))
	}
	want := `z step 2 up $.a.b content=false optional=false yields=true
a step 2 up $[0].text content=true optional=false yields=false
c input -1  $.q content=false optional=true yields=false
b literal -1  <nil> content=false optional=false yields=false`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPathInSchema(t *testing.T) {
	node := under(t, `{"type":"object","properties":{"items":{"type":"array","items":{"$ref":"#/$defs/item"}},"one":{"type":["string","null"]}},"additionalProperties":false,
		"$defs":{"item":{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}}}`)
	for _, c := range []struct{ path, types, excluded string }{
		{"items[3].text", "[string]", ""},
		{"items[-1].text", "[]", ""},
		{"items[*].text", "[]", ""},
		{"items[0].txt", "[]", `$.items[0] has no member "txt" (did you mean "text"?)`},
		{"item", "[]", `$ has no member "item" (did you mean "items"?)`},
		{"one.x", "[]", `$.one is null or a string, which has no members`},
		{"one[0]", "[]", `$.one is null or a string, which has no items`},
		{"item[*].x", "[]", `$ has no member "item" (did you mean "items"?)`},
	} {
		p, err := ParsePath(c.path, node)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Node(node).Types()); got != c.types && c.excluded == "" {
			t.Errorf("%s: got types %s, want %s", c.path, got, c.types)
		}
		if got, is := p.Excluded(node); got != c.excluded || is != (c.excluded != "") {
			t.Errorf("%s: got %q, %v, want %q", c.path, got, is, c.excluded)
		}
	}
}
