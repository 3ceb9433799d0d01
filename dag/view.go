package dag

import (
	"fmt"

	"github.com/dominikbraun/graph"
)

// Graph gives the same nodes and edges as a [graph.Graph], for that package's algorithms and for
// drawing tools built on it. It is made anew at each call, and changing it changes nothing here. That
// package sorts in quadratic time: take [Graph.Order] for an order.
func (g *Graph) Graph() graph.Graph[string, string] {
	out := graph.New(graph.StringHash, graph.Directed(), graph.Acyclic())
	for _, name := range g.names {
		must(out.AddVertex(name))
	}
	for i, name := range g.names {
		for _, d := range g.Downstream(i) {
			must(out.AddEdge(name, g.names[d]))
		}
	}
	return out
}

// must holds because names differ and edges do not repeat.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("dag: building the view: %v", err))
	}
}
