package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/toolflow-go/toolflow"
)

// An eventTap reads the event stream that answers a request, and resumes it where it breaks, so that
// the SDK sees one stream. It takes the answer to a call and the progress for the call's exchange; the
// SDK gets the server's own requests and, in place of the answer, a note that it was taken.
type eventTap struct {
	trip *trip
	body io.ReadCloser
	in   *bufio.Reader
	out  bytes.Buffer
	end  error // what the SDK gets when out is empty; nil while the stream goes on
	resumption
}

func newEventTap(resp *http.Response, tr *trip) *eventTap {
	return &eventTap{trip: tr, body: resp.Body, in: bufio.NewReader(resp.Body), resumption: newResumption(resp)}
}

// Close closes the stream.
func (e *eventTap) Close() error { return e.body.Close() }

// Read gives what the SDK is to see.
func (e *eventTap) Read(p []byte) (int, error) {
	for e.out.Len() == 0 {
		if e.end != nil {
			return 0, e.end
		}
		ev, err := e.next()
		switch {
		case errors.Is(err, errTooLarge):
			e.fail(tooLarge(e.trip.tap.max))
		case err == nil:
			e.reached(ev)
			e.handle(ev)
		default:
			if _, broken := parseMessage(ev.data); broken == nil { // it lacks its end only
				e.handle(ev)
			}
			if e.end == nil {
				e.resume(err)
			}
		}
	}
	return e.out.Read(p)
}

// An event of a stream, its fields as they came.
type event struct {
	name, id, retry, data []byte
}

// next reads an event; with an error it is one that was not completed.
func (e *eventTap) next() (ev event, err error) {
	for n := int64(0); ; {
		line, err := e.line(e.trip.tap.max - n)
		n += int64(len(line))
		line = bytes.TrimRight(line, "\r\n")
		if err == nil && len(line) == 0 && (ev.data != nil || ev.id != nil || ev.retry != nil) {
			return ev, nil
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
		if err != nil {
			return ev, err
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
	if len(ev.data) == 0 || len(ev.name) > 0 && string(ev.name) != "message" {
		return
	}
	m, err := parseMessage(ev.data)
	mine := m.answers(e.trip.id)
	switch {
	case err != nil && mine && !m.hasMethod:
		e.fail(brokenAnswer(err))
	case err != nil || !m.isAnswer() && !m.isRequest():
		e.trip.tap.warn.say("an event is no JSON-RPC message and is skipped: %q", toolflow.Clip(string(ev.data), 80))
	case m.isAnswer() && !mine && m.id != nil && string(m.id) != "null":
		e.trip.tap.warn.say("an answer with the id %s, which this stream does not wait for, is ignored", toolflow.Clip(string(m.id), 40))
	case m.isAnswer(): // without an id it is for whom the stream is for
		e.answered(&m, ev.data)
	case m.id != nil:
		e.pass(ev.data)
	default:
		e.notified(&m)
	}
}

func (e *eventTap) answered(m *message, data []byte) {
	fault := m.fault(e.trip.id)
	switch {
	case fault != "":
		e.fail(protocolError(fault))
	case e.trip.opening:
		e.pass(data)
		e.end = io.EOF
	default:
		settle(e.trip.x, m, true)
		e.take()
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

// pass hands a message to the SDK, without the id of its event: the SDK has nothing to resume.
func (e *eventTap) pass(data []byte) {
	e.out.WriteString("data: ")
	e.out.Write(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")))
	e.out.WriteString("\n\n")
}

// fail ends the stream without an answer.
func (e *eventTap) fail(why *toolflow.CallError) {
	if e.trip.opening {
		e.trip.x.note(why)
		e.end = errors.New(why.Message)
		return
	}
	e.trip.x.fail(why)
	e.take()
}

// take ends the stream for the SDK.
func (e *eventTap) take() {
	e.pass(takenFrame(e.trip.id))
	e.end = io.EOF
}
