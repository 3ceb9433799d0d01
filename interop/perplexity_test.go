package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
)

const seedPlan = "examples/perplexity/tools.json"

// perplexity configures the published server against a stand-in for its API.
func perplexity(t *testing.T) (*bench, func() []string) {
	url, requests := PerplexityStandIn(t)
	b := newBench(t).npm("perplexity", "@perplexity-ai/mcp-server", map[string]string{
		"PERPLEXITY_API_KEY": "test-key", "PERPLEXITY_BASE_URL": url, "PERPLEXITY_TIMEOUT_MS": "10000",
	})
	return b, requests
}

// The document that toolflow was proposed with runs as it stands against the published server.
func TestSeedRunsAsItStands(t *testing.T) {
	b, requests := perplexity(t)
	const question = "Why are there two tides a day?\n\"Exactly\" two? 😀"
	got := b.runJSON(0, seedPlan,
		"-i", "perplexity_research.messages[0].role=user",
		"-i", "perplexity_research.messages[0].content="+question,
		"-i", "perplexity_ask.messages[0].role=user")

	research := "The high answer to: " + question + " [1]" + citations
	answer := "The fast answer to: " + research + " [1]" + citations
	equalJSON(t, "output", encode(t, map[string]string{"response": answer}), got.Output)
	equalJSON(t, "output of perplexity_research", encode(t, map[string]string{"system_response": research}),
		got.Steps["perplexity_research"].Output)
	if got.Status != toolflow.RunSucceeded {
		t.Errorf("status: got %s, want %s", got.Status, toolflow.RunSucceeded)
	}
	// The server calls its field response, the document system_response.
	if m := got.Steps["perplexity_research"].Mapping; m != toolflow.MappingTextProperty {
		t.Errorf("mapping of perplexity_research: got %s, want %s", m, toolflow.MappingTextProperty)
	}
	if m := got.Steps["perplexity_ask"].Mapping; m != toolflow.MappingStructured {
		t.Errorf("mapping of perplexity_ask: got %s, want %s", m, toolflow.MappingStructured)
	}
	bound := toolflow.Provenance{Path: "messages[0].content", From: "step", Step: "perplexity_research", OutputPath: "$.system_response"}
	if all := got.Steps["perplexity_ask"].Provenance; !slices.Contains(all, bound) {
		t.Errorf("provenance of perplexity_ask: got %+v, want %+v among it", all, bound)
	}
	checkRequests(t, requests(), question, research)
}

// checkRequests holds that the API was asked twice, and what the last messages said.
func checkRequests(t *testing.T, bodies []string, want ...string) {
	t.Helper()
	if len(bodies) != len(want) {
		t.Fatalf("the API got %d requests, want %d: %q", len(bodies), len(want), bodies)
	}
	for i, body := range bodies {
		var req agentRequest
		if err := json.Unmarshal([]byte(body), &req); err != nil {
			t.Fatal(err)
		}
		if len(req.Input) != 1 || req.Input[0].Role != "user" || req.Input[0].Content != want[i] {
			t.Errorf("request %d: got %+v, want one message of user: %q", i+1, req.Input, want[i])
		}
	}
}

// Text mode prints the output of the only sink.
func TestSeedPrintsItsOutput(t *testing.T) {
	b, _ := perplexity(t)
	got := b.run("run", seedPlan,
		"-i", "perplexity_research.messages[0].role=user",
		"-i", "perplexity_research.messages[0].content=Tides?",
		"-i", "perplexity_ask.messages[0].role=user")
	if got.exit != 0 {
		t.Fatalf("got exit %d, want 0\nstderr: %s", got.exit, got.stderr)
	}
	answer := "The fast answer to: The high answer to: Tides? [1]" + citations + " [1]" + citations
	equalJSON(t, "stdout", encode(t, map[string]string{"response": answer}), json.RawMessage(got.stdout))
}

// Without its inputs the chain is refused before anything starts, and the message says what to type.
func TestSeedWithoutInputsStartsNothing(t *testing.T) {
	b := newBench(t)
	mark := filepath.Join(b.dir, "started")
	b.servers["perplexity"] = map[string]any{
		"command": "node", "args": []string{"-e", "require('fs').writeFileSync('started', '')"}, "cwd": b.dir,
	}
	got := b.run("run", seedPlan)
	if got.exit != 6 {
		t.Errorf("got exit %d, want 6", got.exit)
	}
	if got.stdout != "" {
		t.Errorf("stdout: got %q, want nothing", got.stdout)
	}
	for _, want := range []string{
		"perplexity_ask.messages[0].role",
		"perplexity_research.messages[0].role",
		"perplexity_research.messages[0].content",
		"system, user, assistant",
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("stderr does not name %s:\n%s", want, got.stderr)
		}
	}
	if strings.Contains(got.stderr, "perplexity_ask.messages[0].content") {
		t.Errorf("stderr asks for a bound input:\n%s", got.stderr)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the server was started")
	}
}

// An error of the API is the tool's own "no", and what needs its answer is skipped.
func TestRefusedKeyFailsItsStep(t *testing.T) {
	b, requests := perplexity(t)
	b.servers["perplexity"].(map[string]any)["env"].(map[string]string)["PERPLEXITY_API_KEY"] = "another-key"
	got := b.runJSON(5, seedPlan,
		"-i", "perplexity_research.messages[0].role=user",
		"-i", "perplexity_research.messages[0].content=Tides?",
		"-i", "perplexity_ask.messages[0].role=user")
	research, ask := got.Steps["perplexity_research"], got.Steps["perplexity_ask"]
	if research.Error == nil || research.Error.Code != toolflow.CodeToolError || !strings.Contains(research.Error.Message, "401") {
		t.Errorf("perplexity_research: got error %+v, want %s with 401", research.Error, toolflow.CodeToolError)
	}
	if ask.Status != toolflow.StatusSkipped || ask.SkippedBecause != "perplexity_research" {
		t.Errorf("perplexity_ask: got %s because of %q, want it skipped because of perplexity_research", ask.Status, ask.SkippedBecause)
	}
	if n := len(requests()); n != 1 {
		t.Errorf("the API got %d requests, want 1: a tool's answer is not tried again", n)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
