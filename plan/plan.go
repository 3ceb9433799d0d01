// Package plan turns a document into a plan: everything that can be known before the first call.
//
// [Compile] resolves names, builds the graph, compiles the schemas (each distinct text once) and the
// bindings, works out which inputs are still missing and what each step's policy is, and reports all
// problems at once. It calls no tool, waits for nothing and opens nothing; package runner carries a
// plan out.
package plan

import (
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
	"github.com/toolflow-go/toolflow/dag"
	"github.com/toolflow-go/toolflow/schema"
)

// Live is what the servers list, by server name. A server that is absent was not asked.
type Live map[string][]toolflow.Tool

// Options adjusts [Compile]. The zero value compiles offline, with every default.
type Options struct {
	Strict      bool              // refuse leniencies that otherwise leave a warning
	CheckWarn   bool              // turn certain clashes between values and schemas into warnings
	Targets     []string          // run only these steps and what they need; empty: all
	All         bool              // run every tool of a document that names no dependency at all
	Servers     []toolflow.Server // more servers; one of the same name wins over the document's
	Live        Live              // nil: offline
	NeedServers bool              // a step that no server can run is an error
	Input       Input
	Timeout     time.Duration // for each call when neither policy nor server says; 0 means 10 minutes
	Schemas     *schema.Cache // nil: one of its own
}

// DefaultTimeout is the limit of a call that nothing else limits.
const DefaultTimeout = 10 * time.Minute

// A Plan is a document compiled and checked. It is pure data, and safe for concurrent use.
type Plan struct {
	Name        string // the document's name, else its file
	Title       string
	Description string

	Steps   []Step // those that run, in document order
	Graph   *dag.Graph
	Targets []int // ascending: the steps whose outputs the run returns when the document has no `output`

	Servers []toolflow.Server  // those that may be needed, in the order of the configuration
	Output  *binding.Arguments // makes the run's output; nil when the document has no `output`
	Reads   []Read             // what the run's own output is made of
	Input   any                // the plan's own input; nil when the document has no inputSchema

	InputSchema  *schema.Schema
	OutputSchema *schema.Schema

	// MissingInput is what the plan's own input lacks.
	MissingInput []binding.Missing
}

// A Step is one call of a tool, ready to be carried out.
type Step struct {
	ID     string
	Tool   string
	Server string // empty while it is not known which server offers the tool
	Title  string

	Args       *binding.Arguments
	Reads      []Read         // whose outputs its bindings read
	Input      *schema.Schema // of the document, else the server's; nil when unknown
	ServerOnly *schema.Schema // the server's input schema when the document has a different one
	Output     *schema.Schema // nil when none is known

	Policy  Policy
	Safe    bool   // calling it again does no harm (rule X1)
	SafeWhy string // what says so; empty when not safe
	Asks    bool   // a person must approve it (rule X5)
	AsksWhy string // what says so; empty when it does not ask
	Checked bool   // whether a description of the tool was seen, the document's or the server's

	Missing []binding.Missing // inputs that nothing provides
}

// A Read is one upstream step whose output is bound. Content tells that its raw content blocks are.
type Read struct {
	Step    int
	Content bool
}

// A Policy says how a step is run, with every default filled in.
type Policy struct {
	Timeout     time.Duration
	Attempts    int           // all of them, the first included
	Backoff     time.Duration // before the second attempt, doubled after each
	Retry       bool          // the plan asks for retries, so a timeout is tried again too
	OnToolError bool          // the tool's own "no" is tried again
	Continue    bool          // a failure counts as an end without output
}

// Step gives the number of the step with an id.
func (p *Plan) Step(id string) (int, bool) {
	for i := range p.Steps {
		if p.Steps[i].ID == id {
			return i, true
		}
	}
	return 0, false
}

// ServersToAsk gives the servers whose tools must be listed before the plan can run: those that its
// steps name, and all of them while some step has yet to find its server.
func (p *Plan) ServersToAsk() []string {
	needed := map[string]bool{}
	all := false
	for i := range p.Steps {
		needed[p.Steps[i].Server] = true
		all = all || p.Steps[i].Server == ""
	}
	var names []string
	for _, s := range p.Servers {
		if all || needed[s.Name] {
			names = append(names, s.Name)
		}
	}
	return names
}
