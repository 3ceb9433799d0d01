package mcpclient_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/internal/stubserver"
	"github.com/toolflow-go/toolflow/mcpclient"
	"go.uber.org/goleak"
)

// The test binary runs itself again as the stub server.
func TestMain(m *testing.M) {
	if mode, ok := os.LookupEnv("STUB_MODE"); ok {
		switch mode {
		case "sdk-slow":
			time.Sleep(time.Second)
			fallthrough
		case "sdk":
			runSDKServer()
		case "client":
			runClient()
		}
		stubserver.Main(mode)
	}
	goleak.VerifyTestMain(m)
}

// runClient is what the test binary does when it is started to be killed: it starts a server that
// heeds nothing that comes over its stdin, and whose process id is then in the file STUB_PIDFILE.
func runClient() {
	c, _ := mcpclient.New([]toolflow.Server{{Name: "stub", Command: "sh",
		Args: []string{"-c", `echo $$ > "$0"; exec sleep 60`, os.Getenv("STUB_PIDFILE")}}}, nil)
	c.Tools(context.Background(), "stub")
	os.Exit(1)
}

// warnings collects what a client finds odd.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) add(server, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, server+": "+message)
}

func (w *warnings) wants(t *testing.T, part string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.ContainsFunc(w.all, func(s string) bool { return strings.Contains(s, part) }) {
		t.Errorf("no warning has %q; got %q", part, w.all)
	}
}

func stubConfig(mode string, env ...string) toolflow.Server {
	s := toolflow.Server{Name: "stub", Command: os.Args[0], Env: map[string]string{"STUB_MODE": mode, "GORACE": "atexit_sleep_ms=0"}}
	for i := 0; i < len(env); i += 2 {
		s.Env[env[i]] = env[i+1]
	}
	return s
}

func newClient(t testing.TB, o *mcpclient.Options, servers ...toolflow.Server) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.New(servers, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// stub gives a client of one stub server in a mode.
func stub(t testing.TB, mode string, env ...string) (*mcpclient.Client, *warnings) {
	t.Helper()
	w := &warnings{}
	return newClient(t, &mcpclient.Options{Warn: w.add, Probe: 200 * time.Millisecond}, stubConfig(mode, env...)), w
}

func script(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stub.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func call(t testing.TB, c *mcpclient.Client, tool, args string) (toolflow.Result, *toolflow.CallError) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return callWith(t, ctx, c, tool, args)
}

func callWith(t testing.TB, ctx context.Context, c *mcpclient.Client, tool, args string) (toolflow.Result, *toolflow.CallError) {
	t.Helper()
	r, err := c.Call(ctx, toolflow.Call{Server: "stub", Tool: tool, Args: []byte(args)}, nil)
	return r, callError(t, err)
}

func callError(t testing.TB, err error) *toolflow.CallError {
	t.Helper()
	var e *toolflow.CallError
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("got a %T, want a *toolflow.CallError: %v", err, err)
	}
	if e != nil && strings.ContainsAny(e.Message, "\n\r") {
		t.Errorf("message has more than one line: %q", e.Message)
	}
	return e
}

func wantError(t testing.TB, got *toolflow.CallError, kind toolflow.CallErrorKind, sent bool, message string) {
	t.Helper()
	if got == nil {
		t.Fatalf("no error, want %s: %s", kind, message)
	}
	if got.Kind != kind || got.Sent != sent || got.Error() != message {
		t.Errorf("got  %s sent=%v %s\nwant %s sent=%v %s\nstderr %q", got.Kind, got.Sent, got.Error(), kind, sent, message, got.Stderr)
	}
}
