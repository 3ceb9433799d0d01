package mcpclient

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A group is the job object that holds a server and its children; closing it ends them all.
type group struct {
	job windows.Handle
	pid int
}

func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// newGroup puts the process into a job. Without a job only the process itself can be ended.
func newGroup(pid int) group {
	g := group{pid: pid}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, pid)
	}
	if err != nil {
		windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

func assign(job windows.Handle, pid int) error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(p)
	return windows.AssignProcessToJobObject(job, p)
}

// terminate asks with CTRL_BREAK, the nearest thing that Windows has to TERM.
func (g group) terminate() { windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.pid)) }

func (g group) kill() {
	if g.job != 0 {
		windows.TerminateJobObject(g.job, 1)
		return
	}
	if p, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(g.pid)); err == nil {
		windows.TerminateProcess(p, 1)
		windows.CloseHandle(p)
	}
}

func (g group) sweep() {
	if g.job != 0 {
		windows.TerminateJobObject(g.job, 1)
		windows.CloseHandle(g.job)
	}
}
