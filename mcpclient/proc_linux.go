package mcpclient

import "syscall"

// endWithUs has the process told to end when the thread that starts it does, which is when this program
// is gone however it went: a server that does not heed the end of its input would stay.
func endWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
