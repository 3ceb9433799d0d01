package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolflow-go/toolflow"
)

const (
	columns   = 80
	shownMost = 20 // steps of a stage and lines of a step; the rest is counted
)

// Stages writes the steps as numbered waves: those of one stage could run at the same time, when the
// stage before has ended. Beneath each step stand its server, its state, what fills its inputs and
// what it waits for without data. Lines aim at 80 columns, long lists are cut and counted.
func Stages(w io.Writer, p Picture, stages [][]int32) error {
	if err := p.check(); err != nil {
		return err
	}
	l := list{picture: p, into: p.into(), digits: len(strconv.Itoa(len(stages)))}
	if p.Title != "" {
		l.b.WriteString(EscapeLine(p.Title) + "\n\n")
	}
	for n, stage := range stages {
		for _, i := range stage {
			if i < 0 || int(i) >= len(p.Nodes) {
				return fmt.Errorf("stage %d names step %d: the picture has %d, numbered from 0", n+1, i, len(p.Nodes))
			}
		}
		l.stage(n+1, stage)
	}
	_, err := io.WriteString(w, l.b.String())
	return err
}

// into gives, for each node, the edges that lead to it.
func (p Picture) into() [][]Edge {
	out := make([][]Edge, len(p.Nodes))
	for _, e := range p.Edges {
		out[e.To] = append(out[e.To], e)
	}
	return out
}

// A list is the text while it is written.
type list struct {
	b       strings.Builder
	picture Picture
	into    [][]Edge
	digits  int // of the last stage's number
}

func (l *list) name(i int) string {
	return EscapeLine(toolflow.Clip(l.picture.Nodes[i].name(), longestLabel))
}

// stage writes the numbered line and the steps beneath it; a step on its own stands in that line.
func (l *list) stage(number int, stage []int32) {
	fmt.Fprintf(&l.b, "%*d  ", l.digits, number)
	if len(stage) == 1 {
		l.step(int(stage[0]), 0, 0)
		return
	}
	names := make([]string, len(stage))
	widest := 0
	for k, i := range stage {
		names[k] = l.name(int(i))
		if k < shownMost {
			widest = max(widest, width(names[k]))
		}
	}
	count := fmt.Sprintf("  (%d steps)", len(stage))
	l.b.WriteString(fit(names, columns-l.digits-2-len(count)) + count + "\n")
	for k, i := range stage {
		if k == shownMost {
			l.line(4, fmt.Sprintf("and %d more", len(stage)-k))
			break
		}
		l.indent(4)
		l.step(int(i), 2, min(widest, 30))
	}
}

// step writes one step, its name padded to the given width, and beneath it what leads to it.
func (l *list) step(i, deeper, pad int) {
	n := l.picture.Nodes[i]
	head := l.name(i)
	if n.Server != "" || n.State != "" {
		head += strings.Repeat(" ", max(0, pad-width(head)))
	}
	if n.Server != "" {
		head += "  on " + EscapeLine(n.Server)
	}
	if n.State != "" {
		head += "  " + EscapeLine(n.State)
	}
	l.b.WriteString(head + "\n")
	l.sources(l.into[i], 4+deeper)
}

// sources writes what fills a step's inputs, and what it waits for besides.
func (l *list) sources(edges []Edge, indent int) {
	inputs, after := 0, []string(nil)
	for _, e := range edges {
		if e.orders() {
			after = append(after, l.name(e.From))
		}
		for _, label := range e.Labels {
			if inputs++; inputs <= shownMost {
				l.binding(EscapeLine(label), l.name(e.From), indent)
			}
		}
	}
	if inputs > shownMost {
		l.line(indent, fmt.Sprintf("and %d more inputs", inputs-shownMost))
	}
	if len(after) > 0 {
		l.line(indent, "after "+fit(after, columns-l.digits-indent-len("after ")))
	}
}

// binding writes `input ← step path`, on two lines when it is too long for one.
func (l *list) binding(label, step string, indent int) {
	input, path, ok := strings.Cut(label, " ← ")
	if !ok {
		l.line(indent, label+" ← "+step)
		return
	}
	source := "← " + step + " " + path
	if l.digits+indent+width(input)+1+width(source) <= columns {
		l.line(indent, input+" "+source)
		return
	}
	l.line(indent, input)
	l.line(indent+2, source)
}

func (l *list) indent(n int) { l.b.WriteString(strings.Repeat(" ", l.digits+n)) }

func (l *list) line(indent int, text string) {
	l.indent(indent)
	l.b.WriteString(text + "\n")
}

// fit joins names with commas as far as they fit, and counts the rest. The first always stands.
func fit(names []string, room int) string {
	const more = 16 // what ", and 99,999 more" may take
	out := ""
	for k, name := range names {
		next := name
		if k > 0 {
			next = out + ", " + name
		}
		left := len(names) - k - 1
		if k > 0 && (left > 0 && width(next)+more > room || width(next) > room) {
			return fmt.Sprintf("%s, and %d more", out, len(names)-k)
		}
		out = next
	}
	return out
}

func width(s string) int { return utf8.RuneCountInString(s) }
