package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolflow-go/toolflow"
)

// A finding is what one problem says, without its place.
type finding struct{ got, want, message string }

func (f finding) text() string {
	if f.message != "" {
		return f.message
	}
	return "got " + f.got + ", want " + f.want
}

// findings puts one problem of the library into words. A missing or unknown member is one finding
// each.
func (r *report) findings(e *sjs.ValidationError) []finding {
	v := r.at(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return []finding{typeFinding(v, k)}
	case *kind.Enum:
		return []finding{{got: describe(v), want: oneOf(k.Want)}}
	case *kind.Const:
		return []finding{{got: describe(v), want: show(k.Want)}}
	case *kind.Format:
		return []finding{{got: describe(v), want: "a string of format " + k.Want}}
	case *kind.AnyOf, *kind.OneOf:
		return []finding{r.union(e)}
	case *kind.Not:
		return []finding{{got: describe(v), want: `a value that "not" does not exclude`}}
	case *kind.FalseSchema:
		return []finding{r.nothingAllowed(e, v)}
	case *kind.InvalidJsonValue:
		return []finding{{got: kindOf(v), want: "a JSON value"}}
	case *kind.Required, *kind.AdditionalProperties, *kind.Dependency, *kind.DependentRequired, *kind.PropertyNames,
		*kind.MinProperties, *kind.MaxProperties:
		return r.objectFindings(e)
	}
	if f, ok := r.sizeFinding(e, v); ok {
		return []finding{f}
	}
	return []finding{{got: describe(v), want: "what the schema asks for"}}
}

func typeFinding(v any, k *kind.Type) finding {
	got := kindOf(v)
	if _, ok := v.(json.Number); ok && slices.Contains(k.Want, "integer") {
		got = show(v) // a number, but not a whole one
	}
	return finding{got: got, want: list(k.Want)}
}

// nothingAllowed words a `false`: mostly it forbids a member.
func (r *report) nothingAllowed(e *sjs.ValidationError, v any) finding {
	if n := len(e.InstanceLocation); n > 0 {
		if _, ok := r.at(e.InstanceLocation[:n-1]).(map[string]any); ok {
			return finding{got: describe(v), want: "no such member", message: "this member is not allowed"}
		}
	}
	return finding{got: describe(v), want: "no value", message: "no value is allowed here"}
}

func (r *report) objectFindings(e *sjs.ValidationError) []finding {
	var out []finding
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			out = append(out, finding{want: "member " + show(name), message: "missing required member " + show(name)})
		}
	case *kind.Dependency:
		return dependent(k.Prop, k.Missing)
	case *kind.DependentRequired:
		return dependent(k.Prop, k.Missing)
	case *kind.AdditionalProperties:
		want := r.declared(e.SchemaURL)
		for _, name := range k.Properties {
			f := finding{got: "member " + show(name), want: want, message: "unknown member " + show(name)}
			if want != "" {
				f.message += ", want " + want
			}
			out = append(out, f)
		}
	case *kind.PropertyNames:
		return []finding{r.nameFinding(e, k.Property)}
	case *kind.MinProperties:
		return []finding{{got: count(k.Got, "member"), want: r.bound(e, "minProperties", "at least ", k.Want)}}
	case *kind.MaxProperties:
		return []finding{{got: count(k.Got, "member"), want: r.bound(e, "maxProperties", "at most ", k.Want)}}
	}
	return out
}

// nameFinding says why a member may not have its name.
func (r *report) nameFinding(e *sjs.ValidationError, name string) finding {
	f := finding{got: "member " + show(name), message: "member name " + show(name) + " is not allowed"}
	inside := &report{value: name, schema: r.schema}
	leaves := inside.leaves(&sjs.ValidationError{ErrorKind: &kind.Group{}, Causes: e.Causes}, nil)
	if len(leaves) > 0 {
		first := *leaves[0]
		first.InstanceLocation = nil
		why := inside.findings(&first)[0]
		f.want = why.want
		f.message += ": " + why.text()
	}
	return f
}

func dependent(name string, missing []string) []finding {
	var out []finding
	for _, m := range missing {
		out = append(out, finding{want: "member " + show(m), message: "missing member " + show(m) + ", which " + show(name) + " requires"})
	}
	return out
}

// declared lists the members that a closed object may have, when they are few.
func (r *report) declared(location string) string {
	if r.schema == nil {
		return ""
	}
	object, _ := lookup(r.schema, pointerOf(location))
	node, _ := object.(map[string]any)
	members, _ := node["properties"].(map[string]any)
	if _, more := node["patternProperties"]; more || len(members) == 0 || len(members) > 10 {
		return ""
	}
	var names []any
	for _, name := range sortedKeys(members) {
		names = append(names, name)
	}
	return oneOf(names)
}

// sizeFinding words what compares numbers, lengths and items.
func (r *report) sizeFinding(e *sjs.ValidationError, v any) (finding, bool) {
	array, _ := v.([]any)
	items := count(len(array), "item")
	switch k := e.ErrorKind.(type) {
	case *kind.Minimum:
		return finding{got: describe(v), want: r.number(e, "minimum", "at least ", k.Want)}, true
	case *kind.Maximum:
		return finding{got: describe(v), want: r.number(e, "maximum", "at most ", k.Want)}, true
	case *kind.ExclusiveMinimum:
		return finding{got: describe(v), want: r.number(e, "exclusiveMinimum", "more than ", k.Want)}, true
	case *kind.ExclusiveMaximum:
		return finding{got: describe(v), want: r.number(e, "exclusiveMaximum", "less than ", k.Want)}, true
	case *kind.MultipleOf:
		return finding{got: describe(v), want: r.number(e, "multipleOf", "a multiple of ", k.Want)}, true
	case *kind.MinLength:
		return finding{got: count(k.Got, "character"), want: r.bound(e, "minLength", "at least ", k.Want)}, true
	case *kind.MaxLength:
		return finding{got: count(k.Got, "character"), want: r.bound(e, "maxLength", "at most ", k.Want)}, true
	case *kind.Pattern:
		return finding{got: describe(v), want: "a match of " + toolflow.Clip(k.Want, clipAt)}, true
	case *kind.MinItems:
		return finding{got: items, want: r.bound(e, "minItems", "at least ", k.Want)}, true
	case *kind.MaxItems:
		return finding{got: items, want: r.bound(e, "maxItems", "at most ", k.Want)}, true
	case *kind.AdditionalItems:
		return finding{got: items, want: "at most " + count(len(array)-k.Count, "item")}, true
	case *kind.UniqueItems:
		i, j := k.Duplicates[0], k.Duplicates[1]
		return finding{want: "no two equal items", message: fmt.Sprintf("items %d and %d are equal, want no two equal items", i, j)}, true
	case *kind.Contains:
		return finding{got: items, want: `one that fits "contains"`, message: `no item fits "contains"`}, true
	case *kind.MinContains:
		return finding{got: count(len(k.Got), "item") + ` that fit "contains"`, want: r.bound(e, "minContains", "at least ", k.Want)}, true
	case *kind.MaxContains:
		return finding{got: count(len(k.Got), "item") + ` that fit "contains"`, want: r.bound(e, "maxContains", "at most ", k.Want)}, true
	}
	return finding{}, false
}

// quote gives a number of the schema as it is written there.
func (r *report) quote(e *sjs.ValidationError, keyword string) (string, bool) {
	if r.schema == nil {
		return "", false
	}
	v, _ := lookup(r.schema, pointerOf(e.SchemaURL)+"/"+keyword)
	n, ok := v.(json.Number)
	return toolflow.Clip(string(n), clipAt), ok
}

func (r *report) bound(e *sjs.ValidationError, keyword, words string, n int) string {
	if text, ok := r.quote(e, keyword); ok {
		return words + text
	}
	return words + strconv.Itoa(n)
}

func (r *report) number(e *sjs.ValidationError, keyword, words string, n *big.Rat) string {
	if text, ok := r.quote(e, keyword); ok {
		return words + text
	}
	if n.IsInt() {
		return words + toolflow.Clip(n.Num().String(), clipAt)
	}
	return words + strings.TrimRight(n.FloatString(20), "0")
}
