package runner

import "time"

// A lane holds the ready steps of one server, the next one first.
type lane struct {
	ready      []int32 // a heap
	limit      int     // most in flight; 0: none
	inFlight   int
	priorities []int64
}

func (l *lane) hasRoom() bool { return l.limit == 0 || l.inFlight < l.limit }

// before reports whether step a starts before step b.
func (l *lane) before(a, b int32) bool {
	if l.priorities != nil && l.priorities[a] != l.priorities[b] {
		return l.priorities[a] > l.priorities[b]
	}
	return a < b
}

func (l *lane) push(i int) {
	l.ready = append(l.ready, int32(i))
	siftUp(l.ready, l.before)
}

func (l *lane) pop() int {
	i := l.ready[0]
	l.ready = siftDown(l.ready, l.before)
	return int(i)
}

// delayed is a step that waits for its next attempt.
type delayed struct {
	due  time.Time
	step int32
}

type delayHeap []delayed

func sooner(a, b delayed) bool {
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return a.step < b.step
}

func (h *delayHeap) push(d delayed) {
	*h = append(*h, d)
	siftUp(*h, sooner)
}

func (h *delayHeap) pop() int {
	i := (*h)[0].step
	*h = siftDown(*h, sooner)
	return int(i)
}

// siftUp brings the last element of a heap to its place.
func siftUp[T any](h []T, less func(a, b T) bool) {
	for k := len(h) - 1; k > 0; {
		up := (k - 1) / 2
		if !less(h[k], h[up]) {
			return
		}
		h[k], h[up] = h[up], h[k]
		k = up
	}
}

// siftDown takes the first element out of a heap.
func siftDown[T any](h []T, less func(a, b T) bool) []T {
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for k := 0; ; {
		next := 2*k + 1
		if next >= last {
			return h
		}
		if next+1 < last && less(h[next+1], h[next]) {
			next++
		}
		if !less(h[next], h[k]) {
			return h
		}
		h[k], h[next] = h[next], h[k]
		k = next
	}
}

// offer puts a step into its lane if it can start.
func (s *State) offer(i int) {
	if s.startable(i) {
		s.lanes[s.steps[i].lane].push(i)
	}
}

func (s *State) startable(i int) bool {
	return s.ready(i) && !s.steps[i].claimed && s.steps[i].due.IsZero()
}

// drop takes steps off the front of a lane that have started, ended or been skipped meanwhile.
func (s *State) drop(l *lane) {
	for len(l.ready) > 0 {
		if s.startable(int(l.ready[0])) {
			return
		}
		l.pop()
	}
}

func (s *State) claim(i int) {
	if step := &s.steps[i]; !step.claimed {
		step.claimed = true
		s.inFlight++
		s.lanes[step.lane].inFlight++
	}
}

func (s *State) release(i int) {
	if step := &s.steps[i]; step.claimed {
		step.claimed = false
		s.inFlight--
		s.lanes[step.lane].inFlight--
	}
}
