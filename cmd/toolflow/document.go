package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/mcpclient"
	"github.com/toolflow-go/toolflow/plan"
	"github.com/toolflow-go/toolflow/runner"
)

// readDocument reads a plan; "-" is stdin, whose text may be JSON or, failing that, YAML.
func (a *app) readDocument(path string) (*toolflow.Document, []toolflow.Diagnostic, error) {
	r := a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, &usageError{err: openError(err)}
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, nil, &usageError{err: fmt.Errorf("%s: is a folder, not a plan", path)}
		}
		return toolflow.ReadDocument(f, path)
	}
	text, err := io.ReadAll(io.LimitReader(r, toolflow.MaxDocumentBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("stdin: %w", err)
	}
	if len(text) > toolflow.MaxDocumentBytes {
		return toolflow.ReadDocument(strings.NewReader(string(text)), "stdin")
	}
	file := "stdin"
	if t := strings.TrimSpace(string(text)); t != "" && !strings.ContainsAny(t[:1], "{[/") {
		file = "stdin.yaml"
	}
	doc, diags := toolflow.ParseDocument(text, file)
	return doc, diags, nil
}

func openError(err error) error {
	var path *os.PathError
	if !errors.As(err, &path) {
		return err
	}
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file", path.Path)
	}
	return fmt.Errorf("%s: %w", path.Path, path.Err)
}

// planFlags are the flags of the commands that compile a plan.
type planFlags struct {
	inputs    []string // -i
	sets      []string // --set
	file      string   // --inputs
	targets   []string
	all       bool
	servers   []string
	strict    bool
	check     string
	keepGoing bool
	timeout   time.Duration
}

func (f *planFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVarP(&f.inputs, "input", "i", nil, "give an input: `NAME=VALUE`, or STEP.PATH=VALUE for a plan without an inputSchema; := takes JSON, =@FILE and =@env:NAME read")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "give a step's argument: `STEP.PATH=VALUE`")
	c.Flags().StringVar(&f.file, "inputs", "", "read the inputs from a JSON `FILE`; - is stdin")
	c.Flags().StringArrayVar(&f.targets, "target", nil, "run only this `STEP` and what it needs; may be repeated")
	c.Flags().BoolVar(&f.all, "all", false, "run every tool of a list that names no dependencies")
	c.Flags().StringArrayVar(&f.servers, "servers", nil, "read servers from a JSON `FILE` with mcpServers or servers; wins over the plan's own")
	c.Flags().BoolVar(&f.strict, "strict", false, "refuse what otherwise only leaves a warning")
	c.Flags().StringVar(&f.check, "check", "error", "what a value that clashes with its schema is: `error|warn`")
}

// loaded is a document with all that the command line says about it.
type loaded struct {
	doc     *toolflow.Document
	servers []toolflow.Server // of --servers
	input   plan.Input
	diags   []toolflow.Diagnostic
}

// load reads the plan, the servers and the inputs. A document with errors is an
// [*runner.InvalidError], and holds what else is wrong with it as well.
func (a *app) load(path string, f *planFlags) (*loaded, error) {
	if f.check != "error" && f.check != "warn" {
		return nil, &usageError{err: fmt.Errorf("--check %q is not known (write error or warn)", f.check)}
	}
	if path == "-" && f.file == "-" {
		return nil, &usageError{err: errors.New("the plan and its inputs cannot both come from stdin")}
	}
	l := &loaded{}
	var others []toolflow.Diagnostic // about files of servers
	var err error
	if l.doc, l.diags, err = a.readDocument(path); err != nil {
		return nil, err
	}
	for _, file := range f.servers {
		servers, diags, err := readServers(file)
		if err != nil {
			return nil, err
		}
		l.servers = append(l.servers, servers...)
		others = append(others, diags...)
	}
	if l.input, err = a.readInput(f); err != nil {
		return nil, err
	}
	if l.doc == nil { // nothing of it could be read
		return l, &runner.InvalidError{Diagnostics: l.diags}
	}
	for _, s := range l.allServers() {
		if err := mcpclient.Check(s); err != nil {
			others = append(others, configDiagnostics(err, s)...)
		}
	}
	if f.strict {
		refuse(l.diags, toolflow.SeverityWarning)
		refuse(others, toolflow.SeverityWarning)
	}
	if toolflow.HasErrors(l.diags) || toolflow.HasErrors(others) {
		l.compileRest(f)
	}
	if l.diags = append(others, l.diags...); toolflow.HasErrors(l.diags) {
		return l, &runner.InvalidError{Diagnostics: l.diags}
	}
	return l, nil
}

// refuse makes errors of the diagnostics of a severity.
func refuse(ds []toolflow.Diagnostic, severity toolflow.Severity) {
	for i := range ds {
		if ds[i].Severity == severity {
			ds[i].Severity = toolflow.SeverityError
		}
	}
}

// compileRest adds what is wrong with a document beside the errors that were found when it was read.
// What lies inside a place that is broken already follows from that, and is left out.
func (l *loaded) compileRest(f *planFlags) {
	var broken []string
	for _, d := range l.diags {
		if d.Severity == toolflow.SeverityError {
			broken = append(broken, d.Pointer)
		}
	}
	_, more := plan.Compile(l.doc, f.options(l))
	for _, d := range more {
		if !slices.ContainsFunc(broken, func(at string) bool { return d.Pointer == at || strings.HasPrefix(d.Pointer, at+"/") }) {
			l.diags = append(l.diags, d)
		}
	}
	l.diags = l.inOrder(nil)
}

// inOrder gives the diagnostics of reading and more of the same file in its order.
func (l *loaded) inOrder(more []toolflow.Diagnostic) []toolflow.Diagnostic {
	all := append(slices.Clone(l.diags), more...)
	slices.SortStableFunc(all, func(a, b toolflow.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// options are those of an offline check.
func (f *planFlags) options(l *loaded) plan.Options {
	return plan.Options{Strict: f.strict, CheckWarn: f.check == "warn", Targets: f.targets, All: f.all, Servers: l.servers, Input: l.input, Timeout: f.timeout}
}

// readServers reads a file of servers. Its paths are relative to the folder that toolflow runs in.
func readServers(file string) ([]toolflow.Server, []toolflow.Diagnostic, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, &usageError{err: openError(err)}
	}
	servers, diags := toolflow.ParseServers(text, file)
	return servers, diags, nil
}

// readInput turns the flags into the plan's input.
func (a *app) readInput(f *planFlags) (plan.Input, error) {
	var in plan.Input
	switch f.file {
	case "":
	case "-":
		text, err := io.ReadAll(a.stdin)
		if err != nil {
			return in, fmt.Errorf("stdin: %w", err)
		}
		in.Value = text
	default:
		text, err := os.ReadFile(f.file)
		if err != nil {
			return in, &usageError{err: openError(err)}
		}
		in.Value = text
	}
	for _, flags := range []struct {
		name  string
		texts []string
	}{{"-i", f.inputs}, {"--set", f.sets}} {
		for _, text := range flags.texts {
			as, err := assignment(text)
			if err != nil {
				return in, &usageError{err: fmt.Errorf("%s %s: %w", flags.name, text, err)}
			}
			as.Step = flags.name == "--set"
			in.Assignments = append(in.Assignments, as)
		}
	}
	return in, nil
}

// assignment reads NAME=VALUE: := is raw JSON, =@FILE and =@env:NAME read, =@@ is a plain @.
func assignment(text string) (plan.Assignment, error) {
	at := equals(text)
	if at <= 0 {
		return plan.Assignment{}, errors.New("write NAME=VALUE")
	}
	as := plan.Assignment{Path: text[:at], Text: text[at+1:]}
	if strings.HasSuffix(as.Path, ":") {
		as.Path, as.JSON = strings.TrimSuffix(as.Path, ":"), true
	}
	var err error
	switch {
	case strings.HasPrefix(as.Text, "@@"):
		as.Text = as.Text[1:]
	case strings.HasPrefix(as.Text, "@env:"):
		name := as.Text[len("@env:"):]
		value, ok := os.LookupEnv(name)
		if !ok {
			err = fmt.Errorf("the environment has no %s", name)
		}
		as.Text = value
	case strings.HasPrefix(as.Text, "@"):
		var content []byte
		if content, err = os.ReadFile(as.Text[1:]); err != nil {
			err = openError(err)
		}
		as.Text = string(content)
	}
	return as, err
}

// equals finds the = that ends the name; one inside ['…'] belongs to it.
func equals(text string) int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '\'' && (quoted || i > 0 && text[i-1] == '['):
			quoted = !quoted
		case text[i] == '=' && !quoted:
			return i
		}
	}
	return -1
}

// planClient makes the MCP client for a plan. Only the servers that the plan asks need to be in order:
// a variable that is missing for another one is nobody's fault today.
func (a *app) planClient(l *loaded, f *planFlags, quiet bool) (*mcpclient.Client, error) {
	c, err := a.client(l.allServers(), quiet)
	if err == nil {
		return c, nil
	}
	p, diags := plan.Compile(l.doc, f.options(l))
	if toolflow.HasErrors(diags) {
		var invalid *runner.InvalidError
		errors.As(err, &invalid)
		return nil, &runner.InvalidError{Diagnostics: append(invalid.Diagnostics, diags...)}
	}
	asked := p.ServersToAsk()
	return a.client(slices.DeleteFunc(l.allServers(), func(s toolflow.Server) bool { return !slices.Contains(asked, s.Name) }), quiet)
}

// client makes an MCP client for servers.
func (a *app) client(servers []toolflow.Server, quiet bool) (*mcpclient.Client, error) {
	c, err := mcpclient.New(servers, &mcpclient.Options{Name: "toolflow", Version: version(), Warn: func(server, message string) {
		if !quiet {
			a.say("warning: server %q: %s", server, message)
		}
	}})
	if err != nil {
		return nil, &runner.InvalidError{Diagnostics: configDiagnostics(err, servers...)}
	}
	onKill(c.Kill)
	return c, nil
}

// configDiagnostics says what is wrong with configurations of servers, each on a line of its own.
func configDiagnostics(err error, servers ...toolflow.Server) []toolflow.Diagnostic {
	var ds []toolflow.Diagnostic
	for _, line := range strings.Split(err.Error(), "\n") {
		d := toolflow.Diagnostic{Severity: toolflow.SeverityError, Code: "servers", Message: line}
		for _, s := range servers {
			if message, ok := strings.CutPrefix(line, s.File+": "); ok && s.File != "" {
				d.File, d.Message = s.File, message
				break
			}
		}
		ds = append(ds, d)
	}
	return ds
}

// allServers are the plan's servers with those of --servers over them.
func (l *loaded) allServers() []toolflow.Server {
	all := slices.Clone(l.servers)
	for _, s := range l.doc.Servers {
		if !slices.ContainsFunc(all, func(o toolflow.Server) bool { return o.Name == s.Name }) {
			all = append(all, s)
		}
	}
	return all
}
