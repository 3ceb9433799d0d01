package schema

import (
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"
)

// An evaluator is one compiled copy of a schema with its own meter, for one Validate at a time.
type evaluator struct {
	root  *sjs.Schema
	nodes []*sjs.Schema // every subschema, gated
	meter *meter
}

// build compiles the schema's document with the library. A panic of the library is an error.
func (s *Schema) build() (e *evaluator, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, err = nil, &Error{Kind: KindInvalid, Message: fmt.Sprintf("the schema cannot be compiled: %v", p)}
		}
	}()
	e = &evaluator{meter: &meter{maxDepth: s.set.MaxDepth}}
	c := s.compiler(e.meter)
	if err := c.AddResource(documentURL, s.doc); err != nil {
		return nil, &Error{Kind: KindInvalid, Message: err.Error(), Err: err}
	}
	if e.root, err = c.Compile(documentURL); err != nil {
		return nil, s.compileError(err)
	}
	starts := []*sjs.Schema{e.root}
	for _, pointer := range s.index.dynamic { // the library keeps its own way to these
		fragment := (&url.URL{Fragment: pointer}).EscapedFragment()
		start, err := c.Compile(documentURL + "#" + fragment)
		if err != nil {
			return nil, s.compileError(err)
		}
		starts = append(starts, start)
	}
	e.nodes = reachable(starts)
	for _, n := range e.nodes {
		mend(n)
		e.meter.gate(n)
	}
	return e, nil
}

func (s *Schema) compiler(m *meter) *sjs.Compiler {
	c := sjs.NewCompiler()
	c.DefaultDraft(s.set.dialect.draft)
	c.UseLoader(loader(s.set.load))
	c.UseRegexpEngine(s.index.patterns.engine(m))
	return c
}

// loader is what the library asks for documents from outside.
type loader func(url string) (any, error)

// Load refuses, except in the test of the public suite.
func (l loader) Load(url string) (any, error) {
	if l == nil {
		return nil, errOutside
	}
	return l(url)
}

// mend corrects what the library reads differently from the dialect or from this package.
func mend(n *sjs.Schema) {
	if n.DraftVersion < 2019 && n.Ref != nil { // what stands beside `$ref` is void
		n.Const, n.Contains, n.PropertyNames, n.If, n.Then, n.Else = nil, nil, nil, nil, nil, nil
		n.WriteOnly = false
	}
	if n.Format != nil && n.Format.Name == "regex" {
		n.Format = regexFormat
	}
	for re := range n.PatternProperties {
		if p := re.(*metered); p.unchecked != nil { // it may or may not match: then anything goes
			n.PatternProperties[re] = anything
		}
	}
}

var (
	yes      = true
	anything = &sjs.Schema{Bool: &yes}

	// regexFormat refuses what is no regular expression, not what only RE2 lacks.
	regexFormat = &sjs.Format{Name: "regex", Validate: func(v any) error {
		if text, ok := v.(string); ok {
			if p := compilePattern(text); p.malformed {
				return p.unchecked
			}
		}
		return nil
	}}
)

// take gives an evaluator that nobody else uses; give hands it back. Compiling is the costly part,
// so they are kept, but no more than can work at once.
func (s *Schema) take() (*evaluator, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		e := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return e, nil
	}
	s.mu.Unlock()
	return s.build()
}

func (s *Schema) give(e *evaluator) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) < runtime.GOMAXPROCS(0) {
		s.idle = append(s.idle, e)
	}
}

// compileError puts an error of the library into this package's words.
func (s *Schema) compileError(err error) error {
	var invalid *sjs.SchemaValidationError
	if errors.As(err, &invalid) {
		return s.invalid(invalid)
	}
	out := &Error{Kind: KindInvalid, Message: err.Error(), Err: err}
	var outside *sjs.LoadURLError
	var anchor *sjs.AnchorNotFoundError
	var nowhere *sjs.JSONPointerNotFoundError
	if errors.As(err, &outside) || errors.As(err, &anchor) || errors.As(err, &nowhere) {
		out.Kind = KindReference
	}
	return out
}

// invalid tells what the metaschema says. The library meets stray subschemas in no fixed order, so
// these are asked again one by one.
func (s *Schema) invalid(err *sjs.SchemaValidationError) error {
	pointer := pointerOf(err.URL)
	if pointer != "" {
		for _, stray := range slices.Sorted(slices.Values(s.index.stray)) {
			value, _ := lookup(s.doc, stray)
			c := s.compiler(&meter{})
			c.DefaultDraft(s.dialect.draft)
			_ = c.AddResource(documentURL, value)
			var again *sjs.SchemaValidationError
			if _, e := c.Compile(documentURL); errors.As(e, &again) {
				err, pointer = again, stray
				break
			}
		}
	}
	part, _ := lookup(s.doc, pointer)
	var tree *sjs.ValidationError
	if !errors.As(err.Err, &tree) {
		return &Error{Kind: KindInvalid, Pointer: pointer, Message: err.Err.Error(), Err: err}
	}
	r := &report{value: part}
	first := &Invalid{}
	if e := r.invalid(tree); !errors.As(e, &first) || len(first.Problems) == 0 {
		return &Error{Kind: KindInvalid, Pointer: pointer, Message: "is no valid schema", Err: err}
	}
	message := first.Problems[0].Message
	if more := len(first.Problems) - 1 + first.More; more > 0 {
		message += fmt.Sprintf(" (and %s more)", count(more, "problem"))
	}
	return &Error{Kind: KindInvalid, Pointer: pointer + first.Problems[0].Pointer, Message: message, Err: first}
}

// pointerOf gives the JSON Pointer in a location of the library.
func pointerOf(location string) string {
	before, fragment, _ := strings.Cut(location, "#")
	if pointer, err := url.PathUnescape(fragment); err == nil {
		fragment = pointer
	}
	if before != documentURL && before != "" { // only the suite loads other documents
		return before + "#" + fragment
	}
	return fragment
}

// uncheckedPatterns lists the patterns that are not checked, sorted by place.
func uncheckedPatterns(e *evaluator) []string {
	var warnings []string
	add := func(re sjs.Regexp, pointer, effect string) {
		if p, ok := re.(*metered); ok && p.unchecked != nil {
			warnings = append(warnings, fmt.Sprintf("%s: pattern %s is not checked%s: %v", pointer, show(p.text), effect, p.unchecked))
		}
	}
	for _, n := range e.nodes {
		n, pointer := inner(n), pointerOf(n.Location)
		add(n.Pattern, pointer+"/pattern", "")
		for re := range n.PatternProperties {
			add(re, pointer+"/patternProperties", ", so every further member is accepted")
		}
	}
	slices.Sort(warnings)
	return warnings
}
