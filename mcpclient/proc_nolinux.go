//go:build unix && !linux

package mcpclient

import "syscall"

// endWithUs is for Linux alone; elsewhere only the end of its input tells a server that this program is
// gone.
func endWithUs(*syscall.SysProcAttr) {}
