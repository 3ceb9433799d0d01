package dag

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const large = 100_000

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("tool_%06d", i)
	}
	return names
}

func chain(n int) (edges []Edge) {
	for i := 1; i < n; i++ {
		edges = append(edges, Edge{i - 1, i})
	}
	return edges
}

func fanOut(n int) (edges []Edge) {
	for i := 1; i < n; i++ {
		edges = append(edges, Edge{0, i})
	}
	return edges
}

func fanIn(n int) (edges []Edge) {
	for i := 1; i < n; i++ {
		edges = append(edges, Edge{i, 0})
	}
	return edges
}

// layered has 50 layers; each node has two random upstream nodes in the layer before.
func layered(n int) (edges []Edge) {
	r := rand.New(rand.NewPCG(1, 2))
	width := max(1, n/50)
	for i := width; i < n; i++ {
		before := (i/width - 1) * width
		edges = append(edges, Edge{before + r.IntN(width), i}, Edge{before + r.IntN(width), i})
	}
	return edges
}

// backwards turns every edge to run from a higher node to a lower one: the worst for document order.
func backwards(n int) []Edge {
	edges := chain(n)
	for i := range edges {
		edges[i].From, edges[i].To = edges[i].To, edges[i].From
	}
	return edges
}

func TestLargeGraphs(t *testing.T) {
	for _, c := range []struct {
		name   string
		edges  []Edge
		stages int
	}{
		{"chain", chain(large), large},
		{"backwards", backwards(large), large},
		{"fan-out", fanOut(large), 2},
		{"fan-in", fanIn(large), 2},
		{"layered", layered(large), 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			names := numbered(large)
			began := time.Now()
			g, err := New(names, c.edges)
			took := time.Since(began)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(g.Stages()); got != c.stages {
				t.Errorf("got %d stages, want %d", got, c.stages)
			}
			if got := len(g.CriticalPath(nil)); got != c.stages {
				t.Errorf("critical path: got %d nodes, want %d", got, c.stages)
			}
			if len(g.Closure([]int{large - 1, 0})) < 2 || len(g.Priorities()) != large {
				t.Error("closure or priorities are incomplete")
			}
			if took > 5*time.Second { // 0.03 s is usual; a quadratic step takes minutes
				t.Errorf("building and ordering took %v", took)
			}
		})
	}
}

// Huge components must not be searched from each of their nodes.
func TestLargeCycles(t *testing.T) {
	ring := append(chain(large), Edge{large - 1, 0})
	doubled := slices.Clone(ring) // every node also steps over its neighbour
	for i := range large {
		doubled = append(doubled, Edge{i, (i + 2) % large})
	}
	pairs := chain(large)
	for i := 0; i+1 < large; i += 2 {
		pairs = append(pairs, Edge{i + 1, i})
	}
	for _, c := range []struct {
		name           string
		edges          []Edge
		cycles, length int
	}{
		{"ring", ring, 1, large},
		{"ring with short cuts", doubled, 1, large / 2},
		{"pairs", pairs, large / 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			names := numbered(large)
			began := time.Now()
			_, err := New(names, c.edges)
			took := time.Since(began)
			var cycle *CycleError
			if !errors.As(err, &cycle) {
				t.Fatalf("got error %v, want a *CycleError", err)
			}
			if len(cycle.Cycles) != c.cycles || len(cycle.Cycles[0]) != c.length {
				t.Errorf("got %d cycles, the first of %d nodes; want %d of %d",
					len(cycle.Cycles), len(cycle.Cycles[0]), c.cycles, c.length)
			}
			if took > 20*time.Second { // a search from each node takes hours
				t.Errorf("finding the cycles took %v", took)
			}
		})
	}
}

func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			names, edges := numbered(n), layered(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New(names, edges); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCycle(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			names, edges := numbered(n), append(chain(n), Edge{n - 1, 0})
			for b.Loop() {
				if _, err := New(names, edges); err == nil {
					b.Fatal("got no error, want a *CycleError")
				}
			}
		})
	}
}
