package mcpclient

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/toolflow-go/toolflow"
)

// Tools lists the tools of a server, starting it when needed, in the server's order. Each page of the
// list must come within the server's start limit. A tool that is malformed is left out with a warning,
// and so is a name that is listed with two different definitions: nobody knows which of them a call
// would reach, or whether what one promises, such as to destroy nothing, is true of the other. Of
// definitions that are the same, byte for byte, one is kept, with a warning too. A failure is a [*toolflow.CallError].
func (c *Client) Tools(ctx context.Context, server string) ([]toolflow.Tool, error) {
	out, err := c.tools(ctx, server)
	if err != nil {
		err.Sent = false // of a call: none was made
		return nil, err
	}
	return out, nil
}

func (c *Client) tools(ctx context.Context, server string) ([]toolflow.Tool, *toolflow.CallError) {
	s, err := c.session(ctx, server)
	if err != nil {
		return nil, err
	}
	l := listing{client: c, server: server, session: s, limit: or(c.servers[server].conf.StartTimeout, defaultStart),
		names: map[string][]byte{}, cursors: map[string]bool{}}
	for cursor := (*string)(nil); ; {
		next, err := l.page(ctx, cursor)
		if err != nil || next == nil {
			return slices.DeleteFunc(l.tools, func(t toolflow.Tool) bool { return l.names[t.Name] == nil }), err
		}
		cursor = next
	}
}

// A listing is the list of a server's tools as far as it has come.
type listing struct {
	client  *Client
	server  string
	session *session
	limit   time.Duration
	tools   []toolflow.Tool
	names   map[string][]byte // what was listed, as it stands; nil when it differed
	cursors map[string]bool
	pages   int
}

// page reads one page and gives the cursor of the next. Only an absent one ends the list: an empty one
// is a cursor too.
func (l *listing) page(caller context.Context, cursor *string) (next *string, err *toolflow.CallError) {
	ctx, cancel := context.WithTimeoutCause(caller, l.limit, fmt.Errorf("not answered within %v (startTimeout gives it longer)", l.limit))
	defer cancel()
	x := &exchange{server: l.server, method: "tools/list", cursor: cursor}
	raw, err := l.session.do(ctx, x)
	if err != nil && err.Kind == toolflow.CallCancelled && caller.Err() == nil {
		err = x.complete(&toolflow.CallError{Kind: toolflow.CallUnreachable, Err: err.Err, Message: text(err.Err)})
	}
	if err != nil {
		return nil, err
	}
	next, err = l.read(raw)
	if err == nil && next != nil {
		err = l.turn(*next)
	}
	if err != nil {
		return nil, x.complete(err)
	}
	return next, nil
}

// turn checks that the list goes on to a page that was not seen.
func (l *listing) turn(cursor string) *toolflow.CallError {
	if l.cursors[cursor] {
		return protocolError(fmt.Sprintf("the list never ends: the cursor %q comes again", toolflow.Clip(cursor, 80)))
	}
	l.cursors[cursor] = true
	if l.pages++; l.pages >= l.client.maxPages {
		return &toolflow.CallError{Kind: toolflow.CallLimit, Message: fmt.Sprintf("the list has more than %d pages", l.client.maxPages)}
	}
	return nil
}

func (l *listing) read(raw []byte) (next *string, failed *toolflow.CallError) {
	var tools []byte
	err := members(raw, func(name string, value []byte) error {
		switch name {
		case "tools":
			tools = value
		case "nextCursor":
			if string(value) == "null" {
				return nil
			}
			cursor, ok := str(value)
			if !ok {
				return fmt.Errorf("nextCursor is no string but %s", kindOf(value))
			}
			next = &cursor
		}
		return nil
	})
	if err == nil && tools == nil {
		err = fmt.Errorf("it has no tools")
	}
	if err == nil {
		err = elements(tools, func(value []byte) error {
			if failed == nil {
				failed = l.add(value)
			}
			return nil
		})
	}
	if err != nil {
		return nil, protocolError("its answer is no list of tools: " + jsonReason(err))
	}
	return next, failed
}

// add takes a tool into the list.
func (l *listing) add(raw []byte) *toolflow.CallError {
	if len(l.tools) >= l.client.maxTools {
		return &toolflow.CallError{Kind: toolflow.CallLimit, Message: fmt.Sprintf("the server has more than %d tools", l.client.maxTools)}
	}
	tool, notes, err := parseTool(raw)
	for _, note := range notes {
		l.client.warner(l.server).say("%s", note)
	}
	warn, name := l.client.warner(l.server), toolflow.Clip(tool.Name, 80)
	before, listed := l.names[tool.Name]
	switch {
	case listed && before == nil:
		return nil
	case listed && !bytes.Equal(before, raw):
		warn.say("tool %q is left out: the server lists it twice, with different definitions", name)
		l.names[tool.Name] = nil
		return nil
	case err != nil:
		warn.say("a tool is left out: %v", err)
	case listed:
		warn.say("tool %q is listed twice, with the same definition, and one is kept", name)
	}
	if tool.Name != "" {
		l.names[tool.Name] = raw
	}
	if err != nil || listed {
		return nil
	}
	tool.Server = l.server
	l.tools = append(l.tools, tool)
	return nil
}
