package dag

// lists holds one list of nodes for each node, in two flat slices: the list of node i is
// to[at[i]:at[i+1]]. A hundred thousand nodes with twice as many edges take 1.2 MB that way, and
// walking them touches memory in order.
type lists struct{ at, to []int32 }

func (l lists) of(i int32) []int32 { return l.to[l.at[i]:l.at[i+1]:l.at[i+1]] }

func (l lists) len() int { return len(l.at) - 1 }

// group collects, for each of n nodes, the far ends of its edges.
func group(n int, edges []Edge) lists {
	l := lists{at: make([]int32, n+1), to: make([]int32, len(edges))}
	for _, e := range edges {
		l.at[e.From+1]++
	}
	for i := range n {
		l.at[i+1] += l.at[i]
	}
	next := append([]int32(nil), l.at...)
	for _, e := range edges {
		l.to[next[e.From]] = int32(e.To)
		next[e.From]++
	}
	return l
}

// turned gives the lists of the same edges seen from their other ends. Nodes are visited in
// ascending order, so each list comes out sorted.
func (l lists) turned() lists {
	n := l.len()
	out := lists{at: make([]int32, n+1), to: make([]int32, len(l.to))}
	for _, j := range l.to {
		out.at[j+1]++
	}
	for i := range n {
		out.at[i+1] += out.at[i]
	}
	next := append([]int32(nil), out.at...)
	for i := range n {
		for _, j := range l.of(int32(i)) {
			out.to[next[j]] = int32(i)
			next[j]++
		}
	}
	return out
}

// merged drops what repeats in sorted lists, in place.
func (l lists) merged() lists {
	kept, start := int32(0), int32(0)
	for i := range l.len() {
		end := l.at[i+1]
		for k := start; k < end; k++ {
			if k == start || l.to[k] != l.to[k-1] {
				l.to[kept] = l.to[k]
				kept++
			}
		}
		start = end
		l.at[i+1] = kept
	}
	l.to = l.to[:kept]
	return l
}

// empty gives the nodes whose list is empty.
func (l lists) empty() []int32 {
	var out []int32
	for i := range l.len() {
		if l.at[i] == l.at[i+1] {
			out = append(out, int32(i))
		}
	}
	return out
}
