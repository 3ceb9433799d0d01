//go:build unix

package mcpclient_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/internal/stubserver"
	"github.com/toolflow-go/toolflow/mcpclient"
)

func TestStartFailures(t *testing.T) {
	environ := func() []string {
		return []string{"PATH=/bin", "SECRET=s3cret", "AWS_KEY=k", "LC_ALL=C", "HOME=() { :; }"}
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "script"), []byte("#!/no/such/interpreter\n"), 0o700)
	os.WriteFile(filepath.Join(dir, "data"), nil, 0o600)
	tests := []struct {
		name string
		conf toolflow.Server
		want string
	}{
		{"exit 3", stubConfig(stubserver.ModeExit3),
			`server "stub" did not start: the server ended before it answered; withheld from its environment: AWS_KEY, HOME, SECRET (exit status 3)`},
		{"exit 0", stubConfig(stubserver.ModeExit0),
			`server "stub" did not start: the server ended before it answered; withheld from its environment: AWS_KEY, HOME, SECRET (exit status 0)`},
		{"silent", stubConfig(stubserver.ModeSilent),
			`server "stub" did not start: it did not answer within 400ms (startTimeout gives it longer); withheld from its environment: AWS_KEY, HOME, SECRET`},
		{"missing", toolflow.Server{Name: "stub", Command: "./no-such-program"},
			`server "stub" did not start: command "./no-such-program" does not exist`},
		{"missing in PATH", toolflow.Server{Name: "stub", Command: "no-such-program"},
			`server "stub" did not start: command "no-such-program" was looked for in PATH and not found (give its whole path, or install it)`},
		{"with arguments", toolflow.Server{Name: "stub", Command: "node x.js"},
			`server "stub" did not start: command "node x.js" was looked for in PATH and not found (arguments belong into args: "node" alone may be the command)`},
		{"path with arguments", toolflow.Server{Name: "stub", Command: "/bin/sh -c x"},
			`server "stub" did not start: command "/bin/sh -c x" does not exist (arguments belong into args: "/bin/sh" alone may be the command)`},
		{"no folder", toolflow.Server{Name: "stub", Command: "sh", Cwd: "gone"},
			`server "stub" did not start: cwd "` + dir + `/gone" does not exist`},
		{"a file for a folder", toolflow.Server{Name: "stub", Command: "sh", Cwd: "script"},
			`server "stub" did not start: cwd "` + dir + `/script" is no folder`},
		{"no interpreter", toolflow.Server{Name: "stub", Command: "./script", Cwd: "."},
			`server "stub" did not start: command "./script" exists, but what it needs to run, such as the program its first line names, does not`},
		{"not executable", toolflow.Server{Name: "stub", Command: "./data", Cwd: "."},
			`server "stub" did not start: fork/exec ./data: permission denied`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "silent" {
				test.conf.StartTimeout = 400 * time.Millisecond
			}
			w := &warnings{}
			c := newClient(t, &mcpclient.Options{Environ: environ, Dir: dir, Warn: w.add}, test.conf)
			for range 2 { // nothing of a failed start stays behind
				_, err := call(t, c, "echo", `{}`)
				wantError(t, err, toolflow.CallUnreachable, false, test.want)
				_, lerr := c.Tools(t.Context(), "stub")
				wantError(t, callError(t, lerr), toolflow.CallUnreachable, false, test.want)
				if test.name == "exit 3" && err.Stderr != "cannot start: API_KEY is missing" {
					t.Errorf("stderr %q", err.Stderr)
				}
			}
			if len(w.all) > 0 { // the error says it all
				t.Errorf("warnings: %q", w.all)
			}
		})
	}
}

// However many variables were withheld, the error names each, once.
func TestWithheldNamesAreComplete(t *testing.T) {
	var environ, names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("SECRET_%02d", i))
		environ = append(environ, names[i]+"=x")
	}
	w := &warnings{}
	c := newClient(t, &mcpclient.Options{Environ: func() []string { return environ }, Warn: w.add}, stubConfig(stubserver.ModeExit0))
	_, err := c.Tools(t.Context(), "stub")
	wantError(t, callError(t, err), toolflow.CallUnreachable, false,
		`server "stub" did not start: the server ended before it answered; withheld from its environment: `+strings.Join(names, ", ")+` (exit status 0)`)
	if len(w.all) > 0 {
		t.Errorf("warnings: %q", w.all)
	}
}

// Servers of every age are reached: those that ignore `server/discover`, those that end at it, and
// those that are slower than the probe.
func TestEras(t *testing.T) {
	for _, mode := range []string{stubserver.ModeIgnoreUnknown, stubserver.ModeExitUnknown, stubserver.ModeSlow} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c, _ := stub(t, mode)
			if _, err := call(t, c, "echo", `{}`); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("TOOLFLOW_SECRET", "s3cret")
	t.Setenv("LC_TIME", "C")
	dir := t.TempDir()
	c := newClient(t, &mcpclient.Options{Dir: dir, Getenv: func(string) (string, bool) { return "given", true }},
		toolflow.Server{Name: "stub", Command: "sh", Args: []string{"-c", `env | sort > env; exec "$0"`, os.Args[0]}, Cwd: ".",
			Env: map[string]string{"STUB_MODE": "", "OWN": "${X}", "PATH": os.Getenv("PATH")}})
	if _, err := call(t, c, "echo", `{}`); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(filepath.Join(dir, "env"))
	for _, want := range []string{"OWN=given\n", "LC_TIME=C\n", "PATH="} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the server's environment has no %q: %s", want, got)
		}
	}
	if strings.Contains(string(got), "s3cret") {
		t.Errorf("the server's environment has what was not meant for it: %s", got)
	}
}

// gone waits for a process to end; one that nobody has waited for yet has ended too.
func gone(pid int) bool {
	for range 200 {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func TestNothingIsLeftBehind(t *testing.T) {
	ends := map[string]func(*testing.T, *mcpclient.Client){
		"close": func(_ *testing.T, c *mcpclient.Client) { c.Close() },
		"kill":  func(_ *testing.T, c *mcpclient.Client) { c.Kill() },
		"crash": func(t *testing.T, c *mcpclient.Client) { call(t, c, "exit", `{}`) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pidfile := filepath.Join(t.TempDir(), "pid")
			c, _ := stub(t, stubserver.ModeGrandchild, "STUB_PIDFILE", pidfile)
			if _, err := call(t, c, "echo", `{}`); err != nil {
				t.Fatal(err)
			}
			text, _ := os.ReadFile(pidfile)
			pid, err := strconv.Atoi(string(text))
			if err != nil || syscall.Kill(pid, 0) != nil {
				t.Fatalf("no grandchild: %q", text)
			}
			end(t, c)
			if !gone(pid) {
				t.Errorf("process %d is left", pid)
			}
		})
	}
}

// Servers that ignore the end of their input, and TERM, are ended side by side.
func TestCloseIsBounded(t *testing.T) {
	var confs []toolflow.Server
	for i := range 5 {
		conf := stubConfig(stubserver.ModeNoExit)
		conf.Name = "s" + strconv.Itoa(i)
		confs = append(confs, conf)
	}
	c := newClient(t, nil, confs...)
	for _, name := range c.Servers() {
		if _, err := c.Tools(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	inFlight := make(chan error, 1)
	go func() {
		_, err := c.Call(context.Background(), toolflow.Call{Server: "s0", Tool: "hang"}, nil)
		inFlight <- err
	}()
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	c.Close()
	if d := time.Since(start); d < 4*time.Second || d > 6*time.Second {
		t.Errorf("took %v, want about 4 s", d)
	}
	wantError(t, callError(t, <-inFlight), toolflow.CallLost, true, `server "s0": tool "hang": the client was closed`)
	_, err := c.Tools(t.Context(), "s1")
	wantError(t, callError(t, err), toolflow.CallUnreachable, false, `server "s1": the client was closed`)
}

func TestKillInterruptsClose(t *testing.T) {
	c, _ := stub(t, stubserver.ModeNoExit)
	call(t, c, "echo", `{}`)
	closed := make(chan struct{})
	go func() { c.Close(); close(closed) }()
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	c.Kill()
	<-closed
	if d := time.Since(start); d > time.Second {
		t.Errorf("took %v", d)
	}
}

func TestCloseWhileStarting(t *testing.T) {
	c, _ := stub(t, stubserver.ModeSilent)
	started := make(chan error, 1)
	go func() {
		_, err := c.Tools(context.Background(), "stub")
		started <- err
	}()
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	c.Close()
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	if err := callError(t, <-started); !strings.Contains(err.Error(), "the client was closed") {
		t.Errorf("got %v", err)
	}
}

// A server starts once, however many wait for it, and not for the sake of the first alone.
func TestStartsOnce(t *testing.T) {
	dir := t.TempDir()
	c := newClient(t, &mcpclient.Options{Dir: dir}, toolflow.Server{Name: "stub", Command: "sh", Cwd: ".",
		Args: []string{"-c", `echo start >> starts; exec "$0"`, os.Args[0]}, Env: map[string]string{"STUB_MODE": "slow"}})
	var wg sync.WaitGroup
	gaveUp, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	wg.Go(func() {
		_, err := callWith(t, gaveUp, c, "echo", `{}`)
		wantError(t, err, toolflow.CallCancelled, false, `server "stub": cancelled while it started: context deadline exceeded`)
	})
	for range 10 {
		wg.Go(func() {
			if _, err := call(t, c, "echo", `{}`); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if starts, _ := os.ReadFile(filepath.Join(dir, "starts")); string(starts) != "start\n" {
		t.Errorf("starts: %q", starts)
	}
}
