package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/schema"
)

// facts is what is known of the tool behind one step, from the document and from its server.
type facts struct {
	server string
	spec   *toolflow.Tool       // the document's, nil when it has none
	live   *toolflow.Tool       // the server's, nil when it was not asked or has none
	fault  *toolflow.Diagnostic // why no server can run the step; it matters only when the step runs

	input, serverOnly, output *schema.Schema
}

func (f *facts) outputNode() schema.Node {
	if f.output == nil {
		return schema.Node{}
	}
	return f.output.Root()
}

func (f *facts) inputNode() schema.Node {
	if f.input == nil {
		return schema.Node{}
	}
	return f.input.Root()
}

// specFacts are the schemas of one tool of the document.
type specFacts struct{ input, output *schema.Schema }

// learnSpecs compiles the schemas of the document's tools (rule D7).
func (c *compiler) learnSpecs() {
	c.tools = make([]specFacts, len(c.doc.Tools))
	for n, t := range c.doc.Tools {
		at := fmt.Sprintf("/tools/%d", n)
		f := &c.tools[n]
		f.input = c.schema(t.InputSchema, at+"/inputSchema", toolNamed(t.Name), "inputSchema")
		f.output = c.schema(t.OutputSchema, at+"/outputSchema", toolNamed(t.Name), "outputSchema")
		if f.input != nil && !slices.Equal(f.input.Root().Types(), []string{"object"}) {
			c.failTool("schema", at+"/inputSchema", toolNamed(t.Name), `write "type": "object"`, "the root of inputSchema must be an object")
			f.input = nil // nothing is held against it
		}
		if t.InputSchema == nil && t.Server == "" {
			c.failTool("missing_member", at, toolNamed(t.Name), `write one, or name the tool's "server", so that the server's own holds`, "the spec has no inputSchema")
		}
	}
}

func (c *compiler) failTool(code, pointer, who, hint, format string, args ...any) {
	c.say(toolflow.Diagnostic{Severity: toolflow.SeverityError, Code: code, Pointer: pointer, Hint: hint,
		Message: who + ": " + fmt.Sprintf(format, args...)})
}

func toolNamed(name string) string { return fmt.Sprintf("tool %q", name) }

// schema compiles one schema; nil when there is none or it is broken, which is reported.
func (c *compiler) schema(raw json.RawMessage, at, who, what string) *schema.Schema {
	if raw == nil {
		return nil
	}
	s, err := c.schemas.Compile(raw)
	if err != nil {
		message, pointer := err.Error(), at
		var bad *schema.Error
		if errors.As(err, &bad) && at != "" { // the place in the document says where
			message, pointer = bad.Message, at+bad.Pointer
		}
		c.failTool("schema", pointer, who, "", "%s: %s", what, message)
		return nil
	}
	for _, w := range s.Warnings() {
		c.say(toolflow.Diagnostic{Severity: toolflow.SeverityWarning, Code: "schema", Pointer: at, Message: fmt.Sprintf("%s: %s: %s", who, what, w)})
	}
	return s
}

// learn finds a step's schemas (rule D4). runs tells whether the step is in the closure: servers
// matter only there.
func (c *compiler) learn(i int, runs bool) {
	f := &c.facts[i]
	if f.fault != nil && runs {
		c.say(*f.fault)
	}
	if n := c.specs[i]; n >= 0 {
		f.input, f.output = c.tools[n].input, c.tools[n].output
	}
	if f.live == nil {
		return
	}
	if f.spec == nil || f.spec.InputSchema == nil {
		f.input = c.liveSchema(f, f.live.InputSchema, "inputSchema", toolflow.SeverityError)
	} else if own := c.liveSchema(f, f.live.InputSchema, "inputSchema", toolflow.SeverityWarning); differ(f.input, own) {
		f.serverOnly = own
		c.drift(i, "inputSchema")
	}
	if f.spec == nil || f.spec.OutputSchema == nil {
		f.output = c.liveSchema(f, f.live.OutputSchema, "outputSchema", toolflow.SeverityError)
	} else if differ(f.output, c.liveSchema(f, f.live.OutputSchema, "outputSchema", toolflow.SeverityNote)) {
		c.drift(i, "outputSchema")
	}
}

// drift notes, once for each tool of the document, that its server says something else.
func (c *compiler) drift(i int, what string) {
	n := c.specs[i]
	key := fmt.Sprintf("/tools/%d/%s", n, what)
	if c.noted[key] {
		return
	}
	c.noted[key] = true
	c.say(toolflow.Diagnostic{Severity: toolflow.SeverityNote, Code: "drift", Pointer: key,
		Message: fmt.Sprintf("tool %q: the %s of server %q differs from the document's", c.doc.Tools[n].Name, what, c.facts[i].server)})
}

// differ reports whether two schemas are there and do not say the same, word for word.
func differ(a, b *schema.Schema) bool {
	if a == nil || b == nil || bytes.Equal(a.Raw(), b.Raw()) {
		return false
	}
	one, err1 := toolflow.DecodeValue(a.Raw())
	two, err2 := toolflow.DecodeValue(b.Raw())
	return err1 != nil || err2 != nil || !bytes.Equal(toolflow.AppendValue(nil, one), toolflow.AppendValue(nil, two))
}

// liveSchema compiles a schema of a server's tool, once. When it is broken, the severity tells how much
// that matters: not at all where the document has one of its own, but for arguments that then go to the
// server unchecked by it.
func (c *compiler) liveSchema(f *facts, raw json.RawMessage, what string, severity toolflow.Severity) *schema.Schema {
	key := f.server + "\x00" + f.live.Name + "\x00" + what
	if s, ok := c.liveSchemas[key]; ok {
		return s
	}
	before := len(c.diags)
	s := c.schema(raw, "", toolNamed(f.live.Name), fmt.Sprintf("%s of server %q", what, f.server))
	if s == nil {
		for k := before; k < len(c.diags); k++ {
			c.diags[k].Severity = severity
		}
	}
	c.liveSchemas[key] = s
	return s
}

// findServer decides which server runs a step (rule D5).
func (c *compiler) findServer(i int) facts {
	var f facts
	if n := c.specs[i]; n >= 0 {
		f.spec = &c.doc.Tools[n]
	}
	if f.server = c.steps[i].Server; f.server == "" && f.spec != nil {
		f.server = f.spec.Server
	}
	names := c.serverNames
	switch {
	case f.server != "" && !slices.Contains(names, f.server):
		if c.o.NeedServers || len(names) > 0 {
			c.blame(&f, i, "unknown_server", hintServers(f.server, names), "server %q is not configured", f.server)
		}
		return f
	case f.server == "" && len(names) == 0:
		if c.o.NeedServers && !c.noServer {
			c.noServer = true // once is enough: it is not the step's fault
			c.blame(&f, i, "no_server", `name one in "mcpServers", or with --servers FILE`, "no server is configured that could offer tool %q", c.steps[i].Tool)
		}
		return f
	case f.server == "" && len(names) == 1:
		f.server = names[0]
	}
	if f.server != "" {
		c.findTool(i, &f)
	} else if c.o.Live != nil {
		c.search(i, &f, names)
	}
	return f
}

// blame keeps why no server can run a step, until it is known whether the step runs.
func (c *compiler) blame(f *facts, i int, code, hint, format string, args ...any) {
	f.fault = &toolflow.Diagnostic{Severity: toolflow.SeverityError, Code: code, Pointer: c.stepAt(i), Step: c.steps[i].ID, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

func hintServers(name string, names []string) string {
	if hint := toolflow.DidYouMean(name, names); hint != "" {
		return hint
	}
	if len(names) == 0 {
		return "give it with --servers FILE"
	}
	return "configured: " + strings.Join(names, ", ")
}

// findTool looks a step's tool up in its server's list.
func (c *compiler) findTool(i int, f *facts) {
	tools, asked := c.offers[f.server]
	if !asked {
		return
	}
	if f.live = tools[c.steps[i].Tool]; f.live == nil {
		c.blame(f, i, "unknown_tool", nearTools(c.steps[i].Tool, tools, "it offers "), "server %q offers no tool %q", f.server, c.steps[i].Tool)
	}
}

// search looks for the only server that offers a step's tool. When none does and one was not asked
// (it did not start, and the run goes on without it), the tool can only be there.
func (c *compiler) search(i int, f *facts, names []string) {
	var offers, silent []string
	tool := c.steps[i].Tool
	for _, name := range names {
		tools, asked := c.offers[name]
		if tools[tool] != nil {
			offers = append(offers, name)
		} else if !asked {
			silent = append(silent, name)
		}
	}
	switch {
	case len(offers) == 1:
		f.server, f.live = offers[0], c.offers[offers[0]][tool]
	case len(offers) == 0 && len(silent) > 0:
		f.server = silent[0]
	case len(offers) == 0:
		all := map[string]*toolflow.Tool{}
		for _, name := range names {
			maps.Copy(all, c.offers[name])
		}
		c.blame(f, i, "unknown_tool", nearTools(tool, all, "they offer "), "none of the servers %s offers tool %q", strings.Join(names, ", "), tool)
	default:
		c.blame(f, i, "ambiguous_server", fmt.Sprintf(`name one: "server": %q`, offers[0]), "tool %q is offered by the servers %s", tool, strings.Join(offers, " and "))
	}
}

func nearTools(name string, tools map[string]*toolflow.Tool, otherwise string) string {
	names := slices.Sorted(maps.Keys(tools))
	if hint := toolflow.DidYouMean(name, names); hint != "" {
		return hint
	}
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	if len(names) == 0 {
		return ""
	}
	return otherwise + strings.Join(names, ", ")
}

// policy merges a step's policy with the plan's, the server's limit and the defaults.
func (c *compiler) policy(i int, server string) Policy {
	step, whole := c.steps[i].Policy, c.doc.Policy
	p := Policy{Timeout: step.Timeout, Attempts: 3, Backoff: 500 * time.Millisecond}
	for _, wider := range []time.Duration{whole.Timeout, c.serverTimeout(server), c.o.Timeout, DefaultTimeout} {
		if p.Timeout == 0 {
			p.Timeout = wider
		}
	}
	retry := step.Retry
	if retry == nil {
		retry = whole.Retry
	}
	if retry != nil {
		p.Retry, p.OnToolError = true, retry.OnToolError
		if retry.Attempts > 0 {
			p.Attempts = retry.Attempts
		}
		if retry.Backoff > 0 {
			p.Backoff = retry.Backoff
		}
	}
	p.Continue = step.OnError == "continue" || step.OnError == "" && whole.OnError == "continue"
	return p
}

func (c *compiler) serverTimeout(name string) time.Duration {
	if k := slices.Index(c.serverNames, name); k >= 0 {
		return c.servers[k].Timeout
	}
	return 0
}

// safety decides whether a step may be called again, and whether it asks first (rules D9, X1, X5):
// of document and server the stricter counts, and the plan's own policy has the last word.
func (c *compiler) safety(i int, f *facts) (safe bool, why, asks string) {
	believed := !c.o.Strict && !isFalse(c.trust(f.server))
	var document, server toolflow.Annotations
	if f.spec != nil {
		document = f.spec.Annotations
	}
	if f.live != nil {
		server = f.live.Annotations
	}
	for _, h := range []struct {
		name             string
		document, server *bool
	}{{"readOnlyHint", document.ReadOnly, server.ReadOnly}, {"idempotentHint", document.Idempotent, server.Idempotent}} {
		switch {
		case safe || isFalse(h.document) || isFalse(h.server):
		case isTrue(h.document):
			safe, why = true, h.name+" of the document"
		case isTrue(h.server) && believed:
			safe, why = true, h.name+" of server "+f.server
			c.believe(i, h.name)
		}
	}
	switch {
	case isTrue(document.Destructive):
		asks = "destructiveHint of the document"
	case isTrue(server.Destructive):
		asks = "destructiveHint of server " + f.server
	}
	for _, p := range []toolflow.Policy{c.doc.Policy, c.steps[i].Policy} {
		if p.Safe != nil {
			safe, why = *p.Safe, ""
			if safe {
				why = "policy"
			}
		}
		switch p.Approve {
		case "always":
			asks = "policy"
		case "never":
			asks = ""
		}
	}
	return safe, why, asks
}

// believe notes, once for each tool, that a server's own word lets a call be repeated.
func (c *compiler) believe(i int, hint string) {
	key := c.facts[i].server + "\x00" + c.steps[i].Tool
	if c.noted[key] {
		return
	}
	c.noted[key] = true
	c.say(toolflow.Diagnostic{Severity: toolflow.SeverityNote, Code: "believed", Pointer: c.stepAt(i), Hint: `"trust": false in the server's configuration ignores it`,
		Message: fmt.Sprintf("tool %q may be called again: server %q says %s", c.steps[i].Tool, c.facts[i].server, hint)})
}

// trust is what the configuration says of a server; nil is nothing.
func (c *compiler) trust(name string) *bool {
	if k := slices.Index(c.serverNames, name); k >= 0 {
		return c.servers[k].Trust
	}
	return nil
}

func isTrue(b *bool) bool  { return b != nil && *b }
func isFalse(b *bool) bool { return b != nil && !*b }
