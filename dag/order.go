package dag

import "time"

// Order gives every node after all of its upstream ones; where that leaves a choice, in document
// order. The slice is the graph's own: do not change it.
func (g *Graph) Order() []int32 { return g.order }

// order takes, again and again, the lowest node whose upstream nodes are all taken. Nodes on a cycle
// or downstream of one never get ready, and so are left out.
func order(up, down lists) []int32 {
	waits := make([]int32, up.len())
	out := make([]int32, 0, up.len())
	var ready lowest
	for i := range waits {
		if waits[i] = up.at[i+1] - up.at[i]; waits[i] == 0 {
			ready = append(ready, int32(i)) // ascending, and so a heap already
		}
	}
	for len(ready) > 0 {
		i := ready.pop()
		out = append(out, i)
		for _, j := range down.of(i) {
			if waits[j]--; waits[j] == 0 {
				ready.push(j)
			}
		}
	}
	return out
}

// Stages groups the nodes into waves: a node is one stage past the latest of its upstream nodes, so
// that each stage could start when the one before has ended. Within a stage document order holds.
func (g *Graph) Stages() [][]int32 {
	stage := make([]int, len(g.names))
	last := -1
	for _, i := range g.order {
		for _, u := range g.up.of(i) {
			stage[i] = max(stage[i], stage[u]+1)
		}
		last = max(last, stage[i])
	}
	out := make([][]int32, last+1)
	for i, s := range stage {
		out[s] = append(out[s], int32(i))
	}
	return out
}

// CriticalPath gives the path from a source to a sink whose weights add up to the most: no run can
// end sooner than its steps one after another. A nil weight counts 1 for each node; weights must not
// be negative. Of equal paths, the one whose nodes come first in the document, seen from its end.
func (g *Graph) CriticalPath(weight func(i int) time.Duration) []int32 {
	if weight == nil {
		weight = func(int) time.Duration { return 1 }
	}
	end := make([]time.Duration, len(g.names))
	before := make([]int32, len(g.names)) // on the longest path to each node, or -1
	for _, i := range g.order {
		before[i] = longest(g.up.of(i), end)
		if before[i] >= 0 {
			end[i] = end[before[i]]
		}
		end[i] += weight(int(i))
	}
	var path []int32
	for i := longest(g.Sinks(), end); i >= 0; i = before[i] {
		path = append(path, i)
	}
	for a, b := 0, len(path)-1; a < b; a, b = a+1, b-1 {
		path[a], path[b] = path[b], path[a]
	}
	return path
}

// longest picks the first of the nodes with the greatest end, or -1 from none.
func longest(nodes []int32, end []time.Duration) int32 {
	best := int32(-1)
	for _, i := range nodes {
		if best < 0 || end[i] > end[best] {
			best = i
		}
	}
	return best
}

// Priorities gives, for each node, how many nodes the longest path from it to a sink has. A
// scheduler that starts the node with the most first keeps the critical path busy.
func (g *Graph) Priorities() []int64 {
	out := make([]int64, len(g.names))
	for k := len(g.order) - 1; k >= 0; k-- {
		i := g.order[k]
		for _, d := range g.down.of(i) {
			out[i] = max(out[i], out[d])
		}
		out[i]++
	}
	return out
}

// lowest is a heap of nodes. container/heap would box each number: 100,000 nodes would then cost as
// many allocations.
type lowest []int32

func (h *lowest) push(i int32) {
	s := append(*h, i)
	at := len(s) - 1
	for at > 0 && s[(at-1)/2] > i {
		s[at] = s[(at-1)/2]
		at = (at - 1) / 2
	}
	s[at] = i
	*h = s
}

func (h *lowest) pop() int32 {
	s := *h
	top, i := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	for at := 0; len(s) > 0; {
		next := 2*at + 1
		if next+1 < len(s) && s[next+1] < s[next] {
			next++
		}
		if next >= len(s) || s[next] >= i {
			s[at] = i
			break
		}
		s[at] = s[next]
		at = next
	}
	return top
}
