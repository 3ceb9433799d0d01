package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolflow-go/toolflow/internal/stubserver"
)

// The test binary runs itself again as toolflow and as its servers.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"toolflow":   main,
		"stubserver": func() { stubserver.Main("") },
	})
}

// TestScripts runs the commands as users type them. Beside testscript's own, the scripts have the
// commands below, each with its usage in its comment.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // under -race each process would sleep for a second at its end
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"stopped": stopped,
			"answers": answers,
			"nobody":  nobody,
		},
	})
}

// exits CODE COMMAND [ARGUMENT…] runs a command, which must end with that exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want := code(ts, neg, args, 2)
	wantStatus(ts, ts.Exec(args[1], args[2:]...), want)
}

func code(ts *testscript.TestScript, neg bool, args []string, atLeast int) int {
	if neg || len(args) < atLeast {
		ts.Fatalf("usage: CODE comes first, then the command; there is no negation")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	return n
}

func wantStatus(ts *testscript.TestScript, err error, want int) {
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// stopped CODE SIGNAL FILE COMMAND [ARGUMENT…] runs a command, sends it the signal as soon as FILE has
// something in it, and wants that exit status. SIGNAL is INT, TERM or INT,INT for one after the other.
func stopped(ts *testscript.TestScript, neg bool, args []string) {
	want := code(ts, neg, args, 4)
	file := ts.MkAbs(args[2])
	program, err := exec.LookPath(args[3])
	ts.Check(err)
	var stdout, stderr bytes.Buffer
	c := exec.Command(program, args[4:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &stdout, &stderr
	ts.Check(c.Start())
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			break
		}
		if time.Since(began) > 20*time.Second {
			c.Process.Kill()
			c.Wait()
			ts.Fatalf("%s stays empty; stderr: %s", args[2], stderr.String())
		}
	}
	for i, name := range strings.Split(args[1], ",") {
		if i > 0 {
			time.Sleep(100 * time.Millisecond)
		}
		ts.Check(c.Process.Signal(map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[name]))
	}
	err = c.Wait()
	ts.Logf("[stdout]\n%s[stderr]\n%s", stdout.String(), stderr.String())
	ts.Stdout().Write(stdout.Bytes())
	ts.Stderr().Write(stderr.Bytes())
	wantStatus(ts, err, want)
}

// answers STATUS starts an HTTP server that answers everything with that status, and puts its address
// into $URL.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	status := code(ts, neg, args, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL)
}

// nobody fails when a process still works in the script's folder. It can only tell on Linux.
func nobody(ts *testscript.TestScript, neg bool, args []string) {
	here, err := filepath.EvalSymlinks(ts.MkAbs("."))
	ts.Check(err)
	folders, err := filepath.Glob("/proc/[0-9]*/cwd")
	ts.Check(err)
	for _, folder := range folders {
		if at, err := os.Readlink(folder); err == nil && at == here {
			text, _ := os.ReadFile(filepath.Join(filepath.Dir(folder), "cmdline"))
			ts.Fatalf("process %s is left: %q", filepath.Base(filepath.Dir(folder)), text)
		}
	}
}
