package toolflow

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Locate gives diagnostics their file, line and column by their pointers, and puts them in the order
// of the file. A pointer to something that the text does not hold gets the nearest place around it.
func (d *Document) Locate(ds []Diagnostic) []Diagnostic {
	var pointers []string
	for i := range ds {
		if ds[i].Line == 0 {
			pointers = append(pointers, ds[i].Pointer)
		}
	}
	places := map[string]place{}
	if len(pointers) > 0 && d.source != nil { // a document made by hand has no text
		places = d.source.locate(pointers)
	}
	for i := range ds {
		ds[i].File = d.File
		if p := places[ds[i].Pointer]; ds[i].Line == 0 {
			ds[i].Line, ds[i].Column = p.line, p.column
		}
	}
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return ds
}

// want is a set of pointers as a tree of their tokens.
type want struct {
	pointers []string // those that end here
	next     map[string]*want
}

func wanted(pointers []string) *want {
	root := &want{}
	for _, p := range pointers {
		w := root
		for _, token := range strings.Split(p, "/")[1:] {
			if w.next == nil {
				w.next = map[string]*want{}
			}
			child := w.next[token]
			if child == nil {
				child = &want{}
				w.next[token] = child
			}
			w = child
		}
		w.pointers = append(w.pointers, p)
	}
	return root
}

// mark records a place for everything wanted at w and inside it; finer places overwrite it later.
func (w *want) mark(places map[string]place, p place) {
	for _, pointer := range w.pointers {
		places[pointer] = p
	}
	for _, child := range w.next {
		child.mark(places, p)
	}
}

// jsonSource locates in JSON text: a member by its name, an element by its value.
type jsonSource []byte

func (s jsonSource) at(offset int) place {
	start := bytes.LastIndexByte(s[:offset], '\n') + 1
	return place{bytes.Count(s[:start], []byte("\n")) + 1, utf8.RuneCount(s[start:offset]) + 1}
}

func (s jsonSource) locate(pointers []string) map[string]place {
	w := &jsonWalk{text: s, dec: jsontext.NewDecoder(bytes.NewBuffer(s)), places: map[string]place{}, line: 1}
	root := wanted(pointers)
	root.mark(w.places, w.here())
	w.value(root)
	return w.places
}

// jsonWalk reads the text once, from front to back, down to the wanted places only.
type jsonWalk struct {
	text   []byte
	dec    *jsontext.Decoder
	places map[string]place

	line, column, counted int // offset counted is in line, after column characters
}

// here is the place of the next token.
func (w *jsonWalk) here() place {
	at := int(w.dec.InputOffset())
	for at < len(w.text) && strings.IndexByte(" \t\r\n,:", w.text[at]) >= 0 {
		at++
	}
	for ; w.counted < at; w.counted++ { // never again from the line's start: a document may be one line
		switch b := w.text[w.counted]; {
		case b == '\n':
			w.line, w.column = w.line+1, 0
		case utf8.RuneStart(b):
			w.column++
		}
	}
	return place{w.line, w.column + 1}
}

// value walks the next value and reports whether reading can go on.
func (w *jsonWalk) value(want *want) bool {
	kind := w.dec.PeekKind()
	if len(want.next) == 0 || kind != '{' && kind != '[' {
		return w.dec.SkipValue() == nil
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return false
	}
	for i := 0; ; i++ {
		if k := w.dec.PeekKind(); k == '}' || k == ']' || k == 0 {
			_, err := w.dec.ReadToken()
			return err == nil
		}
		p, token := w.here(), strconv.Itoa(i)
		if kind == '{' {
			name, err := w.dec.ReadToken()
			if err != nil {
				return false
			}
			token = EscapePointer(name.String())
		}
		child := want.next[token]
		if child == nil {
			if w.dec.SkipValue() != nil {
				return false
			}
			continue
		}
		child.mark(w.places, p)
		if !w.value(child) {
			return false
		}
	}
}
