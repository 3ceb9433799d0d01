package schema

import (
	"fmt"
	"strings"

	"github.com/toolflow-go/toolflow"
)

// An ErrorKind says what is wrong with a schema.
type ErrorKind string

// The kinds of an [Error].
const (
	KindSyntax    ErrorKind = "syntax"    // the text is no JSON value that toolflow can carry
	KindDialect   ErrorKind = "dialect"   // `$schema` names a dialect that is not supported
	KindReference ErrorKind = "reference" // a reference leads outside, nowhere, or in a circle
	KindLimit     ErrorKind = "limit"     // one of the [Options] was passed
	KindInvalid   ErrorKind = "invalid"   // it is JSON, but no schema of its dialect
)

// An Error is a problem of a schema itself, not of a value that was held against it.
type Error struct {
	Kind    ErrorKind
	Pointer string // JSON Pointer of the place in the schema
	Message string
	Err     error // the cause; nil when there is none
}

// Error gives the message and the place.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Message + " at " + toolflow.Clip(e.Pointer, 200)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// An Invalid lists why a value does not fit a schema, sorted by place and then by message.
type Invalid struct {
	Problems []Problem // at most 20
	More     int       // how many further problems are left out, roughly when there are thousands
}

// A Problem is one reason why a value does not fit.
type Problem struct {
	Path    string // the location in the value, such as `messages[0].role`; "" for the value itself
	Pointer string // the same place as a JSON Pointer
	Want    string // what the schema asks for
	Got     string // what is there; "" when something is missing
	Message string // one phrase without the place: `got string, want integer`
}

// String gives the problem with its place.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Error gives all problems on one line.
func (e *Invalid) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.String()
	}
	if e.More > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(texts, "; ")
}
