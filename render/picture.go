package render

import "fmt"

// A Picture is what there is to draw of a plan or a run. Nodes and edges are drawn in their order.
type Picture struct {
	Title string
	Nodes []Node
	Edges []Edge
}

// A Node is one step.
type Node struct {
	ID     string
	Label  string // what is shown; empty means the ID
	Server string // empty when it is not known
	State  string // a [toolflow.Status], or empty outside a run
}

// An Edge runs from an upstream node to a downstream one, by their places in Nodes.
type Edge struct {
	From, To int
	Labels   []string // one for each binding: `input ← path`
	Requires bool     // `requires` names it; without labels it orders without data
}

const longestLabel = 120 // bytes of a name in a picture: longer ones are cut

// orders reports whether the edge carries no data.
func (e Edge) orders() bool { return e.Requires && len(e.Labels) == 0 }

func (n Node) name() string {
	if n.Label != "" {
		return n.Label
	}
	return n.ID
}

// check refuses edges that lead nowhere.
func (p Picture) check() error {
	for _, e := range p.Edges {
		if e.From < 0 || e.From >= len(p.Nodes) || e.To < 0 || e.To >= len(p.Nodes) {
			return fmt.Errorf("edge %d -> %d leads out of the picture: it has %d nodes, numbered from 0", e.From, e.To, len(p.Nodes))
		}
	}
	return nil
}
