package mcpclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
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
		rpc   bool
	}{
		{`{"jsonrpc":"2.0","id":1,"result": {"a" : 1.0} }`, `1 "" {"a" : 1.0}`, true},
		{`{"result":{},"jsonrpc":"2.0","id":"x","error":null}`, `"x" "" {}`, true},
		{`{"jsonrpc":"2.0","method":"a\u0062","params":{}}`, ` "ab" `, true},
		{`{"jsonrpc":"2.0","id":1}`, `1 "" `, false},
		{`{"id":1,"result":{}}`, `1 "" {}`, false},
		{`{"JSONRPC":"2.0","ID":1,"Result":{}}`, ` "" `, false}, // names have their case
		{`[]`, `not a JSON object`, false},
		{`{"id":1}{}`, `text after the JSON value`, false},
		{"{\"id\":1,\"a\":\"\xff\"}", `invalid UTF-8 within "/a" after offset 13`, false},
	}
	for _, test := range tests {
		m, err := parseMessage([]byte(test.frame))
		got := fmt.Sprintf("%s %q %s", m.id, m.method, m.result)
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "jsontext: ")
		}
		if got != test.want || err == nil && m.isRPC() != test.rpc {
			t.Errorf("%s: got %s rpc=%v, want %s rpc=%v", test.frame, got, m.isRPC(), test.want, test.rpc)
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
