package stubserver

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The modes.
const (
	ModeBanner        = "banner"         // a line that is no JSON before anything else
	ModeGarbage       = "garbage"        // lines that are no JSON-RPC before each list and answer
	ModeIgnoreUnknown = "ignore-unknown" // methods that it does not know get no answer
	ModeExitUnknown   = "exit-unknown"   // methods that it does not know end it, with status 4
	ModeSilent        = "silent"         // `initialize` gets no answer
	ModeExit0         = "exit-0"         // ends at once, with status 0
	ModeExit3         = "exit-3"         // writes to stderr and ends at once, with status 3
	ModeSlow          = "slow"           // starts after 2 s
	ModeNoExit        = "no-exit"        // ignores the end of stdin, and TERM
	ModeGrandchild    = "grandchild"     // starts a process that outlives it; its id is in the file STUB_PIDFILE
	ModeCursorLoop    = "cursor-loop"    // tools/list repeats a cursor
	ModeCursorEmpty   = "cursor-empty"   // tools/list has a second page behind the cursor ""
	ModePages         = "pages"          // tools/list has pages without end, each with a new tool and cursor
	ModeTwice         = "twice"          // tools/list names a tool twice
	ModeDuplicates    = "duplicates"     // each answer to a call comes twice, the second one different
	ModeWrongOpening  = "wrong-opening"  // requests other than calls get a response without result or error
	ModeStringIDs     = "string-ids"     // ids of calls come back as strings
	ModeUnknownIDs    = "unknown-ids"    // each answer to a call is preceded by one to request 999999
	ModeResultFirst   = "result-first"   // the id of a response comes last
	ModeDeaf          = "deaf"           // reads nothing after tools/list
	ModeNag           = "nag"            // asks the client without end after `initialize`, and reads nothing
)

// faultTools are the tools of a server without a script; see fault.
func faultTools() []json.RawMessage {
	var out []json.RawMessage
	for _, name := range []string{"echo", "big", "deep", "cut", "exit", "kill", "hang", "flood", "spam", "raw", "ask", "line"} {
		out = append(out, json.RawMessage(`{"name":"`+name+`","inputSchema":{"type":"object"}}`))
	}
	return out
}

// before is what a mode does when the server starts.
func (s *server) before() {
	switch s.script.Mode {
	case ModeBanner:
		s.send("Stub server 1.0 starting up...")
	case ModeExit0:
		os.Exit(0)
	case ModeExit3:
		fmt.Fprintln(s.errs, "cannot start: API_KEY is missing")
		os.Exit(3)
	case ModeSlow:
		time.Sleep(2 * time.Second)
	case ModeNoExit:
		ignoreTerm()
	case ModeGrandchild:
		s.grandchild()
	}
}

// grandchild starts this program again as a server that does not end.
func (s *server) grandchild() {
	c := exec.Command(os.Args[0], "-mode", ModeNoExit)
	c.Env = append(os.Environ(), "STUB_MODE="+ModeNoExit)
	c.Stdin, _, _ = os.Pipe()
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		fmt.Fprintln(s.errs, err)
		os.Exit(2)
	}
	os.WriteFile(os.Getenv("STUB_PIDFILE"), []byte(strconv.Itoa(c.Process.Pid)), 0o600)
}

// unknown handles a method that the server does not know.
func (s *server) unknown(r *request) {
	switch s.script.Mode {
	case ModeIgnoreUnknown, ModeSilent:
	case ModeExitUnknown:
		os.Exit(4)
	default:
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, r.ID))
	}
}

// told handles a message that wants no answer; cancellations are noted on stderr for tests to see.
func (s *server) told(line []byte) {
	if strings.Contains(string(line), `"notifications/cancelled"`) {
		fmt.Fprintf(s.errs, "told: %s", line)
	}
	if s.script.Mode == ModeNag && strings.Contains(string(line), `"notifications/initialized"`) {
		for i := range 100_000 {
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
		}
	}
}

func (s *server) list(r *request) {
	tools := make([]string, len(s.script.Tools))
	for i, t := range s.script.Tools {
		tools[i] = oneLine(t)
	}
	next := ""
	switch s.script.Mode {
	case ModeGarbage:
		s.garbage()
	case ModeCursorLoop:
		next = `,"nextCursor":"again"`
		tools = nil
	case ModeCursorEmpty:
		if r.Params.Cursor == nil {
			next, tools = `,"nextCursor":""`, tools[:1]
		} else {
			next, tools = `,"nextCursor":null`, tools[1:]
		}
	case ModePages:
		s.pages++
		next = fmt.Sprintf(`,"nextCursor":"%d"`, s.pages)
		tools = []string{fmt.Sprintf(`{"name":"t%d","inputSchema":{}}`, s.pages)}
	case ModeTwice:
		tools = append(tools, tools[0])
	}
	s.result(r, `{"tools":[`+strings.Join(tools, ",")+`]`+next+`}`)
	if s.script.Mode == ModeDeaf {
		time.Sleep(time.Minute)
	}
}

func (s *server) garbage() {
	s.send("")
	s.send("WARN something is odd")
	s.send(`{"level":"info","msg":"json, but no message"}`)
	s.send(`[1,2,3]`)
}

// fault does what a mode or one of faultTools asks for a call, and reports whether that was all.
func (s *server) fault(r *request) bool {
	switch s.script.Mode {
	case ModeGarbage:
		s.garbage()
	case ModeUnknownIDs:
		s.send(`{"jsonrpc":"2.0","id":999999,"result":{}}`)
	case ModeStringIDs:
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":{"content":[]}}`, r.ID))
		return true
	case ModeDuplicates:
		s.result(r, `{"content":[{"type":"text","text":"first"}]}`)
		s.result(r, `{"content":[{"type":"text","text":"second"}]}`)
		return true
	}
	if s.script.Answers != nil || s.script.Ledger != "" {
		return false
	}
	var a struct {
		Size   int
		Text   string
		Status int
	}
	json.Unmarshal(r.Params.Arguments, &a)
	switch r.Params.Name {
	case "big": // Size bytes of text
		s.big(r, a.Size)
	case "deep": // Size levels of arrays
		s.result(r, `{"content":[],"structuredContent":{"a":`+strings.Repeat("[", a.Size)+strings.Repeat("]", a.Size)+`}}`)
	case "cut": // half an answer on its line
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[`, r.ID))
	case "exit": // Text to stderr, then status Status
		fmt.Fprintln(s.errs, a.Text)
		os.Exit(a.Status)
	case "kill":
		kill()
	case "hang":
	case "flood": // Size bytes of stderr
		line := strings.Repeat("x", 1023) + "\n"
		for range a.Size / len(line) {
			fmt.Fprint(s.errs, line)
		}
		s.result(r, `{"content":[]}`)
	case "spam": // Size lines that are nothing
		for range a.Size {
			s.send("spam")
		}
		s.result(r, `{"content":[]}`)
	case "raw": // Text instead of a result
		s.result(r, a.Text)
	case "line": // Text instead of a response
		s.send(a.Text)
	case "ask": // a request of the server's own first
		s.send(`{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","allOf":[{"$ref":"#"}]}}}`)
		s.send(`{"jsonrpc":"2.0","id":"q2","method":"ping"}`)
		s.result(r, `{"content":[]}`)
	default:
		return false
	}
	return true
}

func (s *server) big(r *request, n int) {
	result := `{"content":[{"type":"text","text":"` + strings.Repeat("x", n) + `"}]}`
	if s.script.Mode == ModeResultFirst {
		s.send(fmt.Sprintf(`{"result":%s,"jsonrpc":"2.0","id":%s}`, result, r.ID))
		return
	}
	s.result(r, result)
}
