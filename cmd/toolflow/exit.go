package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/render"
	"github.com/toolflow-go/toolflow/runner"
)

// The exit codes; README.md prints the same table.
const (
	exitOK           = 0
	exitInternal     = 1
	exitUsage        = 2
	exitUnauthorized = 3
	exitUnreachable  = 4
	exitFailed       = 5
	exitInvalid      = 6
	exitNeedsPerson  = 7
	exitDeadline     = 8
	exitInterrupted  = 130
	exitTerminated   = 143
)

// The causes with which a run is stopped from outside.
var (
	errInterrupted = errors.New("interrupted")
	errTerminated  = errors.New("terminated")
	errDeadline    = errors.New("the deadline passed")
)

// A usageError is a command line that cannot be carried out.
type usageError struct {
	err  error
	hint string // where to read on; empty when the error says it all
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// precedence orders the codes when several hold: the first counts.
var precedence = []int{exitInterrupted, exitTerminated, exitInternal, exitNeedsPerson, exitUnauthorized, exitUnreachable, exitDeadline, exitFailed}

// exitCode is the one place where the kinds of errors become exit codes.
func exitCode(err error) int {
	var (
		use      *usageError
		invalid  *runner.InvalidError
		server   *runner.ServerError
		approval *runner.ApprovalError
		output   *runner.OutputError
		run      *runner.RunError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &use):
		return exitUsage
	case errors.As(err, &invalid):
		return exitInvalid
	case errors.As(err, &approval):
		return exitNeedsPerson
	case errors.As(err, &output):
		return exitFailed
	case errors.As(err, &run):
		return runCode(run)
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, errTerminated):
		return exitTerminated
	case errors.Is(err, errDeadline):
		return exitDeadline
	case errors.As(err, &server):
		return serverCode(server)
	}
	return exitInternal
}

func serverCode(e *runner.ServerError) int {
	for _, err := range e.Servers {
		var call *toolflow.CallError
		if errors.As(err, &call) && call.Kind == toolflow.CallUnauthorized {
			return exitUnauthorized
		}
	}
	return exitUnreachable
}

// runCode weighs everything that went wrong in a run.
func runCode(run *runner.RunError) int {
	holds := map[int]bool{}
	for _, s := range run.Steps {
		holds[stepCode(s)] = true
	}
	switch {
	case run.Err == nil:
	case errors.Is(run.Err, errInterrupted):
		holds[exitInterrupted] = true
	case errors.Is(run.Err, errTerminated):
		holds[exitTerminated] = true
	case errors.Is(run.Err, errDeadline):
		holds[exitDeadline] = true
	default:
		holds[exitInternal] = true
	}
	if run.Status == toolflow.RunWaiting {
		holds[exitNeedsPerson] = true
	}
	for _, code := range precedence {
		if holds[code] {
			return code
		}
	}
	return exitFailed
}

// decisive is the step that the exit code speaks of, else the first that failed.
func decisive(run *runner.RunError) *runner.StepError {
	code := runCode(run)
	for _, s := range run.Steps {
		if stepCode(s) == code {
			return s
		}
	}
	return run.Steps[0]
}

func stepCode(s *runner.StepError) int {
	if s.Status == toolflow.StatusUnknown {
		return exitNeedsPerson
	}
	switch s.Failure.Code {
	case toolflow.CodeNeedsPerson:
		return exitNeedsPerson
	case toolflow.CodeUnauthorized:
		return exitUnauthorized
	case toolflow.CodeNotSent:
		return exitUnreachable
	case toolflow.CodeInternal:
		return exitInternal
	}
	return exitFailed
}

// codeName is the word for an error in `{"error": {"code": …}}`.
func codeName(err error) string {
	var invalid *runner.InvalidError
	var run *runner.RunError
	var output *runner.OutputError
	switch {
	case errors.As(err, &invalid):
		for _, d := range invalid.Diagnostics {
			if d.Severity == toolflow.SeverityError {
				return d.Code
			}
		}
	case errors.As(err, &output):
		return output.Code
	case errors.As(err, &run) && len(run.Steps) > 0:
		if s := decisive(run); stepCode(s) == runCode(run) {
			return s.Failure.Code
		}
	}
	return map[int]string{exitInternal: "internal", exitUsage: "usage", exitUnauthorized: "unauthorized", exitUnreachable: "unreachable", exitFailed: "failed",
		exitInvalid: "invalid", exitNeedsPerson: "needs_person", exitDeadline: "deadline", exitInterrupted: "interrupted", exitTerminated: "terminated"}[exitCode(err)]
}

// finish shows an error and gives the exit code.
func (a *app) finish(err error) int {
	if err == nil && a.stdout.err != nil {
		err = fmt.Errorf("stdout: %w", a.stdout.err)
	}
	if err == nil {
		return exitOK
	}
	if !a.said {
		a.explain(err)
	}
	if a.output == "json" || a.output == "jsonl" {
		fmt.Fprintln(a.stderr, render.EscapeJSON(string(errorLine(err))))
	}
	return exitCode(err)
}

// explain says an error in full, with what to do.
func (a *app) explain(err error) {
	var (
		use      *usageError
		invalid  *runner.InvalidError
		approval *runner.ApprovalError
		server   *runner.ServerError
	)
	if errors.As(err, &invalid) {
		a.showDiagnostics(invalid.Diagnostics, false, false)
		return
	}
	a.say("toolflow: %s", err)
	switch {
	case errors.As(err, &use) && use.hint != "":
		a.say("%s", use.hint)
	case errors.As(err, &approval):
		a.say("  approve with --yes, or one by one: --approve %s (--until-approval runs what needs none)", approval.Steps[0])
	case errors.As(err, &server):
		for _, name := range slices.Sorted(maps.Keys(server.Servers)) {
			var call *toolflow.CallError
			if errors.As(server.Servers[name], &call) {
				a.showStderr(name, call.Stderr)
			}
		}
	}
}

// errorLine is the one line about a failure that programs read (C3).
func errorLine(err error) []byte {
	line := struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Exit    int    `json:"exit"`
		Step    string `json:"step,omitempty"`
		File    string `json:"file,omitempty"`
		Line    int    `json:"line,omitempty"`
		Column  int    `json:"column,omitempty"`
		Hint    string `json:"hint,omitempty"`
	}{Code: codeName(err), Message: err.Error(), Exit: exitCode(err)}
	var invalid *runner.InvalidError
	var run *runner.RunError
	switch {
	case errors.As(err, &invalid):
		for _, d := range invalid.Diagnostics {
			if d.Severity == toolflow.SeverityError {
				line.Message, line.Step, line.File, line.Line, line.Column, line.Hint = d.Message, d.Step, d.File, d.Line, d.Column, d.Hint
				break
			}
		}
	case errors.As(err, &run) && len(run.Steps) > 0:
		line.Step = decisive(run).Step
	}
	return marshal(map[string]any{"error": line})
}

// marshal writes JSON without escaping anything that JSON does not ask for.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // every value that is printed is made of JSON
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// killers end what a second interrupt must end at once: the servers of this process.
var killers struct {
	sync.Mutex
	kill []func()
}

func onKill(kill func()) {
	killers.Lock()
	defer killers.Unlock()
	killers.kill = append(killers.kill, kill)
}

// withSignals gives a context that SIGINT, SIGTERM and SIGHUP end. The second one kills the servers and
// leaves at once.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // a closed terminal ends a run as TERM does
	// Whoever stops reading our stdout must not end a call in flight. Caught, not ignored: servers would
	// inherit the latter.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case s := <-signals:
				cause, code := errInterrupted, exitInterrupted
				if s != os.Interrupt {
					cause, code = errTerminated, exitTerminated
				}
				if n > 0 {
					killers.Lock()
					for _, kill := range killers.kill {
						kill()
					}
					os.Exit(code)
				}
				cancel(cause)
			}
		}
	}()
	var once sync.Once
	return ctx, func() {
		once.Do(func() {
			signal.Stop(signals)
			close(done)
			cancel(nil)
		})
	}
}

// oneLine folds a text of several lines into one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
