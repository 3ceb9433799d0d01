package binding

import (
	"github.com/ohler55/ojg/jp"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// A Source is one binding of a step, with what is known about the place that it reads.
type Source struct {
	Binding toolflow.Binding
	Step    int         // the caller's number of the upstream step; -1 for fromInput and value
	StepID  string      // that step's id, for provenance and messages
	Output  schema.Node // of that step's output, or of the plan's input; zero when unknown
}

// A Setting is a value given at the call for one location.
type Setting struct {
	At    *Location
	Value any
}

// A Spec is all that fills the arguments of one step. Values are what toolflow.DecodeValue gives.
type Spec struct {
	Literal any         // the document's literal arguments: nil or an object
	Given   any         // values given at the call, merged over Literal: nil or an object
	Set     []Setting   // more values given at the call, each at its location, after Given
	Sources []Source    // in document order
	Schema  schema.Node // the tool's inputSchema; zero when unknown
	Budget  int         // most values that one evaluation of a path visits; 0 means 1,000,000
}

// The kinds of origin, as in toolflow.Provenance.From.
const (
	FromStep    = "step"
	FromInput   = "input"
	FromLiteral = "literal"
	FromDefault = "default"
	FromCall    = "call"
)

// Arguments are the compiled arguments of one step. They can be used from several goroutines.
type Arguments struct {
	schema  schema.Node
	base    any     // what is known before the run: literals, call values, constants and defaults
	reads   []*read // in order of location, without those that yield
	all     []Read  // in document order
	late    []fill  // constants and defaults inside what bindings write, when all of them write
	missing []Missing
	marks   []mark                // origins inside base other than the document's literals
	origins []toolflow.Provenance // when every binding writes what it reads
}

// A Read is one compiled binding.
type Read struct {
	Source     int // its place in Spec.Sources
	Input      *Location
	From       string // FromStep, FromInput or FromLiteral
	Step       int    // as in Source
	StepID     string
	Path       *Path // nil for FromLiteral
	Content    bool  // Path reads the raw content blocks
	Take       string
	Optional   bool
	HasDefault bool
	Yields     bool // a value given at the call stands in its place
}

type read struct {
	Read
	path  string
	value any // of a literal, or the default
}

// A fill is a constant or default of the schema for a required member.
type fill struct {
	at    jp.Expr
	value any
	what  string // "constant" or "default"
}

// Known gives what the document's literals and the call give, before bindings and defaults. It must not
// be changed.
func (a *Arguments) Known() any { return a.base }

// Reads gives the compiled bindings in document order, those that yield to call values included.
func (a *Arguments) Reads() []Read { return a.all }

// Missing gives, in order of path, the required members that nothing provides.
func (a *Arguments) Missing() []Missing { return a.missing }
