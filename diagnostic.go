package toolflow

import (
	"fmt"
	"strings"
)

// A Severity ranks a [Diagnostic].
type Severity string

// The severities. Only an error keeps a plan from running.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// A Diagnostic is one thing to say about a document, placed in it.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`              // a stable word, such as "cycle"
	Message  string   `json:"message"`           // one sentence that names the thing
	File     string   `json:"file,omitempty"`    // as the user named it
	Line     int      `json:"line,omitempty"`    // from 1; 0 when the place is not known
	Column   int      `json:"column,omitempty"`  // in characters, from 1
	Pointer  string   `json:"pointer,omitempty"` // JSON Pointer of the place in the document
	Step     string   `json:"step,omitempty"`    // the step it is about
	Path     string   `json:"path,omitempty"`    // the place in the step's arguments or output
	Hint     string   `json:"hint,omitempty"`    // what to do, or what to type
}

// String gives the diagnostic on one line, the hint in parentheses.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		if d.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", d.Line, d.Column)
		}
		b.WriteString(": ")
	}
	if d.Severity != SeverityError {
		b.WriteString(string(d.Severity) + ": ")
	}
	b.WriteString(d.Message)
	if d.Hint != "" {
		b.WriteString(" (" + d.Hint + ")")
	}
	return b.String()
}

// HasErrors reports whether any of ds keeps a plan from running.
func HasErrors(ds []Diagnostic) bool {
	for _, d := range ds {
		if d.Severity == SeverityError {
			return true
		}
	}
	return false
}
