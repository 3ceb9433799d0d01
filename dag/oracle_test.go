package dag

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dominikbraun/graph"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawGraph makes names in random document order and random edges, cyclic or not.
func drawGraph(t *rapid.T) ([]string, []Edge) {
	n := rapid.IntRange(0, 60).Draw(t, "nodes")
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("t%02d", i)
	}
	names = rapid.Permutation(names).Draw(t, "names")
	if n == 0 {
		return names, nil
	}
	forward := rapid.Bool().Draw(t, "forward") // half of the graphs are acyclic
	node := rapid.IntRange(0, n-1)
	edge := rapid.Custom(func(t *rapid.T) Edge {
		e := Edge{node.Draw(t, "from"), node.Draw(t, "to")}
		if forward && e.From > e.To {
			e.From, e.To = e.To, e.From
		}
		return e
	})
	edges := rapid.SliceOfN(edge, 0, 2*n).Draw(t, "edges")
	if forward {
		edges = slices.DeleteFunc(edges, func(e Edge) bool { return e.From == e.To })
	}
	return names, edges
}

// oracle builds the graph with the library that the tests compare with.
func oracle(t *rapid.T, names []string, edges []Edge) graph.Graph[string, string] {
	g := graph.New(graph.StringHash, graph.Directed())
	for _, name := range names {
		if err := g.AddVertex(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range edges {
		if err := g.AddEdge(names[e.From], names[e.To]); err != nil && !errors.Is(err, graph.ErrEdgeAlreadyExists) {
			t.Fatal(err)
		}
	}
	return g
}

func TestAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, edges := drawGraph(t)
		g, err := New(names, edges)
		other := oracle(t, names, edges)
		cyclic := cyclicComponents(t, other, edges, names)
		if len(cyclic) > 0 {
			checkCycles(t, err, cyclic, names, edges)
			return
		}
		if err != nil {
			t.Fatalf("the oracle sees no cycle, New says: %v", err)
		}
		checkOrder(t, g, edges)
		checkStages(t, g)
		checkClosure(t, g, other)
		checkView(t, g, other)
	})
}

func cyclicComponents(t *rapid.T, g graph.Graph[string, string], edges []Edge, names []string) [][]string {
	all, err := graph.StronglyConnectedComponents(g)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c []string) bool {
		return len(c) == 1 && !slices.ContainsFunc(edges, func(e Edge) bool { return e.From == e.To && names[e.From] == c[0] })
	})
}

// checkCycles holds that there is one real cycle a component, none is shorter, and each starts at
// its smallest name.
func checkCycles(t *rapid.T, err error, components [][]string, names []string, edges []Edge) {
	var cycle *CycleError
	if !errors.As(err, &cycle) {
		t.Fatalf("the oracle sees cycles in %v, New says: %v", components, err)
	}
	if len(cycle.Cycles) != len(components) {
		t.Fatalf("got %d cycles, want one for each of %v", len(cycle.Cycles), components)
	}
	for k, c := range cycle.Cycles {
		if c[0] != slices.Min(c) || k > 0 && cycle.Cycles[k-1][0] >= c[0] {
			t.Fatalf("cycle %v does not start at its smallest name, or the cycles are not sorted", c)
		}
		for i := range c {
			e := Edge{slices.Index(names, c[i]), slices.Index(names, c[(i+1)%len(c)])}
			if !slices.Contains(edges, e) {
				t.Fatalf("cycle %v: there is no edge %v", c, e)
			}
		}
		home := slices.IndexFunc(components, func(m []string) bool { return slices.Contains(m, c[0]) })
		if want := girth(components[home], names, edges); len(c) != want {
			t.Fatalf("cycle %v: the shortest of its component has %d nodes", c, want)
		}
	}
}

// girth is the length of the shortest cycle among members, by taking all steps of every length.
func girth(members []string, names []string, edges []Edge) int {
	best := len(members)
	for _, start := range members {
		at := map[string]bool{start: true}
		for steps := 1; steps < best; steps++ {
			next := map[string]bool{}
			for _, e := range edges {
				if at[names[e.From]] && slices.Contains(members, names[e.To]) {
					next[names[e.To]] = true
				}
			}
			if at = next; at[start] {
				best = steps
			}
		}
	}
	return best
}

func checkOrder(t *rapid.T, g *Graph, edges []Edge) {
	place := make([]int, g.Len())
	for k, i := range g.Order() {
		place[i] = k
	}
	if len(g.Order()) != g.Len() {
		t.Fatalf("%d of %d nodes are in order", len(g.Order()), g.Len())
	}
	for _, e := range edges {
		if place[e.From] >= place[e.To] {
			t.Fatalf("order %v: edge %v runs backwards", g.Order(), e)
		}
	}
	// Document order where free: each node could not have come before a higher one just before it.
	for k := 1; k < g.Len(); k++ {
		a, b := g.Order()[k-1], g.Order()[k]
		if a > b && !slices.Contains(g.Upstream(int(b)), a) {
			t.Fatalf("order %v: %d stands before %d without a reason", g.Order(), a, b)
		}
	}
}

func checkStages(t *rapid.T, g *Graph) {
	stage := map[int32]int{}
	for s, nodes := range g.Stages() {
		if !slices.IsSorted(nodes) || len(nodes) == 0 {
			t.Fatalf("stage %d: %v", s, nodes)
		}
		for _, i := range nodes {
			stage[i] = s
		}
	}
	for i := range g.Len() {
		want := 0
		for _, u := range g.Upstream(i) {
			want = max(want, stage[u]+1)
		}
		if stage[int32(i)] != want {
			t.Fatalf("node %d is in stage %d, want %d", i, stage[int32(i)], want)
		}
	}
	if path := g.CriticalPath(nil); len(path) != len(g.Stages()) {
		t.Fatalf("critical path %v, but %d stages", path, len(g.Stages()))
	}
	for i, p := range g.Priorities() {
		if p < 1 || int(p)+stage[int32(i)] > len(g.Stages()) {
			t.Fatalf("node %d of stage %d has priority %d in %d stages", i, stage[int32(i)], p, len(g.Stages()))
		}
	}
}

// checkClosure holds that the closure of a node is what the oracle reaches from it upstream.
func checkClosure(t *rapid.T, g *Graph, other graph.Graph[string, string]) {
	up, err := other.PredecessorMap()
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Len() {
		want := map[string]bool{}
		for todo := []string{g.Name(i)}; len(todo) > 0; todo = todo[1:] {
			if want[todo[0]] {
				continue
			}
			want[todo[0]] = true
			for u := range up[todo[0]] {
				todo = append(todo, u)
			}
		}
		got := map[string]bool{}
		closure := g.Closure([]int{i})
		for _, j := range closure {
			got[g.Name(int(j))] = true
		}
		if diff := cmp.Diff(want, got); diff != "" || !slices.IsSorted(closure) {
			t.Fatalf("closure of %s is %v (-want +got):\n%s", g.Name(i), closure, diff)
		}
	}
}

func checkView(t *rapid.T, g *Graph, other graph.Graph[string, string]) {
	got, err := g.Graph().AdjacencyMap()
	if err != nil {
		t.Fatal(err)
	}
	want, err := other.AdjacencyMap()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("view (-want +got):\n%s", diff)
	}
}

// The edges' order is no input.
func TestEdgeOrderMeansNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, edges := drawGraph(t)
		g, err := New(names, edges)
		other, otherErr := New(names, rapid.Permutation(edges).Draw(t, "shuffled"))
		if fmt.Sprint(err) != fmt.Sprint(otherErr) {
			t.Fatalf("got %v, and shuffled %v", err, otherErr)
		}
		if err == nil && !slices.Equal(g.Order(), other.Order()) {
			t.Fatalf("got %v, and shuffled %v", g.Order(), other.Order())
		}
	})
}
