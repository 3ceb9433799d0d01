package toolflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ReadDocument reads a document from r. A name that ends in .yaml or .yml is read as YAML (one
// document, JSON's scalars, no custom tags), everything else as JSON. Every problem is a diagnostic
// with its line and column; the document holds what could be read, and is nil when nothing could.
// The error is for reading r itself.
func ReadDocument(r io.Reader, file string) (*Document, []Diagnostic, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxDocumentBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(text) > MaxDocumentBytes {
		return nil, []Diagnostic{{Severity: SeverityError, Code: "limit", File: file,
			Message: fmt.Sprintf("the document is larger than %d MiB", MaxDocumentBytes>>20)}}, nil
	}
	doc, diags := ParseDocument(text, file)
	return doc, diags, nil
}

// ParseDocument is [ReadDocument] for a text in memory. The text must not be changed afterwards.
func ParseDocument(text []byte, file string) (*Document, []Diagnostic) {
	return parseDocument(text, file, (*reader).kindOfDocument)
}

// ParseServers reads the servers of a file, which need not be a plan (mcpServers or servers).
func ParseServers(text []byte, file string) ([]Server, []Diagnostic) {
	doc, diags := parseDocument(text, file, func(r *reader, _ members) {
		if len(r.doc.Servers) == 0 && !HasErrors(r.diags) {
			r.sayAt("", SeverityError, "servers", `{"mcpServers": {"name": {"command": "…"}}}`, "the file holds no servers")
		}
	})
	if doc == nil {
		return nil, diags
	}
	return doc.Servers, slices.DeleteFunc(diags, func(d Diagnostic) bool { // the rest of the file is for others
		return d.Code != "servers" && !strings.HasPrefix(d.Pointer, "/mcpServers") && !strings.HasPrefix(d.Pointer, "/servers")
	})
}

// parseDocument reads a document; judge has the last word on what kind of file it is.
func parseDocument(text []byte, file string, judge func(*reader, members)) (*Document, []Diagnostic) {
	doc := &Document{File: file, source: jsonSource(text)}
	lower := strings.ToLower(file)
	if strings.HasSuffix(lower, ".yaml") || strings.HasSuffix(lower, ".yml") {
		src, js, diag := yamlToJSON(text)
		if diag != nil {
			diag.File = file
			return nil, []Diagnostic{*diag}
		}
		doc.source, text = src, js
	} else if diag := lookAtText(text); diag != nil {
		return nil, doc.Locate([]Diagnostic{*diag})
	}
	r := &reader{dec: jsontext.NewDecoder(bytes.NewBuffer(text)), doc: doc, seen: map[string]bool{}}
	seen, err := r.document()
	if err == nil {
		judge(r, seen)
		if _, end := r.dec.ReadToken(); !errors.Is(end, io.EOF) {
			err = &ValueError{Offset: r.dec.InputOffset(), Message: "text after the document"}
		}
	}
	if err != nil {
		r.syntax(err, text)
		return nil, doc.Locate(r.diags)
	}
	doc.broken = HasErrors(r.diags)
	return doc, doc.Locate(r.diags)
}

// lookAtText names the common things that are no JSON document at all.
func lookAtText(text []byte) *Diagnostic {
	bad := func(message, hint string) *Diagnostic {
		return &Diagnostic{Severity: SeverityError, Code: "parse", Message: message, Hint: hint}
	}
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return bad("the document starts with a byte order mark", "save it as UTF-8 without one")
	case len(trimmed) == 0:
		return bad("the document is empty", `it needs "tools" or "steps"`)
	case trimmed[0] == '[':
		return bad("the document is an array", `put it into an object: {"tools": […]}`)
	case trimmed[0] != '{':
		if i := bytes.Index(text, []byte("\n{")); i >= 0 {
			return bad("the document does not start with {", fmt.Sprintf("its JSON seems to start at line %d: leave out what stands before", bytes.Count(text[:i+1], []byte("\n"))+1))
		}
		return bad("the document does not start with {", "a plan is one JSON object; YAML needs a name that ends in .yaml or .yml")
	}
	return nil
}

// reader walks a document's JSON text once. Its methods return an error only when reading cannot
// go on; everything else is a diagnostic.
type reader struct {
	dec   *jsontext.Decoder
	doc   *Document
	diags []Diagnostic
	seen  map[string]bool // unknown members that were warned about
}

func (r *reader) pointer() string { return string(r.dec.StackPointer()) }

func (r *reader) say(severity Severity, code, hint, format string, args ...any) {
	r.sayAt(r.pointer(), severity, code, hint, format, args...)
}

func (r *reader) sayAt(pointer string, severity Severity, code, hint, format string, args ...any) {
	r.diags = append(r.diags, Diagnostic{Severity: severity, Code: code, Pointer: pointer, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// saidAt reports whether the value at a pointer, or something in it, was already complained about.
func (r *reader) saidAt(pointer string) bool {
	n := len(r.diags)
	return n > 0 && strings.HasPrefix(r.diags[n-1].Pointer, pointer) && r.diags[n-1].Code == "type"
}

// syntax turns the error that ended the reading into a diagnostic with its place.
func (r *reader) syntax(err error, text []byte) {
	var v *ValueError
	if !errors.As(valueError(err), &v) {
		v = &ValueError{Message: err.Error()}
	}
	d := Diagnostic{Severity: SeverityError, Code: "parse", Message: "not JSON: " + v.Message, Pointer: v.Pointer}
	switch {
	case v.Duplicate:
		d.Code, d.Message = "duplicate", v.Message
	case v.Limit:
		d.Code, d.Message = "limit", "the document is "+v.Message
	}
	if js, ok := r.doc.source.(jsonSource); ok {
		p := js.at(min(int(v.Offset), len(text)))
		d.Line, d.Column = p.line, p.column
	}
	r.diags = append(r.diags, d)
}

// object reads an object and hands each member's name to member, which reads the value. what names
// the thing in the message when it is no object.
func (r *reader) object(what string, member func(name string) error) error {
	if !r.is('{', what, "an object") {
		return r.dec.SkipValue()
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	if r.dec.StackDepth() > MaxDocumentDepth {
		return tooDeep(r.dec, MaxDocumentDepth)
	}
	for r.dec.PeekKind() != '}' {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		if err := member(tok.String()); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// array reads an array; each reads one element.
func (r *reader) array(what string, each func() error) error {
	if !r.is('[', what, "an array") {
		return r.dec.SkipValue()
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != ']' {
		if err := each(); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// is reports whether the next value is of a kind, and says so when it is not.
func (r *reader) is(kind jsontext.Kind, what, want string) bool {
	got := r.dec.PeekKind()
	if got == kind {
		return true
	}
	if got == 0 { // a syntax error, which the next read reports
		return false
	}
	r.sayAt(r.nextPointer(), SeverityError, "type", "", "%s must be %s, not %s", what, want, kindName(got))
	return false
}

// nextPointer is the pointer of the value that will be read next.
func (r *reader) nextPointer() string {
	depth := r.dec.StackDepth()
	kind, n := r.dec.StackIndex(depth)
	if kind == '[' {
		// the pointer names the last element read; the next one is n
		base := r.pointer()
		if n > 0 {
			base = base[:strings.LastIndexByte(base, '/')]
		}
		return fmt.Sprintf("%s/%d", base, n)
	}
	return r.pointer()
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "this"
}

func (r *reader) text(what string, dst *string) error {
	if !r.is('"', what, "a string") {
		return r.dec.SkipValue()
	}
	tok, err := r.dec.ReadToken()
	*dst = tok.String()
	return err
}

func (r *reader) boolean(what string, dst **bool) error {
	if k := r.dec.PeekKind(); k != 't' && k != 'f' {
		r.is('t', what, "true or false")
		return r.dec.SkipValue()
	}
	tok, err := r.dec.ReadToken()
	if err == nil {
		b := tok.Bool()
		*dst = &b
	}
	return err
}

func (r *reader) count(what string, dst *int) error {
	if !r.is('0', what, "a number") {
		return r.dec.SkipValue()
	}
	tok, err := r.dec.ReadToken()
	if err != nil {
		return err
	}
	n, err := json.Number(tok.String()).Int64()
	if err != nil || n < 1 || n > 1_000_000 {
		r.say(SeverityError, "type", "", "%s must be a whole number from 1 to 1000000, not %s", what, tok)
		return nil
	}
	*dst = int(n)
	return nil
}

// duration reads "1m30s" or a number of seconds.
func (r *reader) duration(what string, dst *time.Duration) error {
	switch r.dec.PeekKind() {
	case '"', '0':
	default:
		r.is('"', what, `a duration such as "30s", or a number of seconds`)
		return r.dec.SkipValue()
	}
	tok, err := r.dec.ReadToken()
	if err != nil {
		return err
	}
	text, shown := tok.String(), strconv.Quote(tok.String())
	if tok.Kind() == '0' {
		text, shown = text+"s", text
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		r.say(SeverityError, "type", `write "500ms", "30s", "2m", or a number of seconds`, "%s %s is no duration above zero", what, shown)
		return nil
	}
	*dst = d
	return nil
}

// raw keeps the text of the next value as it stands.
func (r *reader) raw(dst *json.RawMessage) error {
	v, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	if Depth(v)+r.dec.StackDepth() > MaxDocumentDepth {
		return tooDeep(r.dec, MaxDocumentDepth)
	}
	*dst = json.RawMessage(bytes.Clone(v))
	return nil
}

// rawObject is raw for a value that must be an object.
func (r *reader) rawObject(what string, dst *json.RawMessage) error {
	if !r.is('{', what, "an object") {
		return r.dec.SkipValue()
	}
	return r.raw(dst)
}
