package binding

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ohler55/ojg/jp"

	"github.com/toolflow-go/toolflow"
)

var (
	// ErrNoMatch says that a path selected nothing, where it had to.
	ErrNoMatch = errors.New("selected nothing")
	// ErrManyMatches says that a path with "take": "only" selected more than one value.
	ErrManyMatches = errors.New("selected more than one value")
	// ErrNoOutput says that a binding reads a step that ended without output.
	ErrNoOutput = errors.New("ended without output")
)

// An Error is a binding that could not be filled.
type Error struct {
	Input  string // the location, in its normal form
	Path   string // what was read, or empty
	Step   int    // as in Source
	StepID string
	Err    error // wraps ErrNoMatch, ErrManyMatches, ErrNoOutput or ErrBudget
}

// Error gives one sentence, such as `input messages[0].content: $.text selected nothing`.
func (e *Error) Error() string {
	if e.Path == "" {
		return "input " + e.Input + ": " + e.Err.Error()
	}
	return "input " + e.Input + ": " + e.Path + " " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// detail is one of the errors above in more words.
type detail struct {
	is   error
	text string
}

func (d *detail) Error() string { return d.text }
func (d *detail) Unwrap() error { return d.is }

// Fill builds the arguments. read gives the output of an upstream step, or with content its raw
// content blocks; ok is false when the step ended without output. input is the plan's own input.
//
// prov has one entry for each part of the arguments that has one origin: it covers the value at its
// path and all inside, no two entries overlap, and they come in order of location. Both results
// share memory with the outputs that were read and with other calls of Fill, and must not be changed.
// An error is an [*Error] about the first binding that fails, in order of location.
func (a *Arguments) Fill(read func(step int, content bool) (v any, ok bool), input any) (args map[string]any, prov []toolflow.Provenance, err error) {
	w := writer{root: a.base}
	for _, r := range a.reads {
		v, err := r.value, error(nil)
		from := r.From
		if from != FromLiteral {
			v, from, err = r.resolve(read, input)
		}
		if err == nil {
			err = w.write(r, v, from)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	root, prov := w.finish(a)
	return root.(map[string]any), prov, nil
}

// writer puts values into the arguments in order of location.
type writer struct {
	root    any
	last    jp.Expr  // the last location written
	written []string // origin of each binding so far, "" for those that left their location alone
	unusual bool     // one of them is not what it usually is
}

func (w *writer) write(r *read, v any, from string) error {
	w.unusual = w.unusual || from != r.From
	w.written = append(w.written, from)
	if from == "" {
		return nil
	}
	root, err := set(w.root, r.Input.at, 0, freshAfter(w.last, r.Input.at), v)
	if err != nil { // Compile has tried it: only an optional binding that left its location alone leads here
		return &Error{Input: r.Input.text, Step: r.Step, StepID: r.StepID, Err: &detail{ErrNoMatch, err.Error() + ": an optional binding before it selected nothing"}}
	}
	w.root, w.last = root, r.Input.at
	return nil
}

// finish fills constants and defaults into what the bindings wrote, and tells where all came from.
func (w *writer) finish(a *Arguments) (any, []toolflow.Provenance) {
	if !w.unusual {
		for _, f := range a.late {
			w.root = filled(w.root, f)
		}
		return w.root, a.origins
	}
	reads, all, picture := w.account(a)
	var found completion
	found.walk(a.schema, picture, nil)
	marks := slices.Clone(a.marks)
	for _, f := range found.fills {
		w.root = filled(w.root, f)
		marks = append(marks, mark{f.at, FromDefault})
	}
	return w.root, provenance(append(all, origins(w.root, reads, marks)...))
}

// account gives the bindings that wrote something, the origins of that, and the picture of it.
func (w *writer) account(a *Arguments) (reads []*read, all []origin, picture any) {
	picture = a.base
	var last jp.Expr
	for i, r := range a.reads {
		switch w.written[i] {
		case "":
			continue
		case FromDefault:
			all = append(all, newOrigin(r.Input.at, FromDefault))
		default:
			all = append(all, r.origin())
		}
		reads = append(reads, r)
		picture, _ = set(picture, r.Input.at, 0, freshAfter(last, r.Input.at), r)
		last = r.Input.at
	}
	return reads, all, picture
}

// resolve gives the value that r writes and its origin; origin "" means that r leaves its location
// alone.
func (r *read) resolve(read func(int, bool) (any, bool), input any) (v any, from string, err error) {
	root, ended := input, true
	if r.From == FromStep {
		root, ended = read(r.Step, r.Content)
	}
	if ended {
		if v, ok, err := r.pick(root); ok || err != nil {
			return v, r.From, err
		}
	}
	switch {
	case r.HasDefault:
		return r.value, FromDefault, nil
	case r.Optional:
		return nil, "", nil
	case !ended:
		return nil, "", r.err(ErrNoOutput, fmt.Sprintf("reads %q, which ended without output", r.StepID))
	}
	text := "selected nothing in " + r.of("result")
	if why := nothingThere(root, r.Path.front); why != "" {
		text += ": " + why
	}
	return nil, "", r.err(ErrNoMatch, text)
}

func (r *read) err(is error, text string) error {
	return &Error{Input: r.Input.text, Path: r.path, Step: r.Step, StepID: r.StepID, Err: &detail{is, text}}
}

// pick gives what the path selects, in the shape that the binding asks for.
func (r *read) pick(root any) (v any, ok bool, err error) {
	if r.Path.singular {
		v, ok = walk(root, r.Path.front)
		return v, ok, nil
	}
	values, err := r.Path.Select(root)
	switch {
	case err != nil:
		return nil, false, r.err(err, err.Error())
	case len(values) == 0 && (r.Take != "" || r.Optional || r.HasDefault):
		return nil, false, nil
	case len(values) == 0:
		return []any{}, true, nil
	case r.Take == "":
		return values, true, nil
	case r.Take == "only" && len(values) > 1:
		return nil, false, r.err(ErrManyMatches, fmt.Sprintf(`selected %d values in %s, and "take" is "only"`, len(values), r.of("result")))
	}
	return values[0], true, nil
}

// nothingThere says where the way of x ends in root; "" when it does not.
func nothingThere(root any, x jp.Expr) string {
	for i, frag := range x {
		next, ok := child(root, frag)
		if !ok {
			place := "it"
			if i > 0 {
				place = string(appendExpr([]byte("$"), x[:i]))
			}
			return place + " " + lacks(root, frag)
		}
		root = next
	}
	return ""
}

func lacks(v any, frag jp.Frag) string {
	switch k := frag.(type) {
	case jp.Child:
		if object, ok := v.(map[string]any); ok {
			return fmt.Sprintf("has no member %q%s", string(k), others(string(k), sortedNames(object)))
		}
	case jp.Nth:
		if array, ok := v.([]any); ok {
			return fmt.Sprintf("has %d items", len(array))
		}
	}
	return "is " + kind(toolflow.KindOf(v))
}

// others says which members there are instead: the one that was probably meant, or a few.
func others(name string, names []string) string {
	const few = 5
	if hint := toolflow.DidYouMean(name, names); hint != "" {
		return " (" + hint + ")"
	}
	if len(names) == 0 || len(names) > few {
		return ""
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%q", toolflow.Clip(n, 40))
	}
	return ", but " + strings.Join(names, ", ")
}
