package runner

import (
	"context"
	"iter"
	"sync"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

// A Running is a run that goes on in the background.
type Running struct {
	done   chan struct{}
	report *Report
	err    error

	mu     sync.Mutex
	more   *sync.Cond
	events []toolflow.Event
	ended  bool
}

// Start is [Runner.Run] in the background. Cancelling ctx stops it. The events are kept until the
// Running is dropped.
func (r *Runner) Start(ctx context.Context, doc *toolflow.Document, in plan.Input) *Running {
	run := &Running{done: make(chan struct{})}
	run.more = sync.NewCond(&run.mu)
	own := *r
	own.o.Observe = func(e toolflow.Event) {
		if r.o.Observe != nil {
			r.o.Observe(e)
		}
		run.mu.Lock()
		run.events = append(run.events, e)
		run.mu.Unlock()
		run.more.Broadcast()
	}
	go func() {
		defer close(run.done)
		run.report, run.err = own.Run(ctx, doc, in)
		run.mu.Lock()
		run.ended = true
		run.mu.Unlock()
		run.more.Broadcast()
	}()
	return run
}

// Events gives the run's events from the first on, as they come, until the run ends. A slow reader
// never holds the run up; several may read.
func (run *Running) Events() iter.Seq[toolflow.Event] {
	return func(yield func(toolflow.Event) bool) {
		for i := 0; ; i++ {
			run.mu.Lock()
			for i >= len(run.events) && !run.ended {
				run.more.Wait()
			}
			if i >= len(run.events) {
				run.mu.Unlock()
				return
			}
			e := run.events[i]
			run.mu.Unlock()
			if !yield(e) {
				return
			}
		}
	}
}

// Wait gives what Run would have given, when the run has ended.
func (run *Running) Wait() (*Report, error) {
	<-run.done
	return run.report, run.err
}
