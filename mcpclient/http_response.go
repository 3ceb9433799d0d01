package mcpclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/toolflow-go/toolflow"
)

// statusError says what an HTTP status means for a call. Sent is false where the status itself says
// that nothing was run.
func (tr *trip) statusError(resp *http.Response, body []byte) *toolflow.CallError {
	m, _ := parseMessage(body)
	var refused *toolflow.CallError
	if m.isRPC() && m.failure != nil {
		refused = refusal(m.failure)
	}
	e := &toolflow.CallError{Code: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), time.Now())}
	what := string(body)
	if refused != nil {
		what = refused.Message
	}
	e.Message = statusText(resp, what)
	const methodNotFound = -32601
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		e.Kind = toolflow.CallUnauthorized
		e.Message += " (the server's headers in its configuration give credentials)"
	case code == http.StatusTooManyRequests:
		e.Kind = toolflow.CallBusy
	case code == http.StatusNotFound && tr.req.Header.Get("Mcp-Session-Id") != "" && (refused == nil || refused.Code != methodNotFound):
		e.Kind = toolflow.CallSession
		e.Message = "the server has forgotten the session (" + e.Message + ")"
	case refused != nil:
		return refused
	case code >= 500:
		e.Kind, e.Sent = toolflow.CallLost, true
	default:
		e.Kind, e.Sent = toolflow.CallRefused, true
	}
	return e
}

// statusText gives a status with what the server said about it.
func statusText(resp *http.Response, what string) string {
	return strings.TrimSuffix(fmt.Sprintf("HTTP %s: %s", resp.Status, toolflow.Clip(strings.TrimSpace(what), 200)), ": ")
}

const longestWait = time.Hour // that a server is granted

// retryAfter reads the header: whole seconds, however many, or a date, of which a past one asks for no
// wait. Nobody waits longer than longestWait; anything else is as if it were not there.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if t, err := http.ParseTime(value); err == nil {
		return min(max(0, t.Sub(now)), longestWait)
	}
	n, ok := decimal(value, int64(longestWait/time.Second))
	if !ok {
		return 0
	}
	return time.Duration(n) * time.Second
}

// decimal reads a number that consists of digits, of any size; what passes most is most.
func decimal(s string, most int64) (n int64, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int64(c-'0'), most)
	}
	return n, s != ""
}

// reply makes a response for the SDK. Of the real one's headers it keeps the session's id.
func reply(req *http.Request, status int, kind string, body []byte, from ...http.Header) *http.Response {
	h := http.Header{}
	if kind != "" {
		h.Set("Content-Type", kind)
	}
	for _, f := range from {
		if id := f.Get("Mcp-Session-Id"); id != "" {
			h.Set("Mcp-Session-Id", id)
		}
	}
	return &http.Response{Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req}
}

var errTooLarge = errors.New("too large")

func readAll(r io.Reader, max int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, max+1))
	if err == nil && int64(len(body)) > max {
		return nil, errTooLarge
	}
	return body, err
}

// A limited body fails when it holds more than it may.
type limited struct {
	io.ReadCloser
	left int64
}

// Read reads what is left of the limit.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLarge
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// A closing body runs a function when it is closed.
type closing struct {
	io.ReadCloser
	also func()
}

// Close closes the body.
func (c *closing) Close() error {
	err := c.ReadCloser.Close()
	c.also()
	return err
}
