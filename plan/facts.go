package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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

// pair is a tool of the document and the same one of a server, either of which may be missing. Steps
// that share both share what is learnt.
type pair struct {
	spec int // -1 for none
	live *toolflow.Tool
}

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
	key := pair{c.specs[i], f.live}
	known, ok := c.learnt[key]
	if !ok {
		known = c.learnPair(key, f)
		c.learnt[key] = known
	}
	f.input, f.serverOnly, f.output = known.input, known.serverOnly, known.output
}

// schemas are those that a step's arguments and output are held against.
type schemas struct{ input, serverOnly, output *schema.Schema }

// learnPair puts together what the document and the server say: the document wins where both speak. A
// schema of the server that is broken matters as far as it is used.
func (c *compiler) learnPair(key pair, f *facts) schemas {
	var out schemas
	if key.spec >= 0 {
		out.input, out.output = c.tools[key.spec].input, c.tools[key.spec].output
	}
	if f.live == nil {
		return out
	}
	if f.spec == nil || f.spec.InputSchema == nil {
		out.input = c.liveSchema(f, f.live.InputSchema, "inputSchema", toolflow.SeverityError)
	} else if own := c.liveSchema(f, f.live.InputSchema, "inputSchema", toolflow.SeverityWarning); differ(out.input, own) {
		out.serverOnly = own
		c.drift(key.spec, f, "inputSchema")
	}
	if f.spec == nil || f.spec.OutputSchema == nil {
		out.output = c.liveSchema(f, f.live.OutputSchema, "outputSchema", toolflow.SeverityError)
	} else if differ(out.output, c.liveSchema(f, f.live.OutputSchema, "outputSchema", toolflow.SeverityNote)) {
		c.drift(key.spec, f, "outputSchema")
	}
	return out
}

// drift notes that a tool's server says something else than the document.
func (c *compiler) drift(n int, f *facts, what string) {
	c.say(toolflow.Diagnostic{Severity: toolflow.SeverityNote, Code: "drift", Pointer: fmt.Sprintf("/tools/%d/%s", n, what),
		Message: fmt.Sprintf("tool %q: the %s of server %q differs from the document's", f.spec.Name, what, f.server)})
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

// liveSchema compiles a schema of a server's tool. A broken one is reported with a severity.
func (c *compiler) liveSchema(f *facts, raw json.RawMessage, what string, severity toolflow.Severity) *schema.Schema {
	before := len(c.diags)
	s := c.schema(raw, "", toolNamed(f.live.Name), fmt.Sprintf("%s of server %q", what, f.server))
	if s == nil {
		for k := before; k < len(c.diags); k++ {
			c.diags[k].Severity = severity
		}
	}
	return s
}
