package dag

// A finder looks for the shortest cycle of one component after another.
type finder struct {
	local  []int32 // the place of a node in its component, by the node's number in the graph
	budget int     // edges that may still be looked at beyond the first search of a component
}

// shortest gives a shortest cycle of the component c, as places in c. It searches from each node for
// the shortest way back, the smallest name first and without the names before it, so that the cycle
// found starts at its smallest name.
func (f *finder) shortest(c []int32, down lists) []int32 {
	s := search{edges: f.inside(c, down), from: make([]int32, len(c)), met: make([]int32, len(c))}
	best := s.wayBack(0, len(c)+1) // there is one: a component is connected both ways
	s.looked = 0
	for start := 1; start < len(c) && len(best) > 1 && s.looked < f.budget; start++ {
		if way := s.wayBack(int32(start), len(best)); way != nil {
			best = way
		}
	}
	f.budget -= s.looked
	return best
}

// inside gives the edges within component c between places in c, sorted. Places follow the names'
// order, and so does the search.
func (f *finder) inside(c []int32, down lists) lists {
	for place, i := range c {
		f.local[i] = int32(place)
	}
	var edges []Edge
	for place, i := range c {
		for _, j := range down.of(i) {
			if at := int(f.local[j]); at < len(c) && c[at] == j {
				edges = append(edges, Edge{place, at})
			}
		}
	}
	return group(len(c), edges).turned().turned()
}

// A search goes breadth first through one component.
type search struct {
	edges  lists
	from   []int32 // the node before, on the way from the start
	met    []int32 // the start of the search that met a node, plus 1
	queue  []int32
	looked int
}

// wayBack gives the shortest cycle through start and later places that has fewer than limit nodes,
// or nil.
func (s *search) wayBack(start int32, limit int) []int32 {
	s.queue = append(s.queue[:0], start)
	s.met[start] = start + 1
	end, level := 1, 1 // where the level ends in the queue, and how many nodes lead up to it
	for k := 0; k < len(s.queue) && level < limit; k++ {
		i := s.queue[k]
		next := s.edges.of(i)
		s.looked += len(next)
		for _, j := range next {
			if j == start {
				return s.path(start, i, level)
			}
			if j > start && s.met[j] != start+1 {
				s.met[j], s.from[j] = start+1, i
				s.queue = append(s.queue, j)
			}
		}
		if k+1 == end {
			end, level = len(s.queue), level+1
		}
	}
	return nil
}

func (s *search) path(start, last int32, length int) []int32 {
	out := make([]int32, length)
	for k := length - 1; k > 0; k-- {
		out[k] = last
		last = s.from[last]
	}
	out[0] = start
	return out
}
