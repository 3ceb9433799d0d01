package mcpclient

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// checkDir says what is wrong with the folder that a server is to start in. The system would blame the
// program instead.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cwd %q does not exist", dir)
	case err != nil:
		return fmt.Errorf("cwd: %w", err)
	case !info.IsDir():
		return fmt.Errorf("cwd %q is no folder", dir)
	}
	return nil
}

// startError says for people why a program did not start.
func startError(cmd *exec.Cmd, err error) error {
	name, hint := cmd.Args[0], ""
	if first, _, spaced := strings.Cut(name, " "); spaced {
		hint = fmt.Sprintf(" (arguments belong into args: %q alone may be the command)", first)
	}
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case errors.Is(err, exec.ErrNotFound) && !strings.ContainsAny(name, `/\`):
		if hint == "" {
			hint = " (give its whole path, or install it)"
		}
		return &explained{fmt.Sprintf("command %q was looked for in PATH and not found%s", name, hint), err}
	case missing && !exists(cmd):
		return &explained{fmt.Sprintf("command %q does not exist%s", name, hint), err}
	case missing:
		return &explained{fmt.Sprintf("command %q exists, but what it needs to run, such as the program its first line names, does not", name), err}
	}
	return err
}

// exists reports whether the program is there; its path is relative to the folder it starts in.
func exists(cmd *exec.Cmd) bool {
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	_, err := os.Stat(path)
	return err == nil
}

// An explained error says the same as another one, in better words.
type explained struct {
	text string
	err  error
}

// Error gives the better words.
func (e *explained) Error() string { return e.text }

// Unwrap gives the other error.
func (e *explained) Unwrap() error { return e.err }
