package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolflow-go/toolflow"
)

// documentURL is where a schema without `$id` is said to live. It exists nowhere.
const documentURL = "mem:///"

// An index knows the subschemas of one schema text, the names they have and the references
// between them. Everything is visited in sorted order, so that the first problem is always the same.
type index struct {
	set       settings
	dialect   *dialect
	doc       any
	resources map[string]*resource // by absolute URL
	seen      map[string]bool      // subschemas, by pointer
	length    int                  // of all these pointers
	nested    map[string]*resource // the same, by pointer
	refs      []reference
	stray     []string // subschemas outside every keyword, which only a reference makes one
	dynamic   []string // subschemas with a `$dynamicAnchor`
	patterns  *patterns
}

// A place is one subschema, met on the way down.
type place struct {
	value   any
	pointer string
	in      *resource
	nesting int
}

// Keywords that hold one subschema, a list of them, or an object of them.
var (
	holdsOne = map[string]int{ // -> the year since when it is known
		"not": 2018, "if": 2018, "then": 2018, "else": 2018, "items": 2018, "contains": 2018,
		"propertyNames": 2018, "additionalProperties": 2018, "additionalItems": 2018,
		"unevaluatedProperties": 2019, "unevaluatedItems": 2019, "contentSchema": 2019,
	}
	holdsList = map[string]int{"allOf": 2018, "anyOf": 2018, "oneOf": 2018, "items": 2018, "prefixItems": 2020}
	holdsMap  = map[string]int{
		"properties": 2018, "patternProperties": 2018, "definitions": 2018, "dependencies": 2018,
		"$defs": 2019, "dependentSchemas": 2019,
	}
)

// readIndex visits all of doc and checks what can be told without compiling it.
func readIndex(doc any, d *dialect, set settings) (*index, error) {
	x := &index{set: set, dialect: d, doc: doc, resources: map[string]*resource{}, seen: map[string]bool{},
		nested: map[string]*resource{}, patterns: newPatterns()}
	root := newResource(documentURL, "")
	x.resources[documentURL], x.nested[""] = root, root
	if err := x.visit(place{value: doc, in: root}); err != nil {
		return nil, err
	}
	for i := 0; i < len(x.refs); i++ { // visiting a stray target may append more
		if err := x.visitTarget(x.refs[i]); err != nil {
			return nil, err
		}
	}
	if len(x.stray)*len(x.seen) > maxStrayWork {
		return nil, &Error{Kind: KindLimit, Message: fmt.Sprintf(
			"%d references lead to schemas outside every keyword, move these into %s", len(x.stray), x.dialect.definitions())}
	}
	slices.SortFunc(x.refs, func(a, b reference) int {
		return cmp.Or(strings.Compare(a.pointer, b.pointer), strings.Compare(a.keyword, b.keyword))
	})
	for _, r := range x.refs {
		if err := x.checkReference(r); err != nil {
			return nil, err
		}
	}
	return x, nil
}

const (
	// maxStrayWork bounds what the library copies: all it knows, for each stray target.
	maxStrayWork = 5_000_000

	// maxPointers bounds the pointers of all subschemas together, in bytes: the library compares
	// them with each other again and again.
	maxPointers = 4 << 20
)

// definitions names the keyword that holds subschemas for references.
func (d *dialect) definitions() string {
	if d.year < 2019 {
		return "definitions"
	}
	return "$defs"
}

// single reports whether the text is one resource, so that a dynamic reference in it can only
// mean one target.
func (x *index) single() bool { return len(x.nested) == 1 && x.set.load == nil }

func (x *index) visit(p place) error {
	if x.seen[p.pointer] {
		return nil
	}
	x.seen[p.pointer] = true
	if len(x.seen) > x.set.MaxSubschemas {
		return &Error{Kind: KindLimit, Message: fmt.Sprintf("schema holds more than %d subschemas", x.set.MaxSubschemas)}
	}
	if x.length += len(p.pointer); x.length > maxPointers {
		return &Error{Kind: KindLimit, Pointer: p.pointer, Message: "names in the schema are too long for its many subschemas"}
	}
	if p.nesting > x.set.MaxNesting {
		return &Error{Kind: KindLimit, Pointer: p.pointer, Message: fmt.Sprintf("subschemas are nested more than %d levels deep", x.set.MaxNesting)}
	}
	object, ok := p.value.(map[string]any)
	if !ok {
		return nil
	}
	if err := x.checkDialect(object, p.pointer); err != nil {
		return err
	}
	if err := x.enterResource(object, &p); err != nil {
		return err
	}
	if err := x.addAnchors(object, p); err != nil {
		return err
	}
	x.addReferences(object, p)
	return x.visitInside(object, p)
}

// visitInside visits the subschemas and reads the patterns of one object.
func (x *index) visitInside(object map[string]any, p place) error {
	for _, keyword := range sortedKeys(object) {
		at := p.pointer + "/" + toolflow.EscapePointer(keyword)
		switch value := object[keyword].(type) {
		case string:
			if keyword == "pattern" {
				x.patterns.add(value)
			}
		case []any:
			if !x.knows(holdsList, keyword) {
				continue
			}
			for i, item := range value {
				if err := x.visit(place{item, at + "/" + strconv.Itoa(i), p.in, p.nesting + 1}); err != nil {
					return err
				}
			}
		case map[string]any:
			if x.knows(holdsMap, keyword) {
				if err := x.visitMap(keyword, value, at, p); err != nil {
					return err
				}
				continue
			}
			if x.knows(holdsOne, keyword) {
				if err := x.visit(place{value, at, p.in, p.nesting + 1}); err != nil {
					return err
				}
			}
		case bool:
			if x.knows(holdsOne, keyword) {
				x.seen[at] = true
			}
		}
	}
	return nil
}

func (x *index) visitMap(keyword string, members map[string]any, at string, p place) error {
	for _, name := range sortedKeys(members) {
		if keyword == "patternProperties" {
			x.patterns.add(name)
		}
		if _, list := members[name].([]any); list {
			continue // `dependencies` may list names instead
		}
		if err := x.visit(place{members[name], at + "/" + toolflow.EscapePointer(name), p.in, p.nesting + 1}); err != nil {
			return err
		}
	}
	return nil
}

func (x *index) knows(table map[string]int, keyword string) bool {
	since, ok := table[keyword]
	return ok && since <= x.dialect.year
}

// checkDialect wants a `$schema` inside the schema to agree with that of the root.
func (x *index) checkDialect(object map[string]any, pointer string) error {
	named, ok := object["$schema"]
	if !ok || x.set.load != nil {
		return nil
	}
	if text, _ := named.(string); dialectOf(text) == x.dialect {
		return nil
	}
	return &Error{Kind: KindDialect, Pointer: pointer + "/$schema", Message: fmt.Sprintf(
		"dialect %s differs from that of the whole schema, %s", show(named), x.dialect.name)}
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
