package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow"
)

// fake is a Caller made of functions by tool name; it keeps what was called.
type fake struct {
	tools map[string]func(ctx context.Context, args json.RawMessage) (toolflow.Result, error)

	mu    sync.Mutex
	calls []string // "tool args"
	most  int      // calls in flight at once
	now   int
}

func (f *fake) Call(ctx context.Context, call toolflow.Call, progress func(toolflow.Progress)) (toolflow.Result, error) {
	f.mu.Lock()
	f.calls = append(f.calls, call.Tool+" "+string(call.Args))
	f.now++
	f.most = max(f.most, f.now)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.now--
		f.mu.Unlock()
	}()
	if tool := f.tools[call.Tool]; tool != nil {
		return tool(context.WithValue(ctx, progressKey{}, progress), call.Args)
	}
	return toolflow.Result{Structured: call.Args}, nil // echo
}

type progressKey struct{}

// after answers when d has passed, or ends with the context as a client does.
func after(d time.Duration, result string, err error) func(context.Context, json.RawMessage) (toolflow.Result, error) {
	return func(ctx context.Context, _ json.RawMessage) (toolflow.Result, error) {
		select {
		case <-time.After(d):
			return toolflow.Result{Structured: json.RawMessage(result)}, err
		case <-ctx.Done():
			return toolflow.Result{}, &toolflow.CallError{Sent: true, Kind: toolflow.CallCancelled, Err: context.Cause(ctx)}
		}
	}
}

// failing fails the first n calls.
func failing(n int, err error) func(context.Context, json.RawMessage) (toolflow.Result, error) {
	var mu sync.Mutex
	return func(context.Context, json.RawMessage) (toolflow.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		if n--; n >= 0 {
			return toolflow.Result{}, err
		}
		return toolflow.Result{Structured: json.RawMessage(`{}`)}, nil
	}
}

func document(t testing.TB, text string) *toolflow.Document {
	t.Helper()
	doc, diags := toolflow.ParseDocument([]byte(text), "plan.json")
	if toolflow.HasErrors(diags) {
		t.Fatalf("the test's own document is broken: %v", diags)
	}
	return doc
}

// statuses writes how each step ended: "a succeeded, b skipped(a)".
func statuses(r *Report) string {
	var parts []string
	for _, s := range r.Steps {
		part := s.ID + " " + string(s.Status)
		switch {
		case s.SkippedBecause != "":
			part += "(" + s.SkippedBecause + ")"
		case s.Error != nil:
			part += "(" + s.Error.Code + ")"
		}
		if s.Attempts > 1 {
			part += fmt.Sprintf(" x%d", s.Attempts)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// inTurn fails its calls with one error after the other.
func inTurn(errs ...error) func(context.Context, json.RawMessage) (toolflow.Result, error) {
	var mu sync.Mutex
	return func(context.Context, json.RawMessage) (toolflow.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		err := errs[0]
		errs = errs[1:]
		return toolflow.Result{}, err
	}
}
