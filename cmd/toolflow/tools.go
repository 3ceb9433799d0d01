package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/render"
	"github.com/toolflow-go/toolflow/runner"
	"github.com/toolflow-go/toolflow/schema"
)

func (a *app) toolsCommand() *cobra.Command {
	var files []string
	var output string
	c := &cobra.Command{
		Use:   "tools [PLAN]",
		Short: "List the tools of a plan's servers",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			a.output = output
			return a.listTools(c.Context(), args, files, output)
		},
	}
	c.Flags().StringArrayVar(&files, "servers", nil, "read servers from a JSON `FILE` with mcpServers or servers")
	c.Flags().StringVarP(&output, "output", "o", "text", "what stdout gets: `text|json`")
	return c
}

func (a *app) listTools(ctx context.Context, args, files []string, output string) error {
	if output != "text" && output != "json" {
		return &usageError{err: fmt.Errorf("-o %q is not known (write text or json)", output)}
	}
	servers, err := a.gatherServers(args, files)
	if err != nil {
		return err
	}
	client, err := a.client(servers, false)
	if err != nil {
		return err
	}
	defer client.Close()
	lists, errs := make([][]toolflow.Tool, len(servers)), map[string]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			tools, err := client.Tools(ctx, s.Name)
			mu.Lock()
			defer mu.Unlock()
			if lists[i] = tools; err != nil {
				errs[s.Name] = err
			}
		})
	}
	wg.Wait()
	if output == "json" {
		a.printJSON(toolsDocument(servers, lists, errs))
	} else {
		a.printTools(servers, lists)
	}
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case len(errs) > 0:
		return &runner.ServerError{Servers: errs}
	}
	return nil
}

// gatherServers reads the servers of a plan and of server files.
func (a *app) gatherServers(args, files []string) ([]toolflow.Server, error) {
	l := &loaded{doc: &toolflow.Document{}}
	for _, file := range append(slices.Clone(files), args...) {
		servers, diags, err := readServers(file)
		if err != nil {
			return nil, err
		}
		if toolflow.HasErrors(diags) {
			a.showDiagnostics(diags, false, false)
			return nil, &runner.InvalidError{Diagnostics: diags}
		}
		for _, s := range servers {
			if !slices.ContainsFunc(l.servers, func(o toolflow.Server) bool { return o.Name == s.Name }) {
				l.servers = append(l.servers, s)
			}
		}
	}
	if len(l.servers) == 0 {
		return nil, &usageError{err: errors.New("no servers: name a plan, or a file with --servers")}
	}
	return l.servers, nil
}

// printTools prints each tool's signature, what it needs, and its hints.
func (a *app) printTools(servers []toolflow.Server, lists [][]toolflow.Tool) {
	for i, s := range servers {
		if lists[i] == nil {
			continue
		}
		fmt.Fprintf(a.stdout, "%s  (%s)\n", render.EscapeLine(s.Name), counted(len(lists[i]), "tool"))
		for _, t := range lists[i] {
			fmt.Fprintf(a.stdout, "  %s\n", render.EscapeLine(signature(t)))
			if about := about(t); about != "" {
				fmt.Fprintf(a.stdout, "      %s\n", render.EscapeLine(about))
			}
		}
	}
}

// signature writes a tool as name(required: type, [optional: type]) -> type.
func signature(t toolflow.Tool) string {
	var params, optional []string
	if s, err := schema.Compile(t.InputSchema); err == nil {
		root := s.Root()
		for _, name := range root.Properties() {
			node, _ := root.Property(name)
			p := name + ": " + typeName(node)
			if slices.Contains(root.Required(), name) {
				params = append(params, p)
			} else {
				optional = append(optional, "["+p+"]")
			}
		}
		params = append(params, optional...)
	}
	out := ""
	if s, err := schema.Compile(t.OutputSchema); t.OutputSchema != nil && err == nil {
		out = " -> " + typeName(s.Root())
		if names := s.Root().Properties(); len(names) > 0 {
			out = " -> {" + strings.Join(names, ", ") + "}"
		}
	}
	return t.Name + "(" + strings.Join(params, ", ") + ")" + out
}

func typeName(n schema.Node) string {
	if types := n.Types(); len(types) > 0 {
		return strings.Join(types, "|")
	}
	return "any"
}

func about(t toolflow.Tool) string {
	var parts []string
	for _, h := range []struct {
		hint *bool
		word string
	}{{t.Annotations.ReadOnly, "read-only"}, {t.Annotations.Idempotent, "idempotent"}, {t.Annotations.Destructive, "destructive"}} {
		if h.hint != nil && *h.hint {
			parts = append(parts, h.word)
		}
	}
	if d := t.Dependencies; d != nil {
		needs := slices.Clone(d.Requires)
		for _, b := range d.Bindings {
			if !slices.Contains(needs, b.FromTool) {
				needs = append(needs, b.FromTool)
			}
		}
		parts = append(parts, "needs "+strings.Join(needs, ", "))
	}
	if text := oneLine(t.Description); text != "" {
		parts = append(parts, toolflow.Clip(text, 100))
	}
	return strings.Join(parts, "; ")
}

func toolsDocument(servers []toolflow.Server, lists [][]toolflow.Tool, errs map[string]error) []byte {
	type serverJSON struct {
		Server string            `json:"server"`
		Tools  []json.RawMessage `json:"tools"`
		Error  string            `json:"error,omitempty"` // why there is no list
	}
	out := []serverJSON{}
	for i, s := range servers {
		entry := serverJSON{Server: s.Name, Tools: []json.RawMessage{}}
		if err := errs[s.Name]; err != nil {
			entry.Error = err.Error()
		}
		for _, t := range lists[i] {
			entry.Tools = append(entry.Tools, t.Raw)
		}
		out = append(out, entry)
	}
	return marshal(map[string]any{"servers": out})
}
