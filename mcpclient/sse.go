package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/toolflow-go/toolflow"
)

// An eventTap reads the event stream that answers a call. It takes the answer and the progress for the
// call's exchange; the SDK gets the server's own requests, the ids of events, from which it resumes a
// broken stream, and in place of the answer a note that it was taken.
type eventTap struct {
	body io.ReadCloser
	in   *bufio.Reader
	out  bytes.Buffer
	trip *trip
	max  int64
	done bool
}

func newEventTap(body io.ReadCloser, tr *trip) *eventTap {
	return &eventTap{body: body, in: bufio.NewReader(body), trip: tr, max: tr.tap.max}
}

// Close closes the stream.
func (e *eventTap) Close() error { return e.body.Close() }

// Read gives what the SDK is to see.
func (e *eventTap) Read(p []byte) (int, error) {
	for e.out.Len() == 0 {
		if e.done {
			return 0, io.EOF
		}
		ev, err := e.next()
		if errors.Is(err, errTooLarge) {
			e.trip.x.fail(&toolflow.CallError{Kind: toolflow.CallLimit, Sent: true, Message: "its answer is larger than " + size(e.max)})
			e.take()
			break
		}
		e.handle(ev)
		if err != nil && e.out.Len() == 0 {
			return 0, err
		}
	}
	return e.out.Read(p)
}

// An event of a stream, its fields as they came.
type event struct {
	name, id, retry, data []byte
}

// next reads an event; at the end of the stream it may be one that was not completed.
func (e *eventTap) next() (ev event, err error) {
	for n := int64(0); ; {
		line, err := e.line(e.max - n)
		n += int64(len(line))
		line = bytes.TrimRight(line, "\r\n")
		if err != nil || len(line) == 0 && n > 0 && (ev.data != nil || ev.id != nil || ev.retry != nil) {
			return ev, err
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			ev.name = value
		case "id":
			ev.id = value
		case "retry":
			ev.retry = value
		case "data":
			if ev.data != nil {
				ev.data = append(ev.data, '\n')
			}
			ev.data = append(ev.data, value...)
		}
	}
}

// line reads a line of at most max bytes.
func (e *eventTap) line(max int64) ([]byte, error) {
	var line []byte
	for {
		part, err := e.in.ReadSlice('\n')
		line = append(line, part...)
		if int64(len(line)) > max {
			return nil, errTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (e *eventTap) handle(ev event) {
	e.field("id", ev.id)
	e.field("retry", ev.retry)
	defer func() {
		if e.out.Len() > 0 {
			e.out.WriteByte('\n')
		}
	}()
	if len(ev.data) == 0 || len(ev.name) > 0 && string(ev.name) != "message" {
		return
	}
	m, err := parseMessage(ev.data)
	id, isNumber := m.number()
	x := e.trip.x
	switch {
	case err != nil && isNumber && id == e.trip.id && !m.hasMethod:
		x.fail(brokenAnswer(err))
		e.take()
	case err != nil || !m.isRPC():
		e.trip.tap.warn.say("an event is no JSON-RPC message and is skipped: %q", toolflow.Clip(string(ev.data), 80))
	case m.hasMethod && m.id != nil:
		e.field("data", bytes.ReplaceAll(ev.data, []byte("\n"), []byte(" ")))
	case m.hasMethod:
		e.notified(&m)
	case isNumber && id == e.trip.id:
		settle(x, &m, true)
		e.take()
	default:
		if other, ok := quotedNumber(m.id); ok && other == e.trip.id {
			x.remark("the server answered with the id " + string(m.id) + ", a string: JSON-RPC wants the same value back")
		}
		e.trip.tap.warn.say("an answer with the id %s, which this stream does not wait for, is ignored", toolflow.Clip(string(m.id), 40))
	}
}

func (e *eventTap) notified(m *message) {
	if m.method != "notifications/progress" {
		return
	}
	if token, p, ok := parseProgress(m.params); ok && token == e.trip.x.token {
		e.trip.x.report(p)
	}
}

func (e *eventTap) field(name string, value []byte) {
	if value != nil {
		e.out.WriteString(name + ": ")
		e.out.Write(value)
		e.out.WriteByte('\n')
	}
}

// take ends the stream for the SDK.
func (e *eventTap) take() {
	e.field("data", takenFrame(e.trip.id))
	e.done = true
}
