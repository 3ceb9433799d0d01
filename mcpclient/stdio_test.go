package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/internal/stubserver"
)

// Every digit and every character passes both ways, whatever JSON allows.
func TestCallIsExact(t *testing.T) {
	const value = `{"big":9007199254740993,"price":0.10,"exp":1e2,"neg":-0,"long":123456789012345678901234567890,` +
		`"esc":"\u0041\u00e9\/","html":"<a href='x'>&</a>","ls":"` + "\u2028" + `","emoji":"\ud83d\ude00","nested":{"z":1,"a":[null,true]}}`
	ledger := filepath.Join(t.TempDir(), "ledger")
	c, _ := stub(t, "", "STUB_SCRIPT", script(t, `{"ledger":"`+ledger+`","tools":[{"name":"echo"},{"name":"fixed"},{"name":"null"},{"name":"bare"}],
		"answers":{"fixed":{"result":{"content":[{"type":"text","text":"<&>\u0041","x":1.0}],"structuredContent":{"n":1e2},"_meta":{}}},
		"null":{"result":{"structuredContent":null,"isError":true}},"bare":{"result":{}}}}`))

	r, err := call(t, c, "echo", value)
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Structured) != value {
		t.Errorf("got  %s\nwant %s", r.Structured, value)
	}
	wrote, _ := os.ReadFile(ledger)
	if want := `{"tool":"echo","arguments":` + value + "}\n"; string(wrote) != want {
		t.Errorf("the server got  %s\nwant %s", wrote, want)
	}
	r, err = call(t, c, "echo", "{ \"a\" :\n\t1.0,\r\n \"b\": [ ] }")
	if err != nil || string(r.Structured) != "{ \"a\" : \t1.0,   \"b\": [ ] }" {
		t.Errorf("white space: got %s, %v", r.Structured, err)
	}
	r, err = call(t, c, "fixed", ``)
	if err != nil || string(r.Content) != `[{"type":"text","text":"<&>\u0041","x":1.0}]` || string(r.Structured) != `{"n":1e2}` || r.IsError {
		t.Errorf("fixed: got %s %s %v, %v", r.Content, r.Structured, r.IsError, err)
	}
	r, err = call(t, c, "null", `{}`)
	if err != nil || r.Content != nil || string(r.Structured) != "null" || !r.IsError {
		t.Errorf("null: got %s %s %v, %v", r.Content, r.Structured, r.IsError, err)
	}
	if r, err = call(t, c, "bare", `{}`); err != nil || r.Content != nil || r.Structured != nil {
		t.Errorf("bare: got %s %s, %v", r.Content, r.Structured, err)
	}
}

func TestCallFailures(t *testing.T) {
	c, _ := stub(t, "")
	long := strings.Repeat("[", 1500)
	tests := []struct {
		tool, args string
		kind       toolflow.CallErrorKind
		sent       bool
		want       string
	}{
		{"none", `{}`, toolflow.CallRefused, true, `server "stub": tool "none": refused: unknown tool none (code -32602)`},
		{"deep", `{"size":1500}`, toolflow.CallLimit, true, `server "stub": tool "deep": its answer is nested more than 1000 levels deep`},
		{"deep", `{"size":20000}`, toolflow.CallLimit, true, `server "stub": tool "deep": its answer is nested more than 1000 levels deep`},
		{"cut", `{}`, toolflow.CallProtocol, true, `server "stub": tool "cut": its answer is broken JSON: unexpected EOF at byte 45`},
		{"raw", `{"text":"7"}`, toolflow.CallProtocol, true, `server "stub": tool "raw": its answer is no MCP result but a number`},
		{"raw", `{"text":"{\"content\":{}}"}`, toolflow.CallProtocol, true, `server "stub": tool "raw": its answer is no MCP result: content is no array but an object`},
		{"raw", `{"text":"{\"isError\":\"yes\"}"}`, toolflow.CallProtocol, true, `server "stub": tool "raw": its answer is no MCP result: isError is no boolean but a string`},
		{"raw", `{"text":"{\"resultType\":\"odd\"}"}`, toolflow.CallProtocol, true, `server "stub": tool "raw": its answer is of the unknown type "odd"`},
		{"raw", `{"text":"{\"resultType\":\"input_required\"}"}`, toolflow.CallNeedsPerson, true,
			`server "stub": tool "raw": the server asks for input from a person, which is not supported yet`},
		{"echo", `[1]`, toolflow.CallProtocol, false, `server "stub": tool "echo": the arguments are no JSON object`},
		{"echo", `{"a":`, toolflow.CallProtocol, false, `server "stub": tool "echo": the arguments are no JSON object`},
		{"raw", `{"text":"{\"structuredContent\":` + long + `"}`, toolflow.CallProtocol, true, ""},
	}
	for _, test := range tests {
		_, err := call(t, c, test.tool, test.args)
		if test.want == "" {
			if err == nil || err.Kind != test.kind {
				t.Errorf("%s: got %v", test.tool, err)
			}
			continue
		}
		wantError(t, err, test.kind, test.sent, test.want)
	}
	if _, err := call(t, c, "echo", `{}`); err != nil {
		t.Errorf("after all of them: %v", err)
	}
	_, err := c.Call(t.Context(), toolflow.Call{Server: "other", Tool: "x"}, nil)
	wantError(t, callError(t, err), toolflow.CallUnreachable, false, `server "other" is not configured`)
}

func TestStdoutThatIsNoProtocol(t *testing.T) {
	for _, mode := range []string{stubserver.ModeBanner, stubserver.ModeGarbage, stubserver.ModeUnknownIDs} {
		t.Run(mode, func(t *testing.T) {
			c, w := stub(t, mode)
			if _, err := c.Tools(t.Context(), "stub"); err != nil {
				t.Fatal(err)
			}
			r, err := call(t, c, "echo", `{"a":1}`)
			if err != nil || string(r.Structured) != `{"a":1}` {
				t.Errorf("got %s, %v", r.Structured, err)
			}
			w.wants(t, map[string]string{
				stubserver.ModeBanner:     `stub: a line of its stdout is no JSON and is skipped: "Stub server 1.0 starting up..."`,
				stubserver.ModeGarbage:    `stub: a line of its stdout is no JSON-RPC message and is skipped: "{\"level\"`,
				stubserver.ModeUnknownIDs: `stub: an answer to request 999999, which was never made, is ignored`,
			}[mode])
		})
	}
	t.Run("endless", func(t *testing.T) {
		c, w := stub(t, "")
		_, err := call(t, c, "spam", `{"size":1001}`)
		wantError(t, err, toolflow.CallLost, true,
			`server "stub": tool "spam": the server wrote 1000 lines (3 KiB) to its stdout that are no JSON-RPC messages; the last: "spam"`)
		w.wants(t, "stub: more oddities of this server are not reported")
		if _, err := call(t, c, "spam", `{"size":999}`); err != nil {
			t.Errorf("a new process: %v", err)
		}
	})
}

func TestLargeResults(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 200 MB; -short leaves it out")
	}
	for _, mode := range []string{"", stubserver.ModeResultFirst} {
		t.Run("mode "+mode, func(t *testing.T) {
			c, _ := stub(t, mode)
			r, err := call(t, c, "big", `{"size":41943040}`)
			if err != nil || len(r.Content) != 41943040+len(`[{"type":"text","text":""}]`) {
				t.Fatalf("40 MiB: %d bytes, %v", len(r.Content), err)
			}
			_, err = call(t, c, "big", `{"size":68157440}`)
			wantError(t, err, toolflow.CallLimit, true, `server "stub": tool "big": its answer is larger than 64 MiB`)
			if _, err := call(t, c, "echo", `{}`); err != nil {
				t.Errorf("the session did not survive: %v", err)
			}
		})
	}
}

func TestCrash(t *testing.T) {
	c, _ := stub(t, "")
	_, err := call(t, c, "exit", `{"status":3,"text":"panic: boom\nat main.go:7"}`)
	wantError(t, err, toolflow.CallLost, true, `server "stub": tool "exit": the server ended before it answered (exit status 3)`)
	if err.Stderr != "panic: boom\nat main.go:7" {
		t.Errorf("stderr %q", err.Stderr)
	}
	if runtime.GOOS != "windows" {
		_, err = call(t, c, "kill", `{}`)
		wantError(t, err, toolflow.CallLost, true, `server "stub": tool "kill": the server ended before it answered (signal: killed)`)
	}
	if _, err := call(t, c, "echo", `{}`); err != nil {
		t.Errorf("it was not started again: %v", err)
	}
	if _, err := call(t, c, "flood", `{"size":1048576}`); err != nil {
		t.Errorf("a flood of stderr: %v", err)
	}
}

// All calls in flight learn of a crash, and of nothing else.
func TestCrashWithOthersInFlight(t *testing.T) {
	c, _ := stub(t, "")
	call(t, c, "echo", `{}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := call(t, c, "hang", `{}`)
			wantError(t, err, toolflow.CallLost, true, `server "stub": tool "hang": the server ended before it answered (exit status 5)`)
		})
	}
	time.Sleep(100 * time.Millisecond)
	call(t, c, "exit", `{"status":5}`)
	wg.Wait()
}

func TestCancel(t *testing.T) {
	c, _ := stub(t, "")
	call(t, c, "echo", `{}`)
	why := errors.New("the run was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	start := time.Now()
	_, err := callWith(t, ctx, c, "hang", `{}`)
	wantError(t, err, toolflow.CallCancelled, true, `server "stub": tool "hang": cancelled: the run was stopped`)
	if !errors.Is(err, why) || time.Since(start) > time.Second {
		t.Errorf("got %v after %v", err.Err, time.Since(start))
	}
	if _, err := call(t, c, "echo", `{}`); err != nil {
		t.Errorf("the session did not survive: %v", err)
	}
}

// The notice of a cancellation goes out beside the call, which does not wait for it.
func TestCancelIsTold(t *testing.T) {
	c, _ := stub(t, "")
	told := ""
	for wait := 20 * time.Millisecond; wait < 2*time.Second; wait *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		callWith(t, ctx, c, "hang", `{}`)
		cancel()
		time.Sleep(wait)
		_, err := call(t, c, "exit", `{"status":1}`)
		if told = err.Stderr; strings.Contains(told, `told: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"context deadline exceeded","requestId":`) {
			return
		}
	}
	t.Errorf("the server was not told: %q", told)
}

// A call that is over before it begins is not sent.
func TestCancelledBefore(t *testing.T) {
	ledger := filepath.Join(t.TempDir(), "ledger")
	c, _ := stub(t, "", "STUB_SCRIPT", script(t, `{"ledger":"`+ledger+`","tools":[{"name":"echo"}]}`))
	c.Tools(t.Context(), "stub")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := callWith(t, ctx, c, "echo", `{}`)
	wantError(t, err, toolflow.CallCancelled, false, `server "stub": tool "echo": cancelled: context canceled`)
	call(t, c, "echo", `{"second":true}`)
	if got, _ := os.ReadFile(ledger); string(got) != `{"tool":"echo","arguments":{"second":true}}`+"\n" {
		t.Errorf("the server ran: %s", got)
	}
}

func TestAnswersThatFitNoRequest(t *testing.T) {
	t.Run("duplicates", func(t *testing.T) {
		c, w := stub(t, stubserver.ModeDuplicates)
		for range 3 {
			r, err := call(t, c, "echo", `{}`)
			if err != nil || string(r.Content) != `[{"type":"text","text":"first"}]` {
				t.Errorf("got %s, %v", r.Content, err)
			}
		}
		w.wants(t, "a late or second answer to request")
	})
	t.Run("string ids", func(t *testing.T) {
		c, _ := stub(t, stubserver.ModeStringIDs)
		c.Tools(t.Context(), "stub")
		_, err := call(t, c, "echo", `{}`)
		wantError(t, err, toolflow.CallProtocol, true, `server "stub": tool "echo": its answer has the id "4" instead of 4`)
	})
}

// A wrongAnswer is a response that breaks JSON-RPC, or, with want empty, one that only looks odd. In
// both, ID is the id of the request. What is wrong with it is told at once: no other answer will come.
type wrongAnswer struct {
	kind        toolflow.CallErrorKind
	frame, want string
}

var wrongAnswers = map[string]wrongAnswer{
	"nothing":       {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":ID}`, "its answer has neither a result nor an error"},
	"null error":    {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":ID,"error":null}`, "its answer has neither a result nor an error"},
	"no version":    {toolflow.CallProtocol, `{"id":ID,"result":{}}`, `its answer lacks "jsonrpc": "2.0"`},
	"old version":   {toolflow.CallProtocol, `{"jsonrpc":"1.0","id":ID,"result":{}}`, `its answer has "jsonrpc": "1.0" instead of "2.0"`},
	"number":        {toolflow.CallProtocol, `{"jsonrpc":2.0,"id":ID,"result":{}}`, `its answer has "jsonrpc": 2.0 instead of "2.0"`},
	"id twice":      {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":ID,"id":ID,"result":{}}`, `its answer has the member "id" twice`},
	"first of two":  {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":ID,"result":{},"id":999}`, `its answer has the member "id" twice`},
	"second of two": {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":999,"result":{},"id":ID}`, `its answer has the member "id" twice`},
	"result twice":  {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":ID,"result":{},"result":{}}`, `its answer has the member "result" twice`},
	"both":          {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}`, "its answer has both a result and an error"},
	"method":        {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":ID,"method":"x","result":{}}`, `its answer has the method "x", which only requests have`},
	"odd error":     {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":ID,"error":"no"}`, "its answer is an error that is no object"},
	"quoted id":     {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":"ID","result":{}}`, `its answer has the id "ID" instead of ID`},
	"quoted error":  {toolflow.CallRefused, `{"jsonrpc":"2.0","id":"ID","error":{"code":1,"message":"m"}}`, "refused: m (code 1)"},
	"null result":   {toolflow.CallRefused, `{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":1,"message":"m"}}`, "refused: m (code 1)"},
	"broken":        {toolflow.CallProtocol, `{"jsonrpc":"2.0","id":ID,"result":{]}`, "its answer is broken JSON: invalid character ']' at start of string (expecting '\"') at byte 34"},
	"fraction":      {"", `{"jsonrpc":"2.0","id":ID.0,"result":{}}`, ""},
	"exponent":      {"", `{"jsonrpc":"2.0","id":IDe0,"error":null,"result":{}}`, ""},
}

func (w wrongAnswer) answer(id string) string { return strings.ReplaceAll(w.frame, "ID", id) }

func (w wrongAnswer) check(t *testing.T, err *toolflow.CallError, tool, id string) {
	t.Helper()
	if w.want == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	wantError(t, err, w.kind, true, fmt.Sprintf("server \"stub\": tool %q: %s", tool, strings.ReplaceAll(w.want, "ID", id)))
}

func TestWrongAnswers(t *testing.T) {
	c, w := stub(t, "")
	c.Tools(t.Context(), "stub")
	for id, name := range slices.Sorted(maps.Keys(wrongAnswers)) {
		test, id := wrongAnswers[name], fmt.Sprint(4+id)
		args, _ := json.Marshal(map[string]string{"text": test.answer(id)})
		_, err := call(t, c, "line", string(args))
		test.check(t, err, "line", id)
	}
	if len(w.all) > 0 {
		t.Errorf("warnings: %q", w.all)
	}
}

// What only resembles an answer is passed over; the answer may follow.
func TestLinesThatAreNoAnswers(t *testing.T) {
	c, w := stub(t, "")
	c.Tools(t.Context(), "stub")
	for id, line := range map[int]string{4: `{"id":4,"level":"info"}`} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		args, _ := json.Marshal(map[string]string{"text": line})
		_, err := callWith(t, ctx, c, "line", string(args))
		cancel()
		wantError(t, err, toolflow.CallCancelled, true, `server "stub": tool "line": cancelled: context deadline exceeded`)
		w.wants(t, fmt.Sprintf(`a line of its stdout is no JSON-RPC message and is skipped: "{\"id\":%d`, id))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	callWith(t, ctx, c, "line", `{"text":"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"parse error\"}}"}`)
	w.wants(t, "an error for request null, which was never made, is ignored: refused: parse error (code -32700)")
}

// A wrong answer to a request that opens the session ends the start, not the start limit.
func TestWrongOpening(t *testing.T) {
	c, _ := stub(t, stubserver.ModeWrongOpening)
	start := time.Now()
	_, err := c.Tools(t.Context(), "stub")
	e := callError(t, err)
	if want := `server "stub" did not start: calling "initialize": its answer has neither a result nor an error`; e == nil || e.Sent || !strings.HasPrefix(e.Message, want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

// A server that does not read cannot block a call past its end, nor the client's.
func TestServerThatDoesNotRead(t *testing.T) {
	c, _ := stub(t, stubserver.ModeDeaf)
	if _, err := c.Tools(t.Context(), "stub"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := callWith(t, ctx, c, "echo", `{"x":"`+strings.Repeat("y", 32<<20)+`"}`)
		wantError(t, err, toolflow.CallCancelled, true, `server "stub": tool "echo": cancelled: context canceled`)
	})
	for blocked := false; !blocked; { // until the large frame fills the pipe
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := callWith(t, short, c, "echo", `{}`)
		wantError(t, err, toolflow.CallCancelled, err.Sent, `server "stub": tool "echo": cancelled: context deadline exceeded`)
		blocked = !err.Sent
		cancel()
	}
	cancel()
	wg.Wait()
}

func TestServerThatNags(t *testing.T) {
	c, _ := stub(t, stubserver.ModeNag)
	_, err := call(t, c, "hang", `{}`)
	wantError(t, err, err.Kind, err.Sent, `server "stub": tool "hang": the server keeps asking, but does not read its stdin`)
}

// Requests of the server are answered by the SDK, an elicitation with a refusal; its schema would
// overflow the stack of whoever evaluates it.
func TestServerThatAsks(t *testing.T) {
	c, _ := stub(t, "")
	if _, err := call(t, c, "ask", `{}`); err != nil {
		t.Error(err)
	}
}

func TestProgress(t *testing.T) {
	c, _ := stub(t, "", "STUB_SCRIPT", script(t, `{"tools":[{"name":"slow"}],"answers":{"slow":{"progress":100,"text":"done"}}}`))
	for range 20 {
		var got []toolflow.Progress
		_, err := c.Call(t.Context(), toolflow.Call{Server: "stub", Tool: "slow"}, func(p toolflow.Progress) { got = append(got, p) })
		if err != nil || len(got) != 100 {
			t.Fatalf("got %d notifications, %v", len(got), err)
		}
		if want := (toolflow.Progress{Progress: 100, Total: 100, Message: "part 100"}); got[99] != want {
			t.Errorf("last: got %v, want %v", got[99], want)
		}
	}
}

// Answers reach their own calls, with cancellations in between.
func TestCrossTalk(t *testing.T) {
	c, _ := stub(t, "")
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				if i%7 == 0 {
					time.AfterFunc(time.Duration(i%5)*50*time.Microsecond, cancel)
				}
				args := fmt.Sprintf(`{"worker":%d,"i":%d}`, worker, i)
				r, err := callWith(t, ctx, c, "echo", args)
				if err == nil && string(r.Structured) != args || err != nil && err.Kind != toolflow.CallCancelled {
					t.Errorf("got %s, %v, want %s", r.Structured, err, args)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}
