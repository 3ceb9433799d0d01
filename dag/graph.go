// Package dag orders tools by what they need from each other.
//
// An edge runs from an upstream node to a downstream one. The package is pure: the same nodes and
// edges give the same graph, order and error text, whatever order the edges come in. It calls no
// tool and reads no result; see package runner for that. Every method is linear in nodes and edges,
// the order n log n, and none recurses, so that 100,000 nodes in one chain are as safe as ten.
package dag

import (
	"fmt"
	"math"
)

// An Edge runs from an upstream node to a downstream one. Both are numbers of nodes.
type Edge struct{ From, To int }

// A Graph holds nodes and the edges between them, without cycles. It never changes, and so may be
// shared. Nodes are numbered in document order from 0.
type Graph struct {
	names []string
	up    lists // of each node, the nodes directly upstream
	down  lists // of each node, the nodes directly downstream
	order []int32
}

// New makes a graph of the named nodes. Edges may repeat; one is kept. Nodes that wait for each
// other (or for themselves) are a [*CycleError] that names every such group. The graph keeps the
// slice of names.
func New(names []string, edges []Edge) (*Graph, error) {
	if err := check(names, edges); err != nil {
		return nil, err
	}
	g := &Graph{names: names}
	g.up = group(len(names), edges).turned().merged()
	g.down = g.up.turned()
	g.order = order(g.up, g.down)
	if len(g.order) < len(names) {
		return nil, &CycleError{Cycles: cycles(names, g.down, g.order)}
	}
	return g, nil
}

// check refuses what the index cannot hold, so that nothing after it has to look again.
func check(names []string, edges []Edge) error {
	if len(names) >= math.MaxInt32 || len(edges) >= math.MaxInt32 {
		return fmt.Errorf("%d nodes and %d edges are too many: a graph holds fewer than %d of each",
			len(names), len(edges), math.MaxInt32)
	}
	first := make(map[string]int, len(names))
	for i, name := range names {
		if before, ok := first[name]; ok {
			return fmt.Errorf("nodes %d and %d are both called %q: names must differ", before, i, name)
		}
		first[name] = i
	}
	for _, e := range edges {
		if e.From < 0 || e.From >= len(names) || e.To < 0 || e.To >= len(names) {
			return fmt.Errorf("edge %d -> %d names a node that is not there: there are %d, numbered from 0",
				e.From, e.To, len(names))
		}
	}
	return nil
}

// Len gives the number of nodes.
func (g *Graph) Len() int { return len(g.names) }

// Name gives the name of node i.
func (g *Graph) Name(i int) string { return g.names[i] }

// Upstream gives the nodes that node i waits for directly, ascending. The slice is the graph's own:
// do not change it.
func (g *Graph) Upstream(i int) []int32 { return g.up.of(int32(i)) }

// Downstream gives the nodes that wait directly for node i, ascending. The slice is the graph's
// own: do not change it.
func (g *Graph) Downstream(i int) []int32 { return g.down.of(int32(i)) }

// Sources gives the nodes that wait for none, ascending.
func (g *Graph) Sources() []int32 { return g.up.empty() }

// Sinks gives the nodes that none waits for, ascending.
func (g *Graph) Sinks() []int32 { return g.down.empty() }

// Closure gives the targets and everything upstream of them, ascending.
func (g *Graph) Closure(targets []int) []int32 {
	in := make([]bool, len(g.names))
	var todo []int32
	add := func(i int32) {
		if !in[i] {
			in[i] = true
			todo = append(todo, i)
		}
	}
	for _, t := range targets {
		add(int32(t))
	}
	size := 0
	for ; len(todo) > 0; size++ {
		last := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, u := range g.Upstream(int(last)) {
			add(u)
		}
	}
	out := make([]int32, 0, size)
	for i := range in {
		if in[i] {
			out = append(out, int32(i))
		}
	}
	return out
}
