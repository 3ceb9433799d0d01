package runner

import (
	"slices"
	"sync"

	"github.com/toolflow-go/toolflow"
)

// A Journal makes the events of runs durable. Append takes an event, in order, and calls done once:
// with nil when the event will survive, with an error when it may not. done may be called at once or
// later, from any goroutine, in the order of the events. Append is called by one goroutine per run.
type Journal interface {
	Append(e toolflow.Event, done func(error))
}

// A MemoryJournal keeps events in memory, for tests and for embedders who want to look at them. The
// zero value is ready, and safe for concurrent use.
type MemoryJournal struct {
	mu     sync.Mutex
	events []toolflow.Event
}

// Append keeps the event.
func (j *MemoryJournal) Append(e toolflow.Event, done func(error)) {
	j.mu.Lock()
	j.events = append(j.events, e)
	j.mu.Unlock()
	done(nil)
}

// Events gives the events so far.
func (j *MemoryJournal) Events() []toolflow.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.events)
}
