package toolflow

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// members are the outermost members that tell what kind of file it is.
type members struct {
	foreign           string // one that no plan has
	tools, parameters bool
	more              bool // the list of tools goes on elsewhere
}

// document reads the outermost object.
func (r *reader) document() (seen members, err error) {
	d := r.doc
	err = r.object("the document", func(name string) error {
		switch name {
		case "toolflow":
			if err := r.text(name, &d.Version); err != nil || d.Version == "1" || d.Version == "" {
				return err
			}
			r.say(SeverityError, "version", `write "toolflow": "1"`, "version %q of the document is not known", d.Version)
			return nil
		case "name":
			return r.text(name, &d.Name)
		case "title":
			return r.text(name, &d.Title)
		case "description":
			return r.text(name, &d.Description)
		case "inputSchema":
			return r.rawObject(name, &d.InputSchema)
		case "outputSchema":
			return r.raw(&d.OutputSchema)
		case "mcpServers", "servers":
			return r.servers(name)
		case "tools":
			seen.tools = true
			return r.array(name, r.tool)
		case "steps":
			if d.Steps == nil {
				d.Steps = []Step{}
			}
			return r.array(name, r.step)
		case "inputs":
			return r.inputs()
		case "output":
			return r.output()
		case "policy":
			return r.policy(&d.Policy)
		case "nextCursor":
			seen.more = r.dec.PeekKind() == '"'
			return r.dec.SkipValue()
		case "jsonrpc", "openapi", "swagger":
			seen.foreign = name
			return r.dec.SkipValue()
		case "parameters":
			seen.parameters = true
			return r.dec.SkipValue()
		}
		return r.other(name, "the document", documentMembers)
	})
	return seen, err
}

var documentMembers = []string{"$schema", "toolflow", "name", "title", "description", "inputSchema", "outputSchema",
	"_meta", "mcpServers", "servers", "tools", "steps", "inputs", "output", "policy", "ttlMs", "cacheScope", "resultType"}

// kindOfDocument says what a file is that is no plan (rule D1).
func (r *reader) kindOfDocument(seen members) {
	kind := func(hint, format string, args ...any) {
		r.diags = []Diagnostic{{Severity: SeverityError, Code: "kind", Message: fmt.Sprintf(format, args...), Hint: hint}}
	}
	switch {
	case seen.foreign == "jsonrpc":
		kind(`save the "result" of the message alone: {"tools": […]}`, "the document is a JSON-RPC message, not a plan")
	case seen.foreign != "" && !seen.tools && r.doc.Steps == nil:
		kind("toolflow runs MCP tools: put an MCP server in front of the interface", "the document is an OpenAPI file, not a plan")
	case !seen.tools && r.doc.Steps == nil && seen.parameters:
		kind(`a plan holds "tools", each with an "inputSchema"`, "the document is a toolmetadata file, not a plan")
	case !seen.tools && r.doc.Steps == nil && r.doc.InputSchema != nil && r.doc.Name != "":
		kind(`put it into {"tools": […]}`, "the document is a single tool, not a plan")
	case !seen.tools && r.doc.Steps == nil && len(r.doc.Servers) > 0:
		r.sayAt("", SeverityError, "kind", "give it with --servers, beside a plan", "the document holds servers, but no tools or steps")
	case !seen.tools && r.doc.Steps == nil:
		r.sayAt("", SeverityError, "kind", `{"tools": […]} or {"steps": […]}`, `the document has neither "tools" nor "steps"`)
	case seen.more:
		r.sayAt("/nextCursor", SeverityWarning, "incomplete", "save the other pages too", "the document is one page of a longer list of tools")
	}
}

// other skips a member that has no meaning here, with a warning where it may be a mistake (D2).
func (r *reader) other(name, where string, known []string) error {
	if reserved[name] {
		r.say(SeverityError, "not_yet", "leave it out", "%q has no meaning in toolflow yet", name)
		return r.dec.SkipValue()
	}
	for _, k := range known {
		if k == name {
			return r.dec.SkipValue()
		}
	}
	if !strings.HasPrefix(name, "x-") && !r.seen[where+"\x00"+name] {
		r.seen[where+"\x00"+name] = true
		r.say(SeverityWarning, "unknown_member", suggestMember(name, known), "%s has a member %q that toolflow does not know", where, name)
	}
	return r.dec.SkipValue()
}

// strict is other for objects where an unknown member is an error (D2).
func (r *reader) strict(name, where string, known []string) error {
	switch {
	case name == "_meta" || strings.HasPrefix(name, "x-"):
	case reserved[name]:
		r.say(SeverityError, "not_yet", "leave it out", "%q has no meaning in toolflow yet", name)
	default:
		r.say(SeverityError, "unknown_member", suggestMember(name, known), "%s has a member %q that toolflow does not know", where, name)
	}
	return r.dec.SkipValue()
}

var reserved = map[string]bool{"when": true, "forEach": true, "template": true}

// suggestMember gives the member that was probably meant.
func suggestMember(name string, known []string) string {
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)) {
	case "dependson", "needs", "after", "requires", "upstream":
		for _, k := range known {
			if k == "requires" {
				return `did you mean "requires"?`
			}
		}
		return `did you mean "dependencies": {"requires": […]}?`
	case "bindings", "inputmapping":
		return `did you mean "dependencies": {"bindings": {…}}?`
	case "retries":
		return DidYouMean("retri", known)
	case "args", "params", "input", "with":
		for _, k := range known {
			if k == "arguments" {
				return `did you mean "arguments"?`
			}
		}
	}
	return DidYouMean(name, known)
}

func (r *reader) tool() error {
	var t Tool
	start := r.nextPointer()
	err := r.object("a tool", func(name string) error {
		switch name {
		case "name":
			return r.text("the tool's name", &t.Name)
		case "title":
			return r.text(name, &t.Title)
		case "description":
			return r.text(name, &t.Description)
		case "server":
			return r.text(name, &t.Server)
		case "inputSchema":
			return r.schema(&t.InputSchema)
		case "outputSchema":
			return r.schema(&t.OutputSchema)
		case "annotations":
			return r.annotations(&t.Annotations)
		case "dependencies":
			return r.dependencies(&t.Dependencies)
		case "ui":
			return r.raw(&t.UI)
		}
		return r.other(name, "a tool", toolMembers)
	})
	if err == nil && t.Name == "" && !r.saidAt(start) {
		r.sayAt(start, SeverityError, "missing_member", `every tool needs a "name"`, "a tool has no name")
	}
	r.doc.Tools = append(r.doc.Tools, t)
	return err
}

var toolMembers = []string{"name", "title", "description", "server", "inputSchema", "outputSchema", "annotations",
	"dependencies", "ui", "_meta", "icons", "execution"}

// schema keeps a schema's text; null, as some servers write, counts as none.
func (r *reader) schema(dst *json.RawMessage) error {
	if r.dec.PeekKind() == 'n' {
		return r.dec.SkipValue()
	}
	return r.raw(dst)
}

func (r *reader) annotations(a *Annotations) error {
	return r.object("annotations", func(name string) error {
		switch name {
		case "title":
			return r.text(name, &a.Title)
		case "readOnlyHint":
			return r.boolean(name, &a.ReadOnly)
		case "destructiveHint":
			return r.boolean(name, &a.Destructive)
		case "idempotentHint":
			return r.boolean(name, &a.Idempotent)
		case "openWorldHint":
			return r.boolean(name, &a.OpenWorld)
		}
		return r.other(name, "annotations", []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "_meta"})
	})
}

func (r *reader) dependencies(dst **Dependencies) error {
	if r.dec.PeekKind() == 'n' {
		return r.dec.SkipValue()
	}
	d := &Dependencies{}
	*dst = d
	return r.object("dependencies", func(name string) error {
		switch name {
		case "requires":
			d.Requires = []string{}
			return r.array("requires", func() error {
				var s string
				before := len(r.diags)
				if err := r.text("an entry of requires", &s); err != nil {
					return err
				}
				switch {
				case s != "":
					d.Requires = append(d.Requires, s)
				case len(r.diags) == before:
					r.say(SeverityError, "type", "name a step or a tool", "requires has an empty entry")
				}
				return nil
			})
		case "bindings":
			return r.bindings(&d.Bindings)
		}
		return r.strict(name, "dependencies", []string{"requires", "bindings"})
	})
}

func (r *reader) bindings(dst *[]Binding) error {
	if k := r.dec.PeekKind(); k == '[' {
		r.say(SeverityError, "type", `{"messages[0].content": {"fromTool": "search", "outputPath": "items[0].text"}}`, "bindings must be an object that maps input fields to sources, not an array")
		return r.dec.SkipValue()
	}
	return r.object("bindings", func(name string) error {
		b, err := r.binding(name)
		*dst = append(*dst, b)
		return err
	})
}

func (r *reader) binding(input string) (Binding, error) {
	b, at := Binding{Input: input}, r.pointer()
	what := fmt.Sprintf("the binding of %q", input)
	if r.dec.PeekKind() != '{' {
		r.is('{', what, `an object such as {"fromTool": "search", "outputPath": "items"}`)
		return b, r.dec.SkipValue()
	}
	has := map[string]bool{}
	err := r.object(what, func(name string) error {
		has[name] = true
		switch name {
		case "fromTool":
			return r.text(name, &b.FromTool)
		case "outputPath":
			return r.text(name, &b.OutputPath)
		case "contentPath":
			return r.text(name, &b.ContentPath)
		case "fromInput":
			return r.text(name, &b.FromInput)
		case "value":
			return r.raw(&b.Value)
		case "default":
			return r.raw(&b.Default)
		case "take":
			if err := r.text(name, &b.Take); err != nil || b.Take == "first" || b.Take == "only" {
				return err
			}
			r.say(SeverityError, "take", `write "first" or "only", or leave it out for all matches`, "take %q is not known", b.Take)
			return nil
		case "optional":
			var yes *bool
			err := r.boolean(name, &yes)
			b.Optional = yes != nil && *yes
			return err
		}
		return r.strict(name, what, bindingMembers)
	})
	if err == nil {
		r.checkBinding(b, has, what, at)
	}
	return b, err
}

var bindingMembers = []string{"fromTool", "outputPath", "contentPath", "fromInput", "value", "default", "take", "optional"}

// checkBinding holds the members of one binding against each other (P1, P7).
func (r *reader) checkBinding(b Binding, has map[string]bool, what, at string) {
	bad := func(hint, format string, args ...any) {
		r.sayAt(at, SeverityError, "binding", hint, what+" "+format, args...)
	}
	sources := 0
	for _, name := range []string{"fromTool", "fromInput", "value"} {
		if has[name] {
			sources++
		}
	}
	paths := has["outputPath"] || has["contentPath"]
	switch {
	case sources == 0:
		bad(`{"fromTool": "search", "outputPath": "items"}`, `names no source: it needs "fromTool", "fromInput" or "value"`)
	case sources > 1:
		bad("leave one", `has more than one of "fromTool", "fromInput" and "value"`)
	case has["fromTool"] && b.FromTool == "":
		bad("name a step or a tool", `has an empty "fromTool"`)
	case has["fromTool"] && !paths:
		bad(`"outputPath": "$" binds the whole output`, `needs an "outputPath"`)
	case has["outputPath"] && has["contentPath"]:
		bad("leave one", `has both "outputPath" and "contentPath"`)
	case !has["fromTool"] && paths:
		bad("leave it out", `has a path, but no "fromTool"`)
	case !has["fromTool"] && has["take"]:
		bad("leave it out", `has "take", but no "fromTool"`)
	case has["value"] && (has["optional"] || has["default"]):
		bad("leave it out", `has a "value", which never misses: "optional" and "default" have no meaning`)
	}
}

func (r *reader) step() error {
	var s Step
	start := r.nextPointer()
	err := r.object("a step", func(name string) error {
		switch name {
		case "id":
			return r.text("the step's id", &s.ID)
		case "tool":
			return r.text("the step's tool", &s.Tool)
		case "server":
			return r.text(name, &s.Server)
		case "arguments":
			return r.rawObject(name, &s.Arguments)
		case "dependencies":
			return r.dependencies(&s.Dependencies)
		case "policy":
			return r.policy(&s.Policy)
		}
		return r.other(name, "a step", []string{"id", "tool", "server", "arguments", "dependencies", "policy", "title", "description", "_meta"})
	})
	if err == nil && s.Tool == "" && !r.saidAt(start) {
		r.sayAt(start, SeverityError, "missing_member", `{"id": "fetch", "tool": "get_page"}`, "a step names no tool")
	}
	if s.ID == "" {
		s.ID = s.Tool
	}
	r.doc.Steps = append(r.doc.Steps, s)
	return err
}

func (r *reader) inputs() error {
	return r.object("inputs", func(name string) error {
		in := StepInput{Step: name}
		err := r.rawObject(fmt.Sprintf("the input of %q", name), &in.Arguments)
		if in.Arguments != nil {
			r.doc.Inputs = append(r.doc.Inputs, in)
		}
		return err
	})
}

func (r *reader) output() error {
	r.doc.Output = []Binding{}
	return r.object("output", func(name string) error {
		b, err := r.binding(name)
		r.doc.Output = append(r.doc.Output, b)
		return err
	})
}

func (r *reader) policy(p *Policy) error {
	known := []string{"timeout", "retry", "approve", "onError", "safe"}
	return r.object("policy", func(name string) error {
		switch name {
		case "timeout":
			return r.duration("timeout", &p.Timeout)
		case "retry":
			return r.retry(p)
		case "approve":
			return r.oneOf(name, &p.Approve, "always", "never")
		case "onError":
			return r.oneOf(name, &p.OnError, "fail", "continue")
		case "safe":
			return r.boolean(name, &p.Safe)
		case "idempotencyKey":
			r.say(SeverityError, "not_yet", "leave it out", "policy member %q has no meaning in toolflow yet", name)
			return r.dec.SkipValue()
		}
		return r.strict(name, "policy", known)
	})
}

func (r *reader) retry(p *Policy) error {
	p.Retry = &Retry{}
	return r.object("retry", func(name string) error {
		switch name {
		case "attempts":
			return r.count("attempts", &p.Retry.Attempts)
		case "backoff":
			return r.duration("backoff", &p.Retry.Backoff)
		case "onToolError":
			var yes *bool
			err := r.boolean(name, &yes)
			p.Retry.OnToolError = yes != nil && *yes
			return err
		}
		return r.strict(name, "retry", []string{"attempts", "backoff", "onToolError"})
	})
}

func (r *reader) oneOf(name string, dst *string, values ...string) error {
	if err := r.text(name, dst); err != nil {
		return err
	}
	for _, v := range values {
		if *dst == v {
			return nil
		}
	}
	r.say(SeverityError, "policy", "write "+quotedList(values, "or"), "%s %q is not known", name, *dst)
	*dst = ""
	return nil
}

func (r *reader) servers(member string) error {
	return r.object(member, func(name string) error {
		s := Server{Name: name, File: r.doc.File}
		at := r.pointer()
		err := r.object(fmt.Sprintf("server %q", name), func(field string) error { return r.server(&s, field) })
		for _, other := range r.doc.Servers {
			if other.Name == name {
				r.sayAt(at, SeverityError, "duplicate", "leave one", "server %q stands twice", name)
				return err
			}
		}
		r.doc.Servers = append(r.doc.Servers, s)
		return err
	})
}

func (r *reader) server(s *Server, field string) error {
	what := fmt.Sprintf("%s of server %q", field, s.Name)
	if r.dec.PeekKind() == 'n' { // programs that write such files write null for nothing
		return r.dec.SkipValue()
	}
	switch field {
	case "command":
		return r.text(what, &s.Command)
	case "args":
		return r.array(what, func() error {
			var a string
			err := r.text("an entry of "+what, &a)
			s.Args = append(s.Args, a)
			return err
		})
	case "env":
		return r.stringMap(what, &s.Env)
	case "cwd":
		return r.text(what, &s.Cwd)
	case "type", "transport":
		return r.text(what, &s.Type)
	case "url":
		return r.text(what, &s.URL)
	case "headers":
		return r.stringMap(what, &s.Headers)
	case "trust":
		return r.boolean(what, &s.Trust)
	case "timeout":
		return r.duration(what, &s.Timeout)
	case "startTimeout":
		return r.duration(what, &s.StartTimeout)
	case "parallel":
		return r.count(what, &s.Parallel)
	case "wasm":
		r.say(SeverityError, "not_yet", "use a command or a url", "server %q is a Wasm servlet, which toolflow cannot host yet", s.Name)
		return r.dec.SkipValue()
	}
	if field != "_meta" && !strings.HasPrefix(field, "x-") {
		r.say(SeverityNote, "unknown_member", DidYouMean(field, serverMembers), "%s is not known to toolflow", what)
	}
	return r.dec.SkipValue()
}

var serverMembers = []string{"command", "args", "env", "cwd", "type", "url", "headers", "trust", "timeout", "startTimeout", "parallel"}

func (r *reader) stringMap(what string, dst *map[string]string) error {
	*dst = map[string]string{}
	return r.object(what, func(name string) error {
		switch r.dec.PeekKind() {
		case '"', '0', 't', 'f': // numbers and booleans keep their text, as shells would have it
			tok, err := r.dec.ReadToken()
			(*dst)[name] = tok.String()
			return err
		}
		r.is(jsontext.Kind('"'), fmt.Sprintf("%q in %s", name, what), "a string")
		return r.dec.SkipValue()
	})
}
