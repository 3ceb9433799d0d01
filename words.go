// Package toolflow holds the words that every other package speaks: the document people write, the
// tools and servers it names, the calls and results that pass between toolflow and a server, the
// events of a run, and the diagnostics about all of them. It also reads documents (JSON and YAML)
// and JSON values exactly: every digit and every character survives.
//
// The package is pure. It opens no file, starts no goroutine and knows no network; it reads what it
// is handed. To check a document see package plan, to run one see package runner, and to reach MCP
// servers see package mcpclient.
package toolflow

import (
	"encoding/json"
	"time"
)

// A Tool is what a server offers and a spec describes: an MCP tool with, in an enhanced tool spec,
// what it needs from other tools.
type Tool struct {
	Name        string
	Title       string
	Description string
	Server      string // the configured server that offers it; empty when the document does not say

	InputSchema  json.RawMessage // JSON Schema of the arguments; nil when the spec has none
	OutputSchema json.RawMessage // JSON Schema of the output; nil when the spec has none

	Annotations  Annotations
	Dependencies *Dependencies   // nil when the spec has none
	UI           json.RawMessage // kept as it stands; never affects a run

	// Raw is the whole tool object as it was read. Live tools carry it, so that members that are
	// unknown here are not lost.
	Raw json.RawMessage
}

// Annotations are the hints of an MCP tool. A nil hint means that nothing was said.
type Annotations struct {
	Title       string
	ReadOnly    *bool // readOnlyHint
	Destructive *bool // destructiveHint
	Idempotent  *bool // idempotentHint
	OpenWorld   *bool // openWorldHint
}

// Dependencies say what a tool or a step needs from others (seed 001, `dependencies`).
type Dependencies struct {
	Requires []string  // step ids or tool names that must succeed first; nil when `requires` was not given
	Bindings []Binding // in document order
}

// A Binding fills one input location of a downstream step. Exactly one of FromTool, FromInput and
// Value gives the source.
type Binding struct {
	Input string // where to write: `messages[0].content`

	FromTool    string // a step id or tool name
	OutputPath  string // path into the output of FromTool
	ContentPath string // path into its raw content blocks, instead of OutputPath

	FromInput string          // path into the plan's own input
	Value     json.RawMessage // a literal

	Take     string          // "", "first" or "only", for queries that may match more than once
	Optional bool            // no match: leave the location alone
	Default  json.RawMessage // no match: write this instead
}

// A Step is one call of a tool in a document.
type Step struct {
	ID           string // the tool's name when left out
	Tool         string
	Server       string
	Arguments    json.RawMessage // literal arguments, an object; nil when there are none
	Dependencies *Dependencies   // nil: those of the tool hold
	Policy       Policy
}

// A Policy adjusts how a step is run. The zero value of a member means that the next wider policy
// decides: the plan's, then the default.
type Policy struct {
	Timeout time.Duration // for each call
	Retry   *Retry
	Approve string // "", "always" or "never"
	OnError string // "", "fail" or "continue"
	Safe    *bool  // the call may be repeated without harm
}

// Retry says when a failed call is made again.
type Retry struct {
	Attempts    int           // all of them, the first included; 0 means 3
	Backoff     time.Duration // before the second attempt, doubled after each; 0 means 500 ms
	OnToolError bool          // also when the tool itself said no
}

// A Server says how to reach an MCP server. Command starts one over stdio, URL reaches one over
// Streamable HTTP; exactly one of the two is set. Strings stand as written: `${VAR}` is expanded by
// package mcpclient.
type Server struct {
	Name string

	Command string
	Args    []string
	Env     map[string]string
	Cwd     string

	Type    string // "", "stdio", "http" or "streamable-http"
	URL     string
	Headers map[string]string

	Trust        *bool         // false: its hints are not believed; true: its dependencies are followed
	Timeout      time.Duration // for each call; 0 means the run's
	StartTimeout time.Duration // until it answered `initialize`; 0 means 30 s
	Parallel     int           // most calls in flight at once; 0 means the run's limit

	// File names the file that configured the server, for messages.
	File string
}

// A Call is one request to a tool.
type Call struct {
	Server string
	Tool   string
	Args   json.RawMessage // a JSON object, sent byte for byte

	Run, Step string // who calls; empty outside a run
	Key       string // the same for every attempt of one step in one run
}

// Progress is what a server says about a call in flight. Total is 0 when it is unknown.
type Progress struct {
	Progress float64 `json:"progress"`
	Total    float64 `json:"total,omitempty"`
	Message  string  `json:"message,omitempty"`
}

// A Result is what a call gave back, byte for byte.
type Result struct {
	Content    json.RawMessage // the array of content blocks; nil when absent
	Structured json.RawMessage // structuredContent; nil when absent, `null` when null
	IsError    bool            // the tool answered "no"
}

// A CallErrorKind says how a call failed for another reason than the tool's own answer.
type CallErrorKind string

// The kinds of a CallError.
const (
	CallUnreachable  CallErrorKind = "unreachable"  // the server could not be started or dialled, or is gone; see Sent
	CallUnauthorized CallErrorKind = "unauthorized" // 401 or 403: credentials are missing or refused
	CallBusy         CallErrorKind = "busy"         // 429: try again after RetryAfter
	CallSession      CallErrorKind = "session"      // the session was lost before the call ran (HTTP 404)
	CallLost         CallErrorKind = "lost"         // the connection broke after the request was written
	CallRefused      CallErrorKind = "refused"      // a JSON-RPC error: an answer
	CallProtocol     CallErrorKind = "protocol"     // an answer that is no MCP result
	CallNeedsPerson  CallErrorKind = "needs_person" // the server wants input from a person
	CallLimit        CallErrorKind = "limit"        // the answer passed a limit
	CallCancelled    CallErrorKind = "cancelled"    // the context ended; its cause is in Err
)

// A CallError is a call that brought no result. Sent tells whether any byte of the request may have
// reached the server: when it is false, the tool has certainly not run.
type CallError struct {
	Sent       bool
	Kind       CallErrorKind
	Code       int           // of a JSON-RPC error or an HTTP status; 0 when there was none
	Message    string        // one line that names the server and what happened
	RetryAfter time.Duration // how long the server asked to wait; 0 when it did not say
	Exit       string        // how the server's process ended, such as "exit status 3"; empty when it did not
	Stderr     string        // the last lines of the server's stderr
	Err        error
}

// Error gives the message, with the process's end when that is known.
func (e *CallError) Error() string {
	if e.Exit != "" {
		return e.Message + " (" + e.Exit + ")"
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *CallError) Unwrap() error { return e.Err }
