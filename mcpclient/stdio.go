package mcpclient

import (
	"context"
	"errors"
	"fmt"
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
		if !x.sent {
			c.out.drop(x)
		}
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
