package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/toolflow-go/toolflow"
)

// A reference is a `$ref` or one of its dynamic kin.
type reference struct {
	pointer string // of the subschema that holds it
	keyword string
	text    string
	from    *resource
}

func (x *index) addReferences(object map[string]any, p place) {
	for keyword, since := range map[string]int{"$ref": 2018, "$recursiveRef": 2019, "$dynamicRef": 2020} {
		text, ok := object[keyword].(string)
		if ok && since <= x.dialect.year && (keyword != "$recursiveRef" || x.dialect == draft2019) {
			x.refs = append(x.refs, reference{p.pointer, keyword, text, p.in})
		}
	}
}

var (
	errOutside = errors.New("leads outside the schema")
	errNowhere = errors.New("leads to nothing in the schema")
)

// target gives the pointer that a reference leads to.
func (x *index) target(r reference) (string, error) {
	name, fragment, _ := strings.Cut(r.text, "#")
	in := r.from
	if name != "" {
		full, err := join(r.from.url, name)
		if err != nil {
			return "", fmt.Errorf("is no URI reference: %w", err)
		}
		if in = x.resources[full]; in == nil {
			return "", errOutside
		}
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return "", fmt.Errorf("is no URI reference: %w", err)
	}
	if fragment == "" || fragment[0] == '/' {
		return in.pointer + fragment, nil
	}
	pointer, ok := in.anchors[fragment]
	if !ok {
		return "", errNowhere
	}
	return pointer, nil
}

// visitTarget visits what a reference leads to when no keyword led there, such as
// `#/components/schemas/A`.
func (x *index) visitTarget(r reference) error {
	pointer, err := x.target(r)
	if err != nil || x.seen[pointer] {
		return nil // checkReference tells
	}
	value, ok := lookup(x.doc, pointer)
	if !ok {
		return nil
	}
	x.stray = append(x.stray, pointer)
	return x.visit(place{value, pointer, x.resourceAt(pointer), strings.Count(pointer, "/") / 2})
}

// checkReference wants a reference to lead to a schema in the same text.
func (x *index) checkReference(r reference) error {
	pointer, err := x.target(r)
	if err == nil {
		switch value, ok := lookup(x.doc, pointer); value.(type) {
		case bool, map[string]any:
			return nil
		default:
			err = errNowhere
			if ok {
				err = fmt.Errorf("leads to %s, want a schema", kindOf(value))
			}
		}
	}
	if x.set.load != nil {
		return nil
	}
	message := fmt.Sprintf("%s %s %v", r.keyword, show(r.text), err)
	if errors.Is(err, errOutside) {
		message += fmt.Sprintf(", and nothing is loaded from there: copy the target into %s", x.dialect.definitions())
	}
	return &Error{Kind: KindReference, Pointer: r.pointer + "/" + r.keyword, Message: message, Err: err}
}

// lookup follows a JSON Pointer.
func lookup(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[toolflow.UnescapePointer(token)]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}
