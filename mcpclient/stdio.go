package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolflow-go/toolflow"
)

// A stdioConn is the SDK's connection to a server's process. It frames messages itself, so that lines
// that are none are survived, and takes the answers to calls for their exchanges.
type stdioConn struct {
	proc   *process
	frames *frameReader
	out    *outbox
	warn   *warner
	done   chan struct{} // closed when the connection has ended

	mu      sync.Mutex
	calls   map[int64]*exchange // by request id
	tokens  map[int64]*exchange // by progress token
	highest int64               // request id
	asked   int64               // id of `server/discover`
	found   []byte              // its result, when that came
	lines   int                 // skipped, of stdout
	bytes   int                 // in them
	end     *toolflow.CallError // why it ended; nil while it lives
	why     error               // what ended it, when that is not the server's end
}

// What may be skipped of a server's stdout before it is given up.
const (
	maxSkippedLines = 1000
	maxSkippedBytes = 1 << 20
)

func newStdioConn(p *process, max int64, w *warner) *stdioConn {
	c := &stdioConn{proc: p, frames: newFrameReader(p.stdout, max), out: newOutbox(p.stdin), warn: w,
		done: make(chan struct{}), calls: map[int64]*exchange{}, tokens: map[int64]*exchange{}}
	go func() {
		err := c.out.run()
		if err != nil && !p.gone(time.Second) { // the server lives, but its stdin does not
			c.abort(fmt.Errorf("the server does not take requests: %w", err))
		}
	}()
	return c
}

// Connect makes the connection its own transport.
func (c *stdioConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is empty: a process is a session.
func (c *stdioConn) SessionID() string { return "" }

// Write queues a message.
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, x, err := c.encode(ctx, msg)
	if err != nil || data == nil {
		return err
	}
	err = c.out.put(data, x)
	if errors.Is(err, errUnread) {
		c.abort(err)
	}
	return err
}

func (c *stdioConn) encode(ctx context.Context, msg jsonrpc.Message) ([]byte, *exchange, error) {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		if ok && req.Method == "notifications/cancelled" && exchangeOf(ctx, "") != nil {
			return nil, nil, nil // of a probe: before `initialize` a server need not know it
		}
		data, err := jsonrpc.EncodeMessage(msg)
		return append(data, '\n'), nil, err
	}
	id, ok := req.ID.Raw().(int64)
	if !ok {
		return nil, nil, fmt.Errorf("the MCP SDK numbers requests in an unknown way: %v", req.ID.Raw())
	}
	params, x := []byte(req.Params), exchangeOf(ctx, req.Method)
	if x != nil {
		var err error
		if params, err = x.params(params); err != nil {
			return nil, nil, err
		}
	}
	c.track(id, x, req.Method)
	data := make([]byte, 0, len(params)+len(req.Method)+64)
	data = append(data, `{"jsonrpc":"2.0","id":`...)
	data = strconv.AppendInt(data, id, 10)
	data = append(data, `,"method":`...)
	data, _ = jsontext.AppendQuote(data, req.Method)
	if len(params) > 0 {
		data = append(append(data, `,"params":`...), params...)
	}
	return append(data, "}\n"...), x, nil
}

func (c *stdioConn) track(id int64, x *exchange, method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if method == "server/discover" {
		c.asked = id
	}
	c.highest = max(c.highest, id)
	c.calls[id] = x
	if x == nil {
		return
	}
	if x.token != 0 {
		c.tokens[x.token] = x
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.release = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, id)
		delete(c.tokens, x.token)
	}
}

// claim tells, once, whether a request waits for its answer, and gives its exchange; it is nil for the
// SDK's own requests, which open the session.
func (c *stdioConn) claim(id int64) (x *exchange, waits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x, waits = c.calls[id]
	delete(c.calls, id)
	return x, waits
}

// Read gives the SDK its next message.
func (c *stdioConn) Read(context.Context) (jsonrpc.Message, error) {
	for {
		frame, owned, err := c.frames.next()
		var large *tooLargeError
		switch {
		case errors.As(err, &large):
			if msg := c.tooLarge(large); msg != nil {
				return msg, nil
			}
			err = c.deadReason()
		case err == nil, errors.Is(err, io.ErrUnexpectedEOF):
			msg := c.accept(frame, owned, err == nil)
			if msg != nil {
				return msg, nil
			}
			err = c.deadReason()
		}
		if err != nil {
			c.ended(err)
			return nil, io.EOF
		}
	}
}

func (c *stdioConn) deadReason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// accept looks at a frame and gives what the SDK has to see of it, if anything.
func (c *stdioConn) accept(frame []byte, owned, whole bool) jsonrpc.Message {
	if len(bytes.TrimSpace(frame)) == 0 {
		return nil
	}
	m, err := parseMessage(frame)
	if err != nil {
		return c.broken(m, frame, err, whole)
	}
	switch {
	case !m.isRPC():
		c.skip(frame, "is no JSON-RPC message")
	case m.hasMethod && m.id == nil:
		c.notified(&m)
	case m.hasMethod:
		return serverRequest(&m)
	default:
		return c.answered(&m, owned)
	}
	return nil
}

// broken handles a frame that is not JSON. When it names a call that waits, that call has failed.
func (c *stdioConn) broken(m message, frame []byte, err error, whole bool) jsonrpc.Message {
	id, ok := m.number()
	if !whole || !ok || m.hasMethod {
		c.skip(frame, "is no JSON")
		return nil
	}
	x, _ := c.claim(id)
	if x == nil {
		c.skip(frame, "is no JSON")
		return nil
	}
	x.fail(brokenAnswer(err))
	return taken(id)
}

// answered handles a response.
func (c *stdioConn) answered(m *message, owned bool) jsonrpc.Message {
	id, ok := m.number()
	if !ok {
		c.strange(m)
		return nil
	}
	x, waits := c.claim(id)
	switch {
	case x != nil:
		settle(x, m, owned)
		return taken(id)
	case waits:
		c.mu.Lock()
		if id == c.asked {
			c.found = bytes.Clone(m.result)
		}
		c.mu.Unlock()
		return sdkResponse(id, m)
	}
	c.unclaimed(id)
	return nil
}

// discovered reports whether the server has answered `server/discover`, be it late, with this version.
func (c *stdioConn) discovered(version string) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	members(c.found, func(name string, value []byte) error {
		if name != "supportedVersions" {
			return nil
		}
		return elements(value, func(value []byte) error {
			v, _ := str(value)
			ok = ok || v == version
			return nil
		})
	})
	return ok
}

func (c *stdioConn) unclaimed(id int64) {
	c.mu.Lock()
	known := id > 0 && id <= c.highest
	c.mu.Unlock()
	if known {
		c.warn.say("a late or second answer to request %d is ignored", id)
	} else {
		c.warn.say("an answer to request %d, which was never made, is ignored", id)
	}
}

// strange handles a response whose id is none of ours. A server that echoes numbers as strings never
// answers in the eyes of JSON-RPC, so the call it means gets a hint for its time limit.
func (c *stdioConn) strange(m *message) {
	if id, ok := quotedNumber(m.id); ok {
		c.mu.Lock()
		x := c.calls[id]
		c.mu.Unlock()
		if x != nil {
			x.remark(fmt.Sprintf("the server answered request %d with the id %s, a string: JSON-RPC wants the same value back", id, m.id))
		}
	}
	c.warn.say("an answer with the id %s, which was never given, is ignored", toolflow.Clip(string(m.id), 40))
}

// notified handles a notification: progress goes to its call, nothing else is needed.
func (c *stdioConn) notified(m *message) {
	if m.method != "notifications/progress" {
		return
	}
	token, p, ok := parseProgress(m.params)
	c.mu.Lock()
	x := c.tokens[token]
	c.mu.Unlock()
	if ok && x != nil {
		x.report(p)
	}
}

func (c *stdioConn) skip(line []byte, what string) {
	c.warn.say("a line of its stdout %s and is skipped: %q", what, toolflow.Clip(string(line), 80))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines++
	c.bytes += len(line)
	if c.why == nil && (c.lines >= maxSkippedLines || c.bytes > maxSkippedBytes) {
		c.why = fmt.Errorf("the server wrote %d lines (%s) to its stdout that are no JSON-RPC messages; the last: %q",
			c.lines, size(int64(c.bytes)), toolflow.Clip(string(line), 80))
	}
}

// tooLarge handles a frame past the limit: the call it answers has failed, or, when that cannot be
// told, the connection.
func (c *stdioConn) tooLarge(e *tooLargeError) jsonrpc.Message {
	what := "a message of the server is larger than " + size(c.frames.max)
	if id, ok := idOfEnds(e); ok {
		if x, _ := c.claim(id); x != nil {
			x.fail(&toolflow.CallError{Kind: toolflow.CallLimit, Sent: true, Message: "its answer is larger than " + size(c.frames.max)})
			return taken(id)
		}
		c.warn.say("%s and is skipped", what)
		return nil
	}
	c.abort(errors.New("the server sent a message larger than " + size(c.frames.max) + " that names no call"))
	return nil
}

// because sets the reason for an end that is about to come.
func (c *stdioConn) because(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == nil {
		c.why = why
	}
}

// abort ends the connection for a reason of ours.
func (c *stdioConn) abort(why error) {
	c.because(why)
	c.proc.stdout.Close()
}

// ended tells all calls in flight that the connection is over.
func (c *stdioConn) ended(err error) {
	c.mu.Lock()
	why := c.why
	c.mu.Unlock()
	end := &toolflow.CallError{Err: err}
	if why != nil {
		end.Err, end.Message = why, why.Error()
		_, end.Stderr = c.proc.end(0)
	} else {
		wait := time.Second
		if errors.Is(err, os.ErrClosed) { // the SDK closed it
			wait = 200 * time.Millisecond
		}
		end.Exit, end.Stderr = c.proc.end(wait)
		end.Message = "the server ended before it answered"
		if end.Exit == "" {
			end.Message = "the server closed its stdout before it answered"
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		return
	}
	c.end = end
	for id, x := range c.calls {
		delete(c.calls, id)
		if x != nil {
			x.lost(*end)
		}
	}
	c.out.close()
	close(c.done)
}

// failure gives why the connection ended, or nil.
func (c *stdioConn) failure() *toolflow.CallError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end
}

// Close ends the connection; the process is stopped by its session.
func (c *stdioConn) Close() error {
	c.proc.stdout.Close()
	c.out.close()
	return nil
}
