package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/mcpclient"
)

// A breaking server answers calls with a stream that ends early, and leaves the rest, which is asked
// for with a GET, to a test.
type breaking struct {
	fakeServer
	first string // of the stream
	rest  func(w http.ResponseWriter, r *http.Request, id string, n int64)
	posts atomic.Int64 // calls
	gets  atomic.Int64
	id    atomic.Value // of the last call
}

func newBreaking(rest func(w http.ResponseWriter, r *http.Request, id string, n int64)) *breaking {
	b := &breaking{first: "id: a1\nretry: 1\ndata: \n\n", rest: rest}
	b.call = func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
		b.posts.Add(1)
		b.id.Store(string(id))
		events(w, b.first)
	}
	return b
}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		b.fakeServer.ServeHTTP(w, r)
		return
	}
	n := b.gets.Add(1)
	id, _ := b.id.Load().(string)
	b.rest(w, r, id, n)
}

func events(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
}

func hangUp(w http.ResponseWriter) {
	conn, _, _ := w.(http.Hijacker).Hijack()
	conn.Close()
}

// A stream that breaks is resumed where it stopped, when its events have ids.
func TestHTTPResume(t *testing.T) {
	const ends = "id: a2\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"structuredContent\":0.10}}\n\n"
	tests := map[string]struct {
		first string
		rest  func(w http.ResponseWriter, r *http.Request, id string, n int64)
		gets  int64
	}{
		"at once": {"id: a1\nretry: 10\ndata:\n\n",
			func(w http.ResponseWriter, r *http.Request, id string, n int64) { events(w, fmt.Sprintf(ends, id)) }, 1},
		"from the last whole event": {"id: a1\ndata:\n\nretry: 1\nid: a2\ndata: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":",
			func(w http.ResponseWriter, r *http.Request, id string, n int64) { events(w, fmt.Sprintf(ends, id)) }, 1},
		"after trouble": {"id: a1\nretry: 1\ndata:\n\n", func(w http.ResponseWriter, r *http.Request, id string, n int64) {
			switch n {
			case 1:
				hangUp(w)
			case 2:
				w.WriteHeader(http.StatusServiceUnavailable)
			default:
				events(w, fmt.Sprintf(ends, id))
			}
		}, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBreaking(func(w http.ResponseWriter, r *http.Request, id string, n int64) {
				if r.Header.Get("Last-Event-ID") != "a1" || r.Header.Get("Mcp-Session-Id") != "1" || r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" ||
					r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("Accept") != "text/event-stream" {
					t.Errorf("headers: %v", r.Header)
				}
				test.rest(w, r, id, n)
			})
			b.first = test.first
			conf := httpConfig(serve(t, b))
			conf.Headers = map[string]string{"Authorization": "Bearer secret"}
			c := newClient(t, nil, conf)
			r, err := call(t, c, "x", `{}`)
			if err != nil || string(r.Structured) != "0.10" || b.gets.Load() != test.gets || b.posts.Load() != 1 {
				t.Errorf("got %s, %v, %d GETs, %d POSTs", r.Structured, err, b.gets.Load(), b.posts.Load())
			}
		})
	}
}

// The request was received: whatever asking for the rest of its answer brings, it is lost and was
// sent, so that nobody makes the call again. Other calls of the session go on.
func TestHTTPResumeRefused(t *testing.T) {
	status := func(code int, headers ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(code)
			io.WriteString(w, "no")
		}
	}
	tests := []struct {
		name string
		rest func(http.ResponseWriter)
		gets int64
		want string // after what all have in common
	}{
		{"401", status(401), 1, "; it was not resumed: HTTP 401 Unauthorized: no"},
		{"403", status(403), 1, "; it was not resumed: HTTP 403 Forbidden: no"},
		{"404", status(404), 1, "; it was not resumed: HTTP 404 Not Found: no"},
		{"405", status(405), 1, "; it was not resumed: HTTP 405 Method Not Allowed: no"},
		{"429", status(429, "Retry-After", "0"), 5, "; after 5 attempts to resume it: HTTP 429 Too Many Requests: no"},
		{"500", status(500), 5, "; after 5 attempts to resume it: HTTP 500 Internal Server Error: no"},
		{"json-rpc error", status(400, "Content-Type", "application/json"), 1, "; it was not resumed: HTTP 400 Bad Request: no"},
		{"page", status(200, "Content-Type", "text/html"), 1, `; it was not resumed: HTTP 200 OK: it is of type "text/html"`},
		{"accepted", status(202), 1, `; it was not resumed: HTTP 202 Accepted: it is of type "text/plain"`},
		{"redirect", status(307, "Location", "/elsewhere"), 1, "; it was not resumed: HTTP 307 Temporary Redirect: no"},
		{"redirect away", status(302, "Location", "http://other.invalid/"), 1, "; it was not resumed: HTTP 302 Found: no"},
		{"hang up", hangUp, 5, "; after 5 attempts to resume it: EOF"},
		{"nothing", status(200, "Content-Type", "text/event-stream"), 5, "; resumed 5 times, it brought nothing new"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBreaking(func(w http.ResponseWriter, r *http.Request, id string, n int64) { test.rest(w) })
			events, release := b.call, make(chan struct{})
			b.call = func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
				if b.posts.Load() > 0 {
					<-release
					answer(w, id, `{"structuredContent":1}`)
					return
				}
				events(w, r, id)
			}
			c := newClient(t, nil, httpConfig(serve(t, b)))
			var wg sync.WaitGroup
			wg.Go(func() {
				_, err := call(t, c, "x", `{}`)
				wantError(t, err, toolflow.CallLost, true, `server "stub": tool "x": the event stream ended without an answer`+test.want)
				if err.Code != 0 || err.RetryAfter != 0 {
					t.Errorf("code %d, retry after %v", err.Code, err.RetryAfter)
				}
				close(release)
			})
			for b.posts.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			if _, err := call(t, c, "other", `{}`); err != nil {
				t.Errorf("a call beside it: %v", err)
			}
			wg.Wait()
			if b.posts.Load() != 1 || b.gets.Load() != test.gets {
				t.Errorf("%d POSTs, %d GETs, want 1 and %d", b.posts.Load(), b.gets.Load(), test.gets)
			}
			if _, err := call(t, c, "other", `{}`); err != nil {
				t.Errorf("the next call: %v", err)
			}
			if want := map[bool]int64{true: 2, false: 1}[test.name == "404"]; b.sessions.Load() != want {
				t.Errorf("%d sessions, want %d", b.sessions.Load(), want)
			}
		})
	}
}

// A server sets the pace of resuming, but not below a floor; as long as it has new events it goes on,
// until the call's time is over.
func TestHTTPResumePace(t *testing.T) {
	t.Parallel()
	b := newBreaking(func(w http.ResponseWriter, r *http.Request, id string, n int64) {
		events(w, fmt.Sprintf("id: b%d\nretry: 1\ndata: \n\n", n))
	})
	c := newClient(t, nil, httpConfig(serve(t, b)))
	ctx, cancel := context.WithTimeout(t.Context(), 3700*time.Millisecond)
	defer cancel()
	_, err := callWith(t, ctx, c, "x", `{}`)
	wantError(t, err, toolflow.CallCancelled, true, `server "stub": tool "x": cancelled: context deadline exceeded`)
	if n := b.gets.Load(); n < 6 || n > 7 {
		t.Errorf("%d GETs in 3.7 s, want 7", n)
	}
}

// Opening a session resumes its streams the same way.
func TestHTTPResumeOpening(t *testing.T) {
	t.Parallel()
	var gets atomic.Int64
	f := &fakeServer{call: func(w http.ResponseWriter, r *http.Request, id json.RawMessage) { answer(w, id, `{}`) }}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			gets.Add(1)
			if r.Header.Get("Mcp-Session-Id") != "s" {
				t.Errorf("headers: %v", r.Header)
			}
			events(w, "id: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"f\",\"version\":\"1\"}}}\n\n")
			return
		}
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"initialize"`) {
			w.Header().Set("Mcp-Session-Id", "s")
			events(w, "id: 1\nretry: 1\ndata:\n\n")
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		f.ServeHTTP(w, r)
	})
	c := newClient(t, nil, httpConfig(serve(t, h)))
	if _, err := call(t, c, "x", `{}`); err != nil || gets.Load() != 1 {
		t.Errorf("got %v, %d GETs", err, gets.Load())
	}
}

// Closing the client ends a call that waits to resume its answer.
func TestHTTPCloseWhileResuming(t *testing.T) {
	t.Parallel()
	b := newBreaking(func(w http.ResponseWriter, r *http.Request, id string, n int64) { w.WriteHeader(http.StatusBadGateway) })
	b.first = "id: a1\nretry: 999999999999999999999\ndata: \n\n"
	c, err := mcpclient.New([]toolflow.Server{httpConfig(serve(t, b))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() { c.Close() })
	start := time.Now()
	_, failed := call(t, c, "x", `{}`)
	wantError(t, failed, toolflow.CallLost, true, `server "stub": tool "x": the client was closed`)
	if d := time.Since(start); d > 2*time.Second || b.gets.Load() != 0 {
		t.Errorf("took %v, %d GETs", d, b.gets.Load())
	}
}
