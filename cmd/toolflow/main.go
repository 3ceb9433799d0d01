// Command toolflow runs chains of MCP tools: it checks a whole plan before the first call, runs it as
// parallel as its dependencies allow, and can say where every argument came from.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.started {
		err = usage(err, args)
	}
	return a.finish(err)
}

// app is what all commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	started        bool   // a command's own work began: errors before are usage errors
	output         string // -o of the command that ran
	said           bool   // the error was shown in full already
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "toolflow",
		Short: "Run chains of MCP tools",
		Long: `toolflow runs chains of MCP tools from one document: tools that say what they need
from each other. It checks the whole chain before the first call, runs it as
parallel as its dependencies allow, and passes values exactly.

  toolflow plan plan.json      shows what would run, and calls nothing
  toolflow run plan.json       runs it; the result goes to stdout`,
		SilenceUsage: true, SilenceErrors: true,
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

// usage explains an error of the command line.
func usage(err error, args []string) error {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if slices.Contains(later, arg) {
			err = fmt.Errorf("the command %q is not in this version of toolflow", arg)
		}
		break
	}
	return &usageError{err}
}

// say writes one line for people; what comes from documents and servers is made safe for a terminal.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.stderr, render.Escape(strings.TrimRight(fmt.Sprintf(format, args...), "\n")))
}
