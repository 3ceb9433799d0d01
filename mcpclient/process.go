package mcpclient

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolflow-go/toolflow"
)

const (
	stopGrace   = 2 * time.Second        // after EOF on stdin, and again after TERM
	sweepGrace  = 500 * time.Millisecond // for children that outlive the server, between TERM and KILL
	drainGrace  = 500 * time.Millisecond // for the last output of a server that ended
	stderrKept  = 64 << 10
	stderrLines = 20
)

// A process is a server that was started: its pipes, and the group it and its children form.
type process struct {
	cmd    *exec.Cmd
	group  group
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	tail   tail

	exited chan struct{} // closed when it has ended, its children with it
	exit   string        // how it ended; valid when exited is closed
}

// start runs the server's program with exactly env, in a process group of its own. ended is called when
// it has ended.
func start(s toolflow.Server, dir string, env []string, ended func(*process)) (*process, error) {
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env = env
	if s.Cwd != "" {
		cmd.Dir = s.Cwd
		if !filepath.IsAbs(s.Cwd) {
			cmd.Dir = filepath.Join(dir, s.Cwd)
		}
	}
	if err := checkDir(cmd.Dir); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	ends, err := p.pipes()
	defer closeAll(ends)
	if err == nil {
		cmd.SysProcAttr = groupAttributes()
		started := make(chan error)
		go p.watch(started, ended)
		err = <-started
	}
	if err != nil {
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		return nil, startError(cmd, err)
	}
	return p, nil
}

// pipes makes the three pipes and gives the server's ends of them. They are files, so that waiting
// for the process does not wait for children that hold them open.
func (p *process) pipes() (ends []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	in, stdin := pipe()
	stdout, out := pipe()
	stderr, errs := pipe()
	p.stdin, p.stdout, p.stderr = stdin, stdout, stderr
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, errs
	return []*os.File{in, out, errs}, err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// watch starts the process, drains stderr, waits for the end and clears away the children that outlive
// it. It keeps its thread until the process has ended: on Linux a process is told of the end of the
// thread that started it (see groupAttributes), and Go ends threads when it likes.
func (p *process) watch(started chan<- error, ended func(*process)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	if err == nil {
		p.group = newGroup(p.cmd.Process.Pid)
	}
	started <- err
	if err != nil {
		return
	}
	drained := make(chan struct{})
	go func() {
		io.Copy(&p.tail, p.stderr)
		close(drained)
	}()
	p.cmd.Wait() // its error is told by ProcessState
	p.exit = p.cmd.ProcessState.String()
	p.group.sweep()
	select {
	case <-drained:
	case <-time.After(drainGrace): // a child that left the group holds it open
	}
	p.stderr.Close()
	<-drained
	// What the server wrote last is still in the pipe; a reader gets it, and then the end.
	p.stdout.SetReadDeadline(time.Now().Add(drainGrace))
	close(p.exited)
	ended(p)
}

// gone waits up to d for the end.
func (p *process) gone(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	default:
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

// end gives how the process ended and its last words; exit is empty when it runs.
func (p *process) end(wait time.Duration) (exit, stderr string) {
	if p.gone(wait) {
		exit = p.exit
	}
	return exit, p.tail.lines(stderrLines)
}

// stop ends the process: end of input, then TERM, then KILL to all of its group.
func (p *process) stop() {
	p.stdin.Close()
	if p.gone(stopGrace) {
		return
	}
	p.group.terminate()
	if p.gone(stopGrace) {
		return
	}
	p.kill()
}

// kill ends the process and its children at once.
func (p *process) kill() {
	if p.gone(0) { // its number may be another's by now
		return
	}
	p.group.kill()
	p.stdin.Close()
	p.gone(stopGrace)
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write keeps the last stderrKept bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-stderrKept):]...)
	if len(t.buf) > 2*stderrKept {
		t.buf = slices.Clone(t.buf[len(t.buf)-stderrKept:])
	}
	return len(p), nil
}

// lines gives the last n lines, of at most 4 KiB.
func (t *tail) lines(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := strings.Split(strings.TrimSpace(string(t.buf)), "\n")
	out := strings.Join(all[max(0, len(all)-n):], "\n")
	if over := len(out) - 4<<10; over > 0 {
		out = strings.ToValidUTF8(out[over:], "")
	}
	return out
}

// passedOn are the variables of the environment that a server gets unasked; `LC_` and `XDG_` stand for
// all names that begin so.
var passedOn = []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TMPDIR", "LANG",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"}

var passedOnWindows = []string{"SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA",
	"USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
	"PROGRAMW6432", "COMMONPROGRAMFILES", "COMSPEC", "WINDIR", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"}

// environment gives what a server's process gets: what is passed on of environ, and what its
// configuration names. withheld are the names of the rest, sorted.
func environment(environ []string, own map[string]string) (env, withheld []string) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if _, ok := own[name]; ok || name == "" {
			continue
		}
		if passes(name) && !strings.HasPrefix(value, "()") { // a shell function
			env = append(env, entry)
		} else {
			withheld = append(withheld, name)
		}
	}
	for _, name := range sortedNames(own) {
		env = append(env, name+"="+own[name])
	}
	slices.Sort(withheld)
	return env, slices.Compact(withheld)
}

func passes(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
		if slices.Contains(passedOnWindows, name) {
			return true
		}
	}
	return slices.Contains(passedOn, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}
