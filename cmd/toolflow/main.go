// Command toolflow runs chains of MCP tools: it checks a whole plan before the first call, runs it as
// parallel as its dependencies allow, and can say where every argument came from.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/mcpclient"
	"github.com/toolflow-go/toolflow/render"
	"github.com/toolflow-go/toolflow/runner"
)

// Both ends of the seam are known only here.
var (
	_ runner.Caller = (*mcpclient.Client)(nil)
	_ runner.Lister = (*mcpclient.Client)(nil)
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program as a function: it parses the command line, carries the command out and gives the
// exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	ctx, stop := withSignals(context.Background())
	defer stop()
	a := &app{stdin: stdin, stdout: &sink{w: stdout}, stderr: stderr}
	defer func() { // Go ends a panic with the status of a usage error
		if p := recover(); p != nil {
			a.say("toolflow: a fault in toolflow: %v\n%s", p, debug.Stack())
			code = exitInternal
		}
	}()
	root := a.command()
	root.SetArgs(args)
	c, err := root.ExecuteContextC(ctx)
	if err != nil && !a.started {
		err = usage(root, c, err, args)
	}
	return a.finish(err)
}

// app is what all commands share.
type app struct {
	stdin     io.Reader
	stdout    *sink
	stderr    io.Writer
	started   bool   // a command's own work began: errors before are usage errors
	output    string // -o of the command that ran
	said      bool   // the error was shown in full already
	diagnosed bool   // the diagnostics of a run were shown before its first call

	unapproved []string // steps that wait for approval
}

// A sink is stdout. It remembers the first error, so that a result that was not written is no success.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "toolflow",
		Short: "Run chains of MCP tools",
		Long: `toolflow runs chains of MCP tools from one document: tools that say what they need
from each other. It checks the whole chain before the first call, runs it as
parallel as its dependencies allow, and passes values exactly.

  toolflow plan plan.json      shows what would run, and calls nothing
  toolflow run plan.json       runs it; the result goes to stdout

Exit status: 0 success, 1 internal, 2 usage, 3 authorization needed, 4 server
unreachable, 5 a step failed, 6 plan invalid or an input missing, 7 a person is
needed, 8 --deadline passed, 130 interrupted, 143 terminated.`,
		SilenceUsage: true, SilenceErrors: true, DisableSuggestions: true,
		PersistentPreRun: func(*cobra.Command, []string) { a.started = true },
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.CompletionOptions.DisableDefaultCmd = false
	root.AddCommand(a.runCommand(), a.planCommand(), a.validateCommand(), a.graphCommand(), a.toolsCommand(), a.versionCommand())
	return root
}

// later are the commands that DESIGN reserves: they must not silently mean something else.
var later = []string{"call", "form", "import", "init", "lock", "resolve", "resume", "runs", "schema", "serve", "servers", "ui", "worker"}

// usage explains an error of the command line. c is the command that it was meant for.
func usage(root, c *cobra.Command, err error, args []string) error {
	name := ""
	if k := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") }); k >= 0 {
		name = args[k]
	}
	var known []string
	for _, sub := range root.Commands() {
		known = append(known, sub.Name())
	}
	switch {
	case c != root:
	case slices.Contains(later, name):
		err = fmt.Errorf("the command %q is not in this version of toolflow", name)
	case name != "" && !slices.Contains(known, name):
		err = fmt.Errorf("there is no command %q", name)
		if hint := toolflow.DidYouMean(name, known); hint != "" {
			err = fmt.Errorf("%w (%s)", err, hint)
		}
	}
	return &usageError{err: err, hint: "try: " + c.CommandPath() + " --help"}
}

// onePlan wants exactly one argument.
func onePlan(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%d plans are named, and it takes one", len(args))
	}
	return somePlans(c, args)
}

func somePlans(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no plan is named (a file, or - for stdin)")
	}
	return nil
}

// say writes one line for people; what comes from documents and servers is made safe for a terminal.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.stderr, render.Escape(strings.TrimRight(fmt.Sprintf(format, args...), "\n")))
}
