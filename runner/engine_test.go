package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type call = func(context.Context, json.RawMessage) (toolflow.Result, error)

// Time in the bubble is exact: what could run at once ran at once, and limits hold to the moment.
func TestRunTimes(t *testing.T) {
	lost := &toolflow.CallError{Sent: true, Kind: toolflow.CallLost, Message: "the connection broke"}
	notSent := &toolflow.CallError{Kind: toolflow.CallUnreachable, Message: "connection refused"}
	busy := &toolflow.CallError{Kind: toolflow.CallBusy, Message: "slow down", RetryAfter: 20 * time.Second}
	hang := after(24*time.Hour, "{}", nil)
	for _, c := range []struct {
		name, doc string
		tools     map[string]call
		o         Options
		cancel    time.Duration
		took      time.Duration // exact; with jitter between 3/4 of it and it
		jitter    bool
		want      string
		status    toolflow.RunStatus // when given
		calls     int
	}{
		{name: "a diamond overlaps", took: 4 * time.Second, calls: 4, want: "a succeeded, b succeeded, c succeeded, d succeeded",
			doc:   `{"steps":[{"tool":"a"},{"tool":"b","dependencies":{"requires":["a"]}},{"tool":"c","dependencies":{"requires":["a"]}},{"tool":"d","dependencies":{"requires":["b","c"]}}]}`,
			tools: map[string]call{"a": after(time.Second, "{}", nil), "b": after(time.Second, "{}", nil), "c": after(2*time.Second, "{}", nil), "d": after(time.Second, "{}", nil)}},
		{name: "one at a time", took: 3 * time.Second, calls: 3, want: "a succeeded, b succeeded, c succeeded", o: Options{Parallel: 1},
			doc:   `{"steps":[{"tool":"a"},{"tool":"b"},{"tool":"c"}]}`,
			tools: map[string]call{"a": after(time.Second, "{}", nil), "b": after(time.Second, "{}", nil), "c": after(time.Second, "{}", nil)}},
		{name: "a safe call that times out", took: 5 * time.Second, calls: 1, want: "a failed(timeout), b skipped(a)",
			doc: `{"steps":[{"tool":"a","policy":{"timeout":"5s","safe":true}},{"tool":"b","dependencies":{"requires":["a"]}}]}`, tools: map[string]call{"a": hang}},
		{name: "an unsafe call that times out", took: 5 * time.Second, calls: 2, want: "a unknown(unknown_outcome), b waiting, c succeeded",
			doc: `{"steps":[{"tool":"a","policy":{"timeout":"5s"}},{"tool":"b","dependencies":{"requires":["a"]}},{"tool":"c"}]}`, tools: map[string]call{"a": hang}},
		{name: "a timeout that the policy retries", took: 11 * time.Second, jitter: true, calls: 2, want: "a failed(timeout) x2",
			doc: `{"steps":[{"tool":"a","policy":{"timeout":"5s","safe":true,"retry":{"attempts":2,"backoff":"1s"}}}]}`, tools: map[string]call{"a": hang}},
		{name: "never sent", took: 1500 * time.Millisecond, jitter: true, calls: 3, want: "a failed(not_sent) x3",
			doc: `{"steps":[{"tool":"a"}]}`, tools: map[string]call{"a": failing(9, notSent)}},
		{name: "never sent, then it works", took: 500 * time.Millisecond, jitter: true, calls: 2, want: "a succeeded x2",
			doc: `{"steps":[{"tool":"a"}]}`, tools: map[string]call{"a": failing(1, notSent)}},
		{name: "lost and safe", took: 500 * time.Millisecond, jitter: true, calls: 2, want: "a succeeded x2",
			doc: `{"steps":[{"tool":"a","policy":{"safe":true}}]}`, tools: map[string]call{"a": failing(1, lost)}},
		{name: "lost and unsafe is never called again", calls: 1, want: "a unknown(unknown_outcome)",
			doc: `{"steps":[{"tool":"a","policy":{"retry":{"attempts":5,"onToolError":true}}}]}`, tools: map[string]call{"a": failing(1, lost)}},
		{name: "lost first, then not sent", took: 1500 * time.Millisecond, jitter: true, calls: 3, want: "a failed(connection_lost) x3",
			doc: `{"steps":[{"tool":"a","policy":{"safe":true}}]}`, tools: map[string]call{"a": inTurn(lost, notSent, notSent)}},
		{name: "stopped when all was done but the last answer", took: 4 * time.Second, cancel: 3 * time.Second, calls: 1, want: "a succeeded", status: toolflow.RunSucceeded,
			doc: `{"steps":[{"tool":"a"}]}`, tools: map[string]call{"a": after(4*time.Second, "{}", nil)}},
		{name: "the server says when", took: 20 * time.Second, calls: 2, want: "a succeeded x2",
			doc: `{"steps":[{"tool":"a"}]}`, tools: map[string]call{"a": failing(1, busy)}},
		{name: "fail fast", took: 2 * time.Second, calls: 2, want: "a failed(tool_error), b succeeded, c cancelled", o: Options{FailFast: true},
			doc: `{"steps":[{"tool":"a"},{"tool":"b"},{"tool":"c","dependencies":{"requires":["b"]}}]}`,
			tools: map[string]call{"b": after(2*time.Second, "{}", nil), "a": func(context.Context, json.RawMessage) (toolflow.Result, error) {
				return toolflow.Result{IsError: true}, nil
			}}},
		{name: "a safe call ends with the run", took: 3 * time.Second, cancel: 3 * time.Second, calls: 1, want: "a cancelled(interrupted), b cancelled",
			doc: `{"steps":[{"tool":"a","policy":{"safe":true}},{"tool":"b","dependencies":{"requires":["a"]}}]}`, tools: map[string]call{"a": hang}},
		{name: "an unsafe call gets two seconds", took: 5 * time.Second, cancel: 3 * time.Second, calls: 1, want: "a unknown(unknown_outcome), b cancelled",
			doc: `{"steps":[{"tool":"a"},{"tool":"b","dependencies":{"requires":["a"]}}]}`, tools: map[string]call{"a": hang}},
		{name: "an unsafe call that answers in them", took: 4 * time.Second, cancel: 3 * time.Second, calls: 1, want: "a succeeded, b cancelled",
			doc: `{"steps":[{"tool":"a"},{"tool":"b","dependencies":{"requires":["a"]}}]}`, tools: map[string]call{"a": after(4*time.Second, "{}", nil)}},
		{name: "a stopped run retries nothing", took: 100 * time.Millisecond, cancel: 100 * time.Millisecond, calls: 1, want: "a cancelled x1",
			doc: `{"steps":[{"tool":"a"}]}`, tools: map[string]call{"a": failing(9, notSent)}},
		{name: "progress resets the limit", took: 12 * time.Second, calls: 1, want: "a succeeded",
			doc: `{"steps":[{"tool":"a","policy":{"timeout":"5s"}}]}`, tools: map[string]call{"a": func(ctx context.Context, _ json.RawMessage) (toolflow.Result, error) {
				for range 3 {
					time.Sleep(4 * time.Second)
					ctx.Value(progressKey{}).(func(toolflow.Progress))(toolflow.Progress{Progress: 1})
				}
				return toolflow.Result{Structured: json.RawMessage("{}")}, nil
			}}},
		{name: "progress does not help past an hour", took: time.Hour, calls: 1, want: "a unknown(unknown_outcome)",
			doc: `{"steps":[{"tool":"a"}]}`, tools: map[string]call{"a": func(ctx context.Context, _ json.RawMessage) (toolflow.Result, error) {
				for ctx.Err() == nil {
					select {
					case <-time.After(time.Minute):
					case <-ctx.Done():
					}
					ctx.Value(progressKey{}).(func(toolflow.Progress))(toolflow.Progress{Progress: 1})
				}
				return toolflow.Result{}, &toolflow.CallError{Sent: true, Kind: toolflow.CallCancelled}
			}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.cancel > 0 {
					stop := time.AfterFunc(c.cancel, func() { cancel(errors.New("stop it")) })
					defer stop.Stop()
				}
				f := &fake{tools: c.tools}
				begun := time.Now()
				report, err := New(f, &c.o).Run(ctx, document(t, c.doc), plan.Input{})
				took := time.Since(begun)
				want := strings.ReplaceAll(c.want, " x1", "")
				if got := statuses(report); got != want {
					t.Errorf("got  %s\nwant %s\nerror %v", got, want, err)
				}
				if c.jitter && (took > c.took || took < c.took*3/4) || !c.jitter && took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				if c.status != "" && (report.Status != c.status || err != nil) {
					t.Errorf("the run is %s (%v), want %s", report.Status, err, c.status)
				}
				if len(f.calls) != c.calls {
					t.Errorf("%d calls, want %d: %q", len(f.calls), c.calls, f.calls)
				}
			})
		})
	}
}

// A step sees its upstream outputs, and the journal sees every step in order.
func TestRunChain(t *testing.T) {
	doc := document(t, `{
		"tools": [
			{"name":"search","inputSchema":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]},
			 "outputSchema":{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}},"required":["items"]}},
			{"name":"rank","inputSchema":{"type":"object","properties":{"ids":{"type":"array","items":{"type":"integer"}},"best":{"type":"integer"}},"required":["ids"]},
			 "dependencies":{"requires":["search"],"bindings":{"ids":{"fromTool":"search","outputPath":"items[*].id"},"best":{"fromTool":"search","outputPath":"items[0].id"}}}}],
		"inputs": {"search": {"q": "tea"}},
		"output": {"ids": {"fromTool":"rank","outputPath":"ids"}}}`)
	f := &fake{tools: map[string]call{"search": func(context.Context, json.RawMessage) (toolflow.Result, error) {
		return toolflow.Result{Structured: json.RawMessage(`{"items":[{"id":9007199254740993},{"id":2}]}`)}, nil
	}}}
	journal := &MemoryJournal{}
	report, err := New(f, &Options{Journal: journal, KeepAll: true}).Run(t.Context(), doc, plan.Input{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(f.calls), `[search {"q":"tea"} rank {"best":9007199254740993,"ids":[9007199254740993,2]}]`; got != want {
		t.Errorf("calls %s\nwant  %s", got, want)
	}
	if got, want := string(report.Output), `{"ids":[9007199254740993,2]}`; got != want {
		t.Errorf("output %s, want %s", got, want)
	}
	var kinds []string
	for i, e := range journal.Events() {
		if e.Seq != int64(i+1) || e.Run != report.Run || e.Time.IsZero() {
			t.Errorf("event %d is %+v", i, e)
		}
		kinds = append(kinds, strings.TrimSpace(string(e.Kind)+" "+e.Step))
	}
	if got, want := strings.Join(kinds, ", "), "run.started, step.started search, step.ended search, step.started rank, step.ended rank, run.ended"; got != want {
		t.Errorf("events %s\nwant   %s", got, want)
	}
	from := report.Steps[1].Provenance
	if len(from) != 2 || from[0] != (toolflow.Provenance{Path: "best", From: "step", Step: "search", OutputPath: "$.items[0].id"}) {
		t.Errorf("provenance %+v", from)
	}
}

// Any JSON value passes from a result to an argument unchanged: every digit, every character.
func TestRunPassesAnyValue(t *testing.T) {
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		value := drawValue(t, 3)
		raw := toolflow.AppendValue(nil, value)
		f := &fake{tools: map[string]call{"give": func(context.Context, json.RawMessage) (toolflow.Result, error) {
			return toolflow.Result{Structured: append(append([]byte(`{"v": `), raw...), '}')}, nil
		}}}
		doc, _ := toolflow.ParseDocument([]byte(`{"steps":[{"tool":"give"},{"tool":"take","dependencies":{"bindings":{"a[0].b":{"fromTool":"give","outputPath":"v"}}}}]}`), "p.json")
		report, err := New(f, nil).Run(context.Background(), doc, plan.Input{})
		if err != nil {
			t.Fatalf("%v: %s", err, statuses(report))
		}
		if got, want := f.calls[1], `take {"a":[{"b":`+string(raw)+`}]}`; got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		if got, want := string(report.Output), `{"a":[{"b":`+string(raw)+`}]}`; got != want {
			t.Fatalf("output %s\nwant   %s", got, want)
		}
		runs++
	})
	t.Logf("%d values", runs)
}

func drawValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return json.Number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,29})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number"))
	case 3, 4:
		return strings.ToValidUTF8(rapid.String().Draw(t, "string"), "?")
	case 5:
		a := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			a = append(a, drawValue(t, depth-1))
		}
		return a
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		m[strings.ToValidUTF8(rapid.String().Draw(t, "name"), "?")] = drawValue(t, depth-1)
	}
	return m
}

// brokenJournal fails from its nth event on.
type brokenJournal struct{ n int }

func (j *brokenJournal) Append(_ toolflow.Event, done func(error)) {
	if j.n--; j.n < 0 {
		go done(errors.New("no space left on device"))
		return
	}
	go done(nil)
}

// After a failed write nothing more is called, and what has happened is still told.
func TestRunBrokenJournal(t *testing.T) {
	doc := document(t, `{"steps":[{"tool":"a"},{"tool":"b","dependencies":{"requires":["a"]}}]}`)
	for n, want := range []struct {
		calls  int
		status string
	}{{0, "a cancelled"}, {0, "a cancelled"}, {1, "a succeeded"}, {1, "a succeeded"}, {2, "a succeeded, b succeeded"}} {
		f := &fake{}
		report, err := New(f, &Options{Journal: &brokenJournal{n}}).Run(t.Context(), doc, plan.Input{})
		if err == nil || !strings.Contains(err.Error(), "the journal cannot be written: no space left on device") {
			t.Errorf("broken at event %d: error %v", n, err)
		}
		if got := statuses(report); len(f.calls) != want.calls || !strings.HasPrefix(got, want.status) {
			t.Errorf("broken at event %d: %d calls, %s; want %d, %s", n, len(f.calls), got, want.calls, want.status)
		}
	}
}

func TestRunApproval(t *testing.T) {
	doc := document(t, `{"steps":[{"tool":"look"},{"tool":"wipe","policy":{"approve":"always"}},{"tool":"after","dependencies":{"requires":["wipe"]}}]}`)
	say := func(yes bool) func(context.Context, *plan.Step) (bool, error) {
		return func(context.Context, *plan.Step) (bool, error) { return yes, nil }
	}
	for _, c := range []struct {
		name  string
		o     Options
		want  string
		calls int
		err   string
	}{
		{"nobody to ask", Options{}, "", 0, "a person must approve wipe before anything is called"},
		{"yes", Options{Approve: say(true)}, "look succeeded, wipe succeeded, after succeeded", 3, ""},
		{"no", Options{Approve: say(false)}, "look succeeded, wipe rejected(rejected), after skipped(wipe)", 1, `step "wipe": approval was refused`},
		{"until approval", Options{UntilApproval: true}, "look succeeded, wipe waiting, after waiting", 1, "the run is waiting"},
	} {
		f := &fake{}
		report, err := New(f, &c.o).Run(t.Context(), doc, plan.Input{})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if statuses(report) != c.want || len(f.calls) != c.calls || got != c.err {
			t.Errorf("%s: %s, %d calls, error %q", c.name, statuses(report), len(f.calls), got)
		}
	}
}

// Of two refusals one may lie downstream of the other; what needs neither runs.
func TestRunRejectsTwice(t *testing.T) {
	doc := document(t, `{"steps":[{"tool":"a","policy":{"approve":"always"}},{"tool":"b","policy":{"approve":"always"},"dependencies":{"requires":["a"]}},{"tool":"c"}]}`)
	no := func(context.Context, *plan.Step) (bool, error) { return false, nil }
	report, err := New(&fake{}, &Options{Approve: no}).Run(t.Context(), doc, plan.Input{})
	if got := statuses(report); got != "a rejected(rejected), b skipped(a), c succeeded" || report.Status != toolflow.RunFailed {
		t.Errorf("got %s, %s, %v", got, report.Status, err)
	}
}

// A caller that panics, or a server that gives nonsense, fails its own step only.
func TestRunPanic(t *testing.T) {
	f := &fake{tools: map[string]call{"a": func(context.Context, json.RawMessage) (toolflow.Result, error) { panic("boom") }}}
	report, err := New(f, nil).Run(t.Context(), document(t, `{"steps":[{"tool":"a"},{"tool":"b"}]}`), plan.Input{})
	if got := statuses(report); got != "a failed(internal), b succeeded" || err.Error() != `step "a": a fault in toolflow: boom` {
		t.Errorf("got %s, %v", got, err)
	}
}

// A caller that ends its goroutine does not hang the run, and a plan without the output that it
// promises does not succeed.
func TestRunOddEnds(t *testing.T) {
	f := &fake{tools: map[string]call{"a": func(context.Context, json.RawMessage) (toolflow.Result, error) {
		runtime.Goexit()
		return toolflow.Result{}, nil
	}}}
	report, _ := New(f, nil).Run(t.Context(), document(t, `{"steps":[{"tool":"a"},{"tool":"b"}]}`), plan.Input{})
	if got := statuses(report); got != "a failed(internal), b succeeded" {
		t.Errorf("got %s", got)
	}
	f = &fake{tools: map[string]call{"a": func(context.Context, json.RawMessage) (toolflow.Result, error) {
		return toolflow.Result{IsError: true}, nil
	}}}
	for schema, want := range map[string]string{"": "<nil>", `"outputSchema":{"type":"object"},`: `output: step "a" ended without output, and the plan's own outputSchema wants one`} {
		_, err := New(f, nil).Run(t.Context(), document(t, `{`+schema+`"steps":[{"tool":"a","policy":{"onError":"continue"}}]}`), plan.Input{})
		if fmt.Sprint(err) != want {
			t.Errorf("%s: got %v, want %s", schema, err, want)
		}
	}
	if _, err := New(f, nil).Run(t.Context(), &toolflow.Document{Steps: []toolflow.Step{{ID: "b", Tool: "b"}}, File: "own.json"}, plan.Input{}); err != nil {
		t.Errorf("a document made by hand: %v", err)
	}
	odd := &toolflow.Document{Steps: []toolflow.Step{{ID: "a b", Tool: "t"}, {ID: "a b", Tool: "t"}}}
	if _, err := New(f, nil).Run(t.Context(), odd, plan.Input{}); err == nil || !strings.Contains(err.Error(), `step "a b" stands twice`) {
		t.Errorf("a document made by hand, with a fault: %v", err)
	}
	if _, err := New(f, nil).Run(t.Context(), &toolflow.Document{}, plan.Input{}); err == nil || !strings.Contains(err.Error(), "there is nothing to run") {
		t.Errorf("an empty document: %v", err)
	}
}

func TestRunContinue(t *testing.T) {
	doc := document(t, `{"steps":[{"tool":"a","policy":{"onError":"continue"}},
		{"tool":"b","dependencies":{"bindings":{"x":{"fromTool":"a","outputPath":"v","default":"none"},"y":{"fromTool":"a","outputPath":"v","optional":true}}}}]}`)
	f := &fake{tools: map[string]call{"a": func(context.Context, json.RawMessage) (toolflow.Result, error) {
		return toolflow.Result{IsError: true}, nil
	}}}
	report, err := New(f, nil).Run(t.Context(), doc, plan.Input{})
	if err != nil || statuses(report) != "a failed(tool_error), b succeeded" || f.calls[1] != `b {"x":"none"}` {
		t.Errorf("got %v, %s, %q", err, statuses(report), f.calls)
	}
}

// lister is a fake that also lists tools.
type lister struct {
	fake
	lists map[string][]toolflow.Tool
	err   map[string]error
}

func (l *lister) Tools(_ context.Context, server string) ([]toolflow.Tool, error) {
	return l.lists[server], l.err[server]
}

// Servers are asked before the first call; one that does not answer ends the run, or with KeepGoing
// only its own steps.
func TestRunServers(t *testing.T) {
	doc := document(t, `{"mcpServers":{"good":{"command":"x"},"bad":{"command":"y"}},
		"steps":[{"tool":"a","server":"good"},{"tool":"b","server":"bad"},{"tool":"c","server":"good","dependencies":{"requires":["b"]}},{"tool":"d","server":"good","dependencies":{"requires":["a"]}}]}`)
	object := json.RawMessage(`{"type":"object"}`)
	l := &lister{lists: map[string][]toolflow.Tool{"good": {{Name: "a", InputSchema: object}, {Name: "c", InputSchema: object}, {Name: "d", InputSchema: object}}},
		err: map[string]error{"bad": &toolflow.CallError{Kind: toolflow.CallUnreachable, Message: "cannot start"}}}
	_, err := New(l, nil).Run(t.Context(), doc, plan.Input{})
	var server *ServerError
	if !errors.As(err, &server) || err.Error() != `server "bad": cannot start` || len(l.calls) != 0 {
		t.Errorf("got %v, calls %q", err, l.calls)
	}
	report, err := New(l, &Options{KeepGoing: true}).Run(t.Context(), doc, plan.Input{})
	if got := statuses(report); got != "a succeeded, b failed(not_sent), c skipped(b), d succeeded" {
		t.Errorf("keep going: %s, %v", got, err)
	}
}

// Any generated graph runs: every step once, each after all its upstream steps, with their values.
func TestRunAnyGraph(t *testing.T) {
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 15).Draw(t, "steps")
		steps, upstream := make([]map[string]any, n), make([][]int, n)
		for i := range n {
			bindings := map[string]any{}
			for from := range i {
				if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
					bindings[fmt.Sprintf("a.s%d", from)] = map[string]any{"fromTool": fmt.Sprintf("s%d", from), "outputPath": "$.me"}
					upstream[i] = append(upstream[i], from)
				}
			}
			steps[i] = map[string]any{"id": fmt.Sprintf("s%d", i), "tool": fmt.Sprintf("t%d", i), "dependencies": map[string]any{"bindings": bindings}}
		}
		text, _ := json.Marshal(map[string]any{"steps": rapid.Permutation(steps).Draw(t, "file")}) // the file's order means nothing
		doc, diags := toolflow.ParseDocument(text, "p.json")
		if toolflow.HasErrors(diags) {
			t.Fatal(diags)
		}
		f := &fake{tools: map[string]call{}}
		for i := range n {
			f.tools[fmt.Sprintf("t%d", i)] = func(context.Context, json.RawMessage) (toolflow.Result, error) {
				return toolflow.Result{Structured: json.RawMessage(fmt.Sprintf(`{"me":%d}`, i))}, nil
			}
		}
		parallel := rapid.IntRange(1, 5).Draw(t, "parallel")
		if _, err := New(f, &Options{Parallel: parallel}).Run(context.Background(), doc, plan.Input{}); err != nil {
			t.Fatal(err)
		}
		if f.most > parallel {
			t.Fatalf("%d calls at once, the limit is %d", f.most, parallel)
		}
		at := map[string]int{}
		for k, c := range f.calls {
			at[c] = k
		}
		for i := range n {
			args := map[string]int{}
			for _, from := range upstream[i] {
				args[fmt.Sprintf("s%d", from)] = from
			}
			want := fmt.Sprintf("t%d {}", i)
			if len(args) > 0 {
				text, _ := json.Marshal(args)
				want = fmt.Sprintf(`t%d {"a":%s}`, i, text)
			}
			k, ok := at[want]
			if !ok || len(f.calls) != n {
				t.Fatalf("%d calls, and not %s among them: %q", len(f.calls), want, f.calls)
			}
			for _, from := range upstream[i] {
				for c, earlier := range at {
					if strings.HasPrefix(c, fmt.Sprintf("t%d ", from)) && earlier > k {
						t.Fatalf("s%d was called before its upstream s%d", i, from)
					}
				}
			}
		}
		runs++
	})
	t.Logf("%d graphs run", runs)
}
