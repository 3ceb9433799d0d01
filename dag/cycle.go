package dag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A CycleError lists tools that wait for each other, so that none of them could ever start.
type CycleError struct {
	// Cycles holds one cycle for each strongly connected component, as the names along its edges.
	// Each starts at its smallest name, which is not repeated at the end; they are sorted by it. A
	// cycle is a shortest one of its component (the first of these by names) unless the components
	// are huge: looking for it ends after some 16 million edges, and what is shortest by then is
	// given. One that is shortest through the component's smallest name is always found.
	Cycles [][]string
}

const (
	exactBudget = 1 << 24 // edges looked at for shorter cycles, in all components together
	shownNames  = 40      // of one cycle, in the error's text
	shownCycles = 20
)

// Error names the cycles on one line. Of a cycle with very many names, the middle is left out.
func (e *CycleError) Error() string {
	var b strings.Builder
	b.WriteString("tools wait for each other: ")
	for i, c := range e.Cycles[:min(len(e.Cycles), shownCycles)] {
		if i > 0 {
			b.WriteString("; ")
		}
		writeCycle(&b, c)
	}
	if more := len(e.Cycles) - shownCycles; more > 0 {
		fmt.Fprintf(&b, "; and %d more cycles", more)
	}
	return b.String()
}

func writeCycle(b *strings.Builder, names []string) {
	head, tail := names, []string(nil)
	if len(names) > shownNames {
		head, tail = names[:shownNames/2], names[len(names)-shownNames/2:]
	}
	for _, name := range head {
		b.WriteString(name + " -> ")
	}
	if tail != nil {
		fmt.Fprintf(b, "(%d more) -> ", len(names)-shownNames)
	}
	for _, name := range tail {
		b.WriteString(name + " -> ")
	}
	b.WriteString(names[0])
}

// cycles gives one cycle for each component among the nodes that are not in order.
func cycles(names []string, down lists, order []int32) [][]string {
	done := make([]bool, len(names))
	for _, i := range order {
		done[i] = true
	}
	var cyclic [][]int32
	for _, c := range components(down, done) {
		if _, self := slices.BinarySearch(down.of(c[0]), c[0]); self || len(c) > 1 {
			slices.SortFunc(c, func(a, b int32) int { return cmp.Compare(names[a], names[b]) })
			cyclic = append(cyclic, c)
		}
	}
	slices.SortFunc(cyclic, func(a, b []int32) int { return cmp.Compare(names[a[0]], names[b[0]]) })

	out := make([][]string, len(cyclic))
	f := finder{local: make([]int32, len(names)), budget: exactBudget}
	for i, c := range cyclic {
		for _, v := range f.shortest(c, down) {
			out[i] = append(out[i], names[c[v]])
		}
	}
	slices.SortFunc(out, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return out
}

// components gives the strongly connected components of the nodes that are not done. It is
// Tarjan's algorithm with its own stack, since a chain may be 100,000 nodes long.
func components(down lists, done []bool) [][]int32 {
	type visit struct{ node, next int32 } // next: the first edge not followed yet
	var (
		seen  = make([]int32, down.len()) // when a node was met, from 1
		low   = make([]int32, down.len()) // the earliest node known to be reachable
		open  []int32                     // nodes whose component is not complete
		stack []visit
		clock int32
		out   [][]int32
	)
	enter := func(i int32) {
		clock++
		seen[i], low[i] = clock, clock
		open = append(open, i)
		stack = append(stack, visit{i, down.at[i]})
	}
	leave := func(i int32) {
		if low[i] == seen[i] {
			first := len(open) - 1
			for open[first] != i {
				first--
			}
			c := slices.Clone(open[first:])
			for _, j := range c {
				done[j] = true
			}
			open = open[:first]
			out = append(out, c)
		}
		if len(stack) > 0 {
			from := stack[len(stack)-1].node
			low[from] = min(low[from], low[i])
		}
	}
	for i := range down.len() {
		if !done[i] {
			enter(int32(i))
		}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == down.at[top.node+1] {
				i := top.node
				stack = stack[:len(stack)-1]
				leave(i)
				continue
			}
			j := down.to[top.next]
			top.next++
			switch {
			case done[j]:
			case seen[j] == 0:
				enter(j)
			default:
				low[top.node] = min(low[top.node], seen[j])
			}
		}
	}
	return out
}
