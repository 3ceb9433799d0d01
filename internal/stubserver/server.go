package stubserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Main runs the server on the process's streams and ends the process. mode "" is that of the
// script; the arguments of the process may name another and the script.
func Main(mode string) {
	file := os.Getenv("STUB_SCRIPT")
	args := os.Args[1:]
	if len(args) > 1 && args[0] == "-mode" {
		mode, args = args[1], args[2:]
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		file = args[0]
	}
	script := &Script{}
	if file != "" {
		var err error
		if script, err = ReadScript(file); err != nil {
			fmt.Fprintln(os.Stderr, "stubserver:", err)
			os.Exit(2)
		}
	} else {
		script.Tools = faultTools()
	}
	if mode != "" {
		script.Mode = mode
	}
	syscall.Exit(Serve(os.Stdin, os.Stdout, os.Stderr, script)) // os.Exit sleeps for a second in a binary with -race
}

// Serve answers requests until in ends, and gives the exit status.
func Serve(in io.Reader, out, errs io.Writer, script *Script) int {
	s := &server{out: out, errs: errs, script: script, exit: make(chan int, 16)}
	s.before()
	go s.read(bufio.NewReaderSize(in, 1<<20))
	return <-s.exit
}

type server struct {
	script *Script
	errs   io.Writer
	exit   chan int

	mu    sync.Mutex
	out   io.Writer
	calls sync.WaitGroup
	pages int
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Cursor    *string         `json:"cursor"`
		Protocol  string          `json:"protocolVersion"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

func (s *server) read(in *bufio.Reader) {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var r request
		if json.Unmarshal(line, &r) != nil || r.ID == nil {
			s.told(line)
			continue
		}
		s.handle(&r)
	}
	s.calls.Wait()
	if s.script.Mode == ModeNoExit {
		time.Sleep(time.Minute)
	}
	s.exit <- 0
}

func (s *server) handle(r *request) {
	if s.script.Mode == ModeWrongOpening && r.Method != "tools/call" {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s}`, r.ID))
		return
	}
	switch r.Method {
	case "initialize":
		s.initialize(r)
	case "ping":
		s.result(r, "{}")
	case "tools/list":
		s.list(r)
	case "tools/call":
		s.calls.Go(func() { s.call(r) })
	default:
		s.unknown(r)
	}
}

func (s *server) initialize(r *request) {
	if s.script.Mode == ModeSilent {
		return
	}
	name := s.script.Name
	if name == "" {
		name = "stub"
	}
	s.result(r, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":%q,"version":"1"}}`, r.Params.Protocol, name))
}

func (s *server) call(r *request) {
	if len(r.Params.Arguments) == 0 {
		r.Params.Arguments = json.RawMessage("{}")
	}
	if s.fault(r) {
		return
	}
	if !s.offers(r.Params.Name) {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown tool %s"}}`, r.ID, r.Params.Name))
		return
	}
	a, err := s.script.next(r.Params.Name, r.Params.Arguments)
	if err != nil {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%q}}`, r.ID, err.Error()))
		return
	}
	s.answer(r, a)
}

func (s *server) offers(tool string) bool {
	for _, raw := range s.script.Tools {
		var t struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &t) == nil && t.Name == tool {
			return true
		}
	}
	return false
}

func (s *server) answer(r *request, a Answer) {
	delay, _ := time.ParseDuration(a.Delay)
	time.Sleep(delay)
	for i := range a.Progress {
		s.progress(r, i+1, a.Progress)
	}
	if a.Stderr != "" {
		fmt.Fprintln(s.errs, a.Stderr)
	}
	switch {
	case a.Exit != nil:
		s.exit <- *a.Exit
	case a.Hang:
	case a.Error != nil:
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, r.ID, oneLine(a.Error)))
	case a.Result != nil:
		s.result(r, oneLine(a.Result))
	default:
		s.result(r, a.result(r.Params.Arguments))
	}
}

func (a *Answer) result(args []byte) string {
	structured := oneLine(a.Structured)
	if a.Echo {
		structured = oneLine(args)
	}
	text := structured
	if a.Text != nil {
		text = *a.Text
	}
	quoted, _ := json.Marshal(text)
	out := fmt.Sprintf(`{"content":[{"type":"text","text":%s}]`, quoted)
	if structured != "" {
		out += `,"structuredContent":` + structured
	}
	if a.IsError {
		out += `,"isError":true`
	}
	return out + "}"
}

// oneLine keeps every token and takes the line breaks out.
func oneLine(raw []byte) string {
	return string(bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\r"), nil), []byte("\n"), []byte(" ")))
}

func (s *server) progress(r *request, i, n int) {
	if r.Params.Meta.Token != nil {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d,"message":"part %d"}}`,
			r.Params.Meta.Token, i, n, i))
	}
}

func (s *server) result(r *request, result string) {
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result))
}

func (s *server) send(frame string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	io.WriteString(s.out, frame+"\n")
}
