package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
)

// Each chain crosses two servers, and its output is known to the last character.
func TestChains(t *testing.T) {
	for _, c := range []struct {
		name    string // what stands in front of the plan's
		plan    string
		servers func(*bench) *bench
		args    []string
		want    string
	}{
		{
			plan:    "weather_to_memory",
			servers: func(b *bench) *bench { return b.everything().memory() },
			want: `{"humidity": 82, "found": [{"name": "Chicago", "entityType": "city",
				"observations": ["has weather", "Light rain / drizzle"]}]}`,
		},
		{
			plan:    "memory_to_echo",
			servers: func(b *bench) *bench { return b.everything().memory() },
			want:    `{"said": "Echo: quote \" backslash \\ 😀", "names": ["Zürich", "東京"]}`,
		},
		{
			plan:    "links_to_file",
			servers: func(b *bench) *bench { return b.everything().files() },
			args:    []string{"--yes"},
			want:    `{"content": "demo://resource/dynamic/text/2"}`,
		},
		{
			plan:    "file_to_thinking",
			servers: func(b *bench) *bench { return b.files().thinking() },
			want:    `{"text": "first line\nsecond line 😀", "total": 3, "thoughts": 2}`,
		},
		{
			plan:    "sum_through_go",
			servers: func(b *bench) *bench { return b.everything().goMemory() },
			want: `{"said": "Echo: The sum of 33 and 82 is 115.", "opened": [{"name": "New York", "entityType": "city",
				"observations": ["Cloudy", "The sum of 33 and 82 is 115."]}]}`,
		},
		{
			name:    "over HTTP, ",
			plan:    "sum_through_go",
			servers: func(b *bench) *bench { return b.everythingHTTP().goMemory() },
			want: `{"said": "Echo: The sum of 33 and 82 is 115.", "opened": [{"name": "New York", "entityType": "city",
				"observations": ["Cloudy", "The sum of 33 and 82 is 115."]}]}`,
		},
		{
			plan:    "copy_graph",
			servers: func(b *bench) *bench { return b.goMemory().memory() },
			want: `{"entities": [
				{"name": "Chicago", "entityType": "city", "observations": ["windy", "on a lake"]},
				{"name": "Lake Michigan", "entityType": "lake", "observations": ["deep"]}],
				"relations": [{"from": "Chicago", "to": "Lake Michigan", "relationType": "lies on"}]}`,
		},
	} {
		t.Run(c.name+c.plan, func(t *testing.T) {
			b := c.servers(newBench(t))
			got := b.runJSON(0, planFile(c.plan), c.args...)
			equalJSON(t, "output", c.want, got.Output)
			if got.Status != toolflow.RunSucceeded {
				t.Errorf("status: got %s, want %s", got.Status, toolflow.RunSucceeded)
			}
			for id, s := range got.Steps {
				if s.Status != toolflow.StatusSucceeded {
					t.Errorf("step %s: got %s (%+v), want %s", id, s.Status, s.Error, toolflow.StatusSucceeded)
				}
			}
		})
	}
}

func planFile(name string) string { return "interop/testdata/" + name + ".json" }

// A destructive tool is not called without a person's word: nothing is.
func TestDestructiveToolAsksFirst(t *testing.T) {
	b := newBench(t).everything().files()
	got := b.runJSON(7, planFile("links_to_file"))
	if got.Status != toolflow.RunWaiting {
		t.Errorf("status: got %s, want %s", got.Status, toolflow.RunWaiting)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "link.txt")); err == nil {
		t.Error("the file was written")
	}
}

func TestToolErrorSkipsDownstream(t *testing.T) {
	got := newBench(t).files().thinking().runJSON(5, planFile("missing_file"))
	read, think, list := got.Steps["read"], got.Steps["think"], got.Steps["list"]
	if read.Error == nil || read.Error.Code != toolflow.CodeToolError || !strings.Contains(read.Error.Message, "ENOENT") {
		t.Errorf("read: got error %+v, want %s with the server's ENOENT", read.Error, toolflow.CodeToolError)
	}
	if think.Status != toolflow.StatusSkipped || think.SkippedBecause != "read" {
		t.Errorf("think: got %s because of %q, want it skipped because of read", think.Status, think.SkippedBecause)
	}
	if list.Status != toolflow.StatusSucceeded {
		t.Errorf("list: got %s, want %s: it needs nothing from read", list.Status, toolflow.StatusSucceeded)
	}
}

// The server in Go reads an empty list back as null, which may come as far as its schema goes. The
// next server's schema takes none there, so the arguments are not sent.
func TestNullIsNotSentAsAList(t *testing.T) {
	b := newBench(t).goMemory().memory()
	got := b.runJSON(5, planFile("null_list"))
	equalJSON(t, "output of read", `{"relations": null,
		"entities": [{"name": "Lake Michigan", "entityType": "lake", "observations": null}]}`, got.Steps["read"].Output)
	e := got.Steps["copy"].Error
	if e == nil || e.Code != toolflow.CodeInvalidArguments || !strings.Contains(e.Message, "entities[0].observations") {
		t.Errorf("copy: got error %+v, want %s that names entities[0].observations", e, toolflow.CodeInvalidArguments)
	}
	if stored, err := os.ReadFile(filepath.Join(b.dir, "memory.jsonl")); err == nil {
		t.Errorf("the second server was called, and stored %s", stored)
	}
}

// A server sees what its configuration names, not what the shell happens to hold.
func TestEnvironmentIsWithheld(t *testing.T) {
	t.Setenv("INTEROP_SECRET", "do not tell")
	b := newBench(t).npm("everything", "@modelcontextprotocol/server-everything", map[string]string{"NAMED": "told"})
	got := b.runJSON(0, planFile("environment"))
	var env map[string]string
	if err := json.Unmarshal(got.Output, &env); err != nil {
		t.Fatalf("output is no object of strings: %v\n%s", err, got.Output)
	}
	if env["NAMED"] != "told" || env["PATH"] == "" {
		t.Errorf("got NAMED=%q and PATH=%q, want what the configuration and the allow-list give", env["NAMED"], env["PATH"])
	}
	if secret, ok := env["INTEROP_SECRET"]; ok {
		t.Errorf("the server saw INTEROP_SECRET=%q", secret)
	}
}
