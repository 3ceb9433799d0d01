package mcpclient

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/toolflow-go/toolflow"
)

// A stream that breaks before its answer is resumed with a GET from the last event that came whole, if
// that had an id. The request was received when its stream began. So whatever the GET brings but the
// stream, be it a status that would say of a POST that nothing was run, the call is lost, not unsent.
const (
	resumeDelay  = time.Second            // when the server names none with `retry`
	resumeFloor  = 500 * time.Millisecond // when it names a shorter one
	mostResuming = 5                      // times in a row that bring no event with a new id
)

// A resumption is what is needed to resume a stream.
type resumption struct {
	session string // of the server
	last    string // id of the last event; "" when there is none
	delay   time.Duration
	tries   int // since an event had a new id
}

func newResumption(resp *http.Response) resumption {
	session := resp.Header.Get("Mcp-Session-Id") // it may just have begun
	if session == "" && resp.Request != nil {
		session = resp.Request.Header.Get("Mcp-Session-Id")
	}
	return resumption{session: session, delay: resumeDelay}
}

// reached notes how far the stream has come.
func (r *resumption) reached(ev event) {
	if n, ok := decimal(string(ev.retry), longestWait.Milliseconds()); ok {
		r.delay = max(resumeFloor, time.Duration(n)*time.Millisecond)
	}
	id := string(ev.id)
	if ev.id == nil || id == r.last || strings.ContainsFunc(id, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return // the last: not fit for a header
	}
	r.last, r.tries = id, 0
}

// resume goes on with a stream that broke, or fails when it cannot be resumed.
func (e *eventTap) resume(broke error) {
	reason := "the event stream ended without an answer"
	if broke != io.EOF {
		reason += ": " + broke.Error()
	}
	if e.last == "" {
		e.lost(reason)
		return
	}
	trouble, again, wait := "", true, time.Duration(0)
	for again && e.tries < mostResuming {
		e.tries++
		select {
		case <-time.After(max(e.delay, wait)):
		case <-e.trip.ctx.Done():
			e.end = e.trip.ctx.Err()
			return
		}
		if trouble, again, wait = e.reopen(); trouble == "" {
			return
		}
	}
	switch {
	case trouble == "":
		reason += fmt.Sprintf("; resumed %d times, it brought nothing new", e.tries)
	case again:
		reason += fmt.Sprintf("; after %d attempts to resume it: %s", e.tries, trouble)
	default:
		reason += "; it was not resumed: " + trouble
	}
	e.lost(reason)
}

// lost ends the stream, unless its end is the caller's or the client's.
func (e *eventTap) lost(reason string) {
	if err := e.trip.ctx.Err(); err != nil {
		e.end = err
		return
	}
	e.fail(&toolflow.CallError{Kind: toolflow.CallLost, Sent: true, Message: reason})
}

// reopen asks for the rest of the stream. trouble says why it did not come, and again whether it may
// the next time.
func (e *eventTap) reopen() (trouble string, again bool, wait time.Duration) {
	t := e.trip.tap
	req, err := e.request()
	if err != nil {
		return err.Error(), false, 0
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return err.Error(), true, 0
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	success := resp.StatusCode >= 200 && resp.StatusCode < 300
	if success && kind == "text/event-stream" {
		e.body.Close()
		e.body = resp.Body
		e.in.Reset(resp.Body)
		return "", false, 0
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
	resp.Body.Close()
	switch code := resp.StatusCode; {
	case success:
		return statusText(resp, fmt.Sprintf("it is of type %q", kind)), false, 0
	case code == http.StatusNotFound && e.session != "":
		t.gone.Store(true)
	case code == http.StatusTooManyRequests || code >= 500:
		again, wait = true, retryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	return statusText(resp, string(body)), again, wait
}

// request makes the GET. Its context is not that of the POST, which watches what is sent of the call.
func (e *eventTap) request() (*http.Request, error) {
	req, err := http.NewRequestWithContext(e.trip.ctx, http.MethodGet, e.trip.req.URL.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Last-Event-ID", e.last)
	if e.session != "" {
		req.Header.Set("Mcp-Session-Id", e.session)
	}
	if version := e.trip.req.Header.Get("Mcp-Protocol-Version"); version != "" {
		req.Header.Set("Mcp-Protocol-Version", version)
	}
	e.trip.tap.addHeaders(req)
	return req, nil
}
