package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// source is cited by every answer of the stand-in.
const source = "https://example.org/source"

// citations is what the published server adds to an answer that cites source.
const citations = "\n\nCitations:\n[1] " + source + "\n"

// PerplexityStandIn answers as the Perplexity API does, on the loopback address, until the test ends.
// An answer says which preset was asked for and repeats the last message of the request. requests
// gives the bodies of the requests so far.
func PerplexityStandIn(t *testing.T) (url string, requests func() []string) {
	t.Helper()
	var mu sync.Mutex
	var bodies []string
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/agent", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		bodies = append(bodies, string(body))
		mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer test-key" {
			http.Error(w, `{"error":{"message":"the key is not test-key"}}`, http.StatusUnauthorized)
			return
		}
		answerAgent(w, body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(bodies)
	}
}

// An agentRequest is the part of a request's body that the stand-in reads.
type agentRequest struct {
	Preset string
	Input  []struct{ Role, Content string }
	Stream bool
}

func (r agentRequest) answer() string {
	last := "nothing"
	if n := len(r.Input); n > 0 {
		last = r.Input[n-1].Content
	}
	return fmt.Sprintf("The %s answer to: %s [1]", r.Preset, last)
}

// answerAgent streams one answer as server-sent events.
func answerAgent(w http.ResponseWriter, body []byte) {
	var req agentRequest
	if err := json.Unmarshal(body, &req); err != nil || !req.Stream {
		http.Error(w, `{"error":{"message":"want a JSON body that asks for a stream"}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": "resp_1"}},
		{"type": "response.reasoning.search_queries", "queries": []string{"a query"}},
		{"type": "response.output_item.added", "item": map[string]any{"type": "message"}},
		{"type": "response.completed", "response": map[string]any{
			"id": "resp_1", "status": "completed", "model": "stand-in",
			"output": []any{
				map[string]any{"type": "search_results", "results": []any{map[string]any{"id": 1, "url": source, "title": "Source"}}},
				map[string]any{"type": "message", "role": "assistant", "content": []any{
					map[string]any{"type": "output_text", "text": req.answer()},
				}},
			},
		}},
	} {
		data, err := json.Marshal(event)
		if err != nil {
			panic(err) // maps and strings only
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
	}
}
