package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connect gives a session with the server, over the SDK's in-memory transport.
func connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	server, err := newServer().Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		_ = server.Wait() // it reports that the other end is gone
	})
	return client
}

func call(t *testing.T, s *mcp.ClientSession, tool, args string) (text string, structured any, isError bool) {
	t.Helper()
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Content) != 1 {
		t.Fatalf("got %d content blocks, want 1", len(res.Content))
	}
	return res.Content[0].(*mcp.TextContent).Text, res.StructuredContent, res.IsError
}

func TestToolsAreDescribed(t *testing.T) {
	list, err := connect(t).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if a := tool.Annotations; a == nil || !a.ReadOnlyHint || a.OpenWorldHint == nil || !*a.OpenWorldHint {
			t.Errorf("%s: got annotations %+v, want readOnlyHint and openWorldHint", tool.Name, a)
		}
		output := tool.OutputSchema.(map[string]any)
		if diff := cmp.Diff([]any{"response"}, output["required"]); diff != "" {
			t.Errorf("%s: required members of the output (-want +got):\n%s", tool.Name, diff)
		}
	}
	if diff := cmp.Diff([]string{"perplexity_ask", "perplexity_research"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestAnswersQuoteTheQuestion(t *testing.T) {
	s := connect(t)
	for _, c := range []struct{ tool, args, want string }{
		{"perplexity_research", `{"messages":[{"role":"user","content":"Why is the sky blue?"}]}`,
			"Canned research, made without network or key. The question was:\n> Why is the sky blue?\n" +
				"It is well studied [1], and what is known fits in one sentence [2].\n\n" +
				"[1] https://example.org/survey\n[2] https://example.org/summary"},
		{"perplexity_ask", `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"One\nTwo"}]}`,
			"Canned answer, made without network or key. What was asked:\n> One\n> Two"},
	} {
		text, structured, isError := call(t, s, c.tool, c.args)
		if text != c.want || isError {
			t.Errorf("%s: got %q (error %v), want %q", c.tool, text, isError, c.want)
		}
		if diff := cmp.Diff(map[string]any{"response": c.want}, structured); diff != "" {
			t.Errorf("%s: structured content (-want +got):\n%s", c.tool, diff)
		}
	}
}

func TestBadArgumentsAreToolErrors(t *testing.T) {
	s := connect(t)
	for _, c := range []struct{ args, want string }{
		{`{}`, "messages: want at least one message"},
		{`{"messages":[]}`, "messages: want at least one message"},
		{`{"messages":[{"content":"x"}]}`, `messages[0].role: want one of system, user, assistant, got ""`},
		{`{"messages":[{"role":"robot","content":"x"}]}`, `messages[0].role: want one of system, user, assistant, got "robot"`},
		{`{"messages":[{"role":"user"}]}`, "messages[0].content: want a string, got nothing"},
		{`{"messages":[{"role":"user","content":1}]}`,
			"arguments: json: cannot unmarshal number into Go struct field .messages.content of type string"},
	} {
		text, structured, isError := call(t, s, "perplexity_ask", c.args)
		if text != c.want || !isError || structured != nil {
			t.Errorf("%s: got %q (error %v, structured %v), want the error %q", c.args, text, isError, structured, c.want)
		}
	}
}
