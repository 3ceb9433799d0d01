package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
	"github.com/toolflow-go/toolflow/plan"
	"github.com/toolflow-go/toolflow/render"
	"github.com/toolflow-go/toolflow/runner"
)

func (a *app) planCommand() *cobra.Command {
	f := &planFlags{}
	var online bool
	var output string
	c := &cobra.Command{
		Use:   "plan PLAN",
		Short: "Show what a run would do; calls no tool",
		Args:  onePlan,
		RunE: func(c *cobra.Command, args []string) error {
			a.output = output
			return a.showPlan(c.Context(), args[0], f, online, output)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&online, "online", false, "start the servers and compare with the tools that they list")
	c.Flags().StringVarP(&output, "output", "o", "text", "what stdout gets: `text|json`")
	return c
}

// compile checks a document, offline or with its servers' lists.
func (a *app) compile(ctx context.Context, path string, f *planFlags, online bool) (*plan.Plan, []toolflow.Diagnostic, error) {
	l, err := a.load(path, f)
	if err != nil {
		if l != nil {
			return nil, l.diags, err
		}
		return nil, nil, err
	}
	if !online {
		p, diags := plan.Compile(l.doc, f.options(l))
		diags = l.inOrder(diags)
		if toolflow.HasErrors(diags) {
			return p, diags, &runner.InvalidError{Diagnostics: diags}
		}
		return p, diags, nil
	}
	client, err := a.planClient(l, f, false)
	if err != nil {
		var invalid *runner.InvalidError
		errors.As(err, &invalid)
		return nil, append(l.diags, invalid.Diagnostics...), err
	}
	defer client.Close()
	r := runner.New(client, &runner.Options{Targets: f.targets, All: f.all, Servers: l.servers, Strict: f.strict, CheckWarn: f.check == "warn", Timeout: f.timeout})
	p, diags, err := r.Prepare(ctx, l.doc, l.input)
	return p, l.inOrder(diags), err
}

func (a *app) showPlan(ctx context.Context, path string, f *planFlags, online bool, output string) error {
	if output != "text" && output != "json" {
		return &usageError{err: fmt.Errorf("-o %q is not known (write text or json)", output)}
	}
	p, diags, err := a.compile(ctx, path, f, online)
	switch {
	case output == "json":
		a.printJSON(planDocument(p, withReason(diags, err)))
	case p != nil:
		if err := a.printPlan(p); err != nil {
			return err
		}
	}
	a.showDiagnostics(diags, false, true)
	if err == nil && output == "text" {
		a.say("No tool was called.")
	}
	return err
}

// printPlan prints the stages and what a run would start and ask.
func (a *app) printPlan(p *plan.Plan) error {
	if err := render.Stages(a.stdout, picture(p), p.Graph.Stages()); err != nil {
		return err
	}
	heading := "\nservers\n"
	needed := map[string]bool{}
	for _, name := range p.ServersToAsk() {
		needed[name] = true
	}
	for _, s := range p.Servers {
		if !needed[s.Name] {
			continue
		}
		how := shownURL(s.URL)
		if s.Command != "" {
			how = strings.Join(append([]string{s.Command}, s.Args...), " ")
		}
		fmt.Fprintf(a.stdout, "%s  %s  %s\n", heading, render.EscapeLine(s.Name), render.EscapeLine(how))
		heading = ""
	}
	a.printSteps("asks first (or --yes)", p, func(s *plan.Step) bool { return s.Asks })
	a.printSteps("unchecked until their servers are asked (--online)", p, func(s *plan.Step) bool { return !s.Checked })
	return nil
}

// shownURL is an address without what may be secret in it.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || text == "" {
		return text
	}
	if u.User != nil {
		u.User = url.User("…")
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	shown, err := url.PathUnescape(u.String())
	if err != nil {
		return u.String()
	}
	return shown
}

// printSteps prints the ids of some steps, if there are any.
func (a *app) printSteps(heading string, p *plan.Plan, which func(*plan.Step) bool) {
	var ids []string
	for i := range p.Steps {
		if which(&p.Steps[i]) {
			ids = append(ids, render.EscapeLine(p.Steps[i].ID))
		}
	}
	if n := len(ids); n > 20 {
		ids = append(ids[:20], fmt.Sprintf("and %d more", n-20))
	}
	if len(ids) > 0 {
		fmt.Fprintf(a.stdout, "\n%s: %s\n", heading, strings.Join(ids, ", "))
	}
}

// picture is a plan as render draws it.
func picture(p *plan.Plan) render.Picture {
	pic := render.Picture{Title: fmt.Sprintf("%s   %s, %s, %s", p.Name, counted(len(p.Steps), "step"), counted(len(p.ServersToAsk()), "server"), counted(len(p.Graph.Stages()), "stage")),
		Nodes: make([]render.Node, len(p.Steps))}
	for i := range p.Steps {
		s := &p.Steps[i]
		pic.Nodes[i] = render.Node{ID: s.ID, Server: s.Server}
		labels := map[int][]string{}
		for _, r := range s.Args.Reads() {
			if r.From == binding.FromStep {
				labels[r.Step] = append(labels[r.Step], r.Input.String()+" ← "+pathText(r))
			}
		}
		for _, u := range p.Graph.Upstream(i) {
			pic.Edges = append(pic.Edges, render.Edge{From: int(u), To: i, Labels: labels[int(u)], Requires: len(labels[int(u)]) == 0})
		}
	}
	return pic
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func pathText(r binding.Read) string {
	if r.Content {
		return "content " + r.Path.String()
	}
	return r.Path.String()
}

type planJSON struct {
	Plan        string                `json:"plan"`
	Stages      [][]string            `json:"stages"`
	Steps       []planStepJSON        `json:"steps"`
	Servers     []string              `json:"servers"`
	InputSchema json.RawMessage       `json:"inputSchema,omitempty"`
	Diagnostics []toolflow.Diagnostic `json:"diagnostics"`
}

type planStepJSON struct {
	ID       string            `json:"id"`
	Tool     string            `json:"tool"`
	Server   string            `json:"server,omitempty"`
	Upstream []string          `json:"upstream"`
	Bindings []planBindingJSON `json:"bindings"`
	Missing  []missingJSON     `json:"missing"`
	Policy   policyJSON        `json:"policy"`
	Safe     bool              `json:"safe"`
	SafeWhy  string            `json:"safeBecause,omitempty"`
	Asks     bool              `json:"asks"`
	AsksWhy  string            `json:"asksBecause,omitempty"`
	Checked  bool              `json:"checked"` // a description of the tool was seen
}

type planBindingJSON struct {
	Input       string `json:"input"`
	FromTool    string `json:"fromTool,omitempty"`
	OutputPath  string `json:"outputPath,omitempty"`
	ContentPath string `json:"contentPath,omitempty"`
	FromInput   string `json:"fromInput,omitempty"`
	Take        string `json:"take,omitempty"`
	Optional    bool   `json:"optional,omitempty"`
}

type missingJSON struct {
	Path    string   `json:"path"`
	Flags   []string `json:"flags,omitempty"`
	Allowed []any    `json:"allowed,omitempty"`
	Type    string   `json:"type,omitempty"`
}

type policyJSON struct {
	TimeoutMs int64 `json:"timeoutMs"`
	Attempts  int   `json:"attempts"`
	Continue  bool  `json:"continue,omitempty"`
}

// planDocument is the JSON form of a plan (DESIGN C2).
func planDocument(p *plan.Plan, diags []toolflow.Diagnostic) []byte {
	out := planJSON{Stages: [][]string{}, Steps: []planStepJSON{}, Servers: []string{}, Diagnostics: list(diags)}
	if p == nil {
		return marshal(out)
	}
	out.Plan, out.Servers = p.Name, list(p.ServersToAsk())
	if p.InputSchema != nil {
		out.InputSchema = p.InputSchema.Raw()
	}
	for _, stage := range p.Graph.Stages() {
		ids := []string{}
		for _, i := range stage {
			ids = append(ids, p.Steps[i].ID)
		}
		out.Stages = append(out.Stages, ids)
	}
	for i := range p.Steps {
		out.Steps = append(out.Steps, planStep(p, i))
	}
	return marshal(out)
}

func planStep(p *plan.Plan, i int) planStepJSON {
	s := &p.Steps[i]
	out := planStepJSON{ID: s.ID, Tool: s.Tool, Server: s.Server, Upstream: []string{}, Bindings: []planBindingJSON{}, Missing: []missingJSON{},
		Policy: policyJSON{s.Policy.Timeout.Milliseconds(), s.Policy.Attempts, s.Policy.Continue}, Safe: s.Safe, SafeWhy: s.SafeWhy, Asks: s.Asks, AsksWhy: s.AsksWhy, Checked: s.Checked}
	for _, u := range p.Graph.Upstream(i) {
		out.Upstream = append(out.Upstream, p.Steps[u].ID)
	}
	for _, r := range s.Args.Reads() {
		b := planBindingJSON{Input: r.Input.String(), FromTool: r.StepID, Take: r.Take, Optional: r.Optional}
		switch {
		case r.Path == nil:
		case r.From == binding.FromInput:
			b.FromInput = r.Path.String()
		case r.Content:
			b.ContentPath = r.Path.String()
		default:
			b.OutputPath = r.Path.String()
		}
		out.Bindings = append(out.Bindings, b)
	}
	for _, m := range s.Missing {
		out.Missing = append(out.Missing, missingJSON{m.Path, m.Flags, m.Allowed, m.Type})
	}
	return out
}
