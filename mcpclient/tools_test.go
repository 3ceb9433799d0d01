package mcpclient_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/internal/stubserver"
	"github.com/toolflow-go/toolflow/mcpclient"
)

func ptr[T any](v T) *T { return &v }

// What the SDK would drop or round is there: members it does not know, and every digit.
func TestToolsAreRaw(t *testing.T) {
	const ask = `{"name":"ask","title":"Ask","description":"d","inputSchema":{"type":"object","x-extra":{"n":9007199254740993,"d":0.10}},` +
		`"outputSchema":{"type":"object"},"annotations":{"title":"T","readOnlyHint":true,"destructiveHint":false,"x-hint":"y"},` +
		`"dependencies":{"requires":["research"],"bindings":{"messages[0].content":{"fromTool":"research","outputPath":"system_response"},` +
		`"a":{"fromTool":"research","contentPath":"[0].text","take":"first","optional":true,"default":1.0}}},"ui":{"type":"VerticalLayout"},"icons":[]}`
	const meta = `{"name":"meta","_meta":{"example.com/dependencies":{"bindings":{"x":{"fromTool":"ask","outputPath":"y"}}},"ui":[1]}}`
	file := script(t, `{"tools":[`+ask+`,`+meta+`,
		{"name":"odd-deps","dependencies":{"lodash":"1","requires":"ask"}},
		{"name":"cut","description":"half an emoji \ud83d"},{"name":"half \ud83d"},
		{"name":"bool","inputSchema":true},{"title":"nameless"},17,{"name":"hint","annotations":{"destructiveHint":"yes"}},
		{"name":"last","outputSchema":true,"title":null}]}`)
	c, w := stub(t, "", "STUB_SCRIPT", file)
	got, err := c.Tools(t.Context(), "stub")
	if err != nil {
		t.Fatal(err)
	}
	want := []toolflow.Tool{
		{Name: "ask", Title: "Ask", Description: "d", Server: "stub",
			InputSchema: []byte(`{"type":"object","x-extra":{"n":9007199254740993,"d":0.10}}`), OutputSchema: []byte(`{"type":"object"}`),
			Annotations: toolflow.Annotations{Title: "T", ReadOnly: ptr(true), Destructive: ptr(false)},
			Dependencies: &toolflow.Dependencies{Requires: []string{"research"}, Bindings: []toolflow.Binding{
				{Input: "messages[0].content", FromTool: "research", OutputPath: "system_response"},
				{Input: "a", FromTool: "research", ContentPath: "[0].text", Take: "first", Optional: true, Default: []byte("1.0")}}},
			UI: []byte(`{"type":"VerticalLayout"}`), Raw: []byte(ask)},
		{Name: "meta", Server: "stub", UI: []byte(`[1]`), Raw: []byte(meta),
			Dependencies: &toolflow.Dependencies{Bindings: []toolflow.Binding{{Input: "x", FromTool: "ask", OutputPath: "y"}}}},
		{Name: "odd-deps", Server: "stub", Raw: []byte(`{"name":"odd-deps","dependencies":{"lodash":"1","requires":"ask"}}`)},
		{Name: "cut", Server: "stub", Description: "half an emoji \ufffd", Raw: []byte(`{"name":"cut","description":"half an emoji \ud83d"}`)},
		{Name: "last", Server: "stub", OutputSchema: []byte("true"), Raw: []byte(`{"name":"last","outputSchema":true,"title":null}`)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	for _, part := range []string{
		`stub: a tool is left out: "bool": inputSchema is no object but a boolean`,
		`stub: a tool is left out: name is no string but a broken value`,
		`stub: a tool is left out: it has no name: {"title":"nameless"}`,
		`stub: a tool is left out: not a JSON object`,
		`stub: a tool is left out: "hint": annotations: destructiveHint is no boolean but a string`,
		`stub: tool "odd-deps": its dependencies are not read: not a JSON array`,
	} {
		w.wants(t, part)
	}
}

func TestPaging(t *testing.T) {
	tests := []struct {
		mode string
		kind toolflow.CallErrorKind
		want string
	}{
		{stubserver.ModeCursorEmpty, "", ""},
		{stubserver.ModeCursorLoop, toolflow.CallProtocol, `server "stub": tools/list: the list never ends: the cursor "again" comes again`},
		{stubserver.ModePages, toolflow.CallLimit, `server "stub": tools/list: the list has more than 50 pages`},
		{stubserver.ModeTwice, "", ""},
	}
	for _, test := range tests {
		t.Run(test.mode, func(t *testing.T) {
			c := newClient(t, &mcpclient.Options{MaxPages: 50}, stubConfig(test.mode))
			tools, err := c.Tools(t.Context(), "stub")
			if test.want != "" {
				wantError(t, callError(t, err), test.kind, false, test.want)
				return
			}
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			if err != nil || strings.Join(names, " ") != "echo big deep cut exit kill hang flood spam raw ask line" {
				t.Errorf("got %v, %v", names, err)
			}
		})
	}
	c := newClient(t, &mcpclient.Options{MaxTools: 10}, stubConfig(""))
	_, err := c.Tools(t.Context(), "stub")
	wantError(t, callError(t, err), toolflow.CallLimit, false, `server "stub": tools/list: the server has more than 10 tools`)
}

// A tool that is listed twice costs at most that tool, never the server.
func TestToolsListedTwice(t *testing.T) {
	tests := map[string]struct {
		tools    string
		want     string // names
		warnings []string
	}{
		"the same": {`{"name":"a","title":"A"},{"name":"b"},{"name":"a","title":"A"}`, "a b",
			[]string{`stub: tool "a" is listed twice, with the same definition, and one is kept`}},
		"different": {`{"name":"a","annotations":{"readOnlyHint":true}},{"name":"b"},{"name":"a"},{"name":"a"}`, "b",
			[]string{`stub: tool "a" is left out: the server lists it twice, with different definitions`}},
		"different at last": {`{"name":"a"},{"name":"a"},{"name":"a","x":1},{"name":"b"}`, "b", []string{
			`stub: tool "a" is listed twice, with the same definition, and one is kept`,
			`stub: tool "a" is left out: the server lists it twice, with different definitions`}},
		"one malformed": {`{"name":"a"},{"inputSchema":7,"name":"a"},{"name":"b"}`, "b",
			[]string{`stub: tool "a" is left out: the server lists it twice, with different definitions`}},
		"the first malformed": {`{"inputSchema":7,"name":"a"},{"name":"a"},{"name":"b"}`, "b", []string{
			`stub: a tool is left out: "a": inputSchema is no object but a number`,
			`stub: tool "a" is left out: the server lists it twice, with different definitions`}},
		"nameless": {`{"title":"1"},{"title":"2"},{"name":"b"}`, "b", []string{
			`stub: a tool is left out: it has no name: {"title":"1"}`, `stub: a tool is left out: it has no name: {"title":"2"}`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, w := stub(t, "", "STUB_SCRIPT", script(t, `{"tools":[`+test.tools+`]}`))
			tools, err := c.Tools(t.Context(), "stub")
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			if err != nil || strings.Join(names, " ") != test.want {
				t.Errorf("got %v, %v, want %s", names, err, test.want)
			}
			if d := cmp.Diff(test.warnings, w.all); d != "" {
				t.Errorf("warnings: -want +got\n%s", d)
			}
		})
	}
}

func TestListTakesTooLong(t *testing.T) {
	conf := stubConfig(stubserver.ModeDeaf)
	conf.StartTimeout = 300 * time.Millisecond
	c := newClient(t, nil, conf)
	if _, err := c.Tools(t.Context(), "stub"); err != nil {
		t.Fatal(err)
	}
	_, err := c.Tools(t.Context(), "stub")
	wantError(t, callError(t, err), toolflow.CallUnreachable, false,
		`server "stub": tools/list: not answered within 300ms (startTimeout gives it longer)`)
}
