package render

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolflow-go/toolflow/dag"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; run with -update to accept):\n%s", file, diff)
	}
}

// pictures are drawn in every format.
func pictures() map[string]Picture {
	wide := Picture{Title: "One step feeds many"}
	wide.Nodes = append(wide.Nodes, Node{ID: "split", Server: "text"})
	for i := 1; i <= 25; i++ {
		wide.Nodes = append(wide.Nodes, Node{ID: fmt.Sprintf("translate_%02d", i), Server: "llm"})
		wide.Edges = append(wide.Edges, Edge{From: 0, To: i, Labels: []string{fmt.Sprintf("text ← parts[%d]", i-1)}})
	}
	wide.Nodes = append(wide.Nodes, Node{ID: "join", Server: "text"}, Node{ID: "report"})
	for i := 1; i <= 25; i++ {
		wide.Edges = append(wide.Edges,
			Edge{From: i, To: 26, Labels: []string{fmt.Sprintf("parts[%d] ← text", i-1)}},
			Edge{From: i, To: 27, Requires: true})
	}
	return map[string]Picture{
		"empty": {},
		"seed": {
			Title: "Research a topic, then ask about the findings",
			Nodes: []Node{{ID: "perplexity_ask", Server: "perplexity"}, {ID: "perplexity_research", Server: "perplexity"}},
			Edges: []Edge{{From: 1, To: 0, Labels: []string{"messages[0].content ← system_response"}, Requires: true}},
		},
		"run": {
			Nodes: []Node{
				{ID: "search", Server: "web", State: "succeeded"},
				{ID: "fetch", Server: "web", State: "failed"},
				{ID: "notes", Server: "files", State: "running"},
				{ID: "answer", Label: "answer the question", Server: "llm", State: "skipped"},
				{ID: "later", State: "no such state"},
			},
			Edges: []Edge{
				{From: 0, To: 3, Labels: []string{"question ← $.query", "hits ← $.items[*]"}},
				{From: 1, To: 3, Labels: []string{"documents[0].configuration.source.text ← $.pages[?@.status == 200].content.text"}},
				{From: 2, To: 3, Requires: true},
				{From: 3, To: 4, Requires: true},
			},
		},
		"hostile": {
			Title: "a \"title\": # with --- \\ and\nmore\x1b[31m",
			Nodes: []Node{
				{ID: "end"},
				{ID: "a\"]; click n0 href \"javascript:alert(1)\""},
				{ID: "<script>alert(1)</script>&lt;"},
				{ID: "`code` **bold** _it_ snake_case"},
				{ID: "style: #red;", Server: "classDef x:#1;"},
				{ID: "1. one"},
				{ID: "- [x] done {a} (b) |c|"},
				{ID: "%%{init: {}}%%"},
				{ID: "fl°°60¶ß Größe 東京 😀"},
				{ID: "    subgraph"},
				{ID: "up\x1b[2Jdown\u202eright\nbelow\xff"},
				{ID: strings.Repeat("long ", 60)},
			},
			Edges: []Edge{{From: 0, To: 1, Labels: []string{"\"|x| ← $['a\"b'] --> n9"}}},
		},
		"wide": wide,
	}
}

func TestMermaid(t *testing.T) {
	for name, p := range pictures() {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Mermaid(&b, p); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".mmd", b.String())
		})
	}
}

func TestStages(t *testing.T) {
	for name, p := range pictures() {
		t.Run(name, func(t *testing.T) {
			names := make([]string, len(p.Nodes))
			for i, n := range p.Nodes {
				names[i] = n.ID
			}
			edges := make([]dag.Edge, len(p.Edges))
			for i, e := range p.Edges {
				edges[i] = dag.Edge{From: e.From, To: e.To}
			}
			g, err := dag.New(names, edges)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := Stages(&b, p, g.Stages()); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".stages", b.String())
		})
	}
}

func TestMermaidSaysWhatIsTooLarge(t *testing.T) {
	two := Picture{Nodes: []Node{{ID: "a"}, {ID: "b"}}}
	many := two
	for range 500 {
		many.Edges = append(many.Edges, Edge{From: 0, To: 1})
	}
	long := two
	for range 420 {
		long.Nodes = append(long.Nodes, Node{ID: strings.Repeat("x", 120)})
	}
	fewer := many
	fewer.Edges = many.Edges[:499]
	for _, c := range []struct {
		name    string
		picture Picture
		want    string
	}{
		{"edges", many, "  %% 500 edges: Mermaid draws fewer than 500 unless maxEdges is raised\n"},
		{"characters", long, "  %% 54947 characters: Mermaid takes 50000 unless maxTextSize is raised\n"},
		{"neither", fewer, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if err := Mermaid(&b, c.picture); err != nil {
				t.Fatal(err)
			}
			want := "flowchart LR\n" + c.want + "  n0[\"a\"]\n"
			if got := b.String(); !strings.HasPrefix(got, want) {
				t.Errorf("got %q…, want %q…", got[:min(len(got), 120)], want)
			}
		})
	}
}

func TestPicturesThatDoNotAddUp(t *testing.T) {
	one := Picture{Nodes: []Node{{ID: "a"}}}
	bad := Picture{Nodes: one.Nodes, Edges: []Edge{{From: 0, To: 1}}}
	const wantEdge = "edge 0 -> 1 leads out of the picture: it has 1 nodes, numbered from 0"
	if err := Mermaid(io.Discard, bad); err == nil || err.Error() != wantEdge {
		t.Errorf("Mermaid: got error %v, want %q", err, wantEdge)
	}
	if err := Stages(io.Discard, bad, [][]int32{{0}}); err == nil || err.Error() != wantEdge {
		t.Errorf("Stages: got error %v, want %q", err, wantEdge)
	}
	const wantStep = "stage 2 names step 7: the picture has 1, numbered from 0"
	if err := Stages(io.Discard, one, [][]int32{{0}, {7}}); err == nil || err.Error() != wantStep {
		t.Errorf("Stages: got error %v, want %q", err, wantStep)
	}
}
