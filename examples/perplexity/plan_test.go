// Package perplexity_test checks that the example's files say what they are said to say.
package perplexity_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolflow-go/toolflow"
	"go.yaml.in/yaml/v4"
)

func readJSON(t *testing.T, file string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := toolflow.DecodeValue(raw)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v.(map[string]any)
}

// tools.json is the seed's example as it stands, so that what runs is what was proposed.
func TestToolsAreTheSeeds(t *testing.T) {
	seed, err := os.ReadFile("../../../shared/seeds/001_58fcdc1121b6a3ee.txt")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("the shared folder with the seeds is not beside the project")
	}
	tools, err := os.ReadFile("tools.json")
	if err != nil {
		t.Fatal(err)
	}
	example := seed[bytes.Index(seed, []byte("\n{\n  \"tools\": ["))+1:]
	if !bytes.Equal(example, tools) {
		t.Errorf("tools.json (%d bytes) is not the example of the seed (%d bytes)", len(tools), len(example))
	}
}

func TestPlanHasTheSpecsOfTheSeed(t *testing.T) {
	want := readJSON(t, "tools.json")["tools"].([]any)
	for _, tool := range want {
		delete(tool.(map[string]any), "ui") // a plan is easier to read without
	}
	if diff := cmp.Diff(want, readJSON(t, "plan.json")["tools"]); diff != "" {
		t.Errorf("tools of plan.json (-tools.json +plan.json):\n%s", diff)
	}
}

// plan.live.json differs in the server, and in the name.
func TestLivePlanIsTheSameChain(t *testing.T) {
	canned, live := readJSON(t, "plan.json"), readJSON(t, "plan.live.json")
	for _, name := range []string{"name", "title", "mcpServers"} {
		if cmp.Equal(canned[name], live[name]) {
			t.Errorf("%s is the same in both plans: %v", name, live[name])
		}
		delete(canned, name)
		delete(live, name)
	}
	if diff := cmp.Diff(canned, live); diff != "" {
		t.Errorf("the rest (-plan.json +plan.live.json):\n%s", diff)
	}
}

func TestYAMLSaysTheSame(t *testing.T) {
	raw, err := os.ReadFile("plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := yaml.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(readJSON(t, "plan.json")), got); diff != "" {
		t.Errorf("plans (-plan.json +plan.yaml):\n%s", diff)
	}
}
