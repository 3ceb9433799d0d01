//go:build unix

package mcpclient

import (
	"errors"
	"syscall"
	"time"
)

// A group is the process group of a server, named by the id of its first process.
type group int

func groupAttributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	endWithUs(a)
	return a
}

func newGroup(pid int) group { return group(pid) }

func (g group) signal(sig syscall.Signal) error { return syscall.Kill(-int(g), sig) }

func (g group) terminate() { g.signal(syscall.SIGTERM) }
func (g group) kill()      { g.signal(syscall.SIGKILL) }

func (g group) empty() bool { return errors.Is(g.signal(0), syscall.ESRCH) }

// sweep ends what is left of the group after its first process.
func (g group) sweep() {
	if g.empty() {
		return
	}
	g.terminate()
	for end := time.Now().Add(sweepGrace); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if g.empty() {
			return
		}
	}
	g.kill()
}
