package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/toolflow-go/toolflow"
)

// What Mermaid draws by default. Past that it shows an error instead of the picture.
const (
	mermaidEdges      = 500
	mermaidCharacters = 50_000
)

// Mermaid writes the picture as a Mermaid flowchart, from left to right. Nodes are called n0, n1, …,
// so that a tool may have any name; edges without data are dashed; the state of a step is a class
// with a colour. A comment says so when the picture is larger than Mermaid draws by default.
func Mermaid(w io.Writer, g Picture) error {
	if err := g.check(); err != nil {
		return err
	}
	head := ""
	if g.Title != "" {
		head = "---\ntitle: " + quoteYAML(g.Title) + "\n---\n"
	}
	head += "flowchart LR\n"
	body := mermaidBody(g)
	_, err := io.WriteString(w, head+mermaidWarnings(len(g.Edges), head+body)+body)
	return err
}

func mermaidBody(g Picture) string {
	var b strings.Builder
	for i, n := range g.Nodes {
		lines := []string{n.name()}
		if n.Server != "" {
			lines = append(lines, n.Server)
		}
		fmt.Fprintf(&b, "  n%d[%s]", i, quoteMermaid(lines))
		if slices.ContainsFunc(states, func(s stateStyle) bool { return s.state == n.State }) {
			b.WriteString(":::" + n.State)
		}
		b.WriteByte('\n')
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.orders() {
			arrow = "-.->"
		}
		if len(e.Labels) > 0 {
			arrow += "|" + quoteMermaid(e.Labels) + "|"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", e.From, arrow, e.To)
	}
	for _, s := range states {
		if slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.State == s.state }) {
			fmt.Fprintf(&b, "  classDef %s %s\n", s.state, s.style)
		}
	}
	return b.String()
}

func mermaidWarnings(edges int, text string) string {
	out := ""
	if edges >= mermaidEdges {
		out += fmt.Sprintf("  %%%% %d edges: Mermaid draws fewer than %d unless maxEdges is raised\n", edges, mermaidEdges)
	}
	characters := 0 // as JavaScript counts them
	for _, r := range text {
		characters += utf16.RuneLen(r)
	}
	if characters > mermaidCharacters {
		out += fmt.Sprintf("  %%%% %d characters: Mermaid takes %d unless maxTextSize is raised\n", characters, mermaidCharacters)
	}
	return out
}

type stateStyle struct{ state, style string }

// states gives each state a colour that can be told apart on light and on dark pages.
var states = []stateStyle{
	{string(toolflow.StatusPending), "fill:#f1f3f5,stroke:#868e96,color:#212529"},
	{string(toolflow.StatusRunning), "fill:#d0ebff,stroke:#1971c2,color:#212529,stroke-width:2px"},
	{string(toolflow.StatusSucceeded), "fill:#d3f9d8,stroke:#2f9e44,color:#212529"},
	{string(toolflow.StatusFailed), "fill:#ffe3e3,stroke:#e03131,color:#212529,stroke-width:3px"},
	{string(toolflow.StatusUnknown), "fill:#fff3bf,stroke:#e03131,color:#212529,stroke-width:3px,stroke-dasharray:6 3"},
	{string(toolflow.StatusRejected), "fill:#ffe8cc,stroke:#e8590c,color:#212529"},
	{string(toolflow.StatusCancelled), "fill:#f1f3f5,stroke:#868e96,color:#495057,stroke-dasharray:3 3"},
	{string(toolflow.StatusSkipped), "fill:#f8f9fa,stroke:#adb5bd,color:#495057,stroke-dasharray:3 3"},
	{string(toolflow.StatusWaiting), "fill:#fff3bf,stroke:#f08c00,color:#212529"},
}

// quoteMermaid gives lines as one quoted label.
func quoteMermaid(lines []string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = escapeMermaid(EscapeLine(toolflow.Clip(line, longestLabel)))
	}
	return `"` + strings.Join(out, "<br>") + `"`
}

// escapeMermaid leaves letters, digits and harmless marks, and writes the rest as Mermaid's own
// #NN; codes: quotes and brackets end a label, < and & are HTML, * and ` are Markdown, and # and ;
// start and end a code. A colon before a code would be taken for a style, and ° and ¶ stand for
// codes inside Mermaid.
func escapeMermaid(line string) string {
	runes := []rune(line)
	letterAt := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	var b strings.Builder
	for i, r := range runes {
		plain := false
		switch {
		case letterAt(i) || r == ',' || r == '/':
			plain = true
		case r == ' ' || r == '-': // at the start, a list or code to Markdown
			plain = i > 0
		case r == '.': // before a space, a numbered list
			plain = letterAt(i + 1)
		case r == '_': // around a word, emphasis
			plain = letterAt(i-1) && letterAt(i+1)
		case r > unicode.MaxASCII:
			plain = r != '°' && r != '¶'
		}
		if plain {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// quoteYAML gives text as a double-quoted scalar on one line.
func quoteYAML(text string) string {
	text = EscapeLine(toolflow.Clip(text, longestLabel))
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
