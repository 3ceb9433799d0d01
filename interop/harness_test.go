// Package interop runs the toolflow command against servers that other people published.
//
// The servers come from npm, pinned by package-lock.json (run `npm ci` in this folder), and from the
// Go SDK's examples, pinned by go.mod. Everything stays on this machine: where a server calls an API,
// a stand-in on the loopback address answers. Without node or the packages the tests skip, unless CI
// is set.
package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolflow-go/toolflow"
)

var binaries string // the folder that the tests build commands into

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "toolflow-interop-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(binaries)
	os.Exit(code)
}

// build compiles a Go command once for all tests.
func build(name, pkg string) func(*testing.T) string {
	once := sync.OnceValues(func() (string, error) {
		file := filepath.Join(binaries, name)
		if out, err := exec.Command("go", "build", "-o", file, pkg).CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
		return file, nil
	})
	return func(t *testing.T) string {
		t.Helper()
		file, err := once()
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
}

var (
	toolflowCommand = build("toolflow", "github.com/toolflow-go/toolflow/cmd/toolflow")
	goMemoryCommand = build("gomemory", "github.com/modelcontextprotocol/go-sdk/examples/server/memory")
)

// npmServer gives the file that node runs for a package of package.json, or skips the test.
func npmServer(t *testing.T, pkg string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("node_modules", filepath.FromSlash(pkg), "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	_, noNode := exec.LookPath("node")
	_, noPackage := os.Stat(file)
	if err := errors.Join(noNode, noPackage); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v (run `npm ci` in interop)", err)
		}
		t.Skipf("%s is not here (run `npm ci` in interop)", pkg)
	}
	return file
}

// A bench is where one test works: a folder that servers write to, and the file that names them.
type bench struct {
	t       *testing.T
	dir     string
	servers map[string]any
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, dir: t.TempDir(), servers: map[string]any{}}
}

// npm configures a server of an npm package.
func (b *bench) npm(name, pkg string, env map[string]string, args ...string) *bench {
	b.t.Helper()
	b.servers[name] = map[string]any{
		"command": "node", "args": append([]string{npmServer(b.t, pkg)}, args...), "env": env, "cwd": b.dir,
	}
	return b
}

func (b *bench) everything() *bench {
	return b.npm("everything", "@modelcontextprotocol/server-everything", nil)
}

// everythingHTTP starts the same server over Streamable HTTP for the length of the test.
func (b *bench) everythingHTTP() *bench {
	b.t.Helper()
	file := npmServer(b.t, "@modelcontextprotocol/server-everything")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	address := free.Addr().(*net.TCPAddr)
	free.Close()
	cmd := exec.Command("node", file, "streamableHttp")
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", address.Port))
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", address.String()); err == nil {
			c.Close()
			break
		}
		if time.Since(began) > 30*time.Second {
			b.t.Fatal("server-everything does not listen")
		}
	}
	b.servers["everything"] = map[string]any{"type": "http", "url": "http://" + address.String() + "/mcp"}
	return b
}

func (b *bench) memory() *bench {
	return b.npm("memory", "@modelcontextprotocol/server-memory",
		map[string]string{"MEMORY_FILE_PATH": filepath.Join(b.dir, "memory.jsonl")})
}

func (b *bench) files() *bench {
	return b.npm("files", "@modelcontextprotocol/server-filesystem", nil, b.dir)
}

func (b *bench) thinking() *bench {
	return b.npm("thinking", "@modelcontextprotocol/server-sequential-thinking", nil)
}

// goMemory configures the Go SDK's example of the same server.
func (b *bench) goMemory() *bench {
	b.t.Helper()
	b.servers["gomemory"] = map[string]any{"command": goMemoryCommand(b.t), "cwd": b.dir}
	return b
}

// An outcome is how the command ended.
type outcome struct {
	exit           int
	stdout, stderr string
}

// run runs the command in the module's folder, with the bench's servers and a home of its own.
func (b *bench) run(args ...string) outcome {
	b.t.Helper()
	file := filepath.Join(b.dir, "servers.json")
	raw, err := json.Marshal(map[string]any{"mcpServers": b.servers})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		b.t.Fatal(err)
	}
	home := b.t.TempDir()
	cmd := exec.Command(toolflowCommand(b.t), append(args, "--servers", file)...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
	cmd.WaitDelay = time.Minute // a server that was left behind would hold stdout open
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		b.t.Fatalf("toolflow %q: %v\n%s", args, err, stderr.String())
	}
	return outcome{exit: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// A document is what `run -o json` prints.
type document struct {
	Status toolflow.RunStatus
	Output json.RawMessage
	Steps  map[string]struct {
		Status         toolflow.Status
		Mapping        toolflow.Mapping
		Arguments      json.RawMessage
		Output         json.RawMessage
		Provenance     []toolflow.Provenance
		Error          *toolflow.Failure
		SkippedBecause string
	}
	Diagnostics []toolflow.Diagnostic
}

// runJSON runs a plan with -o json, holds the exit code against want and reads the run document.
func (b *bench) runJSON(want int, plan string, args ...string) document {
	b.t.Helper()
	got := b.run(append([]string{"run", plan, "-o", "json"}, args...)...)
	if got.exit != want {
		b.t.Fatalf("run %s: got exit %d, want %d\nstdout: %s\nstderr: %s", plan, got.exit, want, got.stdout, got.stderr)
	}
	var doc document
	if err := json.Unmarshal([]byte(got.stdout), &doc); err != nil {
		b.t.Fatalf("run %s: stdout is no run document: %v\n%s", plan, err, got.stdout)
	}
	return doc
}

// equalJSON compares JSON by value, numbers by their text.
func equalJSON(t *testing.T, what, want string, got json.RawMessage) {
	t.Helper()
	w, err := toolflow.DecodeValue([]byte(want))
	if err != nil {
		t.Fatalf("%s: the test's own JSON: %v", what, err)
	}
	g, err := toolflow.DecodeValue(got)
	if err != nil {
		t.Errorf("%s: got %q: %v", what, got, err)
		return
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
