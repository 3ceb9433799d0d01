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
	case m.isAnswer():
		return c.answered(&m, owned)
	case !m.isRequest():
		c.skip(frame, "is no JSON-RPC message")
	case m.id == nil:
		c.notified(&m)
	default:
		return serverRequest(&m)
	}
	return nil
}

// broken handles a frame that is not JSON. When it names a request that waits, that one has failed.
func (c *stdioConn) broken(m message, frame []byte, err error, whole bool) jsonrpc.Message {
	if whole && !m.hasMethod {
		if id, ok := wholeNumber(m.id); ok {
			if x, waits := c.claim(id); waits {
				return wrong(id, x, brokenAnswer(err))
			}
		}
	}
	c.skip(frame, "is no JSON")
	return nil
}

// answered handles a response.
func (c *stdioConn) answered(m *message, owned bool) jsonrpc.Message {
	id, x, waits := c.addressee(m)
	if !waits {
		c.unclaimed(m)
		return nil
	}
	if fault := m.fault(id); fault != "" {
		return wrong(id, x, protocolError(fault))
	}
	if x != nil {
		settle(x, m, owned)
		return taken(id)
	}
	c.mu.Lock()
	if id == c.asked {
		c.found = bytes.Clone(m.result)
	}
	c.mu.Unlock()
	return sdkResponse(id, m)
}

// addressee claims the request that a response is meant for.
func (c *stdioConn) addressee(m *message) (id int64, x *exchange, waits bool) {
	for _, raw := range [...][]byte{m.id, m.other} {
		if n, ok := meantNumber(raw); ok {
			if x, waits := c.claim(n); waits {
				return n, x, true
			}
		}
	}
	return 0, nil, false
}

// wrong ends a request whose answer is none: it waits no longer, because no other will come.
func wrong(id int64, x *exchange, e *toolflow.CallError) jsonrpc.Message {
	if x == nil {
		return wrongAnswer(id, e)
	}
	x.fail(e)
	return taken(id)
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

// unclaimed handles a response that nobody waits for.
func (c *stdioConn) unclaimed(m *message) {
	id, ok := wholeNumber(m.id)
	c.mu.Lock()
	known := ok && id > 0 && id <= c.highest
	c.mu.Unlock()
	switch {
	case known:
		c.warn.say("a late or second answer to request %d is ignored", id)
	case m.failure != nil:
		c.warn.say("an error for request %s, which was never made, is ignored: %s", idText(m.id), refusal(m.failure).Message)
	default:
		c.warn.say("an answer to request %s, which was never made, is ignored", idText(m.id))
	}
}

func idText(id []byte) string {
	if id == nil {
		return "(no id)"
	}
	return toolflow.Clip(string(id), 40)
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
		if x, waits := c.claim(id); waits {
			return wrong(id, x, tooLarge(c.frames.max))
		}
		c.warn.say("%s and is skipped", what)
		return nil
	}
	c.abort(errors.New("the server sent a message larger than " + size(c.frames.max) + " that names no call"))
	return nil
}
