package schema

import (
	"encoding/json"
	"errors"
	"fmt"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolflow-go/toolflow"
)

// maxDigits limits the text of a number: reading one takes time that grows with the square.
const maxDigits = 10_000

// Validate holds v, which is what [toolflow.DecodeValue] gives, against the schema. It gives nil,
// an [*Invalid], or an [*Error] when no answer can be had within the limits.
func (s *Schema) Validate(v any) error {
	var w weight
	if err := w.add(v); err != nil {
		return err
	}
	e, err := s.take()
	if err != nil {
		return err
	}
	defer s.give(e)
	steps := min(s.set.MaxSteps+32*w.values+w.bytes/16, 200*s.set.MaxSteps)
	if err := e.validate(v, steps); err != nil {
		var tree *sjs.ValidationError
		if !errors.As(err, &tree) {
			return err
		}
		r := &report{value: v, schema: s.doc}
		return r.invalid(tree)
	}
	return nil
}

// validate runs the library and turns its panics into errors.
func (e *evaluator) validate(v any, steps int) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stopped:
			err = p.err
		default:
			err = &Error{Kind: KindLimit, Message: fmt.Sprintf("validation cannot go on: %v", p)}
		}
	}()
	e.meter.reset(v, steps)
	defer e.meter.reset(nil, 0) // so that an idle evaluator keeps no value alive
	return e.root.Validate(v)
}

// A weight says how much a value holds.
type weight struct{ values, bytes int }

// add counts v, and refuses numbers that take too long to compare.
func (w *weight) add(v any) *Error {
	w.values++
	switch v := v.(type) {
	case string:
		w.bytes += len(v)
	case json.Number:
		return checkNumber(string(v))
	case []any:
		for _, e := range v {
			if err := w.add(e); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, e := range v {
			w.bytes += len(name)
			if err := w.add(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkNumber(text string) *Error {
	switch {
	case len(text) > maxDigits:
		return &Error{Kind: KindLimit, Message: fmt.Sprintf("number %s has more than %d digits", toolflow.Clip(text, 20), maxDigits)}
	case !toolflow.CheckNumber(text):
		return &Error{Kind: KindLimit, Message: fmt.Sprintf("number %s has an exponent outside ±%d", toolflow.Clip(text, 40), toolflow.MaxExponent)}
	}
	return nil
}
