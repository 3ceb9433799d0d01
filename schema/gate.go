package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	sjs "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolflow-go/toolflow"
)

// A meter counts what one evaluation takes and stops it by a panic with a [stopped].
type meter struct {
	depth, maxDepth int
	steps           int // left
	kept            int // problems kept for the subschema that is being evaluated
	value           any // the whole value, for messages
}

// stopped is what a meter panics with.
type stopped struct{ err *Error }

func (m *meter) reset(v any, steps int) { m.depth, m.steps, m.kept, m.value = -1, steps, 0, v }

func (m *meter) spend(steps int) {
	if m.steps -= steps; m.steps < 0 {
		panic(stopped{&Error{Kind: KindLimit, Message: "validation takes too many steps"}})
	}
}

// A gate stands before one subschema and counts each time that it is entered. The library calls it
// as the only keyword of that subschema; the real one is behind it.
type gate struct {
	inner *sjs.Schema
	meter *meter

	// Steps that comparing takes beyond the first: for texts and composites in `required` and
	// `enum`, and for numbers in `enum`, which compare slowly.
	cost, numberCost int
}

// maxKept bounds the problems that are kept in memory below one subschema. Past it only the fact
// counts that there is another.
const maxKept = 10_000

// dropped stands for a problem that was not kept.
type dropped struct{ *kind.Group }

var droppedProblem = &sjs.ValidationError{ErrorKind: dropped{&kind.Group{}}}

// Validate evaluates the subschema behind the gate.
func (g *gate) Validate(ctx *sjs.ValidatorContext, v any) {
	m := g.meter
	if m.depth++; m.depth > m.maxDepth {
		panic(stopped{g.tooDeep(ctx.ValueLocation())})
	}
	steps := 1 + g.cost
	if _, ok := v.(json.Number); ok {
		steps += g.numberCost
	}
	m.spend(steps)
	before := m.kept
	m.kept = 0
	switch err := ctx.Validate(g.inner, v, nil); {
	case err == nil:
		m.kept = before
	case before >= maxKept:
		m.kept = before
		ctx.AddErr(droppedProblem)
	default:
		m.kept = before + max(m.kept, 1)
		ctx.AddErr(err)
	}
	m.depth--
}

func (g *gate) tooDeep(place []string) *Error {
	of := ""
	if path, _ := pathOf(g.meter.value, place); path != "" {
		of = " of " + toolflow.Clip(path, 200)
	}
	return &Error{Kind: KindLimit, Pointer: pointerOf(g.inner.Location), Message: fmt.Sprintf(
		"validation%s goes more than %d subschemas deep", of, g.meter.maxDepth)}
}

// gate puts a gate before n. The subschema moves behind it, and what n was known by stays with n:
// references, anchors and resources of the library keep pointing at it.
func (m *meter) gate(n *sjs.Schema) {
	inside := *n
	g := &gate{inner: &inside, meter: m, cost: len(n.Required) / 64}
	if n.Enum != nil {
		for _, v := range n.Enum.Values {
			switch v.(type) {
			case json.Number:
				g.numberCost++
			case []any, map[string]any:
				g.cost++
			}
		}
		g.numberCost /= 4
		g.cost += len(n.Enum.Values) / 256
	}
	fields := reflect.ValueOf(n).Elem()
	for _, i := range keywordFields() {
		fields.Field(i).SetZero()
	}
	n.Extensions = []sjs.SchemaExt{g}
}

// keywordFields gives the fields of the library's Schema that say what a value must be.
var keywordFields = sync.OnceValue(func() (indexes []int) {
	kept := []string{"DraftVersion", "Location", "ID", "Anchor", "RecursiveAnchor", "DynamicAnchor"}
	for i, t := 0, reflect.TypeFor[sjs.Schema](); i < t.NumField(); i++ {
		if f := t.Field(i); f.IsExported() && !slices.Contains(kept, f.Name) {
			indexes = append(indexes, i)
		}
	}
	return indexes
})

// inner gives the subschema behind a gate.
func inner(n *sjs.Schema) *sjs.Schema {
	if len(n.Extensions) == 1 {
		if g, ok := n.Extensions[0].(*gate); ok {
			return g.inner
		}
	}
	return n
}
