package binding

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ohler55/ojg/jp"
	"github.com/theory/jsonpath/spec"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// A Location is one place in a step's arguments: names and indexes, messages[0].content.
type Location struct {
	at   jp.Expr
	text string
}

// ParseLocation compiles text: the name of a property that under declares, exactly, or else names
// after dots or quoted in brackets and indexes in brackets. `$.` in front is allowed and dropped.
// Whatever could name several places or none is refused. An error is a [*SyntaxError].
func ParseLocation(text string, under schema.Node) (*Location, error) {
	l, err := parseLocation(text, under)
	return l, asError("location", err)
}

func parseLocation(text string, under schema.Node) (*Location, *SyntaxError) {
	if !bare(text) && declared(text, under) {
		p, err := exactProperty(text, under)
		if err != nil {
			return nil, err
		}
		return newLocation(p.front), nil
	}
	q, _, err := parseQuery(text)
	if err != nil {
		return nil, &SyntaxError{Text: text, Problem: forLocation.Replace(err.Problem), Write: locationFor(err.Write)}
	}
	x, whole := front(q)
	if !whole {
		return nil, &SyntaxError{Text: text, Problem: severalPlaces(q.Segments()[len(x)]), Write: locationFor(complete(text))}
	}
	if problem := unwritable(x); problem != "" {
		return nil, &SyntaxError{Text: text, Problem: problem}
	}
	return newLocation(x), nil
}

func newLocation(x jp.Expr) *Location { return &Location{at: x, text: string(appendExpr(nil, x))} }

// forLocation words for a location what suggest says about a path.
var forLocation = strings.NewReplacer(
	"a JSONPath", "a location",
	"not JSONPath", "not a location",
	"a path starts with a name or with $", "a location starts with a name",
	"a path stands alone", "a location stands alone",
	"a path selects values and computes none", "an input is a place and computes nothing",
)

// locationFor turns the paths that were suggested into locations; "" when they are none.
func locationFor(paths string) string {
	if paths == wholeValue {
		return "a name, such as messages[0].content"
	}
	var out []string
	for _, path := range strings.Split(paths, " or ") {
		q, _, err := parseRFC(firstItems.Replace(path))
		if err != nil {
			continue
		}
		x, whole := front(q)
		if !whole || unwritable(x) != "" {
			continue
		}
		if _, named := x[0].(jp.Child); named {
			out = append(out, newLocation(x).text)
		}
	}
	return strings.Join(out, " or ")
}

func severalPlaces(seg *spec.Segment) string {
	what := "a list of selectors"
	switch {
	case seg.IsDescendant():
		what = `".."`
	case len(seg.Selectors()) == 1:
		switch seg.Selectors()[0].(type) {
		case spec.WildcardSelector:
			what = `"*"`
		case spec.SliceSelector:
			what = "a slice"
		case *spec.FilterSelector:
			what = "a filter"
		}
	}
	return what + " names many places, and an input is one place"
}

var firstItems = strings.NewReplacer("[*]", "[0]", ".*", "[0]")

func unwritable(x jp.Expr) string {
	if len(x) == 0 {
		return "it names all of the arguments: name a member"
	}
	for _, frag := range x {
		k, ok := frag.(jp.Nth)
		switch {
		case ok && k < 0:
			return fmt.Sprintf("index %d counts from the end, and an input counts from 0", k)
		case ok && k > maxIndex:
			return fmt.Sprintf("index %d is past the limit of %d", k, maxIndex)
		}
	}
	return ""
}

// String gives the location in its normal form: messages[0].content, ['odd name'].x.
func (l *Location) String() string { return l.text }

// Member gives the place of a member of what stands at l; a nil l is the arguments themselves.
func (l *Location) Member(name string) *Location { return l.inside(jp.Child(name)) }

// Item gives the place of an item of what stands at l.
func (l *Location) Item(index int) *Location { return l.inside(jp.Nth(index)) }

func (l *Location) inside(frag jp.Frag) *Location {
	if l == nil {
		return newLocation(jp.Expr{frag})
	}
	return newLocation(deeper(l.at, frag))
}

// Contains reports whether m is l or lies inside it.
func (l *Location) Contains(m *Location) bool { return contains(l.at, m.at) }

func contains(x, y jp.Expr) bool { return len(x) <= len(y) && shared(x, y) == len(x) }

// shared counts the names and indexes that x and y begin with alike.
func shared(x, y jp.Expr) int {
	n := min(len(x), len(y))
	for i := range n {
		if x[i] != y[i] {
			return i
		}
	}
	return n
}

// CompareLocations orders locations: names by their text, indexes by their number, and what contains
// another before it.
func CompareLocations(a, b *Location) int { return compare(a.at, b.at) }

func compare(x, y jp.Expr) int {
	n := shared(x, y)
	if n == len(x) || n == len(y) {
		return cmp.Compare(len(x), len(y))
	}
	switch a := x[n].(type) {
	case jp.Nth:
		if b, ok := y[n].(jp.Nth); ok {
			return cmp.Compare(a, b)
		}
		return -1
	case jp.Child:
		if b, ok := y[n].(jp.Child); ok {
			return cmp.Compare(a, b)
		}
	}
	return 1
}

// Get gives the value at l in root. ok tells an absent value from a null.
func (l *Location) Get(root any) (v any, ok bool) { return walk(root, l.at) }

// Set gives root with value at l. Objects and arrays that are missing on the way (or null) are made;
// an index may append to an array, but leave no gap; a value of another kind on the way is an error.
// root and all that it holds stay as they are: what has to change is copied.
func (l *Location) Set(root, value any) (any, error) { return set(root, l.at, 0, -1, value) }

// set writes value at x[depth:] of node. The containers above and at depth fresh were made by the
// caller for itself and are changed in place, deeper ones are copied first. Nothing has changed when
// it gives an error.
func set(node any, x jp.Expr, depth, fresh int, value any) (any, error) {
	if depth == len(x) {
		return value, nil
	}
	switch k := x[depth].(type) {
	case jp.Child:
		return setMember(node, string(k), x, depth, fresh, value)
	default:
		return setItem(node, int(k.(jp.Nth)), x, depth, fresh, value)
	}
}

func setMember(node any, name string, x jp.Expr, depth, fresh int, value any) (any, error) {
	object, ok := node.(map[string]any)
	if !ok && node != nil {
		return nil, wrongKind(x[:depth], node, "object")
	}
	next, err := set(object[name], x, depth+1, fresh, value)
	if err != nil {
		return nil, err
	}
	if depth > fresh || object == nil {
		grown := make(map[string]any, len(object)+1)
		for n, v := range object {
			grown[n] = v
		}
		object = grown
	}
	object[name] = next
	return object, nil
}

func setItem(node any, index int, x jp.Expr, depth, fresh int, value any) (any, error) {
	array, ok := node.([]any)
	if !ok && node != nil {
		return nil, wrongKind(x[:depth], node, "array")
	}
	if index > len(array) {
		return nil, fmt.Errorf("%s has %d items, so index %d would leave a gap", placeName(x[:depth]), len(array), index)
	}
	var old any
	if index < len(array) {
		old = array[index]
	}
	next, err := set(old, x, depth+1, fresh, value)
	if err != nil {
		return nil, err
	}
	if depth > fresh {
		array = append(make([]any, 0, len(array)+1), array...)
	}
	if index == len(array) {
		return append(array, next), nil
	}
	array[index] = next
	return array, nil
}

func wrongKind(at jp.Expr, node any, want string) error {
	return fmt.Errorf("%s is %s, not %s", placeName(at), kind(toolflow.KindOf(node)), kind(want))
}

func placeName(at jp.Expr) string {
	if len(at) == 0 {
		return "the whole"
	}
	return string(appendExpr(nil, at))
}

// Node gives what under says about the value at l; the zero Node when it says nothing.
func (l *Location) Node(under schema.Node) schema.Node { return nodeAt(under, l.at) }
