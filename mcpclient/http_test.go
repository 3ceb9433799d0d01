package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/mcpclient"
)

func httpConfig(url string) toolflow.Server { return toolflow.Server{Name: "stub", URL: url} }

func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// sdkServer is a server made with the SDK: tools echo (its arguments, with progress), and big.
func sdkServer(got *atomic.Value) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{PageSize: 1})
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			got.Store(string(r.Params.Arguments))
			for i := range 3 {
				r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
			}
			return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: r.Params.Arguments}, nil
		})
	s.AddTool(&mcp.Tool{Name: "big", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 2<<20)}}}, nil
		})
	return s
}

func sdkHandler(got *atomic.Value, o *mcp.StreamableHTTPOptions) http.Handler {
	s := sdkServer(got)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)
}

// runSDKServer is what the test binary does when it is started as a server made with the SDK.
func runSDKServer() {
	f, err := os.OpenFile(os.Getenv("STARTS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		f.WriteString("x")
		f.Close()
	}
	var got atomic.Value
	sdkServer(&got).Run(context.Background(), &mcp.StdioTransport{})
	os.Exit(0)
}

// A server of the newest protocol over stdio: it is stateless, and each request says who asks.
func TestNewestProtocolOverStdio(t *testing.T) {
	for _, mode := range []string{"sdk", "sdk-slow"} { // the slow one is late for the probe
		t.Run(mode, func(t *testing.T) { testNewestProtocol(t, mode) })
	}
}

func testNewestProtocol(t *testing.T, mode string) {
	starts := filepath.Join(t.TempDir(), "starts")
	c, w := stub(t, mode, "STARTS", starts)
	tools, err := c.Tools(t.Context(), "stub")
	if err != nil || len(tools) != 2 {
		t.Fatalf("tools: %v, %v", tools, err)
	}
	progress := 0
	const value = `{"big":9007199254740993,"price":0.10,"esc":"\u0041"}`
	r, err := c.Call(t.Context(), toolflow.Call{Server: "stub", Tool: "echo", Args: []byte(value)}, func(toolflow.Progress) { progress++ })
	if err != nil || string(r.Structured) != value || progress != 3 {
		t.Errorf("got %s, %d progress notifications, %v", r.Structured, progress, err)
	}
	if got, _ := os.ReadFile(starts); len(w.all) > 0 || string(got) != "x" {
		t.Errorf("warnings: %q, starts: %q", w.all, got)
	}
}

func TestHTTPIsExact(t *testing.T) {
	const value = `{"big":9007199254740993,"price":0.10,"exp":1e2,"esc":"\u0041","html":"<a>&</a>","long":123456789012345678901234567890}`
	for name, o := range map[string]*mcp.StreamableHTTPOptions{
		"events": {}, "json": {JSONResponse: true}, "stateless": {Stateless: true}, "stateless json": {Stateless: true, JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			var got atomic.Value
			c := newClient(t, &mcpclient.Options{MaxFrame: 1 << 20}, httpConfig(serve(t, sdkHandler(&got, o))))
			tools, err := c.Tools(t.Context(), "stub")
			if err != nil || len(tools) != 2 || string(tools[1].InputSchema) != `{"type":"object"}` {
				t.Fatalf("tools: %v, %v", tools, err)
			}
			progress := 0
			r, err := c.Call(t.Context(), toolflow.Call{Server: "stub", Tool: "echo", Args: []byte(value)}, func(toolflow.Progress) { progress++ })
			if err != nil || got.Load() != value {
				t.Errorf("the server got  %s, %v\nwant %s", got.Load(), err, value)
			}
			wrote := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(value) // as the SDK's server does
			if string(r.Structured) != wrote {
				t.Errorf("got  %s\nwant %s", r.Structured, wrote)
			}
			if !o.JSONResponse && progress != 3 {
				t.Errorf("got %d progress notifications, want 3", progress)
			}
			_, cerr := call(t, c, "big", `{}`)
			wantError(t, cerr, toolflow.CallLimit, true, `server "stub": tool "big": its answer is larger than 1 MiB`)
			_, cerr = call(t, c, "none", `{}`)
			wantError(t, cerr, toolflow.CallRefused, true, `server "stub": tool "none": refused: unknown tool "none" (code -32602)`)
			if _, cerr = call(t, c, "echo", `{}`); cerr != nil {
				t.Errorf("after a failure: %v", cerr)
			}
		})
	}
}

// A fakeServer opens sessions and leaves calls to a test.
type fakeServer struct {
	call     func(w http.ResponseWriter, r *http.Request, id json.RawMessage)
	sessions atomic.Int64
	headers  sync.Map // seen, of each request: method and header
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.headers.Store(r.Method+" "+r.Header.Get("Authorization"), true)
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	body, _ := io.ReadAll(r.Body)
	json.Unmarshal(body, &m)
	switch m.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprint(f.sessions.Add(1)))
		answer(w, m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`)
	case "tools/call":
		f.call(w, r, m.ID)
	case "server/discover":
		http.Error(w, "what?", http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func answer(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func TestHTTPFailures(t *testing.T) {
	body := func(status int, kind, text string, headers ...string) func(http.ResponseWriter, *http.Request, json.RawMessage) {
		return func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			io.WriteString(w, strings.ReplaceAll(text, "ID", string(id)))
		}
	}
	const subject = `server "stub": tool "x": `
	tests := []struct {
		name  string
		call  func(http.ResponseWriter, *http.Request, json.RawMessage)
		kind  toolflow.CallErrorKind
		sent  bool
		code  int
		retry time.Duration
		want  string
	}{
		{"401", body(401, "text/plain", "who?"), toolflow.CallUnauthorized, false, 401, 0,
			"HTTP 401 Unauthorized: who? (the server's headers in its configuration give credentials)"},
		{"403", body(403, "text/plain", ""), toolflow.CallUnauthorized, false, 403, 0,
			"HTTP 403 Forbidden (the server's headers in its configuration give credentials)"},
		{"404", body(404, "text/plain", "session not found\n"), toolflow.CallSession, false, 404, 0,
			"the server has forgotten the session (HTTP 404 Not Found: session not found)"},
		{"404 with an error", body(404, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`), toolflow.CallSession, false, 404, 0,
			"the server has forgotten the session (HTTP 404 Not Found: refused: Session not found (code -32001))"},
		{"404 for a method", body(404, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no such method"}}`), toolflow.CallRefused, true, -32601, 0,
			"refused: no such method (code -32601)"},
		{"429", body(429, "text/plain", "slow down", "Retry-After", "7"), toolflow.CallBusy, false, 429, 7 * time.Second, "HTTP 429 Too Many Requests: slow down"},
		{"503", body(503, "text/html", "<html>", "Retry-After", "2"), toolflow.CallLost, true, 503, 2 * time.Second, "HTTP 503 Service Unavailable: <html>"},
		{"500", body(500, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"message":"no"}}`), toolflow.CallRefused, true, -1, 0, "refused: no (code -1)"},
		{"400", body(400, "text/plain", "bad\nrequest"), toolflow.CallRefused, true, 400, 0, "HTTP 400 Bad Request: bad request"},
		{"page", body(200, "text/html; charset=utf-8", "<html>sign in</html>"), toolflow.CallProtocol, true, 0, 0,
			"HTTP 200 OK brought no MCP answer but is a web page: <html>sign in</html>"},
		{"accepted", body(202, "", ""), toolflow.CallProtocol, true, 0, 0, `HTTP 202 Accepted brought no MCP answer but is of type ""`},
		{"broken", body(200, "application/json", `{"jsonrpc":"2.0","id":ID,"result":{`), toolflow.CallProtocol, true, 0, 0,
			"its answer is broken JSON: unexpected EOF at byte 34"},
		{"other id", body(200, "application/json", `{"jsonrpc":"2.0","id":"ID","result":{}}`), toolflow.CallProtocol, true, 0, 0,
			`its answer has the id "3" instead of 3`},
		{"no response", body(200, "application/json", `{}`), toolflow.CallProtocol, true, 0, 0, "its answer is no JSON-RPC response: {}"},
		{"a batch", body(200, "application/json", `[{"jsonrpc":"2.0","id":ID,"result":{}}]`), toolflow.CallProtocol, true, 0, 0,
			`its answer is no JSON-RPC response: [{"jsonrpc":"2.0","id":3,"result":{}}]`},
		{"no id", body(200, "application/json", `{"jsonrpc":"2.0","result":{}}`), toolflow.CallProtocol, true, 0, 0, "its answer has no id, which is 3"},
		{"error with 200", body(200, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":5,"message":"m"}}`), toolflow.CallRefused, true, 5, 0, "refused: m (code 5)"},
		{"events end", body(200, "text/event-stream", "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n: comment\n\n"), toolflow.CallLost, true, 0, 0,
			"the event stream ended without an answer"},
		{"broken event", body(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":\n\n"), toolflow.CallProtocol, true, 0, 0,
			"its answer is broken JSON: unexpected EOF at byte 33"},
		{"needs a person", body(200, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32042,"message":"sign in"}}`), toolflow.CallNeedsPerson, true, -32042, 0,
			"refused: sign in (code -32042)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &fakeServer{call: test.call}
			c := newClient(t, nil, httpConfig(serve(t, f)))
			_, err := call(t, c, "x", `{}`)
			wantError(t, err, test.kind, test.sent, subject+test.want)
			if err.Code != test.code || err.RetryAfter != test.retry {
				t.Errorf("code %d, retry after %v", err.Code, err.RetryAfter)
			}
			f.call = func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
				answer(w, id, `{"structuredContent":1}`)
			}
			if r, err := call(t, c, "x", `{}`); err != nil || string(r.Structured) != "1" {
				t.Errorf("the next call: %s, %v", r.Structured, err)
			}
			if want := map[bool]int64{true: 2, false: 1}[test.kind == toolflow.CallSession]; f.sessions.Load() != want {
				t.Errorf("%d sessions, want %d", f.sessions.Load(), want)
			}
		})
	}
}

// Wrong answers are as wrong over HTTP as they are over stdio, in one body or in a stream.
func TestHTTPWrongAnswers(t *testing.T) {
	for name, test := range wrongAnswers {
		for _, kind := range []string{"application/json", "text/event-stream"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				c := newClient(t, nil, httpConfig(serve(t, &fakeServer{call: func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
					w.Header().Set("Content-Type", kind)
					text := test.answer(string(id))
					if kind == "text/event-stream" {
						text = "id: 1\ndata: " + text + "\n\n"
					}
					io.WriteString(w, text)
					w.(http.Flusher).Flush()
					if kind == "text/event-stream" {
						<-r.Context().Done() // the stream stays open
					}
				}})))
				_, err := call(t, c, "x", `{}`)
				test.check(t, err, "x", "3")
			})
		}
	}
}

// An answer that opens a session may be wrong too; nobody waits for another.
func TestHTTPWrongOpening(t *testing.T) {
	for kind, frame := range map[string]string{"application/json": "%s", "text/event-stream": "id: 1\ndata: %s\n\n"} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprintf(w, frame, `{"jsonrpc":"2.0","id":"2","result":{}}`)
		})
		c := newClient(t, nil, httpConfig(serve(t, h)))
		start := time.Now()
		_, err := c.Tools(t.Context(), "stub")
		wantError(t, callError(t, err), toolflow.CallUnreachable, false, `server "stub" did not start: its answer has the id "2" instead of 2`)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: took %v", kind, d)
		}
	}
}

func TestHTTPEvents(t *testing.T) {
	f := &fakeServer{call: func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "\xef\xbb\xbf: a comment\r\n\r\ndata: log line\n\nevent: other\ndata: {}\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n"+
			"id: 1\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,\ndata: \"result\":{\"structuredContent\":{\"n\": 1.0}}}\r\n\r\n", id)
		w.(http.Flusher).Flush()
		<-r.Context().Done() // the stream stays open
	}}
	w := &warnings{}
	c := newClient(t, &mcpclient.Options{Warn: w.add}, httpConfig(serve(t, f)))
	r, err := call(t, c, "x", `{}`)
	if err != nil || string(r.Structured) != `{"n": 1.0}` {
		t.Errorf("got %s, %v", r.Structured, err)
	}
	w.wants(t, `an event is no JSON-RPC message and is skipped: "log line"`)
	w.wants(t, `an answer with the id 99, which this stream does not wait for, is ignored`)
}

// One call whose time is over while its body comes leaves the others alone.
func TestHTTPTimeoutIsOfOneCall(t *testing.T) {
	release := make(chan struct{})
	var n atomic.Int64
	f := &fakeServer{call: func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
		if n.Add(1) == 1 {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0",`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		<-release
		answer(w, id, `{"structuredContent":1}`)
	}}
	c := newClient(t, nil, httpConfig(serve(t, f)))
	if _, err := c.Tools(t.Context(), "stub"); err == nil {
		t.Fatal("the fake server lists no tools")
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := callWith(t, short, c, "x", `{}`)
		wantError(t, err, toolflow.CallCancelled, true, `server "stub": tool "x": cancelled: context deadline exceeded`)
		close(release)
	})
	for n.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := call(t, c, "x", `{}`); err != nil {
		t.Errorf("the other call: %v", err)
	}
	wg.Wait()
	if f.sessions.Load() != 1 {
		t.Errorf("%d sessions, want 1", f.sessions.Load())
	}
}

func TestHTTPRedirects(t *testing.T) {
	var lured atomic.Int64
	lure := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { lured.Add(1) }))
	to := ""
	status := http.StatusTemporaryRedirect
	f := &fakeServer{}
	f.call = func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
		if r.URL.Path == "/moved" {
			answer(w, id, `{"structuredContent":"moved"}`)
			return
		}
		http.Redirect(w, r, to, status)
	}
	url := serve(t, f)
	conf := httpConfig(url)
	conf.Headers = map[string]string{"Authorization": "Bearer secret"}
	c := newClient(t, nil, conf)

	to = lure + "/x"
	_, err := call(t, c, "x", `{}`)
	wantError(t, err, toolflow.CallProtocol, true, fmt.Sprintf(`server "stub": tool "x": redirected from %s to another origin, %s, which is not followed`, url, lure))
	to = url + "/moved"
	if r, err := call(t, c, "x", `{"a":1}`); err != nil || string(r.Structured) != `"moved"` {
		t.Errorf("same origin: %s, %v", r.Structured, err)
	}
	status = http.StatusFound
	_, err = call(t, c, "x", `{}`)
	wantError(t, err, toolflow.CallProtocol, true, `server "stub": tool "x": redirected by HTTP 302, which turns a POST into a GET`)
	if lured.Load() != 0 {
		t.Errorf("the other origin got %d requests", lured.Load())
	}
	f.headers.Range(func(key, _ any) bool {
		if !strings.HasSuffix(key.(string), "Bearer secret") {
			t.Errorf("a request without the header: %s", key)
		}
		return true
	})
}

func TestHTTPConnections(t *testing.T) {
	f := &fakeServer{call: func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}}
	s := httptest.NewServer(f)
	c := newClient(t, nil, httpConfig(s.URL))
	_, err := call(t, c, "x", `{}`)
	if err.Kind != toolflow.CallLost || !err.Sent || !strings.Contains(err.Message, "reset") && !strings.Contains(err.Message, "EOF") {
		t.Errorf("reset after the request: %s sent=%v %v", err.Kind, err.Sent, err)
	}
	s.Close()
	_, err = call(t, c, "x", `{}`)
	if err.Kind != toolflow.CallUnreachable || err.Sent || !strings.Contains(err.Message, "refused") {
		t.Errorf("the port is closed: %s sent=%v %v", err.Kind, err.Sent, err)
	}
	c = newClient(t, nil, httpConfig(s.URL))
	_, err = call(t, c, "x", `{}`)
	if err.Kind != toolflow.CallUnreachable || err.Sent || !strings.HasPrefix(err.Message, `server "stub" did not start: `) || !strings.Contains(err.Message, "refused") {
		t.Errorf("the port was never open: %s sent=%v %v", err.Kind, err.Sent, err)
	}
}

func TestHTTPOpening(t *testing.T) {
	tests := []struct {
		status int
		kind   toolflow.CallErrorKind
		want   string
	}{
		{401, toolflow.CallUnauthorized, `server "stub" did not start: HTTP 401 Unauthorized: no (the server's headers in its configuration give credentials)`},
		{429, toolflow.CallBusy, `server "stub" did not start: HTTP 429 Too Many Requests: no`},
		{404, toolflow.CallUnreachable, `server "stub" did not start: HTTP 404 Not Found: no`},
	}
	for _, test := range tests {
		c := newClient(t, nil, httpConfig(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3")
			http.Error(w, "no", test.status)
		}))))
		_, err := c.Tools(t.Context(), "stub")
		e := callError(t, err)
		wantError(t, e, test.kind, false, test.want)
		if e.RetryAfter != 3*time.Second || e.Code != test.status {
			t.Errorf("code %d, retry after %v", e.Code, e.RetryAfter)
		}
	}
	silent := newClient(t, nil, toolflow.Server{Name: "stub", StartTimeout: 300 * time.Millisecond,
		URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.ReadAll(r.Body); <-r.Context().Done() }))})
	_, err := silent.Tools(t.Context(), "stub")
	wantError(t, callError(t, err), toolflow.CallUnreachable, false, `server "stub" did not start: it did not answer within 300ms (startTimeout gives it longer)`)
}

func TestHTTPCloseWithACallInFlight(t *testing.T) {
	arrived := make(chan struct{})
	f := &fakeServer{call: func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
		close(arrived)
		<-r.Context().Done()
	}}
	c := newClient(t, nil, httpConfig(serve(t, f)))
	failed := make(chan error, 1)
	go func() {
		_, err := c.Call(context.Background(), toolflow.Call{Server: "stub", Tool: "x"}, nil)
		failed <- err
	}()
	<-arrived
	start := time.Now()
	c.Close()
	wantError(t, callError(t, <-failed), toolflow.CallLost, true, `server "stub": tool "x": the client was closed`)
	if d := time.Since(start); d > time.Second {
		t.Errorf("took %v", d)
	}
}

// What is told of a failed opening is its last request.
func TestHTTPInitializeRefused(t *testing.T) {
	c := newClient(t, nil, httpConfig(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"capabilities":{}`) && !strings.Contains(string(body), `clientCapabilities":{}`) {
			t.Errorf("the client announces what it does not do: %s", body)
		}
		if !strings.Contains(string(body), `"initialize"`) {
			http.Error(w, "no session", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"licence expired"}}`)
	}))))
	_, err := c.Tools(t.Context(), "stub")
	wantError(t, callError(t, err), toolflow.CallUnreachable, false, `server "stub" did not start: calling "initialize": licence expired`)
}
