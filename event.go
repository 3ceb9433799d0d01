package toolflow

import (
	"encoding/json"
	"time"
)

// Provenance says where one written location of a step's arguments came from. The longest location
// that contains a leaf is that leaf's origin, so each leaf has exactly one.
type Provenance struct {
	Path       string `json:"path"`                 // location in the arguments, such as messages[0].content
	From       string `json:"from"`                 // "step", "input", "literal", "default" or "call"
	Step       string `json:"step,omitempty"`       // the upstream step, for "step"
	OutputPath string `json:"outputPath,omitempty"` // what was read there, or from the plan's input
}

// A Status says how far a step has come, or how it ended.
type Status string

// The statuses of a step. All but the first two are ends; Waiting is one that a person can undo.
const (
	StatusPending   Status = "pending"
	StatusRunning   Status = "running"
	StatusSucceeded Status = "succeeded"
	StatusFailed    Status = "failed"
	StatusUnknown   Status = "unknown"   // sent, and no trustworthy answer came
	StatusRejected  Status = "rejected"  // approval was refused
	StatusCancelled Status = "cancelled" // not started, or stopped before it was sent
	StatusSkipped   Status = "skipped"   // something upstream did not succeed
	StatusWaiting   Status = "waiting"   // for a person
)

// A RunStatus says how a run ended.
type RunStatus string

// The statuses of a run.
const (
	RunSucceeded   RunStatus = "succeeded"
	RunFailed      RunStatus = "failed"
	RunWaiting     RunStatus = "waiting"     // something is unknown or awaits a person
	RunInterrupted RunStatus = "interrupted" // stopped from outside
	RunInvalid     RunStatus = "invalid"     // never started
)

// A Mapping says how a step's output was made from its result (rule R4).
type Mapping string

// The mappings.
const (
	MappingStructured   Mapping = "structured"    // structuredContent as it came
	MappingJSONText     Mapping = "json_text"     // the JSON of the single text block
	MappingTextProperty Mapping = "text_property" // the text, as the one property the schema names
	MappingText         Mapping = "text"          // the text
	MappingContent      Mapping = "content"       // {"content": [the blocks]}
)

// The codes of a [Failure].
const (
	CodeToolError        = "tool_error"        // the tool said no
	CodeProtocol         = "protocol"          // the server broke the protocol
	CodeInvalidOutput    = "invalid_output"    // the output does not fit its schema
	CodeBindingNoMatch   = "binding_no_match"  // a path selected nothing
	CodeBindingMatches   = "binding_matches"   // a path that must select one value selected more
	CodeInvalidArguments = "invalid_arguments" // the arguments do not fit the input schema
	CodeLimit            = "limit"             // a limit of docs/spec.md was passed
	CodeTimeout          = "timeout"           // the call took too long
	CodeNotSent          = "not_sent"          // the server could not be reached
	CodeRefused          = "refused"           // the server answered with a JSON-RPC error
	CodeLost             = "connection_lost"   // the connection broke during the call
	CodeUnauthorized     = "unauthorized"      // credentials are missing or refused
	CodeNeedsPerson      = "needs_person"      // the server wants input from a person
	CodeUnknown          = "unknown_outcome"   // sent, and no trustworthy answer came
	CodeRejected         = "rejected"          // approval was refused
	CodeInterrupted      = "interrupted"       // the run was stopped
	CodeOutputNoMatch    = "output_no_match"   // the plan's output selects nothing
	CodeInternal         = "internal"          // a fault of toolflow itself
)

// A Failure says why a step did not succeed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Exit    string `json:"exit,omitempty"`   // how the server's process ended
	Stderr  string `json:"stderr,omitempty"` // the last lines of its stderr
}

// An Outcome is how one attempt of a step ended.
type Outcome struct {
	Status  Status          `json:"status"`
	Output  json.RawMessage `json:"output,omitempty"`
	Mapping Mapping         `json:"mapping,omitempty"`
	Content json.RawMessage `json:"content,omitempty"` // the raw content blocks, when they say more than Output
	Error   *Failure        `json:"error,omitempty"`
	Notes   []string        `json:"notes,omitempty"` // leniencies that were used

	// Again says that the attempt certainly had no effect, or may be repeated without harm, so that
	// the policy decides about another one. RetryAfter is the server's wish.
	Again      bool          `json:"again,omitempty"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
}

// An EventKind names what happened.
type EventKind string

// The events of a run, in the order in which a step sees them.
const (
	EventRunStarted   EventKind = "run.started"
	EventStepApproved EventKind = "step.approved"
	EventStepRejected EventKind = "step.rejected"
	EventStepStarted  EventKind = "step.started"  // durable before the call is written
	EventStepProgress EventKind = "step.progress" // not journaled
	EventStepRetrying EventKind = "step.retrying" // not journaled: it follows from step.ended
	EventStepEnded    EventKind = "step.ended"    // durable before anything downstream starts
	EventStepSkipped  EventKind = "step.skipped"  // not journaled: it follows from another end
	EventRunStopping  EventKind = "run.stopping"  // no step starts after it
	EventRunEnded     EventKind = "run.ended"
)

// An Event is one thing that happened in a run. A run's events, replayed, give its state again.
type Event struct {
	Seq     int64     `json:"seq,omitempty"` // from 1; 0 for an event that follows from another
	Time    time.Time `json:"time"`          // UTC
	Run     string    `json:"run"`
	Kind    EventKind `json:"event"`
	Step    string    `json:"step,omitempty"`
	Attempt int       `json:"attempt,omitempty"` // from 1

	Arguments  json.RawMessage `json:"arguments,omitempty"`  // step.started
	Provenance []Provenance    `json:"provenance,omitempty"` // step.started
	Outcome    *Outcome        `json:"outcome,omitempty"`    // step.ended
	Progress   *Progress       `json:"progress,omitempty"`   // step.progress
	Delay      time.Duration   `json:"delay,omitempty"`      // step.retrying: until the next attempt
	Because    string          `json:"because,omitempty"`    // step.skipped: the step at fault; run.stopping: why
	Status     RunStatus       `json:"status,omitempty"`     // run.ended
}
