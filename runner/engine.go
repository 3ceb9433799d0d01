package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

// engine runs one plan in this process. All of it belongs to the goroutine of engine.run; calls run
// in goroutines of their own and send what happened to the mailbox.
type engine struct {
	r     *Runner
	plan  *plan.Plan
	run   string
	down  map[string]error
	state *State
	box   mailbox

	values      []held
	contentRead []bool // steps of which somebody reads the raw content
	records     []record
	seq         int64
	unacked     int   // events handed to the journal and not acknowledged
	broken      error // why the journal can no longer be trusted
	fault       error // an event that could not be applied: a fault of toolflow itself
}

// held is a step's output while somebody may still read it (rule R7).
type held struct {
	value   any
	content any
	raw     json.RawMessage
	ok      bool
	readers int32 // steps that have yet to read it, and one for the run's own output
}

// execute carries a plan out; down says which servers are known to be unreachable.
func (r *Runner) execute(ctx context.Context, p *plan.Plan, down map[string]error) (*Report, error) {
	e := &engine{r: r, plan: p, run: NewRunID(), down: down, box: newMailbox(), values: make([]held, len(p.Steps)), contentRead: make([]bool, len(p.Steps)), records: make([]record, len(p.Steps))}
	decided, err := r.approve(ctx, p)
	if err != nil {
		return &Report{Run: e.run, Plan: p.Name, Status: toolflow.RunWaiting}, err
	}
	limits := map[string]int{}
	for _, s := range p.Servers {
		limits[s.Name] = s.Parallel
	}
	e.state = NewState(p, StateOptions{Run: e.run, Parallel: r.o.Parallel, Servers: limits, FailFast: r.o.FailFast})
	e.countReaders()
	e.loop(ctx, decided)
	return e.report(ctx)
}

// loop is the scheduling of a run: start what may start, wait for something to happen, until nothing
// is left. When it returns every goroutine has ended.
func (e *engine) loop(ctx context.Context, decided map[int]bool) {
	e.submit(toolflow.Event{Kind: toolflow.EventRunStarted}, nil)
	for i := range e.plan.Steps {
		if yes, ok := decided[i]; ok && yes {
			e.submit(toolflow.Event{Kind: toolflow.EventStepApproved, Step: e.plan.Steps[i].ID}, nil)
		} else if ok {
			e.submit(toolflow.Event{Kind: toolflow.EventStepRejected, Step: e.plan.Steps[i].ID}, nil)
		}
	}
	cancelled := ctx.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for e.broken == nil && e.fault == nil && ctx.Err() == nil {
			i, attempt, ok := e.state.Next(time.Now())
			if !ok {
				break
			}
			e.start(ctx, i, attempt)
		}
		halted := e.broken != nil || e.fault != nil || ctx.Err() != nil
		if e.unacked == 0 && (e.state.Done() || halted && e.state.inFlight == 0) && e.box.empty() {
			break
		}
		if due, ok := e.state.Wake(); ok && !halted {
			timer.Reset(time.Until(due))
		}
		select {
		case <-e.box.signal:
			e.receive()
		case <-timer.C:
		case <-cancelled:
			cancelled = nil
			e.submit(toolflow.Event{Kind: toolflow.EventRunStopping, Because: context.Cause(ctx).Error()}, nil)
		}
	}
	if cancelled != nil && ctx.Err() != nil {
		e.submit(toolflow.Event{Kind: toolflow.EventRunStopping, Because: context.Cause(ctx).Error()}, nil)
	}
	e.finish()
}

// receive acts on what has come into the mailbox.
func (e *engine) receive() {
	for _, act := range e.box.take() {
		act()
	}
}

// settle waits until every event so far is durable.
func (e *engine) settle() {
	for e.unacked > 0 {
		<-e.box.signal
		e.receive()
	}
}

// finish ends the run in the journal.
func (e *engine) finish() {
	e.settle()
	e.state.finish()
	e.submit(toolflow.Event{Kind: toolflow.EventRunEnded, Status: e.state.RunStatus()}, nil)
	e.settle()
}

// start runs one attempt of a step in a goroutine of its own.
func (e *engine) start(ctx context.Context, i, attempt int) {
	step := &e.plan.Steps[i]
	j := job{step: step, run: e.run, content: e.contentRead[i], upstream: e.upstream(i), input: e.plan.Input, down: e.down[step.Server],
		strict: e.r.o.Strict, lax: e.r.o.CheckWarn}
	j.release = func(args json.RawMessage, origin []toolflow.Provenance) error {
		return e.release(ctx, toolflow.Event{Kind: toolflow.EventStepStarted, Step: step.ID, Attempt: attempt, Arguments: args, Provenance: origin})
	}
	j.progress = func(p toolflow.Progress) {
		e.box.put(func() {
			e.observe(toolflow.Event{Time: time.Now().UTC(), Run: e.run, Kind: toolflow.EventStepProgress, Step: step.ID, Attempt: attempt, Progress: &p})
		})
	}
	go func() {
		// a caller that ends its goroutine (runtime.Goexit) must not leave the run waiting
		outcome, out := failed(toolflow.CodeInternal, "the call's goroutine ended without a result"), output{}
		defer func() { e.box.put(func() { e.ended(i, attempt, outcome, out) }) }()
		outcome, out = e.guard(ctx, j)
	}()
}

// guard runs execute and turns a panic into that step's failure: one bad value must not end the run.
func (e *engine) guard(ctx context.Context, j job) (outcome toolflow.Outcome, out output) {
	defer func() {
		if p := recover(); p != nil {
			outcome, out = failed(toolflow.CodeInternal, fmt.Sprintf("a fault in toolflow: %v", p)), output{}
		}
	}()
	return execute(ctx, e.r.caller, j)
}

// release makes a step's start durable before its call is written (rule X3).
func (e *engine) release(ctx context.Context, started toolflow.Event) error {
	durable := make(chan error, 1)
	e.box.put(func() { e.submit(started, durable) })
	if e.r.o.Journal == nil {
		return context.Cause(ctx)
	}
	select {
	case err := <-durable:
		if err != nil {
			return fmt.Errorf("not started: %w", err)
		}
		return context.Cause(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ended takes a step's end in: it acts once it is durable.
func (e *engine) ended(i, attempt int, outcome toolflow.Outcome, out output) {
	if outcome.Status == toolflow.StatusSucceeded && e.values[i].readers > 0 {
		v := &e.values[i]
		v.value, v.ok = out.value, true
		if _, returned := slices.BinarySearch(e.plan.Targets, i); returned && e.plan.Output == nil {
			v.raw = bytes.Clone(out.raw) // the same bytes, but not the message they came in
		}
		v.content = out.content
	}
	e.records[i].outcome(&outcome, e.r.o.KeepAll)
	e.submit(toolflow.Event{Kind: toolflow.EventStepEnded, Step: e.plan.Steps[i].ID, Attempt: attempt, Outcome: &outcome}, nil)
}

// submit numbers an event and hands it to the journal; it acts when the journal has it. durable, if
// given, is told.
func (e *engine) submit(ev toolflow.Event, durable chan<- error) {
	e.seq++
	ev.Seq, ev.Run, ev.Time = e.seq, e.run, time.Now().UTC()
	if e.r.o.Journal == nil {
		e.act(ev, nil, durable)
		return
	}
	e.unacked++
	e.r.o.Journal.Append(ev, func(err error) {
		e.box.put(func() {
			e.unacked--
			e.act(ev, err, durable)
		})
	})
}

// act applies an event. After a failed write nothing more is started (rule X3), but what has
// happened is still taken in, so that the report is true.
func (e *engine) act(ev toolflow.Event, journalErr error, durable chan<- error) {
	if journalErr != nil && e.broken == nil {
		e.broken = fmt.Errorf("the journal cannot be written: %w", journalErr)
		e.state.Apply(toolflow.Event{Kind: toolflow.EventRunStopping, Because: e.broken.Error()})
	}
	follow, err := e.state.Apply(ev)
	if err != nil && e.fault == nil {
		e.fault = err
	}
	e.record(ev)
	e.observe(ev)
	for _, f := range follow {
		e.observe(f)
	}
	if durable != nil {
		durable <- e.broken
	}
}

// record keeps what the report will say of a step, and lets go what nobody will read any more.
func (e *engine) record(ev toolflow.Event) {
	i, ok := e.state.ids[ev.Step]
	if !ok {
		return
	}
	switch ev.Kind {
	case toolflow.EventStepStarted:
		e.records[i].started(ev)
	case toolflow.EventStepEnded:
		e.records[i].ended = ev.Time
		if status, _ := e.state.Status(i); status != toolflow.StatusPending {
			e.letGo(i)
		}
	}
}

func (e *engine) observe(ev toolflow.Event) {
	if e.r.o.Observe != nil {
		e.r.o.Observe(ev)
	}
}

// countReaders counts for each step who will read its output.
func (e *engine) countReaders() {
	for i := range e.plan.Steps {
		e.countReads(e.plan.Steps[i].Reads)
	}
	e.countReads(e.plan.Reads)
}

func (e *engine) countReads(reads []plan.Read) {
	for _, u := range reads {
		e.values[u.Step].readers++
		e.contentRead[u.Step] = e.contentRead[u.Step] || u.Content
	}
}

// letGo releases the outputs that step i has read.
func (e *engine) letGo(i int) {
	for _, u := range e.plan.Steps[i].Reads {
		v := &e.values[u.Step]
		if v.readers--; v.readers == 0 {
			v.value, v.content, v.raw = nil, nil, nil
		}
	}
}

// upstream reads, before a step's goroutine starts, the outputs that it binds.
func (e *engine) upstream(i int) func(int, bool) (any, bool) {
	return e.reader(e.plan.Steps[i].Reads)
}

func (e *engine) reader(from []plan.Read) func(int, bool) (any, bool) {
	values := make([]held, len(from))
	for k, u := range from {
		values[k] = e.values[u.Step]
	}
	return func(step int, content bool) (any, bool) {
		for k, u := range from {
			if u.Step == step {
				return values[k].read(content)
			}
		}
		return nil, false
	}
}

func (h held) read(content bool) (any, bool) {
	if content {
		return h.content, h.ok
	}
	return h.value, h.ok
}

// mailbox takes what other goroutines have to tell the engine. Putting never blocks.
type mailbox struct {
	mu     *sync.Mutex
	acts   *[]func()
	signal chan struct{}
}

func newMailbox() mailbox { return mailbox{new(sync.Mutex), new([]func()), make(chan struct{}, 1)} }

func (b mailbox) put(act func()) {
	b.mu.Lock()
	*b.acts = append(*b.acts, act)
	b.mu.Unlock()
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

func (b mailbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	acts := *b.acts
	*b.acts = nil
	return acts
}

func (b mailbox) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(*b.acts) == 0
}
