package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
	"github.com/toolflow-go/toolflow/render"
	"github.com/toolflow-go/toolflow/runner"
)

func (a *app) validateCommand() *cobra.Command {
	var output string
	f := &planFlags{check: "error", all: true}
	c := &cobra.Command{
		Use:   "validate PLAN...",
		Short: "Check plans without starting anything",
		Args:  somePlans,
		RunE: func(c *cobra.Command, args []string) error {
			a.output = output
			return a.validate(c.Context(), args, f, output)
		},
	}
	c.Flags().BoolVar(&f.strict, "strict", false, "warnings are errors")
	c.Flags().StringArrayVar(&f.servers, "servers", nil, "read servers from a JSON `FILE`")
	c.Flags().StringVarP(&output, "output", "o", "text", "what stdout gets: `text|json|github`")
	return c
}

type fileJSON struct {
	File        string                `json:"file"`
	OK          bool                  `json:"ok"`
	Diagnostics []toolflow.Diagnostic `json:"diagnostics"`
}

// validate checks each file by itself. What the caller of a plan may still give is no fault of it.
func (a *app) validate(_ context.Context, paths []string, f *planFlags, output string) error {
	if output != "text" && output != "json" && output != "github" {
		return &usageError{err: fmt.Errorf("-o %q is not known (write text, json or github)", output)}
	}
	var all []toolflow.Diagnostic
	var problem error
	files := []fileJSON{}
	for _, path := range paths {
		diags, err := a.check(path, f)
		if err != nil { // what was found in the other files counts all the same
			problem = errors.Join(problem, err)
			files = append(files, fileJSON{path, false, []toolflow.Diagnostic{{Severity: toolflow.SeverityError, Code: "usage", File: path, Message: err.Error()}}})
			continue
		}
		bad := toolflow.HasErrors(diags)
		files = append(files, fileJSON{path, !bad, list(diags)})
		all = append(all, diags...)
	}
	switch output {
	case "json":
		a.printJSON(marshal(map[string]any{"files": files}))
	case "github":
		for _, d := range all {
			fmt.Fprintln(a.stdout, render.EscapeLine(githubLine(d)))
		}
	default:
		for _, file := range files {
			if len(file.Diagnostics) > 0 && file.Diagnostics[0].Code == "usage" {
				continue // said at the end
			}
			a.showDiagnostics(file.Diagnostics, false, false)
			if file.OK {
				fmt.Fprintf(a.stdout, "%s: ok\n", render.EscapeLine(file.File))
			}
		}
	}
	if problem != nil {
		a.said = false
		return problem
	}
	if toolflow.HasErrors(all) {
		a.said = true
		return &runner.InvalidError{Diagnostics: all}
	}
	return nil
}

// check compiles one file offline.
func (a *app) check(path string, f *planFlags) ([]toolflow.Diagnostic, error) {
	l, err := a.load(path, f)
	if l == nil {
		return nil, err
	}
	diags := l.diags
	if err == nil {
		_, more := plan.Compile(l.doc, f.options(l))
		diags = l.inOrder(more)
	}
	for i := range diags {
		if diags[i].Code == "missing_input" {
			diags[i].Severity = toolflow.SeverityNote
		}
	}
	return diags, nil
}

// githubLine is a diagnostic as a workflow command, which GitHub shows beside the line.
func githubLine(d toolflow.Diagnostic) string {
	kind := map[toolflow.Severity]string{toolflow.SeverityError: "error", toolflow.SeverityWarning: "warning", toolflow.SeverityNote: "notice"}[d.Severity]
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	message := d.Message
	if d.Hint != "" {
		message += " (" + d.Hint + ")"
	}
	place := ""
	if d.File != "" {
		place = "file=" + property.Replace(d.File) + ","
	}
	if d.Line > 0 {
		place += fmt.Sprintf("line=%d,col=%d,", d.Line, d.Column)
	}
	return fmt.Sprintf("::%s %stitle=%s::%s", kind, place, property.Replace(d.Code), text.Replace(message))
}
