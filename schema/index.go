package schema

import (
	"cmp"
	"fmt"
	"net/url"
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
	nested    map[string]bool      // resources, by pointer; the root among them
	refs      []reference
	stray     []string // subschemas outside every keyword, which only a reference makes one
	dynamic   []string // subschemas with a `$dynamicAnchor`
	patterns  *patterns
}

// A resource is the part of a schema that one `$id` names, or all of it.
type resource struct {
	url     string
	pointer string
	value   any
	anchors map[string]string // name -> pointer
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
		nested: map[string]bool{"": true}, patterns: newPatterns()}
	root := &resource{url: documentURL, value: doc, anchors: map[string]string{}}
	x.resources[documentURL] = root
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

// maxStrayWork bounds what the library copies: all it knows, for each stray target.
const maxStrayWork = 5_000_000

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

// enterResource begins a new resource at a `$id` that names one.
func (x *index) enterResource(object map[string]any, p *place) error {
	id, ok := x.identifier(object)
	name, _, _ := strings.Cut(id, "#")
	if !ok || name == "" {
		return nil
	}
	full, err := join(p.in.url, name)
	if err != nil {
		return &Error{Kind: KindInvalid, Pointer: p.pointer + "/$id", Message: fmt.Sprintf("$id %s is no URI reference", show(id)), Err: err}
	}
	if known := x.resources[full]; known != nil && p.pointer != "" {
		return &Error{Kind: KindInvalid, Pointer: p.pointer + "/$id", Message: fmt.Sprintf(
			"$id %s is also that of #%s, each may stand once", show(id), known.pointer)}
	}
	if p.pointer == "" {
		p.in.url = full // the root keeps its other name too
	} else {
		p.in = &resource{url: full, pointer: p.pointer, value: p.value, anchors: map[string]string{}}
		x.nested[p.pointer] = true
	}
	x.resources[full] = p.in
	return nil
}

// identifier gives the `$id` of an object where it counts.
func (x *index) identifier(object map[string]any) (string, bool) {
	if x.ignoresSiblings(object) {
		return "", false
	}
	id, ok := object["$id"].(string)
	return id, ok
}

// ignoresSiblings reports whether a `$ref` makes the members beside it void: draft-07 says so.
func (x *index) ignoresSiblings(object map[string]any) bool {
	_, ref := object["$ref"]
	return ref && x.dialect.year < 2019
}

func (x *index) addAnchors(object map[string]any, p place) error {
	var names []string
	if x.dialect.year < 2019 {
		id, _ := x.identifier(object)
		if _, name, ok := strings.Cut(id, "#"); ok && name != "" && name[0] != '/' {
			names = append(names, name)
		}
	} else if name, ok := object["$anchor"].(string); ok {
		names = append(names, name)
	}
	if name, ok := object["$dynamicAnchor"].(string); ok && x.dialect.year >= 2020 {
		names = append(names, name)
		x.dynamic = append(x.dynamic, p.pointer)
	}
	for _, name := range names {
		if other, ok := p.in.anchors[name]; ok && other != p.pointer {
			return &Error{Kind: KindInvalid, Pointer: p.pointer, Message: fmt.Sprintf(
				"anchor %s is also that of #%s, each may stand once", show(name), other)}
		}
		p.in.anchors[name] = p.pointer
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// join resolves a URI reference without fragment against a base.
func join(base, ref string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	r, err := url.Parse(ref)
	if err != nil {
		return "", err
	}
	full := b.ResolveReference(r)
	if !r.IsAbs() && b.Opaque != "" { // a base such as urn:uuid:…, which net/url drops
		full.Opaque = b.Opaque
	}
	return full.String(), nil
}
