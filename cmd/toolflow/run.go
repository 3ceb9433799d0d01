package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
	"github.com/toolflow-go/toolflow/runner"
)

type runFlags struct {
	planFlags
	parallel      int
	deadline      time.Duration
	failFast      bool
	yes           bool
	approve       []string
	untilApproval bool
	noInput       bool
	noStore       bool
	dryRun        bool
	online        bool
	progress      string
	quiet         bool
	verbose       bool
	output        string
}

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run PLAN",
		Short: "Run a plan; its result goes to stdout, everything else to stderr",
		Example: `  toolflow run plan.json
  toolflow run tools.json --servers mcp.json -i 'ask.messages[0].role=user'
  cat plan.yaml | toolflow run -`,
		Args: onePlan,
		RunE: func(c *cobra.Command, args []string) error {
			a.output = f.output
			if err := f.valid(); err != nil {
				return err
			}
			if f.dryRun {
				return a.showPlan(c.Context(), args[0], &f.planFlags, f.online, f.output)
			}
			return a.runPlan(c.Context(), args[0], f)
		},
	}
	f.planFlags.add(c)
	c.Flags().IntVarP(&f.parallel, "parallel", "c", runner.DefaultParallel, "most calls in flight at once")
	c.Flags().DurationVar(&f.timeout, "timeout", plan.DefaultTimeout, "limit of a call; progress resets it, one hour is the most")
	c.Flags().DurationVar(&f.deadline, "deadline", 0, "limit of the whole run; 0 is none")
	c.Flags().BoolVar(&f.failFast, "fail-fast", false, "start nothing more after the first failure")
	c.Flags().BoolVar(&f.keepGoing, "keep-going", false, "a server that does not start fails only its own steps")
	c.Flags().BoolVar(&f.yes, "yes", false, "approve every step that asks")
	c.Flags().StringArrayVar(&f.approve, "approve", nil, "approve this `STEP`; may be repeated")
	c.Flags().BoolVar(&f.untilApproval, "until-approval", false, "run what needs no approval, and leave the rest waiting")
	c.Flags().BoolVar(&f.noInput, "no-input", false, "never ask on the terminal")
	c.Flags().BoolVar(&f.noStore, "no-store", false, "keep no journal (this version keeps none)")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the plan and call nothing, as toolflow plan does")
	c.Flags().BoolVar(&f.online, "online", false, "with --dry-run: ask the servers for their tools")
	c.Flags().StringVar(&f.progress, "progress", "auto", "how progress is shown: `auto|plain|none`")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "say nothing but errors")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "say more")
	c.Flags().StringVarP(&f.output, "output", "o", "text", "what stdout gets: `text|json|jsonl`")
	return c
}

func (f *runFlags) valid() error {
	switch {
	case f.output != "text" && f.output != "json" && f.output != "jsonl":
		return &usageError{err: fmt.Errorf("-o %q is not known (write text, json or jsonl)", f.output)}
	case f.progress != "auto" && f.progress != "plain" && f.progress != "none":
		return &usageError{err: fmt.Errorf("--progress %q is not known (write auto, plain or none)", f.progress)}
	case f.parallel < 1:
		return &usageError{err: errors.New("--parallel must be at least 1")}
	case f.timeout <= 0:
		return &usageError{err: errors.New("--timeout must be above zero")}
	case f.deadline < 0:
		return &usageError{err: errors.New("--deadline must not be below zero")}
	}
	return nil
}

func (a *app) runPlan(ctx context.Context, path string, f *runFlags) error {
	if f.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.deadline, errDeadline)
		defer cancel()
	}
	l, err := a.load(path, &f.planFlags)
	if l == nil {
		return err
	}
	if err := knownSteps(l.doc, f.approve); err != nil {
		return err
	}
	report := &runner.Report{Status: toolflow.RunInvalid, Diagnostics: l.diags}
	if l.doc != nil {
		report.Plan = l.doc.Name
	}
	if err == nil {
		name := report.Plan
		if report, err = a.runLoaded(ctx, l, f); report.Plan == "" {
			report.Plan = name
		}
		report.Diagnostics = l.inOrder(report.Diagnostics)
	}
	return a.showReport(report, err, f)
}

// knownSteps wants the steps of --approve to be steps of the document: a misspelt one approves nothing.
func knownSteps(doc *toolflow.Document, approve []string) error {
	if doc == nil || len(approve) == 0 {
		return nil
	}
	steps, _ := doc.EffectiveSteps()
	var ids []string
	for _, s := range steps {
		ids = append(ids, s.ID)
	}
	for _, id := range approve {
		if !slices.Contains(ids, id) {
			err := fmt.Errorf("--approve %s: the plan has no such step", id)
			if hint := toolflow.DidYouMean(id, ids); hint != "" {
				err = fmt.Errorf("%w (%s)", err, hint)
			}
			return &usageError{err: err}
		}
	}
	return nil
}

// runLoaded runs a plan on its servers. They have all ended when it returns.
func (a *app) runLoaded(ctx context.Context, l *loaded, f *runFlags) (*runner.Report, error) {
	client, err := a.planClient(l, &f.planFlags, f.quiet)
	if err != nil {
		var invalid *runner.InvalidError
		errors.As(err, &invalid)
		return &runner.Report{Status: toolflow.RunInvalid, Diagnostics: invalid.Diagnostics}, err
	}
	defer client.Close()
	o := &runner.Options{
		Parallel: f.parallel, Timeout: f.timeout, Targets: f.targets, All: f.all, Servers: l.servers, Strict: f.strict, CheckWarn: f.check == "warn",
		FailFast: f.failFast, KeepGoing: f.keepGoing, UntilApproval: f.untilApproval, KeepAll: f.output == "json",
	}
	starting := a.sayStarting(f)
	defer starting.Stop()
	o.Diagnose = func(ds []toolflow.Diagnostic) {
		starting.Stop()
		a.showDiagnostics(l.inOrder(ds), f.quiet, f.verbose)
		a.diagnosed = true
	}
	a.approvals(o, f)
	o.Observe = a.observer(f)
	return runner.New(client, o).Run(ctx, l.doc, l.input)
}

// sayStarting says that servers are starting, when they take their time: npx and go run may have to
// fetch or compile them first.
func (a *app) sayStarting(f *runFlags) *time.Timer {
	return time.AfterFunc(2*time.Second, func() {
		if !f.quiet && f.progress != "none" {
			a.say("· the servers are starting")
		}
	})
}

// approvals decides who approves the steps that ask (rule X5).
func (a *app) approvals(o *runner.Options, f *runFlags) {
	named := map[string]bool{}
	for _, id := range f.approve {
		named[id] = true
	}
	stdin, isFile := a.stdin.(*os.File)
	ask := isFile && term.IsTerminal(int(stdin.Fd())) && !f.noInput && isTerminal(a.stderr)
	lines := bufio.NewReader(a.stdin)
	o.Approve = func(ctx context.Context, step *plan.Step) (bool, error) {
		switch {
		case f.yes || named[step.ID]:
			return true, nil
		case !ask:
			a.unapproved = append(a.unapproved, step.ID)
			return false, &runner.ApprovalError{Steps: []string{step.ID}}
		}
		a.say("step %q calls %s on %s and asks first (%s). Run it? [y/N]", step.ID, step.Tool, step.Server, step.AsksWhy)
		return readYes(ctx, lines)
	}
}

// readYes waits for a line, or for the end of ctx.
func readYes(ctx context.Context, lines *bufio.Reader) (bool, error) {
	answer := make(chan string, 1)
	go func() { // ends with the process when nobody answers
		line, _ := lines.ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case line := <-answer:
		return line == "y" || line == "yes", nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
