// Command server stands in for the Perplexity MCP server, so that the example runs without a key and
// without network.
//
// It offers perplexity_ask and perplexity_research under the names and with the schemas of the
// published server (its search filters are left out). The answers are canned and say so; each quotes
// what it was asked, so that one sees what travelled along the chain.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const inputSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "messages": {
      "type": "array",
      "description": "The conversation so far",
      "items": {
        "type": "object",
        "properties": {
          "role": {"type": "string", "enum": ["system", "user", "assistant"]},
          "content": {"type": "string"}
        },
        "required": ["role", "content"],
        "additionalProperties": false
      }
    }
  },
  "required": ["messages"],
  "additionalProperties": false
}`

const outputSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {"response": {"type": "string"}},
  "required": ["response"],
  "additionalProperties": false
}`

func main() {
	if err := newServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "perplexity-canned", Version: "1.2.1"}, nil)
	s.AddTool(tool("perplexity_ask", "Ask Perplexity", "Answers a question (canned)."), handler(ask))
	s.AddTool(tool("perplexity_research", "Deep Research", "Looks into a topic (canned)."), handler(research))
	return s
}

func tool(name, title, description string) *mcp.Tool {
	yes, no := true, false
	return &mcp.Tool{
		Name: name, Title: title, Description: description,
		InputSchema:  json.RawMessage(inputSchema),
		OutputSchema: json.RawMessage(outputSchema),
		Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, OpenWorldHint: &yes},
	}
}

func research(question string) string {
	return "Canned research, made without network or key. The question was:\n" + quote(question) +
		"\nIt is well studied [1], and what is known fits in one sentence [2].\n\n" +
		"[1] https://example.org/survey\n[2] https://example.org/summary"
}

func ask(question string) string {
	return "Canned answer, made without network or key. What was asked:\n" + quote(question)
}

func quote(text string) string {
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// handler answers the last message of a call. Arguments that do not fit are the tool's own "no", as
// they are with the published server.
func handler(answer func(string) string) mcp.ToolHandler {
	return func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		question, err := lastMessage(req.Params.Arguments)
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: text(err.Error())}, nil
		}
		response := answer(question)
		return &mcp.CallToolResult{
			Content:           text(response),
			StructuredContent: map[string]any{"response": response},
		}, nil
	}
}

func text(s string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: s}} }

func lastMessage(args json.RawMessage) (string, error) {
	var in struct {
		Messages []struct {
			Role    string  `json:"role"`
			Content *string `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	if len(in.Messages) == 0 {
		return "", errors.New("messages: want at least one message")
	}
	for i, m := range in.Messages {
		if roles := []string{"system", "user", "assistant"}; !slices.Contains(roles, m.Role) {
			return "", fmt.Errorf("messages[%d].role: want one of %s, got %q", i, strings.Join(roles, ", "), m.Role)
		}
		if m.Content == nil {
			return "", fmt.Errorf("messages[%d].content: want a string, got nothing", i)
		}
	}
	return *in.Messages[len(in.Messages)-1].Content, nil
}
