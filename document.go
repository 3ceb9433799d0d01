package toolflow

import "encoding/json"

// Limits of a document (docs/spec.md, "Limits").
const (
	MaxDocumentBytes = 256 << 20
	MaxDocumentDepth = 512
)

// A Document is a file that holds tools or a plan, as it was read: nothing is resolved yet. Reading
// one gives a Document and the diagnostics about it, see [ReadDocument].
type Document struct {
	File string // as the user named it

	Version      string // the `toolflow` member: "" or "1"
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage // of the plan's own input; nil when it has none
	OutputSchema json.RawMessage

	Servers []Server // in document order
	Tools   []Tool
	Steps   []Step // nil without `steps`: then each tool is a step
	Inputs  []StepInput
	Output  []Binding // Input is the name in the plan's output; nil without `output`
	Policy  Policy

	source source
	broken bool // reading it gave errors
}

// Broken reports whether reading the document gave errors: it must not be run then.
func (d *Document) Broken() bool { return d.broken }

// A StepInput is literal arguments for one step, from the document's `inputs`.
type StepInput struct {
	Step      string
	Arguments json.RawMessage // an object
}

// source finds the line and column of JSON pointers in the text a document was read from.
type source interface {
	locate(pointers []string) map[string]place
}

type place struct{ line, column int }

// EffectiveSteps gives the steps that the document describes: those of `steps`, or one per tool.
// The second value tells for each which tool of the document specifies it, -1 for none.
func (d *Document) EffectiveSteps() ([]Step, []int) {
	if d.Steps == nil {
		steps, specs := make([]Step, len(d.Tools)), make([]int, len(d.Tools))
		for i, t := range d.Tools {
			steps[i] = Step{ID: t.Name, Tool: t.Name, Server: t.Server}
			specs[i] = i
		}
		return steps, specs
	}
	byName := make(map[string][]int, len(d.Tools))
	for i, t := range d.Tools {
		byName[t.Name] = append(byName[t.Name], i)
	}
	specs := make([]int, len(d.Steps))
	for i, s := range d.Steps {
		specs[i] = pickSpec(d.Tools, byName[s.Tool], s.Server)
	}
	return d.Steps, specs
}

// pickSpec chooses among the tools of one name: the one of the step's server, else the only one.
func pickSpec(tools []Tool, candidates []int, server string) int {
	for _, i := range candidates {
		if tools[i].Server == server {
			return i
		}
	}
	if len(candidates) == 1 && (server == "" || tools[candidates[0]].Server == "") {
		return candidates[0]
	}
	return -1
}
