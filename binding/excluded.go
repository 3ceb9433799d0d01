package binding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ohler55/ojg/jp"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// An exclusion is a place where a schema rules out the next name or index.
type exclusion struct {
	place jp.Expr // the last place that there can be
	what  string  // `has no member "txt"`
	hint  string  // `did you mean "text"?`
}

// excluded finds the first name or index of x that under certainly rules out; nil when there is none.
func excluded(under schema.Node, x jp.Expr) *exclusion {
	for i, frag := range x {
		next, presence := step(under, frag)
		if presence == schema.Excluded {
			what, hint := absence(under, frag)
			return &exclusion{place: x[:i], what: what, hint: hint}
		}
		if !next.Known() {
			return nil
		}
		under = next
	}
	return nil
}

func absence(under schema.Node, frag jp.Frag) (what, hint string) {
	types := under.Types()
	switch k := frag.(type) {
	case jp.Child:
		if len(types) > 0 && !slices.Contains(types, "object") {
			return "is " + kinds(types) + ", which has no members", ""
		}
		return fmt.Sprintf("has no member %q", string(k)), toolflow.DidYouMean(string(k), under.Properties())
	default:
		if len(types) > 0 && !slices.Contains(types, "array") {
			return "is " + kinds(types) + ", which has no items", ""
		}
		return fmt.Sprintf("has no item %d", k), ""
	}
}

// kinds writes types for people: an array or null.
func kinds(types []string) string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = kind(t)
	}
	return strings.Join(out, " or ")
}

func kind(name string) string {
	switch name {
	case "null":
		return name
	case "array", "integer", "object":
		return "an " + name
	}
	return "a " + name
}
