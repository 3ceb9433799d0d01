package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
	"github.com/toolflow-go/toolflow/schema"
)

// A Caller calls tools. Call is used from many goroutines at once. When ctx ends it returns soon. A
// call that brings no result is a [*toolflow.CallError]; any other error counts as a call that was sent
// and answered with something that is no MCP result. progress may be called until Call returns.
type Caller interface {
	Call(ctx context.Context, call toolflow.Call, progress func(toolflow.Progress)) (toolflow.Result, error)
}

// A Lister lists the tools of a server, starting it when needed. A Caller that is also a Lister has
// its servers started and listed before the first call of a run.
type Lister interface {
	Tools(ctx context.Context, server string) ([]toolflow.Tool, error)
}

// Options adjusts a Runner. A nil *Options means every default.
type Options struct {
	Parallel int           // most calls in flight at once; 0 means 16
	Timeout  time.Duration // for each call that no policy limits; 0 means 10 minutes

	Targets   []string          // run only these steps and what they need; empty: all
	All       bool              // run every tool of a document that names no dependency
	Servers   []toolflow.Server // more servers; one of the same name wins over the document's
	Strict    bool              // refuse leniencies that otherwise leave a note
	CheckWarn bool              // clashes between values and schemas are warnings, and such values are sent; not with Strict
	FailFast  bool              // start nothing more after the first failure
	KeepGoing bool              // a server that does not start fails its own steps only

	// Approve is asked, before the first call, for each step that needs a person's approval. When it
	// cannot tell, it gives an [*ApprovalError]. Nil never can. Steps without an answer end the run
	// before any call with an [*ApprovalError] that names them, unless UntilApproval is set.
	Approve       func(ctx context.Context, step *plan.Step) (bool, error)
	UntilApproval bool // run what needs no approval; the rest waits

	// Diagnose is told, before the first call, what there is to say about a document that can be run.
	Diagnose func([]toolflow.Diagnostic)

	Journal Journal              // nil: events are kept nowhere
	Observe func(toolflow.Event) // sees every event, one at a time, in order; it must not block for long
	KeepAll bool                 // keep every step's arguments, provenance and output in the report
}

// A Runner runs documents. It keeps no state between runs and is safe for concurrent use.
type Runner struct {
	caller  Caller
	o       Options
	schemas *schema.Cache
}

// New makes a Runner that calls tools through caller.
func New(caller Caller, o *Options) *Runner {
	r := &Runner{caller: caller, schemas: &schema.Cache{}}
	if o != nil {
		r.o = *o
		r.o.CheckWarn = o.CheckWarn && !o.Strict
	}
	return r
}

// Run checks doc, asks the servers what they offer, checks again, and carries the plan out. The
// report is never nil. The error is nil when every step succeeded; else it is one of
// [*InvalidError], [*ServerError], [*ApprovalError], [*RunError], or the context's cause.
func (r *Runner) Run(ctx context.Context, doc *toolflow.Document, in plan.Input) (*Report, error) {
	p, down, diags, err := r.prepare(ctx, doc, in)
	if err != nil {
		report := &Report{Status: toolflow.RunInvalid, Diagnostics: diags}
		var invalid *InvalidError
		if !errors.As(err, &invalid) {
			report.Status = toolflow.RunFailed
			if ctx.Err() != nil {
				report.Status = toolflow.RunInterrupted
			}
		}
		if p != nil {
			report.Plan = p.Name
		}
		return report, err
	}
	if r.o.Diagnose != nil {
		r.o.Diagnose(diags)
	}
	report, err := r.execute(ctx, p, down)
	report.Diagnostics = diags
	return report, err
}

// Prepare does all that precedes the first call (rule X0): it checks doc, starts the servers of its
// steps side by side, lists their tools, and checks again.
func (r *Runner) Prepare(ctx context.Context, doc *toolflow.Document, in plan.Input) (*plan.Plan, []toolflow.Diagnostic, error) {
	p, _, diags, err := r.prepare(ctx, doc, in)
	return p, diags, err
}

// Execute carries out a plan that has no errors, as [Runner.Prepare] gives it.
func (r *Runner) Execute(ctx context.Context, p *plan.Plan) (*Report, error) {
	return r.execute(ctx, p, nil)
}

func (r *Runner) prepare(ctx context.Context, doc *toolflow.Document, in plan.Input) (*plan.Plan, map[string]error, []toolflow.Diagnostic, error) {
	if doc.Broken() {
		diags := []toolflow.Diagnostic{{Severity: toolflow.SeverityError, Code: "broken", File: doc.File,
			Message: "the document could not be read in full", Hint: "see the diagnostics that reading it gave"}}
		return nil, nil, diags, &InvalidError{diags}
	}
	lister, lists := r.caller.(Lister)
	o := plan.Options{Strict: r.o.Strict, CheckWarn: r.o.CheckWarn, Targets: r.o.Targets, All: r.o.All, Servers: r.o.Servers,
		NeedServers: lists, Input: in, Timeout: r.o.Timeout, Schemas: r.schemas}
	p, diags := plan.Compile(doc, o)
	if toolflow.HasErrors(diags) || !lists {
		return p, nil, diags, invalid(diags)
	}
	o.Live = plan.Live{}
	down := map[string]error{}
	for asked := 0; ; { // what a trusted server says it needs may bring in steps of others
		ask := slices.DeleteFunc(p.ServersToAsk(), func(name string) bool { return o.Live[name] != nil || down[name] != nil })
		if len(ask) == 0 && asked > 0 {
			return p, down, diags, invalid(diags)
		}
		asked++
		if err := listAll(ctx, lister, ask, o.Live, down); err != nil {
			return p, nil, diags, err
		}
		if len(down) > 0 && !r.o.KeepGoing {
			return p, nil, diags, &ServerError{down}
		}
		if p, diags = plan.Compile(doc, o); p == nil {
			return nil, nil, diags, invalid(diags)
		}
	}
}

// listAll asks servers side by side; down takes those that give no list.
func listAll(ctx context.Context, lister Lister, servers []string, live plan.Live, down map[string]error) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, server := range servers {
		wg.Go(func() {
			tools, err := lister.Tools(ctx, server)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				down[server] = err
			} else {
				live[server] = append([]toolflow.Tool{}, tools...) // asked, even when it has none
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func invalid(diags []toolflow.Diagnostic) error {
	if toolflow.HasErrors(diags) {
		return &InvalidError{diags}
	}
	return nil
}

// approve settles every approval before the first call (rule X5). It gives the decisions, by step;
// a step that is absent waits.
func (r *Runner) approve(ctx context.Context, p *plan.Plan) (map[int]bool, error) {
	decided := map[int]bool{}
	var waiting []string
	for i := range p.Steps {
		switch step := &p.Steps[i]; {
		case !step.Asks:
		case r.o.Approve != nil:
			yes, err := r.o.Approve(ctx, step)
			var later *ApprovalError
			switch {
			case errors.As(err, &later):
				waiting = append(waiting, step.ID)
			case err != nil:
				return nil, err
			default:
				decided[i] = yes
			}
		default:
			waiting = append(waiting, step.ID)
		}
	}
	if len(waiting) > 0 && !r.o.UntilApproval {
		return nil, &ApprovalError{waiting}
	}
	return decided, nil
}

// NewRunID makes a run's id: 16 random characters, lower case.
func NewRunID() string { return strings.ToLower(rand.Text()[:16]) }

// An InvalidError is a document that must not be run.
type InvalidError struct{ Diagnostics []toolflow.Diagnostic }

// Error gives the first error, and how many more there are.
func (e *InvalidError) Error() string {
	var first string
	n := 0
	for _, d := range e.Diagnostics {
		if d.Severity != toolflow.SeverityError {
			continue
		}
		if n++; n == 1 {
			first = d.String()
		}
	}
	if n > 1 {
		return fmt.Sprintf("%s (and %d more)", first, n-1)
	}
	return first
}

// A ServerError is a server that could not be started or asked; nothing was called.
type ServerError struct{ Servers map[string]error }

// Error names each server and why.
func (e *ServerError) Error() string {
	var lines []string
	for _, name := range sortedKeys(e.Servers) {
		line := e.Servers[name].Error()
		if prefix := fmt.Sprintf("server %q", name); !strings.HasPrefix(line, prefix) { // a CallError names it already
			line = prefix + ": " + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the servers' errors.
func (e *ServerError) Unwrap() []error {
	var errs []error
	for _, name := range sortedKeys(e.Servers) {
		errs = append(errs, e.Servers[name])
	}
	return errs
}

// An ApprovalError is a run that needs a person before its first call.
type ApprovalError struct{ Steps []string }

// Error names the steps.
func (e *ApprovalError) Error() string {
	return fmt.Sprintf("a person must approve %s before anything is called", strings.Join(e.Steps, ", "))
}

// A RunError is a run that did not succeed. Steps holds those that failed by themselves, in the
// plan's order; skipped steps are statuses, not errors.
type RunError struct {
	Status toolflow.RunStatus
	Steps  []*StepError
	Err    error // why the run itself failed or stopped; may be nil
}

// Error gives one line for the run's own error and one for each step.
func (e *RunError) Error() string {
	var lines []string
	if e.Err != nil {
		lines = append(lines, e.Err.Error())
	}
	for _, s := range e.Steps {
		lines = append(lines, s.Error())
	}
	if len(lines) == 0 {
		return "the run is " + string(e.Status)
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the run's own error and the steps'.
func (e *RunError) Unwrap() []error {
	var errs []error
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	for _, s := range e.Steps {
		errs = append(errs, s)
	}
	return errs
}

// A StepError is a step that failed, or whose outcome nobody knows.
type StepError struct {
	Step, Server, Tool string
	Status             toolflow.Status
	Failure            toolflow.Failure
}

// Error names the step and what happened.
func (e *StepError) Error() string { return fmt.Sprintf("step %q: %s", e.Step, e.Failure.Message) }

// An OutputError is a plan whose steps succeeded and whose output could not be made.
type OutputError struct {
	Code string
	Err  error
}

// Error says what the output lacks.
func (e *OutputError) Error() string { return "output: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *OutputError) Unwrap() error { return e.Err }
