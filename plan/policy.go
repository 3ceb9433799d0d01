package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/toolflow-go/toolflow"
)

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
	live := c.facts[i].live
	if c.believed[live] {
		return
	}
	c.believed[live] = true
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
