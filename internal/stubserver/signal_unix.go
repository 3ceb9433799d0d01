//go:build unix

package stubserver

import (
	"os"
	"os/signal"
	"syscall"
)

func ignoreTerm() { signal.Ignore(syscall.SIGTERM) }

func kill() { syscall.Kill(os.Getpid(), syscall.SIGKILL) }
