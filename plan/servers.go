package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolflow-go/toolflow"
)

// setServers merges the document's servers with those that were given, and indexes what they offer.
func (c *compiler) setServers() {
	c.servers = slices.Clone(c.doc.Servers)
	for _, s := range c.o.Servers {
		if i := slices.IndexFunc(c.servers, func(m toolflow.Server) bool { return m.Name == s.Name }); i >= 0 {
			c.servers[i] = s
		} else {
			c.servers = append(c.servers, s)
		}
	}
	c.offers = make(map[string]map[string]*toolflow.Tool, len(c.o.Live))
	for _, s := range c.servers {
		c.serverNames = append(c.serverNames, s.Name)
		tools, asked := c.o.Live[s.Name]
		if !asked {
			continue
		}
		c.offers[s.Name] = make(map[string]*toolflow.Tool, len(tools))
		for k := range tools {
			c.offers[s.Name][tools[k].Name] = &tools[k]
		}
	}
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
