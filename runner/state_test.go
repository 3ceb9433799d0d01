package runner

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/dag"
	"github.com/toolflow-go/toolflow/plan"
)

// drawPlan draws a plan without bindings: up to 12 steps on up to 3 servers, with random policies.
func drawPlan(t *rapid.T) *plan.Plan {
	n := rapid.IntRange(1, 12).Draw(t, "steps")
	names, p := make([]string, n), &plan.Plan{Name: "p", Steps: make([]plan.Step, n)}
	var edges []dag.Edge
	for i := range n {
		names[i] = fmt.Sprintf("s%d", i)
		p.Steps[i] = plan.Step{ID: names[i], Tool: "t", Server: fmt.Sprintf("srv%d", rapid.IntRange(0, 2).Draw(t, "server")),
			Asks: rapid.IntRange(0, 9).Draw(t, "asks") == 0,
			Policy: plan.Policy{Timeout: time.Minute, Attempts: rapid.IntRange(1, 3).Draw(t, "attempts"), Backoff: time.Second,
				Continue: rapid.IntRange(0, 5).Draw(t, "continue") == 0}}
		for from := range i {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				edges = append(edges, dag.Edge{From: from, To: i})
			}
		}
	}
	g, err := dag.New(names, edges)
	if err != nil {
		t.Fatal(err)
	}
	p.Graph = g
	return p
}

// simulation drives a State with random outcomes and keeps its events.
type simulation struct {
	t       *rapid.T
	p       *plan.Plan
	o       StateOptions
	s       *State
	now     time.Time
	flying  []toolflow.Event // the started events of attempts in flight
	events  []toolflow.Event
	readies [][]int
	starts  map[string]int
}

func (m *simulation) apply(e toolflow.Event) {
	m.t.Helper()
	e.Seq, e.Time, e.Run = int64(len(m.events)+1), m.now, "run"
	follow, err := m.s.Apply(e)
	if err != nil {
		m.t.Fatalf("Apply(%s %s): %v", e.Kind, e.Step, err)
	}
	for _, f := range follow {
		if f.Kind == toolflow.EventStepRetrying && f.Delay <= 0 {
			m.t.Fatalf("retry of %s after %s", f.Step, f.Delay)
		}
	}
	m.events = append(m.events, e)
	m.readies = append(m.readies, m.s.Ready())
}

func (m *simulation) start() bool {
	i, attempt, ok := m.s.Next(m.now)
	if !ok {
		return false
	}
	for _, u := range m.p.Graph.Upstream(i) {
		status, _ := m.s.Status(int(u))
		if status != toolflow.StatusSucceeded && !(status == toolflow.StatusFailed && m.p.Steps[u].Policy.Continue) {
			m.t.Fatalf("step %d started while its upstream %d is %s", i, u, status)
		}
	}
	id := m.p.Steps[i].ID
	if m.starts[id]++; m.starts[id] != attempt || attempt > m.p.Steps[i].Policy.Attempts {
		m.t.Fatalf("step %s: start %d is called attempt %d of %d", id, m.starts[id], attempt, m.p.Steps[i].Policy.Attempts)
	}
	e := toolflow.Event{Kind: toolflow.EventStepStarted, Step: id, Attempt: attempt}
	m.flying = append(m.flying, e)
	if rapid.IntRange(0, 4).Draw(m.t, "bind") > 0 { // else the binding fails: an end without a start
		m.apply(e)
	}
	m.limits()
	return true
}

func (m *simulation) limits() {
	perServer := map[string]int{}
	for _, e := range m.flying {
		i, _ := m.p.Step(e.Step)
		perServer[m.p.Steps[i].Server]++
	}
	if len(m.flying) > m.o.Parallel {
		m.t.Fatalf("%d steps in flight, the limit is %d", len(m.flying), m.o.Parallel)
	}
	for server, n := range perServer {
		if limit := m.o.Servers[server]; limit > 0 && n > limit {
			m.t.Fatalf("%d steps in flight on %s, the limit is %d", n, server, limit)
		}
	}
}

func (m *simulation) end() {
	k := rapid.IntRange(0, len(m.flying)-1).Draw(m.t, "which")
	e := m.flying[k]
	m.flying = slices.Delete(m.flying, k, k+1)
	outcome := &toolflow.Outcome{Status: toolflow.StatusSucceeded}
	switch rapid.IntRange(0, 9).Draw(m.t, "outcome") {
	case 0, 1:
		outcome = &toolflow.Outcome{Status: toolflow.StatusFailed, Again: true, RetryAfter: 3 * time.Second, Error: &toolflow.Failure{Code: "x"}}
	case 2:
		outcome = &toolflow.Outcome{Status: toolflow.StatusFailed, Error: &toolflow.Failure{Code: "x"}}
	case 3:
		outcome = &toolflow.Outcome{Status: toolflow.StatusUnknown, Error: &toolflow.Failure{Code: "x"}}
	}
	m.apply(toolflow.Event{Kind: toolflow.EventStepEnded, Step: e.Step, Attempt: e.Attempt, Outcome: outcome})
}

// Any plan, any outcomes, any order of ends: upstream first, limits kept, every step ends, and each
// end has its reason.
func TestStateSimulation(t *testing.T) {
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		o := StateOptions{Run: "run", Parallel: rapid.IntRange(1, 4).Draw(t, "parallel"), Servers: map[string]int{"srv0": 1, "srv1": 2},
			FailFast: rapid.IntRange(0, 4).Draw(t, "failfast") == 0}
		m := &simulation{t: t, p: p, o: o, s: NewState(p, o), now: time.Unix(0, 0), starts: map[string]int{}}
		m.apply(toolflow.Event{Kind: toolflow.EventRunStarted})
		for i := range p.Steps {
			if p.Steps[i].Asks && rapid.Bool().Draw(t, "decided") {
				kind := toolflow.EventStepApproved
				if rapid.Bool().Draw(t, "no") {
					kind = toolflow.EventStepRejected
				}
				if status, _ := m.s.Status(i); status == toolflow.StatusPending {
					m.apply(toolflow.Event{Kind: kind, Step: p.Steps[i].ID})
				}
			}
		}
		for !m.s.Done() {
			switch {
			case rapid.Bool().Draw(t, "start") && m.start():
			case len(m.flying) > 0:
				m.end()
			case m.start():
			default:
				due, ok := m.s.Wake()
				if !ok || !due.After(m.now) {
					t.Fatalf("the run is not done, and nothing will happen: ready %v", m.s.Ready())
				}
				m.now = due
			}
		}
		m.apply(toolflow.Event{Kind: toolflow.EventRunEnded})
		m.checkEnds()
		m.checkReplay()
		runs++
	})
	t.Logf("%d simulated runs", runs)
}

func (m *simulation) checkEnds() {
	for i := range m.p.Steps {
		status, _ := m.s.Status(i)
		var upstream []toolflow.Status
		for _, u := range m.p.Graph.Upstream(i) {
			s, _ := m.s.Status(int(u))
			if s == toolflow.StatusFailed && m.p.Steps[u].Policy.Continue {
				s = toolflow.StatusSucceeded
			}
			upstream = append(upstream, s)
		}
		clear := !slices.ContainsFunc(upstream, func(s toolflow.Status) bool { return s != toolflow.StatusSucceeded })
		switch status {
		case toolflow.StatusSkipped:
			cause, _ := m.s.SkippedBecause(i)
			why, _ := m.s.Status(cause)
			if clear || why != toolflow.StatusFailed && why != toolflow.StatusRejected || !slices.Contains(m.p.Graph.Closure([]int{i}), int32(cause)) {
				m.t.Fatalf("step %d is skipped because of %d (%s); upstream %v", i, cause, why, upstream)
			}
		case toolflow.StatusCancelled:
			if m.s.Stopping() == "" {
				m.t.Fatalf("step %d is cancelled in a run that was not stopped", i)
			}
		case toolflow.StatusWaiting:
			if clear && !m.p.Steps[i].Asks {
				m.t.Fatalf("step %d waits for nothing", i)
			}
		case toolflow.StatusSucceeded, toolflow.StatusFailed, toolflow.StatusUnknown:
			if !clear {
				m.t.Fatalf("step %d ran with upstream %v", i, upstream)
			}
		case toolflow.StatusRejected:
		default:
			m.t.Fatalf("step %d ended %s", i, status)
		}
	}
}

// checkReplay holds what resume will stand on: the events alone give the same state again, and any
// prefix of them the same ready steps.
func (m *simulation) checkReplay() {
	replay := NewState(m.p, m.o)
	for k, e := range m.events {
		if _, err := replay.Apply(e); err != nil {
			m.t.Fatalf("replay of event %d (%s %s): %v", k, e.Kind, e.Step, err)
		}
		if got := replay.Ready(); !slices.Equal(got, m.readies[k]) {
			m.t.Fatalf("after %d events the replay has %v ready, the run had %v", k+1, got, m.readies[k])
		}
	}
	for i := range m.p.Steps {
		got, _ := replay.Status(i)
		if want, _ := m.s.Status(i); got != want {
			m.t.Fatalf("replayed step %d is %s, the run's was %s", i, got, want)
		}
	}
	if replay.RunStatus() != m.s.RunStatus() {
		m.t.Fatalf("the replayed run is %s, the run was %s", replay.RunStatus(), m.s.RunStatus())
	}
}

func TestStateOrder(t *testing.T) {
	p := &plan.Plan{Steps: make([]plan.Step, 4)}
	names := []string{"a", "b", "c", "d"}
	for i := range p.Steps {
		p.Steps[i].ID = names[i]
	}
	p.Graph, _ = dag.New(names, nil)
	take := func(o StateOptions) (got string) {
		s := NewState(p, o)
		for {
			i, _, ok := s.Next(time.Unix(0, 0))
			if !ok {
				return got
			}
			got += names[i]
		}
	}
	if got := take(StateOptions{}); got != "abcd" {
		t.Errorf("document order: got %s", got)
	}
	if got := take(StateOptions{Priorities: []int64{1, 3, 2, 3}}); got != "bdca" {
		t.Errorf("priorities: got %s, want bdca", got)
	}
	if got := take(StateOptions{Parallel: 2}); got != "ab" {
		t.Errorf("two at once: got %s", got)
	}
}

func TestStateRefusesTheImpossible(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{ID: "a", Policy: plan.Policy{Attempts: 1}}, {ID: "b", Policy: plan.Policy{Attempts: 1}}}}
	p.Graph, _ = dag.New([]string{"a", "b"}, []dag.Edge{{From: 0, To: 1}})
	s := NewState(p, StateOptions{})
	for _, c := range []struct {
		e    toolflow.Event
		want string
	}{
		{toolflow.Event{Kind: toolflow.EventStepStarted, Step: "z"}, `event step.started names step "z", which the plan does not have`},
		{toolflow.Event{Kind: toolflow.EventStepStarted, Step: "b"}, `event step.started of step "b" cannot follow: the step is pending`},
		{toolflow.Event{Kind: toolflow.EventStepEnded, Step: "a"}, `event step.ended of step "a" cannot follow: the step is pending`},
		{toolflow.Event{Kind: "step.flew", Step: "a"}, `unknown event "step.flew"`},
	} {
		if _, err := s.Apply(c.e); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if got := s.Ready(); !slices.Equal(got, []int{0}) {
		t.Errorf("refused events changed the state: ready %v", got)
	}
}

// The delays of retries double, stay within a quarter of jitter, and never undercut the server.
func TestStateDelays(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{ID: "a", Policy: plan.Policy{Attempts: 4, Backoff: time.Second}}}}
	p.Graph, _ = dag.New([]string{"a"}, nil)
	s, now := NewState(p, StateOptions{Run: "r"}), time.Unix(0, 0)
	for attempt, want := range []time.Duration{time.Second, 2 * time.Second, 30 * time.Second} {
		wish := time.Duration(0)
		if attempt == 2 {
			wish = want
		}
		if _, _, ok := s.Next(now); !ok {
			t.Fatalf("attempt %d does not start", attempt+1)
		}
		follow, err := s.Apply(toolflow.Event{Kind: toolflow.EventStepEnded, Time: now, Step: "a", Attempt: attempt + 1, Outcome: &toolflow.Outcome{Status: toolflow.StatusFailed, Again: true, RetryAfter: wish}})
		if err != nil || len(follow) != 1 || follow[0].Delay > want || follow[0].Delay < want*3/4 {
			t.Fatalf("attempt %d: got %+v %v, want a delay of %s to %s", attempt+1, follow, err, want*3/4, want)
		}
		if _, _, ok := s.Next(now.Add(follow[0].Delay - 1)); ok {
			t.Fatal("started before it was due")
		}
		now = now.Add(follow[0].Delay)
	}
}
