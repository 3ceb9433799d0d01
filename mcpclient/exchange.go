package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolflow-go/toolflow"
)

// An exchange is one request of ours, seen from both ends. The caller waits for it; the transport
// finds it in the context, which the SDK hands through to it, and notes what became of it. The
// first outcome counts.
type exchange struct {
	server, tool string
	method       string // of the request; "" while a session is being opened
	args         []byte // tools/call: the arguments, written as they stand
	cursor       *string
	token        int64 // progress token; 0 for none
	progress     func(toolflow.Progress)

	mu      sync.Mutex
	over    bool // the caller has gone: nothing may be written or reported any more
	sent    bool
	result  []byte
	err     *toolflow.CallError
	release func()
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf gives the exchange that a request of this method belongs to, or nil. The context of a
// call is also that of its cancellation notice, so the method tells them apart.
func exchangeOf(ctx context.Context, method string) *exchange {
	if x, _ := ctx.Value(exchangeKey{}).(*exchange); x != nil && x.method == method {
		return x
	}
	return nil
}

// errTaken is what the SDK gets in place of an answer that an exchange has taken.
var errTaken = errors.New("answered below the SDK")

var noArguments = []byte(`"arguments":{}}`)

// params completes the parameters that the SDK has encoded: it puts the arguments, or the cursor,
// in as they stand, because the SDK would reformat the one and leave an empty other out.
func (x *exchange) params(encoded []byte) ([]byte, error) {
	switch {
	case x.args != nil:
		head, ok := bytes.CutSuffix(encoded, noArguments)
		if !ok {
			return nil, fmt.Errorf("the MCP SDK encodes tools/call in an unknown way: %s", toolflow.Clip(string(encoded), 80))
		}
		out := make([]byte, 0, len(encoded)+len(x.args))
		out = append(append(out, head...), `"arguments":`...)
		return append(append(out, x.args...), '}'), nil
	case x.cursor != nil:
		out := bytes.TrimSuffix(bytes.Clone(encoded), []byte("}"))
		if len(out) > 1 {
			out = append(out, ',')
		}
		out, err := jsontext.AppendQuote(append(out, `"cursor":`...), *x.cursor)
		return append(out, '}'), err
	}
	return encoded, nil
}

// begin marks the request as sent, unless the caller has gone.
func (x *exchange) begin() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over {
		x.sent = true
	}
	return !x.over
}

// unsend takes a mark back: the attempt is made anew because nothing of it was written.
func (x *exchange) unsend() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over {
		x.sent = false
	}
}

// answer takes the result; the exchange owns its bytes.
func (x *exchange) answer(result []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && x.result == nil && x.err == nil {
		x.result = result
	}
}

// fail notes a failure of a kind. Its message is completed with the server and the tool.
func (x *exchange) fail(e *toolflow.CallError) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && x.result == nil && x.err == nil {
		x.err = e
	}
}

// note replaces what was noted: an opening tries more than one request, and the last counts.
func (x *exchange) note(e *toolflow.CallError) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over {
		x.err = e
	}
}

// lost notes that the connection ended, which is a different failure before and after sending.
func (x *exchange) lost(e toolflow.CallError) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || x.result != nil || x.err != nil {
		return
	}
	e.Sent, e.Kind = x.sent, toolflow.CallUnreachable
	if x.sent {
		e.Kind = toolflow.CallLost
	}
	x.err = &e
}

// report hands a progress notification on, unless the caller has gone.
func (x *exchange) report(p toolflow.Progress) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && x.progress != nil {
		x.progress(p)
	}
}

// finish ends the exchange for its caller and gives the outcome. err is what the SDK said.
func (x *exchange) finish(ctx context.Context, err error) ([]byte, *toolflow.CallError) {
	x.mu.Lock()
	x.over = true // from here on nobody else changes x
	release := x.release
	x.mu.Unlock()
	if release != nil {
		release()
	}
	switch {
	case x.result != nil:
		return x.result, nil
	case x.err != nil:
	case ctx.Err() != nil:
		cause := context.Cause(ctx)
		x.err = &toolflow.CallError{Kind: toolflow.CallCancelled, Sent: x.sent, Err: cause,
			Message: "cancelled: " + cause.Error()}
	case x.sent:
		x.err = &toolflow.CallError{Kind: toolflow.CallLost, Sent: true, Err: err,
			Message: "the connection ended without an answer: " + text(err)}
	default:
		x.err = &toolflow.CallError{Kind: toolflow.CallUnreachable, Err: err,
			Message: "the request was not sent: " + text(err)}
	}
	return nil, x.complete(x.err)
}

// complete puts in front of a message what it is about.
func (x *exchange) complete(e *toolflow.CallError) *toolflow.CallError {
	e.Message = x.subject() + ": " + oneLine(e.Message)
	return e
}

func (x *exchange) subject() string {
	switch {
	case x.tool != "":
		return fmt.Sprintf("server %q: tool %q", x.server, x.tool)
	case x.method != "":
		return fmt.Sprintf("server %q: %s", x.server, x.method)
	}
	return fmt.Sprintf("server %q", x.server)
}

func text(err error) string {
	if err == nil {
		return "no reason given"
	}
	return err.Error()
}

// oneLine makes a message of foreign text: one line, not too long.
func oneLine(s string) string {
	s = toolflow.Clip(s, 1000)
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' || r == 0 }), " ")
}
