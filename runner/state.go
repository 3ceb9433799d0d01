package runner

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

// StateOptions adjusts a [State]. The zero value means every default.
type StateOptions struct {
	Run        string         // the run's id; it seeds the jitter of retries
	Parallel   int            // most steps in flight at once; 0 means 16
	Servers    map[string]int // most steps in flight for one server; 0 or absent: no limit of its own
	Priorities []int64        // by step number, higher first; nil: document order alone
	FailFast   bool           // start nothing more after the first failure
}

// DefaultParallel is the number of steps in flight when nothing else is said.
const DefaultParallel = 16

// A State is how far a run has come. It is a pure function of its plan, its options and the events
// applied so far: it reads no clock, starts no goroutine and depends on no map's order. [State.Next]
// hands out a step to start; everything else happens through [State.Apply]. A State is not safe for
// concurrent use: one goroutine owns it.
type State struct {
	plan  *plan.Plan
	o     StateOptions
	steps []stepState
	ids   map[string]int

	lanes    []lane
	delayed  delayHeap
	inFlight int // handed out and not ended
	stopping string
	ended    bool
}

type stepState struct {
	status   toolflow.Status
	attempt  int
	blockers int32 // upstream steps that have not let it go yet
	lane     int32
	cause    int32 // of a skipped step: the step at fault
	claimed  bool  // handed out by Next, and not ended
	approved bool
	due      time.Time // not before then; zero for at once
	lost     bool      // the connection broke in an attempt that was sent
	failure  *toolflow.Failure
}

// NewState makes the state of a run in which nothing has happened.
func NewState(p *plan.Plan, o StateOptions) *State {
	if o.Parallel <= 0 {
		o.Parallel = DefaultParallel
	}
	s := &State{plan: p, o: o, steps: make([]stepState, len(p.Steps)), ids: make(map[string]int, len(p.Steps))}
	lanes := map[string]int32{}
	for i := range p.Steps {
		step := &p.Steps[i]
		s.ids[step.ID] = i
		k, ok := lanes[step.Server]
		if !ok {
			k = int32(len(s.lanes))
			lanes[step.Server] = k
			s.lanes = append(s.lanes, lane{limit: o.Servers[step.Server], priorities: o.Priorities})
		}
		s.steps[i] = stepState{status: toolflow.StatusPending, lane: k, approved: !step.Asks, blockers: int32(len(p.Graph.Upstream(i)))}
		s.offer(i)
	}
	return s
}

// Next hands out the step to start now, if there is one: ready, due, within the limits, and of those
// the one with the highest priority, then the first of the document. It counts as in flight until
// its end is applied. attempt counts from 1.
func (s *State) Next(now time.Time) (step, attempt int, ok bool) {
	for len(s.delayed) > 0 && !s.delayed[0].due.After(now) {
		i := s.delayed.pop()
		s.steps[i].due = time.Time{}
		s.offer(i)
	}
	if s.stopping != "" || s.ended || s.inFlight >= s.o.Parallel {
		return 0, 0, false
	}
	best := -1
	for k := range s.lanes {
		l := &s.lanes[k]
		s.drop(l)
		if len(l.ready) > 0 && l.hasRoom() && (best < 0 || l.before(l.ready[0], s.lanes[best].ready[0])) {
			best = k
		}
	}
	if best < 0 {
		return 0, 0, false
	}
	i := s.lanes[best].pop()
	s.claim(i)
	return i, s.steps[i].attempt + 1, true
}

// Wake gives the earliest moment at which a step becomes due again.
func (s *State) Wake() (time.Time, bool) {
	if len(s.delayed) == 0 || s.stopping != "" {
		return time.Time{}, false
	}
	return s.delayed[0].due, true
}

// Apply makes an event part of the state. It gives the events that follow from it: steps skipped
// because of it, and the next attempt of a failed one. An event that cannot have happened is an error
// and changes nothing.
func (s *State) Apply(e toolflow.Event) ([]toolflow.Event, error) {
	switch e.Kind {
	case toolflow.EventRunStarted, toolflow.EventStepProgress, toolflow.EventStepRetrying, toolflow.EventStepSkipped:
		return nil, nil
	case toolflow.EventRunStopping:
		s.stopping = e.Because
		return nil, nil
	case toolflow.EventRunEnded:
		s.finish()
		return nil, nil
	}
	i, ok := s.ids[e.Step]
	if !ok {
		return nil, fmt.Errorf("event %s names step %q, which the plan does not have", e.Kind, e.Step)
	}
	step := &s.steps[i]
	switch e.Kind {
	case toolflow.EventStepApproved:
		step.approved = true
		s.offer(i)
		return nil, nil
	case toolflow.EventStepRejected:
		if step.status == toolflow.StatusSkipped { // what it needs was rejected, too
			return nil, nil
		}
		if step.status != toolflow.StatusPending {
			return nil, s.impossible(e, step)
		}
		step.status = toolflow.StatusRejected
		step.failure = &toolflow.Failure{Code: toolflow.CodeRejected, Message: "approval was refused"}
		return s.skipDownstream(e, i), nil
	case toolflow.EventStepStarted:
		if step.status != toolflow.StatusPending || step.blockers > 0 {
			return nil, s.impossible(e, step)
		}
		s.claim(i)
		step.status, step.attempt = toolflow.StatusRunning, e.Attempt
		return nil, nil
	case toolflow.EventStepEnded:
		if e.Outcome == nil || step.status != toolflow.StatusRunning && step.status != toolflow.StatusPending {
			return nil, s.impossible(e, step)
		}
		s.release(i)
		step.attempt = e.Attempt
		return s.end(e, i), nil
	}
	return nil, fmt.Errorf("unknown event %q", e.Kind)
}

func (s *State) impossible(e toolflow.Event, step *stepState) error {
	return fmt.Errorf("event %s of step %q cannot follow: the step is %s", e.Kind, e.Step, step.status)
}

// end applies an outcome: another attempt, or the step's end and what follows from it.
func (s *State) end(e toolflow.Event, i int) []toolflow.Event {
	step, out := &s.steps[i], e.Outcome
	step.lost = step.lost || out.Error != nil && out.Error.Code == toolflow.CodeLost
	if policy := s.plan.Steps[i].Policy; out.Again && step.attempt < policy.Attempts && s.stopping == "" {
		delay := s.delay(i, out.RetryAfter)
		step.status, step.due = toolflow.StatusPending, e.Time.Add(delay)
		s.delayed.push(delayed{step.due, int32(i)})
		return []toolflow.Event{{Seq: e.Seq, Time: e.Time, Run: e.Run, Kind: toolflow.EventStepRetrying, Step: e.Step, Attempt: step.attempt + 1, Delay: delay, Outcome: out}}
	}
	step.status, step.failure = out.Status, out.Error
	if step.lost && out.Error != nil && out.Error.Code == toolflow.CodeNotSent { // the last attempt did not reach the server, an earlier one did
		failure := *out.Error
		failure.Code = toolflow.CodeLost
		step.failure = &failure
	}
	switch {
	case out.Status == toolflow.StatusSucceeded, out.Status == toolflow.StatusFailed && s.plan.Steps[i].Policy.Continue:
		s.letGo(i)
	case out.Status == toolflow.StatusFailed:
		if s.o.FailFast && s.stopping == "" {
			s.stopping = StopFailFast
		}
		return s.skipDownstream(e, i)
	case out.Status == toolflow.StatusCancelled && s.stopping == "":
		return s.skipDownstream(e, i)
	}
	return nil
}

// StopFailFast is why a run with FailFast stops.
const StopFailFast = "a step failed (fail-fast)"

// letGo frees the steps that waited for i.
func (s *State) letGo(i int) {
	for _, d := range s.plan.Graph.Downstream(i) {
		s.steps[d].blockers--
		s.offer(int(d))
	}
}

// skipDownstream skips everything that needs step i, directly or not.
func (s *State) skipDownstream(e toolflow.Event, i int) []toolflow.Event {
	var follow []toolflow.Event
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		for _, d := range s.plan.Graph.Downstream(queue[0]) {
			step := &s.steps[d]
			if step.status != toolflow.StatusPending {
				continue
			}
			step.status, step.cause = toolflow.StatusSkipped, int32(i)
			follow = append(follow, toolflow.Event{Seq: e.Seq, Time: e.Time, Run: e.Run, Kind: toolflow.EventStepSkipped, Step: s.plan.Steps[d].ID, Because: s.plan.Steps[i].ID})
			queue = append(queue, int(d))
		}
	}
	return follow
}

// finish gives every step that has not ended its last status: a stopped run cancels them, and in any
// other they wait for what a person must decide.
func (s *State) finish() {
	s.ended = true
	for i := range s.steps {
		if step := &s.steps[i]; step.status == toolflow.StatusPending {
			step.status = toolflow.StatusWaiting
			if s.stopping != "" {
				step.status = toolflow.StatusCancelled
			}
		}
	}
}

// delay is the wait before the next attempt: the policy's backoff, doubled after each attempt, with
// up to a quarter of jitter, or what the server asked for when that is longer, an hour at most. The jitter comes from
// the run, the step and the attempt, so that a replay gives the same.
func (s *State) delay(i int, wish time.Duration) time.Duration {
	step := &s.steps[i]
	d := s.plan.Steps[i].Policy.Backoff
	for range min(step.attempt-1, 20) {
		d = min(2*d, 5*time.Minute)
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%s/%d", s.o.Run, s.plan.Steps[i].ID, step.attempt)
	d -= d * time.Duration(h.Sum32()%1000) / 4000
	return max(d, min(wish, time.Hour))
}

// Done reports whether nothing is in flight and nothing can start, now or later.
func (s *State) Done() bool {
	if s.inFlight > 0 {
		return false
	}
	if s.stopping != "" {
		return true
	}
	if len(s.delayed) > 0 {
		return false
	}
	for k := range s.lanes {
		s.drop(&s.lanes[k])
		if len(s.lanes[k].ready) > 0 {
			return false
		}
	}
	return true
}

// Stopping says why no more steps start; empty while they do.
func (s *State) Stopping() string { return s.stopping }

// Status tells how far step i has come, after how many attempts.
func (s *State) Status(i int) (status toolflow.Status, attempts int) {
	return s.steps[i].status, s.steps[i].attempt
}

// Failure tells why step i did not succeed; nil when it did, or has not ended.
func (s *State) Failure(i int) *toolflow.Failure { return s.steps[i].failure }

// SkippedBecause gives the step at fault for a skipped step.
func (s *State) SkippedBecause(i int) (step int, ok bool) {
	return int(s.steps[i].cause), s.steps[i].status == toolflow.StatusSkipped
}

// Ready lists the steps whose upstream steps have all let them go and that have not started, whether
// they are due yet or not.
func (s *State) Ready() []int {
	var ready []int
	for i := range s.steps {
		if s.ready(i) {
			ready = append(ready, i)
		}
	}
	return ready
}

func (s *State) ready(i int) bool {
	step := &s.steps[i]
	return step.status == toolflow.StatusPending && step.blockers == 0 && step.approved
}

// allSucceeded reports whether nothing was left undone: a run that is stopped too late to matter.
func (s *State) allSucceeded() bool {
	return !slices.ContainsFunc(s.steps, func(step stepState) bool { return step.status != toolflow.StatusSucceeded })
}

// RunStatus is how the run ended, or would if it ended now.
func (s *State) RunStatus() toolflow.RunStatus {
	status := toolflow.RunSucceeded
	if s.stopping != "" && s.stopping != StopFailFast && !s.allSucceeded() {
		return toolflow.RunInterrupted
	}
	for i := range s.steps {
		switch s.steps[i].status {
		case toolflow.StatusUnknown, toolflow.StatusWaiting:
			return toolflow.RunWaiting
		case toolflow.StatusFailed:
			if !s.plan.Steps[i].Policy.Continue {
				status = toolflow.RunFailed
			}
		case toolflow.StatusRejected, toolflow.StatusCancelled, toolflow.StatusSkipped:
			status = toolflow.RunFailed
		}
	}
	return status
}
