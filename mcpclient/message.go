package mcpclient

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/toolflow-go/toolflow"
)

// A message is one JSON-RPC message, its parts as they stand in the frame.
type message struct {
	version, id, params, result, failure []byte

	method    string
	hasMethod bool
	other     []byte // the first id, when there are two
	twice     string // a member that stands there twice
}

// parseMessage reads a frame. What stands before an error is in the message, so that a broken answer
// can still be told to the call it was for.
func parseMessage(frame []byte) (message, error) {
	var m message
	set := func(into *[]byte, name string, value []byte) {
		if *into != nil && m.twice == "" {
			m.twice = name
		}
		*into = value
	}
	err := members(frame, func(name string, value []byte) error {
		switch name {
		case "jsonrpc":
			set(&m.version, name, value)
		case "id":
			m.other = m.id
			set(&m.id, name, value)
		case "method":
			m.method, m.hasMethod = str(value)
		case "params":
			m.params = value
		case "result":
			set(&m.result, name, value)
		case "error":
			set(&m.failure, name, value)
		}
		return nil
	})
	if string(m.failure) == "null" { // some servers say so when there is none
		m.failure = nil
	}
	return m, err
}

func (m *message) isRPC() bool { return string(m.version) == `"2.0"` }

// isRequest reports whether m is a request or a notification.
func (m *message) isRequest() bool { return m.isRPC() && m.hasMethod && !m.isAnswer() }

// isAnswer reports whether m is meant as a response, be it a wrong one (see fault). An object without
// a version may be a line of a log, which may have an id too.
func (m *message) isAnswer() bool {
	if m.version == nil {
		return !m.hasMethod && m.id != nil && (m.result != nil || len(m.failure) > 0 && m.failure[0] == '{')
	}
	return m.result != nil || m.failure != nil || m.id != nil && !m.hasMethod
}

// fault says what is wrong with a response to the request with this id; it is empty for a good one. An
// error is one whatever its id: a server that could not read the request does not know it.
func (m *message) fault(id int64) string {
	n, isNumber := wholeNumber(m.id)
	switch {
	case m.twice != "":
		return fmt.Sprintf("its answer has the member %q twice", m.twice)
	case m.version == nil:
		return `its answer lacks "jsonrpc": "2.0"`
	case !m.isRPC():
		return fmt.Sprintf(`its answer has "jsonrpc": %s instead of "2.0"`, toolflow.Clip(string(m.version), 40))
	case m.hasMethod:
		return fmt.Sprintf("its answer has the method %q, which only requests have", toolflow.Clip(m.method, 40))
	case m.result == nil && m.failure == nil:
		return "its answer has neither a result nor an error"
	case m.result != nil && m.failure != nil && string(m.result) != "null":
		return "its answer has both a result and an error"
	case m.failure != nil:
		return ""
	case m.id == nil:
		return fmt.Sprintf("its answer has no id, which is %d", id)
	case !isNumber || n != id:
		return fmt.Sprintf("its answer has the id %s instead of %d", toolflow.Clip(string(m.id), 40), id)
	}
	return ""
}

// answers reports whether m, a response, may be meant for the request with this id.
func (m *message) answers(id int64) bool {
	for _, raw := range [...][]byte{m.id, m.other} {
		if n, ok := meantNumber(raw); ok && n == id {
			return true
		}
	}
	return false
}

// wholeNumber reads a JSON number that is whole, however it is written: 4.0 is 4.
func wholeNumber(raw []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err == nil || len(raw) == 0 || !json.Valid(raw) {
		return n, err == nil
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(string(raw), 64)
	return int64(f), err == nil && math.Trunc(f) == f && math.Abs(f) < exact
}

// meantNumber reads an id as wholeNumber does, and as a string too: some servers quote the number they
// were given, which is wrong but tells whom they answer.
func meantNumber(raw []byte) (int64, bool) {
	if s, ok := str(raw); ok {
		return wholeNumber([]byte(s))
	}
	return wholeNumber(raw)
}
