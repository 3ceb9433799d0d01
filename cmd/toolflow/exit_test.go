package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/runner"
)

func step(status toolflow.Status, code string) *runner.StepError {
	return &runner.StepError{Step: "s", Status: status, Failure: toolflow.Failure{Code: code}}
}

func failedRun(err error, steps ...*runner.StepError) error {
	return &runner.RunError{Status: toolflow.RunFailed, Steps: steps, Err: err}
}

func servers(kinds ...toolflow.CallErrorKind) error {
	e := &runner.ServerError{Servers: map[string]error{}}
	for i, kind := range kinds {
		e.Servers[fmt.Sprint(i)] = &toolflow.CallError{Kind: kind, Message: "x"}
	}
	return e
}

// TestExitCode has each kind of error alone, then what holds of several.
func TestExitCode(t *testing.T) {
	failed, unknown := step(toolflow.StatusFailed, toolflow.CodeToolError), step(toolflow.StatusUnknown, toolflow.CodeUnknown)
	notSent, denied := step(toolflow.StatusFailed, toolflow.CodeNotSent), step(toolflow.StatusFailed, toolflow.CodeUnauthorized)
	person, fault := step(toolflow.StatusFailed, toolflow.CodeNeedsPerson), step(toolflow.StatusFailed, toolflow.CodeInternal)
	for _, c := range []struct {
		name string
		err  error
		want int
		word string // of the line for programs
	}{
		{"success", nil, 0, ""},
		{"anything else", errors.New("x"), 1, "internal"},
		{"usage", &usageError{err: errors.New("x")}, 2, "usage"},
		{"a server without credentials", servers(toolflow.CallUnauthorized), 3, "unauthorized"},
		{"a server that is not there", servers(toolflow.CallUnreachable), 4, "unreachable"},
		{"one of each", servers(toolflow.CallUnreachable, toolflow.CallUnauthorized), 3, "unauthorized"},
		{"invalid", &runner.InvalidError{Diagnostics: []toolflow.Diagnostic{{Severity: toolflow.SeverityWarning, Code: "name"}, {Severity: toolflow.SeverityError, Code: "cycle"}}}, 6, "cycle"},
		{"approval", &runner.ApprovalError{Steps: []string{"s"}}, 7, "needs_person"},
		{"interrupted before the first call", fmt.Errorf("x: %w", errInterrupted), 130, "interrupted"},
		{"terminated before the first call", errTerminated, 143, "terminated"},
		{"deadline before the first call", errDeadline, 8, "deadline"},
		{"no output", &runner.OutputError{Code: toolflow.CodeOutputNoMatch, Err: errors.New("x")}, 5, "output_no_match"},

		{"a step failed", failedRun(nil, failed), 5, "tool_error"},
		{"a step timed out", failedRun(nil, step(toolflow.StatusFailed, toolflow.CodeTimeout)), 5, "timeout"},
		{"a step was rejected", failedRun(nil, step(toolflow.StatusRejected, toolflow.CodeRejected)), 5, "rejected"},
		{"a step is unknown", failedRun(nil, unknown), 7, "unknown_outcome"},
		{"a server wants a person", failedRun(nil, person), 7, "needs_person"},
		{"a step's server is not there", failedRun(nil, notSent), 4, "not_sent"},
		{"a step's server wants credentials", failedRun(nil, denied), 3, "unauthorized"},
		{"a fault in a step", failedRun(nil, fault), 1, "internal"},
		{"steps wait", &runner.RunError{Status: toolflow.RunWaiting}, 7, "needs_person"},
		{"the journal broke", failedRun(errors.New("disk full")), 1, "internal"},

		{"130 before all", failedRun(errInterrupted, fault, unknown, denied, notSent, failed), 130, "interrupted"},
		{"143 before all", failedRun(errTerminated, fault, unknown, denied, notSent, failed), 143, "terminated"},
		{"1 before 7", failedRun(nil, failed, unknown, fault), 1, "internal"},
		{"7 before 3", failedRun(nil, denied, unknown), 7, "unknown_outcome"},
		{"7 before 8", failedRun(errDeadline, unknown), 7, "unknown_outcome"},
		{"3 before 4", failedRun(nil, failed, notSent, denied), 3, "unauthorized"},
		{"4 before 8", failedRun(errDeadline, notSent), 4, "not_sent"},
		{"8 before 5", failedRun(errDeadline, failed), 8, "deadline"},
		{"4 before 5", failedRun(nil, failed, notSent), 4, "not_sent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := exitCode(c.err); got != c.want {
				t.Errorf("exit code: got %d, want %d", got, c.want)
			}
			if c.err == nil {
				return
			}
			if got := codeName(c.err); got != c.word {
				t.Errorf("word: got %q, want %q", got, c.word)
			}
		})
	}
}
