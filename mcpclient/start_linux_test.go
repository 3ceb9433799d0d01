package mcpclient_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/mcpclient"
)

// A server that does not heed the end of its input ends all the same when the client's process is
// killed, which leaves no time for anything.
func TestServersEndWithTheClient(t *testing.T) {
	pidfile := filepath.Join(t.TempDir(), "pid")
	client := exec.Command(os.Args[0])
	client.Env = append(os.Environ(), "STUB_MODE=client", "STUB_PIDFILE="+pidfile)
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for range 500 {
		text, _ := os.ReadFile(pidfile)
		if pid, _ = strconv.Atoi(strings.TrimSpace(string(text))); pid != 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if pid == 0 || syscall.Kill(pid, 0) != nil {
		t.Error("no server was started")
	}
	client.Process.Kill()
	client.Wait()
	if pid != 0 && !gone(pid) {
		t.Errorf("process %d is left", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// The end of a thread is not the end of the servers that were started on it.
func TestServersSurviveTheEndOfThreads(t *testing.T) {
	dir := t.TempDir()
	var confs []toolflow.Server
	for i := range 16 {
		confs = append(confs, toolflow.Server{Name: strconv.Itoa(i), Command: "sh", Cwd: ".",
			Args: []string{"-c", `echo start >> starts; exec "$0"`, os.Args[0]}, Env: map[string]string{"STUB_MODE": ""}})
	}
	c := newClient(t, &mcpclient.Options{Dir: dir}, confs...)
	var wg sync.WaitGroup
	list := func() {
		for _, name := range c.Servers() {
			wg.Go(func() {
				runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
				if _, err := c.Tools(t.Context(), name); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	list()
	for range 10 {
		for range 50 {
			wg.Go(func() { runtime.LockOSThread(); time.Sleep(time.Millisecond) })
		}
		wg.Wait()
	}
	time.Sleep(100 * time.Millisecond)
	list()
	starts, _ := os.ReadFile(filepath.Join(dir, "starts"))
	if n := strings.Count(string(starts), "start"); n != len(confs) {
		t.Errorf("%d starts, want %d", n, len(confs))
	}
}
