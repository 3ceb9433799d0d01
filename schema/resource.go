package schema

import (
	"fmt"
	"net/url"
	"strings"
)

// A resource is the part of a schema that one `$id` names, or all of it.
type resource struct {
	url     string
	pointer string
	anchors map[string]string // name -> pointer
}

func newResource(url, pointer string) *resource {
	return &resource{url, pointer, map[string]string{}}
}

// resourceAt gives the resource that a pointer lies in.
func (x *index) resourceAt(pointer string) *resource {
	for x.nested[pointer] == nil {
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
	return x.nested[pointer]
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
		p.in = newResource(full, p.pointer)
		x.nested[p.pointer] = p.in
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
