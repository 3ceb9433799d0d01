package dag

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parse reads "a b c; a > c; b > c": the nodes in document order, then the edges.
func parse(t testing.TB, text string) ([]string, []Edge) {
	t.Helper()
	parts := strings.Split(text, ";")
	names := strings.Fields(parts[0])
	var edges []Edge
	for _, part := range parts[1:] {
		from, to, ok := strings.Cut(strings.TrimSpace(part), " > ")
		e := Edge{slices.Index(names, from), slices.Index(names, to)}
		if !ok || e.From < 0 || e.To < 0 {
			t.Fatalf("edge %q of %q: want `from > to` between named nodes", part, text)
		}
		edges = append(edges, e)
	}
	return names, edges
}

func build(t testing.TB, text string) *Graph {
	t.Helper()
	g, err := New(parse(t, text))
	if err != nil {
		t.Fatalf("New(%q): %v", text, err)
	}
	return g
}

// spell gives the names of nodes, space between.
func spell(g *Graph, nodes []int32) string {
	var out []string
	for _, i := range nodes {
		out = append(out, g.Name(int(i)))
	}
	return strings.Join(out, " ")
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name, graph string
		order       string
		stages      string // split by " | "
		critical    string
	}{
		{"nothing", "", "", "", ""},
		{"alone", "a", "a", "a", "a"},
		{"document order where free", "c a b", "c a b", "c a b", "c"},
		{"order in the file means nothing", "ask research; research > ask", "research ask", "research | ask", "research ask"},
		{"edges repeat", "a b; a > b; a > b; a > b", "a b", "a | b", "a b"},
		{"diamond", "join left right start; start > left; start > right; left > join; right > join",
			"start left right join", "start | left right | join", "start left join"},
		{"a freed node of lower number goes first", "z b a; a > z", "b a z", "b a | z", "a z"},
		{"stage by the longest path", "a b c d; a > d; a > b; b > c; c > d", "a b c d", "a | b | c | d", "a b c d"},
		{"two islands", "a b x y; a > b; x > y", "a b x y", "a x | b y", "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := build(t, c.graph)
			if got := spell(g, g.Order()); got != c.order {
				t.Errorf("order: got %q, want %q", got, c.order)
			}
			var stages []string
			for _, s := range g.Stages() {
				stages = append(stages, spell(g, s))
			}
			if got := strings.Join(stages, " | "); got != c.stages {
				t.Errorf("stages: got %q, want %q", got, c.stages)
			}
			if got := spell(g, g.CriticalPath(nil)); got != c.critical {
				t.Errorf("critical path: got %q, want %q", got, c.critical)
			}
		})
	}
}

func TestNeighbours(t *testing.T) {
	g := build(t, "d c b a; a > d; c > d; a > d; b > d; a > c")
	got := map[string]string{
		"upstream of d": spell(g, g.Upstream(0)), "downstream of a": spell(g, g.Downstream(3)),
		"sources": spell(g, g.Sources()), "sinks": spell(g, g.Sinks()),
	}
	want := map[string]string{
		"upstream of d": "c b a", "downstream of a": "d c", "sources": "b a", "sinks": "d",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("neighbours (-want +got):\n%s", diff)
	}
	if g.Len() != 4 {
		t.Errorf("Len: got %d, want 4", g.Len())
	}
	grown := append(g.Upstream(0), 99) // must not reach the neighbour's list
	if got := spell(g, g.Upstream(1)); got != "a" {
		t.Errorf("after appending to another list (%v): upstream of c is %q, want %q", grown, got, "a")
	}
}

func TestClosure(t *testing.T) {
	g := build(t, "e d c b a; a > b; b > c; a > d; d > e")
	for _, c := range []struct {
		targets []int
		want    string
	}{
		{nil, ""},
		{[]int{4}, "a"},
		{[]int{2}, "c b a"},
		{[]int{2, 2, 1}, "d c b a"},
		{[]int{0, 2}, "e d c b a"},
	} {
		if got := spell(g, g.Closure(c.targets)); got != c.want {
			t.Errorf("Closure(%v): got %q, want %q", c.targets, got, c.want)
		}
	}
}

func TestCriticalPathByWeight(t *testing.T) {
	g := build(t, "start quick slow join; start > quick; start > slow; quick > join; slow > join")
	weights := map[string]time.Duration{"start": time.Second, "quick": time.Second, "slow": time.Minute, "join": 0}
	got := spell(g, g.CriticalPath(func(i int) time.Duration { return weights[g.Name(i)] }))
	if want := "start slow join"; got != want {
		t.Errorf("critical path: got %q, want %q", got, want)
	}
}

func TestPriorities(t *testing.T) {
	g := build(t, "a b c d e; a > b; b > c; a > d")
	if diff := cmp.Diff([]int64{3, 2, 1, 1, 1}, g.Priorities()); diff != "" {
		t.Errorf("priorities (-want +got):\n%s", diff)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		names []string
		edges []Edge
		want  string
	}{
		{[]string{"a", "b", "a"}, nil, `nodes 0 and 2 are both called "a": names must differ`},
		{[]string{"a"}, []Edge{{0, 1}}, "edge 0 -> 1 names a node that is not there: there are 1, numbered from 0"},
		{[]string{"a"}, []Edge{{-1, 0}}, "edge -1 -> 0 names a node that is not there: there are 1, numbered from 0"},
		{nil, []Edge{{0, 0}}, "edge 0 -> 0 names a node that is not there: there are 0, numbered from 0"},
	} {
		if _, err := New(c.names, c.edges); err == nil || err.Error() != c.want {
			t.Errorf("New(%q, %v): got error %v, want %q", c.names, c.edges, err, c.want)
		}
	}
}

func TestCycles(t *testing.T) {
	for _, c := range []struct{ name, graph, want string }{
		{"itself", "a; a > a", "a -> a"},
		{"two", "b a; a > b; b > a", "a -> b -> a"},
		{"three, from the smallest name", "c b a; b > c; c > a; a > b", "a -> b -> c -> a"},
		{"the shortest of one component", "a b c d; a > b; b > c; c > d; d > a; d > c", "c -> d -> c"},
		{"a self-loop is the shortest", "a b; a > b; b > a; b > b", "b -> b"},
		{"of equal length the first by name", "a c b; a > c; c > a; a > b; b > a", "a -> b -> a"},
		{"upstream and downstream nodes are not named", "in a b out; in > a; a > b; b > a; b > out", "a -> b -> a"},
		{"one of each component, by name", "y x b a; x > y; y > x; a > b; b > a; b > x", "a -> b -> a; x -> y -> x"},
		{"sorted by the name shown", "a b c d; a > c; c > a; c > c; b > d; d > b", "b -> d -> b; c -> c"},
		{"joined cycles are one component", "a b c d e; a > b; b > a; b > c; c > d; d > e; e > b", "a -> b -> a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(parse(t, c.graph))
			var cycle *CycleError
			if !errors.As(err, &cycle) {
				t.Fatalf("got error %v, want a *CycleError", err)
			}
			if got, want := err.Error(), "tools wait for each other: "+c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestCycleErrorIsCutShort(t *testing.T) {
	long := make([]string, 45)
	for i := range long {
		long[i] = fmt.Sprintf("t%02d", i)
	}
	const want = "tools wait for each other: t00 -> t01 -> t02 -> t03 -> t04 -> t05 -> t06 -> t07 -> t08 -> t09 -> " +
		"t10 -> t11 -> t12 -> t13 -> t14 -> t15 -> t16 -> t17 -> t18 -> t19 -> (5 more) -> " +
		"t25 -> t26 -> t27 -> t28 -> t29 -> t30 -> t31 -> t32 -> t33 -> t34 -> t35 -> t36 -> t37 -> t38 -> t39 -> " +
		"t40 -> t41 -> t42 -> t43 -> t44 -> t00"
	if got := (&CycleError{Cycles: [][]string{long}}).Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	many := make([][]string, 23)
	for i := range many {
		many[i] = []string{"a"}
	}
	if got, want := (&CycleError{Cycles: many}).Error(), "; a -> a; and 3 more cycles"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want it to end in %q", got, want)
	}
}

func TestGraphView(t *testing.T) {
	g := build(t, "a b c; a > b; a > c; a > b")
	view := g.Graph()
	edges, err := view.Size()
	if err != nil || edges != 2 {
		t.Errorf("Size: got %d, %v, want 2 edges", edges, err)
	}
	if err := view.RemoveEdge("a", "b"); err != nil {
		t.Fatal(err)
	}
	if got := spell(g, g.Downstream(0)); got != "b c" {
		t.Errorf("after changing the view, downstream of a is %q, want %q", got, "b c")
	}
}
