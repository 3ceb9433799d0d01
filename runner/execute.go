package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/binding"
	"github.com/toolflow-go/toolflow/plan"
	"github.com/toolflow-go/toolflow/schema"
)

// job is one attempt of one step: all that execute needs, read from the state before it starts.
type job struct {
	step     *plan.Step
	run      string
	upstream func(step int, content bool) (any, bool) // outputs of the steps it reads
	input    any                                      // the plan's own input
	content  bool                                     // somebody reads its raw content
	down     error                                    // why its server cannot be reached, when that is known

	strict, lax bool

	// release makes the start durable; the call is written only after it returned nil.
	release  func(args json.RawMessage, origin []toolflow.Provenance) error
	progress func(toolflow.Progress)
}

// grace is how long an unsafe call that was sent may still answer after the run was stopped.
const grace = 2 * time.Second

// hardLimit is the longest a call may take, whatever progress it reports.
const hardLimit = time.Hour

// errTimeout is the cause when a call's own limit passed.
var errTimeout = errors.New("the call took too long")

// execute carries one attempt out: bind, validate, release, call, classify, map, validate. It is the
// only place where any of this happens.
func execute(ctx context.Context, caller Caller, j job) (toolflow.Outcome, output) {
	args, origin, err := j.step.Args.Fill(j.upstream, j.input)
	if err != nil {
		return failed(bindingCode(err), err.Error()), output{}
	}
	raw := json.RawMessage(toolflow.AppendValue(nil, args))
	note, failure := j.checkArguments(args)
	if failure != nil {
		return toolflow.Outcome{Status: toolflow.StatusFailed, Error: failure}, output{}
	}
	if j.down != nil {
		return unreached(j.down), output{}
	}
	if err := j.release(raw, origin); err != nil {
		return toolflow.Outcome{Status: toolflow.StatusCancelled, Error: &toolflow.Failure{Code: toolflow.CodeInterrupted, Message: err.Error()}}, output{}
	}
	result, err := j.call(ctx, caller, raw)
	if err != nil {
		return classify(err, j.step), output{}
	}
	outcome, out := j.outcome(result)
	if note != "" {
		outcome.Notes = append(outcome.Notes, note)
	}
	return outcome, out
}

func failed(code, message string) toolflow.Outcome {
	return toolflow.Outcome{Status: toolflow.StatusFailed, Error: &toolflow.Failure{Code: code, Message: message}}
}

// unreached is the end of a step whose server is known not to have started.
func unreached(err error) toolflow.Outcome {
	out := failed(toolflow.CodeNotSent, err.Error())
	var call *toolflow.CallError
	if errors.As(err, &call) {
		out.Error.Exit, out.Error.Stderr = call.Exit, call.Stderr
		if call.Kind == toolflow.CallUnauthorized {
			out.Error.Code = toolflow.CodeUnauthorized
		}
	}
	return out
}

func bindingCode(err error) string {
	switch {
	case errors.Is(err, binding.ErrNoMatch), errors.Is(err, binding.ErrNoOutput):
		return toolflow.CodeBindingNoMatch
	case errors.Is(err, binding.ErrManyMatches):
		return toolflow.CodeBindingMatches
	case errors.Is(err, binding.ErrBudget):
		return toolflow.CodeLimit
	}
	return toolflow.CodeInvalidArguments
}

// checkArguments validates the arguments by the document's schema and by the server's own.
func (j *job) checkArguments(args map[string]any) (note string, failure *toolflow.Failure) {
	for _, s := range []*schema.Schema{j.step.Input, j.step.ServerOnly} {
		if s == nil {
			continue
		}
		err := s.Validate(args)
		if err == nil {
			continue
		}
		message := "argument " + err.Error()
		if s == j.step.ServerOnly {
			message += " (by the server's own inputSchema, which differs from the document's)"
		}
		if !j.lax {
			return "", &toolflow.Failure{Code: toolflow.CodeInvalidArguments, Message: message}
		}
		note = "sent all the same: " + message
	}
	return note, nil
}

// call makes the call within its limit, which progress resets.
func (j *job) call(ctx context.Context, caller Caller, args json.RawMessage) (toolflow.Result, error) {
	ctx, cancel := j.callContext(ctx)
	defer cancel(nil)
	limit := j.step.Policy.Timeout
	timer := time.AfterFunc(limit, func() { cancel(errTimeout) })
	defer timer.Stop()
	hard := time.AfterFunc(max(hardLimit, limit), func() { cancel(errTimeout) })
	defer hard.Stop()
	call := toolflow.Call{Server: j.step.Server, Tool: j.step.Tool, Args: args, Run: j.run, Step: j.step.ID, Key: j.run + "/" + j.step.ID}
	result, err := caller.Call(ctx, call, func(p toolflow.Progress) {
		timer.Reset(limit)
		j.progress(p)
	})
	if err != nil && context.Cause(ctx) != nil {
		err = stopped(err, context.Cause(ctx))
	}
	return result, err
}

// callContext ends with the run; an unsafe call gets a grace to answer in.
func (j *job) callContext(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	if j.step.Safe {
		return context.WithCancelCause(ctx)
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(grace, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(own, func() { t.Stop() })
	})
	return own, func(cause error) {
		stop()
		cancel(cause)
	}
}

// stopped makes sure that an error after the context's end says so, whatever the caller returned.
func stopped(err, cause error) error {
	var call *toolflow.CallError
	if errors.As(err, &call) {
		c := *call
		c.Kind, c.Err = toolflow.CallCancelled, cause
		return &c
	}
	return &toolflow.CallError{Sent: true, Kind: toolflow.CallCancelled, Message: err.Error(), Err: cause}
}

// outcome turns a result into the step's end.
func (j *job) outcome(r toolflow.Result) (toolflow.Outcome, output) {
	if r.IsError {
		return toolflow.Outcome{Status: toolflow.StatusFailed, Error: toolError(r), Content: r.Content, Again: j.step.Policy.OnToolError}, output{}
	}
	m := mapper{schema: j.step.Output, strict: j.strict, lax: j.lax, result: r}
	out, failure := m.output()
	if failure != nil {
		return toolflow.Outcome{Status: toolflow.StatusFailed, Error: failure, Content: r.Content}, output{}
	}
	if j.content {
		content, err := contentValue(r)
		if err != nil {
			return toolflow.Outcome{Status: toolflow.StatusFailed, Error: unreadable("content", err)}, output{}
		}
		out.content = content
	}
	return toolflow.Outcome{Status: toolflow.StatusSucceeded, Output: out.raw, Mapping: out.mapping, Notes: out.notes, Content: r.Content}, out
}

// classify turns a call that brought no result into the step's end (rule X2; the table stands in
// docs/spec.md).
func classify(err error, step *plan.Step) toolflow.Outcome {
	var call *toolflow.CallError
	if !errors.As(err, &call) {
		call = &toolflow.CallError{Sent: true, Kind: toolflow.CallProtocol, Message: err.Error(), Err: err}
	}
	if call.Kind == toolflow.CallCancelled {
		return classifyStopped(call, step)
	}
	out := failed(toolflow.CodeProtocol, call.Error())
	out.Error.Exit, out.Error.Stderr, out.RetryAfter = call.Exit, call.Stderr, call.RetryAfter
	switch {
	case call.Kind == toolflow.CallUnauthorized:
		out.Error.Code = toolflow.CodeUnauthorized
	case call.Kind == toolflow.CallNeedsPerson:
		out.Error.Code = toolflow.CodeNeedsPerson
	case call.Kind == toolflow.CallLimit:
		out.Error.Code = toolflow.CodeLimit
	case call.Kind == toolflow.CallRefused:
		out.Error.Code, out.Again = toolflow.CodeRefused, step.Policy.OnToolError
	case !call.Sent || call.Kind == toolflow.CallBusy || call.Kind == toolflow.CallSession:
		out.Error.Code, out.Again = toolflow.CodeNotSent, true
	case call.Kind == toolflow.CallProtocol && step.Safe: // what answers so once may answer so again
	case step.Safe:
		out.Error.Code, out.Again = toolflow.CodeLost, true
	default:
		out.Status, out.Error.Code = toolflow.StatusUnknown, toolflow.CodeUnknown
	}
	return out
}

// classifyStopped is classify for a call whose context ended: its limit passed, or the run stopped.
func classifyStopped(call *toolflow.CallError, step *plan.Step) toolflow.Outcome {
	timeout := errors.Is(call.Err, errTimeout)
	message := fmt.Sprintf("stopped: %v", call.Err)
	if timeout {
		message = fmt.Sprintf("no answer within %s", step.Policy.Timeout)
		if call.Message != "" {
			message += ": " + call.Message
		}
	}
	out := failed(toolflow.CodeInterrupted, message)
	out.Error.Exit, out.Error.Stderr = call.Exit, call.Stderr
	switch {
	case call.Sent && !step.Safe:
		out.Status, out.Error.Code = toolflow.StatusUnknown, toolflow.CodeUnknown
	case timeout:
		out.Error.Code, out.Again = toolflow.CodeTimeout, step.Policy.Retry
	default:
		out.Status = toolflow.StatusCancelled
	}
	return out
}
