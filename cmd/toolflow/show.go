package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ohler55/ojg/oj"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/render"
	"github.com/toolflow-go/toolflow/runner"
)

// observer shows a run's events: one line for each change of a step, or one JSON line for each event.
func (a *app) observer(f *runFlags) func(toolflow.Event) {
	if f.output == "jsonl" {
		return func(e toolflow.Event) {
			a.printJSON(marshal(struct {
				V int `json:"v"`
				toolflow.Event
			}{1, e}))
		}
	}
	if f.quiet || f.progress == "none" {
		return nil
	}
	started := map[string]time.Time{}
	var last *toolflow.Event // an end that may be tried again: the next event tells
	return func(e toolflow.Event) {
		if last != nil && e.Kind != toolflow.EventStepRetrying {
			a.showEnd(*last, started[last.Step], f.verbose)
		}
		last = nil
		switch e.Kind {
		case toolflow.EventStepStarted:
			if e.Attempt == 1 {
				started[e.Step] = e.Time
			}
			if f.verbose {
				a.say("· %s started", e.Step)
			}
		case toolflow.EventStepProgress:
			if f.verbose || e.Progress.Message != "" {
				a.say("· %s %s", e.Step, progressText(e.Progress))
			}
		case toolflow.EventStepRetrying:
			a.say("↻ %s attempt %d in %s: %s", e.Step, e.Attempt, e.Delay.Round(time.Millisecond), oneLine(e.Outcome.Error.Message))
		case toolflow.EventStepEnded:
			if e.Outcome.Again {
				last = &e
				return
			}
			a.showEnd(e, started[e.Step], f.verbose)
			delete(started, e.Step)
		case toolflow.EventStepSkipped:
			a.say("- %s skipped: %s did not succeed", e.Step, e.Because)
		case toolflow.EventStepRejected:
			a.say("- %s rejected", e.Step)
		}
	}
}

func progressText(p *toolflow.Progress) string {
	text := fmt.Sprintf("%g", p.Progress)
	if p.Total > 0 {
		text = fmt.Sprintf("%g of %g", p.Progress, p.Total)
	}
	return strings.TrimSpace(text + " " + toolflow.Clip(oneLine(p.Message), 200))
}

func (a *app) showEnd(e toolflow.Event, started time.Time, verbose bool) {
	took := ""
	if !started.IsZero() {
		took = "  " + shortTime(e.Time.Sub(started))
	}
	switch o := e.Outcome; {
	case o.Status == toolflow.StatusSucceeded:
		a.say("✓ %s%s", e.Step, took)
		if verbose {
			for _, note := range o.Notes {
				a.say("  note: %s", oneLine(note))
			}
		}
	default:
		a.say("✗ %s %s%s", e.Step, o.Status, took)
	}
}

// shortTime writes a duration with as many digits as matter.
func shortTime(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// showReport prints how a run ended: its result on stdout, everything else on stderr.
func (a *app) showReport(r *runner.Report, err error, f *runFlags) error {
	if !a.diagnosed {
		a.showDiagnostics(r.Diagnostics, f.quiet, f.verbose)
	}
	r.Diagnostics = withReason(r.Diagnostics, err)
	switch {
	case f.output == "json":
		a.printJSON(runDocument(r))
	case f.output == "text" && err == nil:
		a.showOutput(r.Output)
	}
	a.showFailures(r, err)
	return err
}

// withReason adds an error that no step and no diagnostic tells of, such as a server that did not
// start, so that the JSON documents say it too.
func withReason(ds []toolflow.Diagnostic, err error) []toolflow.Diagnostic {
	var run *runner.RunError
	if err == nil || errors.As(err, &run) || toolflow.HasErrors(ds) {
		return ds
	}
	return append(ds, toolflow.Diagnostic{Severity: toolflow.SeverityError, Code: codeName(err), Message: err.Error()})
}

// showOutput prints the result: a string as plain text, anything else as JSON. Its bytes are exact
// unless stdout is a terminal.
func (a *app) showOutput(raw []byte) {
	if raw == nil {
		return // the only step that gives the output failed, and the plan goes on without it
	}
	v, err := toolflow.DecodeValue(raw)
	text, isText := v.(string)
	switch {
	case err != nil, !isText && !isTerminal(a.stdout.w):
		text = string(raw)
	case !isText:
		text = render.EscapeJSON(oj.JSON(v, &oj.Options{Indent: 2, Sort: true, HTMLUnsafe: true}))
	case isTerminal(a.stdout.w):
		text = render.Escape(text)
	}
	fmt.Fprintln(a.stdout, text)
}

// printJSON prints one JSON text on stdout. On a terminal its strings cannot act.
func (a *app) printJSON(text []byte) {
	if isTerminal(a.stdout.w) {
		text = []byte(render.EscapeJSON(string(text)))
	}
	fmt.Fprintln(a.stdout, string(text))
}

// showFailures explains what failed, step by step.
func (a *app) showFailures(r *runner.Report, err error) {
	var run *runner.RunError
	if !errors.As(err, &run) {
		for _, s := range r.Steps {
			if s.Error != nil {
				a.say("step %q failed, and the plan went on without it (onError: continue): %s", s.ID, toolflow.Clip(oneLine(s.Error.Message), 1000))
			}
		}
		return
	}
	a.said = true
	if run.Err != nil {
		a.say("toolflow: %s", run.Err)
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Error != nil && s.Status != toolflow.StatusCancelled {
			a.showFailure(s)
		}
	}
	counts := map[toolflow.Status]int{}
	for _, s := range r.Steps {
		counts[s.Status]++
	}
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[status], status))
	}
	a.say("run %s %s: %s", r.Run, r.Status, strings.Join(parts, ", "))
	if len(a.unapproved) > 0 {
		a.say("waiting for approval (--yes, or --approve STEP): %s", strings.Join(a.unapproved, ", "))
	}
	if run.Status == toolflow.RunWaiting || counts[toolflow.StatusUnknown] > 0 {
		a.say("no journal was kept, so this run cannot be resumed")
	}
}

func (a *app) showFailure(s *runner.StepReport) {
	on := ""
	if s.Server != "" {
		on = " on " + s.Server
	}
	status := string(s.Status)
	if s.Status == toolflow.StatusUnknown {
		status = "is unknown"
	}
	a.say("step %q (%s%s) %s after %s, %s:", s.ID, s.Tool, on, status, attempts(s.Attempts), s.Error.Code)
	for _, line := range strings.Split(toolflow.Clip(s.Error.Message, 4000), "\n") {
		a.say("  %s", line)
	}
	if s.Arguments != nil {
		args := string(s.Arguments)
		if s.Status != toolflow.StatusUnknown { // of an unknown call all that was sent is shown
			args = toolflow.Clip(args, 1000)
		}
		a.say("  arguments: %s", args)
		for _, p := range s.Provenance {
			if p.From == "step" {
				a.say("    %s came from %s %s", p.Path, p.Step, p.OutputPath)
			}
		}
	}
	if s.Status == toolflow.StatusUnknown {
		a.say("  the call was sent, and nobody knows whether it took effect: look before you run it again")
	}
	a.showStderr(s.Server, s.Error.Stderr)
}

// showStderr prints the end of what a server wrote to its stderr.
func (a *app) showStderr(server, text string) {
	if text == "" {
		return
	}
	a.say("  last lines of the stderr of %q:", server)
	for _, line := range lastLines(text, 10) {
		a.say("    %s", line)
	}
}

func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

func lastLines(text string, n int) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[max(0, len(lines)-n):]
}

// showDiagnostics prints what is to be said about a document.
func (a *app) showDiagnostics(ds []toolflow.Diagnostic, quiet, verbose bool) {
	shown := 0
	for _, d := range ds {
		switch {
		case d.Severity == toolflow.SeverityNote && !verbose, d.Severity != toolflow.SeverityError && quiet:
			continue
		}
		if shown++; shown > 50 {
			a.say("… and more: %d in all (-o json lists them)", len(ds))
			break
		}
		a.showDiagnostic(d)
	}
	if toolflow.HasErrors(ds) {
		a.said = true
	}
}

func (a *app) showDiagnostic(d toolflow.Diagnostic) {
	hint := d.Hint
	d.Hint = ""
	text := d.String()
	if d.Severity == toolflow.SeverityError {
		if place, rest, ok := strings.Cut(text, ": "); ok && d.File != "" {
			text = place + ": error: " + rest
		} else {
			text = "error: " + text
		}
	}
	a.say("%s", render.EscapeLine(text)) // a name with a line break must not look like another problem
	if hint != "" {
		a.say("  %s", render.EscapeLine(hint))
	}
}
