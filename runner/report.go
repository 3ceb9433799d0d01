package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
)

// A Report is how a run ended.
type Report struct {
	Run         string
	Plan        string
	Status      toolflow.RunStatus
	Output      json.RawMessage // what the run returns; nil unless it succeeded and there is something
	Steps       []StepReport    // in the plan's order
	Diagnostics []toolflow.Diagnostic
}

// A StepReport is how one step ended. Arguments, Provenance, Output and Content are kept for steps
// that failed or are unknown, and for all with [Options.KeepAll].
type StepReport struct {
	ID, Tool, Server string
	Status           toolflow.Status
	Arguments        json.RawMessage
	Provenance       []toolflow.Provenance
	Output           json.RawMessage
	Content          json.RawMessage // the raw content blocks, when they say more than Output
	Mapping          toolflow.Mapping
	Attempts         int
	Started, Ended   time.Time // zero when it never did
	Error            *toolflow.Failure
	SkippedBecause   string // the step at fault
	Notes            []string
}

// record is what the engine keeps for a step's report.
type record struct {
	args          json.RawMessage
	origin        []toolflow.Provenance
	out           *toolflow.Outcome
	mapping       toolflow.Mapping
	notes         []string
	starts, ended time.Time
}

func (r *record) started(ev toolflow.Event) {
	if r.starts.IsZero() {
		r.starts = ev.Time
	}
	r.args, r.origin = ev.Arguments, ev.Provenance
}

// outcome keeps an attempt's end; of a success only what is small, unless all is kept.
func (r *record) outcome(o *toolflow.Outcome, keepAll bool) {
	r.mapping, r.notes = o.Mapping, o.Notes
	if r.out = nil; keepAll {
		r.out = o
	} else if o.Status == toolflow.StatusSucceeded {
		r.args, r.origin = nil, nil
	}
}

// report makes the report, and the error of a run that did not succeed.
func (e *engine) report(ctx context.Context) (*Report, error) {
	report := &Report{Run: e.run, Plan: e.plan.Name, Status: e.state.RunStatus(), Steps: make([]StepReport, len(e.plan.Steps))}
	var failures []*StepError
	for i := range e.plan.Steps {
		report.Steps[i] = e.stepReport(i)
		s := &report.Steps[i]
		if s.Error != nil && s.Status != toolflow.StatusCancelled && !(s.Status == toolflow.StatusFailed && e.plan.Steps[i].Policy.Continue) {
			failures = append(failures, &StepError{s.ID, s.Server, s.Tool, s.Status, *s.Error})
		}
	}
	cause := errors.Join(e.fault, e.broken)
	if report.Status == toolflow.RunInterrupted {
		cause = errors.Join(cause, context.Cause(ctx))
	}
	if (e.fault != nil || e.broken != nil) && ctx.Err() == nil {
		report.Status = toolflow.RunFailed
	}
	if report.Status != toolflow.RunSucceeded {
		return report, &RunError{report.Status, failures, cause}
	}
	var bad *OutputError
	if report.Output, bad = e.output(); bad != nil {
		report.Status, report.Output = toolflow.RunFailed, nil
		return report, bad
	}
	return report, nil
}

func (e *engine) stepReport(i int) StepReport {
	step, r := &e.plan.Steps[i], &e.records[i]
	s := StepReport{ID: step.ID, Tool: step.Tool, Server: step.Server, Started: r.starts, Ended: r.ended,
		Arguments: r.args, Provenance: r.origin, Mapping: r.mapping, Notes: r.notes}
	s.Status, s.Attempts = e.state.Status(i)
	s.Error = e.state.Failure(i)
	if because, ok := e.state.SkippedBecause(i); ok {
		s.SkippedBecause = e.plan.Steps[because].ID
	}
	if r.out != nil {
		s.Output = r.out.Output
		if r.out.Mapping != toolflow.MappingText && r.out.Mapping != toolflow.MappingContent {
			s.Content = r.out.Content
		}
	}
	return s
}

// output makes what the run returns: the object that the plan's output describes, else the output of
// the only target, else an object of the targets' outputs by step.
func (e *engine) output() (json.RawMessage, *OutputError) {
	if e.plan.Output != nil {
		return e.describedOutput()
	}
	if len(e.plan.Targets) == 1 {
		v := e.values[e.plan.Targets[0]]
		if !v.ok { // it failed, and the plan goes on without it
			if e.plan.OutputSchema != nil {
				return nil, &OutputError{toolflow.CodeInvalidOutput, fmt.Errorf("step %q ended without output, and the plan's own outputSchema wants one", e.plan.Steps[e.plan.Targets[0]].ID)}
			}
			return nil, nil
		}
		return v.raw, e.checkOutput(v.value)
	}
	values := map[string]any{}
	out := json.RawMessage("{")
	for k, i := range e.plan.Targets {
		if !e.values[i].ok {
			continue // it failed, and the plan goes on without it
		}
		if k > 0 && len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(toolflow.AppendValue(out, e.plan.Steps[i].ID), ':'), e.values[i].raw...)
		values[e.plan.Steps[i].ID] = e.values[i].value
	}
	return append(out, '}'), e.checkOutput(values)
}

func (e *engine) describedOutput() (json.RawMessage, *OutputError) {
	value, _, err := e.plan.Output.Fill(e.reader(e.plan.Reads), e.plan.Input)
	var bad *binding.Error
	switch {
	case errors.Is(err, binding.ErrBudget):
		return nil, &OutputError{toolflow.CodeLimit, err}
	case errors.As(err, &bad):
		return nil, &OutputError{toolflow.CodeOutputNoMatch, fmt.Errorf("%s: %s of step %q %w", bad.Input, bad.Path, bad.StepID, bad.Err)}
	case err != nil:
		return nil, &OutputError{toolflow.CodeOutputNoMatch, err}
	}
	return toolflow.AppendValue(nil, value), e.checkOutput(value)
}

// checkOutput holds what the run returns against the plan's own outputSchema.
func (e *engine) checkOutput(value any) *OutputError {
	if e.plan.OutputSchema == nil {
		return nil
	}
	if err := e.plan.OutputSchema.Validate(value); err != nil {
		return &OutputError{toolflow.CodeInvalidOutput, fmt.Errorf("the plan's own outputSchema: %w", err)}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
