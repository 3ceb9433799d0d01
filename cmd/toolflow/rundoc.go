package main

import (
	"encoding/json"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/runner"
)

// runDocument is the JSON form of a run (DESIGN C2; docs/spec.md, "The run document").
func runDocument(r *runner.Report) []byte {
	return marshal(struct {
		Run         string                `json:"run,omitempty"`
		Plan        string                `json:"plan,omitempty"`
		Status      toolflow.RunStatus    `json:"status"`
		Output      json.RawMessage       `json:"output,omitempty"`
		Steps       json.RawMessage       `json:"steps,omitempty"`
		Diagnostics []toolflow.Diagnostic `json:"diagnostics"`
	}{r.Run, r.Plan, r.Status, r.Output, stepsObject(r.Steps), list(r.Diagnostics)})
}

// stepsObject writes the steps by id, in the plan's order.
func stepsObject(steps []runner.StepReport) json.RawMessage {
	if steps == nil {
		return nil
	}
	out := []byte{'{'}
	for i := range steps {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(toolflow.AppendValue(out, steps[i].ID), ':')
		out = append(out, marshal(stepDocument(&steps[i]))...)
	}
	return append(out, '}')
}

type stepJSON struct {
	Status         toolflow.Status       `json:"status"`
	Tool           string                `json:"tool"`
	Server         string                `json:"server,omitempty"`
	Arguments      json.RawMessage       `json:"arguments,omitempty"`
	Provenance     []toolflow.Provenance `json:"provenance,omitempty"`
	Output         json.RawMessage       `json:"output,omitempty"`
	Content        json.RawMessage       `json:"content,omitempty"`
	Mapping        toolflow.Mapping      `json:"mapping,omitempty"`
	Attempts       int                   `json:"attempts"`
	Started        string                `json:"started,omitempty"`
	Ended          string                `json:"ended,omitempty"`
	DurationMs     *float64              `json:"durationMs,omitempty"`
	Error          *toolflow.Failure     `json:"error,omitempty"`
	SkippedBecause string                `json:"skippedBecause,omitempty"`
	Notes          []string              `json:"notes,omitempty"`
}

func stepDocument(s *runner.StepReport) stepJSON {
	out := stepJSON{Status: s.Status, Tool: s.Tool, Server: s.Server, Arguments: s.Arguments, Provenance: s.Provenance, Output: s.Output,
		Content: s.Content, Mapping: s.Mapping, Attempts: s.Attempts, Error: s.Error, SkippedBecause: s.SkippedBecause, Notes: s.Notes}
	if !s.Started.IsZero() {
		out.Started = s.Started.Format(time.RFC3339Nano)
	}
	if !s.Ended.IsZero() {
		out.Ended = s.Ended.Format(time.RFC3339Nano)
	}
	if !s.Started.IsZero() && !s.Ended.IsZero() {
		ms := float64(s.Ended.Sub(s.Started).Microseconds()) / 1000
		out.DurationMs = &ms
	}
	return out
}

// list makes sure that an empty list is written as one.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
