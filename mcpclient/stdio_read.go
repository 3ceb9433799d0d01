package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/toolflow-go/toolflow"
)

// What may be skipped of a server's stdout before it is given up.
const (
	maxSkippedLines = 1000
	maxSkippedBytes = 1 << 20
)

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
