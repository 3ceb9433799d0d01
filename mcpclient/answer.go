package mcpclient

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolflow-go/toolflow"
)

// settle notes a response for the exchange that waited for it. The frame's bytes are copied unless
// they are owned.
func settle(x *exchange, m *message, owned bool) {
	switch {
	case m.failure != nil:
		x.fail(refusal(m.failure))
	case toolflow.Depth(m.result) > toolflow.MaxDepth:
		x.fail(tooDeep())
	case owned:
		x.answer(m.result)
	default:
		x.answer(bytes.Clone(m.result))
	}
}

func tooDeep() *toolflow.CallError {
	return &toolflow.CallError{Kind: toolflow.CallLimit, Sent: true,
		Message: fmt.Sprintf("its answer is nested more than %d levels deep", toolflow.MaxDepth)}
}

func tooLarge(max int64) *toolflow.CallError {
	return &toolflow.CallError{Kind: toolflow.CallLimit, Sent: true, Message: "its answer is larger than " + size(max)}
}

// brokenAnswer says what is wrong with an answer that is not JSON. The JSON reader itself stops far
// beyond our depth.
func brokenAnswer(err error) *toolflow.CallError {
	reason := jsonReason(err)
	switch {
	case strings.HasPrefix(reason, "exceeded max depth"):
		return tooDeep()
	case errors.Is(err, errNoObject):
		return protocolError("its answer is no JSON-RPC response: it is " + reason)
	}
	return protocolError("its answer is broken JSON: " + reason)
}

// refusal makes a call error of a JSON-RPC error object.
func refusal(raw []byte) *toolflow.CallError {
	code, msg := 0, ""
	err := members(raw, func(name string, value []byte) error {
		switch name {
		case "code":
			n, _ := wholeNumber(value)
			code = int(n)
		case "message":
			msg, _ = str(value)
		}
		return nil
	})
	if err != nil {
		return protocolError("its answer is an error that is no object")
	}
	e := &toolflow.CallError{Kind: toolflow.CallRefused, Sent: true, Code: code,
		Message: fmt.Sprintf("refused: %s (code %d)", toolflow.Clip(msg, 500), code)}
	if code == mcp.CodeURLElicitationRequired {
		e.Kind = toolflow.CallNeedsPerson
	}
	return e
}

func protocolError(message string) *toolflow.CallError {
	return &toolflow.CallError{Kind: toolflow.CallProtocol, Sent: true, Message: message}
}

func jsonReason(err error) string {
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) && syn.Err != nil {
		return fmt.Sprintf("%s at byte %d", strings.TrimPrefix(syn.Err.Error(), "jsontext: "), syn.ByteOffset)
	}
	return strings.TrimPrefix(err.Error(), "jsontext: ")
}

// wrongAnswer tells the SDK that an answer to a request of its own, which opens the session, is none.
func wrongAnswer(id int64, e *toolflow.CallError) *jsonrpc.Response {
	return &jsonrpc.Response{ID: requestID(id), Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: e.Message}}
}

// taken tells the SDK that a request is over.
func taken(id int64) *jsonrpc.Response { return &jsonrpc.Response{ID: requestID(id), Error: errTaken} }

func requestID(id int64) jsonrpc.ID {
	out, _ := jsonrpc.MakeID(float64(id)) // the SDK counts from 1: the conversion is exact
	return out
}

// sdkResponse hands a response on to the SDK.
func sdkResponse(id int64, m *message) *jsonrpc.Response {
	r := &jsonrpc.Response{ID: requestID(id), Result: bytes.Clone(m.result)}
	if m.failure != nil {
		e := refusal(m.failure)
		r.Error = &jsonrpc.Error{Code: int64(e.Code), Message: e.Message, Data: errorData(m.failure)}
	}
	return r
}

func errorData(raw []byte) (data []byte) {
	members(raw, func(name string, value []byte) error {
		if name == "data" {
			data = bytes.Clone(value)
		}
		return nil
	})
	return data
}

// serverRequest hands a server's own request on to the SDK, which answers pings and refuses the rest.
func serverRequest(m *message) jsonrpc.Message {
	var id jsonrpc.ID
	if s, ok := str(m.id); ok {
		id, _ = jsonrpc.MakeID(s)
	} else if f, err := strconv.ParseFloat(string(m.id), 64); err == nil {
		id, _ = jsonrpc.MakeID(f)
	}
	if !id.IsValid() {
		return nil
	}
	return &jsonrpc.Request{ID: id, Method: m.method, Params: bytes.Clone(m.params)}
}

// parseProgress reads the parameters of a progress notification. Our tokens are numbers; a server
// that echoes them as strings is understood.
func parseProgress(raw []byte) (token int64, p toolflow.Progress, ok bool) {
	err := members(raw, func(name string, value []byte) error {
		switch name {
		case "progressToken":
			token, ok = meantNumber(value)
		case "progress":
			p.Progress, _ = strconv.ParseFloat(string(value), 64)
		case "total":
			p.Total, _ = strconv.ParseFloat(string(value), 64)
		case "message":
			p.Message, _ = str(value)
		}
		return nil
	})
	return token, p, ok && err == nil
}

// parseResult reads the result of a tools/call. Its parts stay bytes of raw.
func parseResult(raw []byte) (toolflow.Result, *toolflow.CallError) {
	var out toolflow.Result
	kind := "complete"
	err := members(raw, func(name string, value []byte) error {
		switch name {
		case "content":
			if value[0] != '[' && string(value) != "null" {
				return fmt.Errorf("content is no array but %s", kindOf(value))
			}
			if value[0] == '[' {
				out.Content = value
			}
		case "structuredContent":
			out.Structured = value
		case "isError":
			if s := string(value); s != "true" && s != "false" && s != "null" {
				return fmt.Errorf("isError is no boolean but %s", kindOf(value))
			}
			out.IsError = string(value) == "true"
		case "resultType":
			kind, _ = str(value)
		}
		return nil
	})
	switch {
	case errors.Is(err, errNoObject):
		return out, protocolError("its answer is no MCP result but " + kindOf(raw))
	case err != nil:
		return out, protocolError("its answer is no MCP result: " + jsonReason(err))
	case kind == "input_required":
		return out, &toolflow.CallError{Kind: toolflow.CallNeedsPerson, Sent: true,
			Message: "the server asks for input from a person, which is not supported yet"}
	case kind != "complete":
		return out, protocolError(fmt.Sprintf("its answer is of the unknown type %q", toolflow.Clip(kind, 40)))
	}
	return out, nil
}
