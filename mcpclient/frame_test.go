package mcpclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// readAllFrames gives the lines of a stream, those past the limit as "…".
func readAllFrames(t *testing.T, r io.Reader, max int64) (lines []string) {
	t.Helper()
	f := newFrameReader(r, max)
	for {
		line, _, err := f.next()
		var large *tooLargeError
		switch {
		case errors.As(err, &large):
			lines = append(lines, "…")
			continue
		case errors.Is(err, io.EOF):
			return lines
		case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
}

// However a stream is cut into reads, its frames are its lines; one past the limit costs no other.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("{}\n{\"id\":1}\r\n\n"), uint16(8), uint8(1))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nlast"), uint16(100), uint8(200))
	f.Add(bytes.Repeat([]byte("x"), 300), uint16(10), uint8(7))
	f.Fuzz(func(t *testing.T, stream []byte, max uint16, repeat uint8) {
		limit := int64(max) + 1
		stream = bytes.ReplaceAll(stream, []byte("#"), bytes.Repeat([]byte("#"), 1+int(repeat)*300)) // lines beyond the buffer
		var want []string
		for line := range bytes.Lines(stream) {
			switch text := bytes.TrimRight(line, "\r\n"); {
			case int64(len(line)) > limit+1:
				if int64(len(line)) > endlessLine*limit || line[len(line)-1] != '\n' {
					return // the stream ends there
				}
				want = append(want, "…")
			case line[len(line)-1] == '\n' || len(bytes.TrimSpace(text)) > 0:
				want = append(want, string(text))
			}
		}
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(stream), "bytes": iotest.OneByteReader(bytes.NewReader(stream)),
			"halves": iotest.HalfReader(bytes.NewReader(stream)), "data with error": iotest.DataErrReader(bytes.NewReader(stream))} {
			if got := readAllFrames(t, r, limit); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		for _, line := range want { // and none of them brings the reader down
			m, err := parseMessage([]byte(line))
			if err == nil && m.result != nil && !bytes.Contains([]byte(line), m.result) {
				t.Errorf("%q: the result %q is not part of it", line, m.result)
			}
		}
	})
}

func TestParseMessage(t *testing.T) {
	tests := []struct {
		frame string
		want  string // id method result, or the error
		is    string // request, answer or neither
	}{
		{`{"jsonrpc":"2.0","id":1,"result": {"a" : 1.0} }`, `1 "" {"a" : 1.0}`, "answer"},
		{`{"result":{},"jsonrpc":"2.0","id":"x","error":null}`, `"x" "" {}`, "answer"},
		{`{"jsonrpc":"2.0","method":"a\u0062","params":{}}`, ` "ab" `, "request"},
		{`{"jsonrpc":"2.0","id":1}`, `1 "" `, "answer"},
		{`{"id":1,"result":{}}`, `1 "" {}`, "answer"},
		{`{"id":1,"error":{}}`, `1 "" `, "answer"},
		{`{"id":1,"error":"disk full"}`, `1 "" `, ""}, // a line of a log
		{`{"id":1,"level":"info"}`, `1 "" `, ""},
		{`{"id":1,"method":"GET","result":"ok"}`, `1 "GET" "ok"`, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, `1 "x" {}`, "answer"},
		{`{"jsonrpc":"2.0"}`, ` "" `, ""},
		{`{"JSONRPC":"2.0","ID":1,"Result":{}}`, ` "" `, ""}, // names have their case
		{`[]`, `not a JSON object`, ""},
		{`{"id":1}{}`, `text after the JSON value`, ""},
		{"{\"id\":1,\"a\":\"\xff\"}", `1 "" `, ""}, // whoever reads a looks at it
	}
	for _, test := range tests {
		m, err := parseMessage([]byte(test.frame))
		got := fmt.Sprintf("%s %q %s", m.id, m.method, m.result)
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "jsontext: ")
		}
		is := ""
		switch {
		case m.isAnswer():
			is = "answer"
		case m.isRequest():
			is = "request"
		}
		if got != test.want || err == nil && is != test.is {
			t.Errorf("%s: got %s %s, want %s %s", test.frame, is, got, test.is, test.want)
		}
	}
}

func TestWholeNumber(t *testing.T) {
	for text, want := range map[string]int64{"4": 4, "-7": -7, "4.0": 4, "40e-1": 4, "4E0": 4, "9007199254740993": 9007199254740993} {
		if n, ok := wholeNumber([]byte(text)); !ok || n != want {
			t.Errorf("%s: got %d %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "4.5", "1e300", "Infinity", "0x4", "0x1p2", "\"4\"", "null", "1e9999", "9007199254740993.0"} {
		if n, ok := wholeNumber([]byte(text)); ok {
			t.Errorf("%s: got %d", text, n)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "3600": time.Hour, "86400": time.Hour, "99999999999999999999": time.Hour,
		"Fri, 02 Jan 2026 03:04:07 GMT": 2 * time.Second, "Friday, 02-Jan-26 03:04:07 GMT": 2 * time.Second,
		"Fri Jan  2 03:04:07 2026": 2 * time.Second, "Fri, 31 Dec 9999 23:59:59 GMT": time.Hour, "Thu, 01 Jan 1970 00:00:00 GMT": 0,
		"": 0, "-5": 0, "+5": 0, "1.5": 0, "5s": 0, "soon": 0, "0x10": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}

// The id of an answer that is gone is found at either end, and never inside.
func TestIDOfEnds(t *testing.T) {
	long := strings.Repeat("x", 1000)
	tests := []struct {
		frame string
		id    int64
		ok    bool
	}{
		{`{"jsonrpc":"2.0","id":7,"result":"` + long + `"}`, 7, true},
		{`{"result":"` + long + `","jsonrpc":"2.0","id":8}`, 8, true},
		{`{"result":"` + long + `","jsonrpc":"2.0", "id" : 9 } `, 9, true},
		{`{"result":{"a":"` + long + `","id":8}}`, 0, false},
		{`{"result":"` + long + `,\"id\":8}"}`, 0, false},
		{`{"result":"` + long + `","id":"8"}`, 0, false},
		{long, 0, false},
	}
	for _, test := range tests {
		e := &tooLargeError{head: []byte(test.frame[:200]), tail: []byte(test.frame[len(test.frame)-200:])}
		if id, ok := idOfEnds(e); id != test.id || ok != test.ok {
			t.Errorf("%s…%s: got %d %v, want %d %v", e.head[:30], e.tail[180:], id, ok, test.id, test.ok)
		}
	}
}

func TestTail(t *testing.T) {
	var tl tail
	for i := range 100_000 {
		fmt.Fprintf(&tl, "line %d\n", i)
	}
	if got := tl.lines(2); got != "line 99998\nline 99999" {
		t.Errorf("got %q", got)
	}
	if len(tl.buf) > 2*stderrKept {
		t.Errorf("keeps %d bytes", len(tl.buf))
	}
	tl.Write(bytes.Repeat([]byte("é"), stderrKept))
	if got := tl.lines(5); len(got) > 4<<10 || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%d bytes of one line", len(got))
	}
}

// The notice that a probe was given up comes side by side with the next request, and must not take back
// what that one was told.
func TestNoticeTakesNothingBack(t *testing.T) {
	x := &exchange{}
	tr := &trip{x: x, opening: true}
	told := protocolError("wrong")
	x.note(told)
	if _, err := tr.body([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)); err != nil || x.err != told || !tr.drop {
		t.Errorf("after the notice: %v, %v, dropped %v", err, x.err, tr.drop)
	}
	if _, err := tr.body([]byte(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}`)); err != nil || x.err != nil || tr.drop {
		t.Errorf("after a request: %v, %v, dropped %v", err, x.err, tr.drop)
	}
}
