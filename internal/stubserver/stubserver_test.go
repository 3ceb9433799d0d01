package stubserver

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// talk sends requests, one a line, and gives what came back.
func talk(t *testing.T, script *Script, requests ...string) (out string, status int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = Serve(strings.NewReader(strings.Join(requests, "\n")+"\n"), &stdout, &stderr, script)
	return stdout.String(), status
}

func readScript(t *testing.T, text string) *Script {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stub.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ReadScript(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func callOf(tool, args string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `,"_meta":{"progressToken":7}}}`
}

func TestAnswers(t *testing.T) {
	const tools = `"tools":[{"name":"a", "x":1.0},{"name":"b"}]`
	tests := []struct{ answer, want string }{
		{`{"echo":true}`, `"result":{"content":[{"type":"text","text":"{\"n\":1.0}"}],"structuredContent":{"n":1.0}}`},
		{`{"text":"hi"}`, `"result":{"content":[{"type":"text","text":"hi"}]}`},
		{`{"structured":{"x": 1e2},"text":"t","isError":true}`, `"result":{"content":[{"type":"text","text":"t"}],"structuredContent":{"x": 1e2},"isError":true}`},
		{`{"result":{"content":[],"n":9007199254740993}}`, `"result":{"content":[],"n":9007199254740993}`},
		{`{"error":{"code":-1,"message":"no"}}`, `"error":{"code":-1,"message":"no"}`},
		{`{"delay":"1ms","text":"late"}`, `"result":{"content":[{"type":"text","text":"late"}]}`},
	}
	for _, test := range tests {
		out, _ := talk(t, readScript(t, `{`+tools+`,"answers":{"a":`+test.answer+`}}`), callOf("a", `{"n":1.0}`))
		if want := `{"jsonrpc":"2.0","id":1,` + test.want + "}\n"; out != want {
			t.Errorf("%s: got  %swant %s", test.answer, out, want)
		}
	}
	out, _ := talk(t, readScript(t, `{`+tools+`}`), `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
	if want := `{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"a", "x":1.0},{"name":"b"}]}}` + "\n"; out != want {
		t.Errorf("list: got %s", out)
	}
	out, _ = talk(t, readScript(t, `{`+tools+`,"answers":{"a":{"progress":2,"text":""}}}`), callOf("a", "{}"))
	if !strings.Contains(out, `{"progressToken":7,"progress":2,"total":2,"message":"part 2"}`) {
		t.Errorf("progress: got %s", out)
	}
	if _, status := talk(t, readScript(t, `{`+tools+`,"answers":{"a":{"exit":3}}}`), callOf("a", "{}")); status != 3 {
		t.Errorf("exit: got status %d", status)
	}
}

// The n-th call of a tool gets its n-th answer, also from a server that was started again.
func TestLedgerCountsCalls(t *testing.T) {
	ledger := filepath.Join(t.TempDir(), "ledger")
	text := `{"ledger":"` + ledger + `","tools":[{"name":"a"},{"name":"b"}],"answers":{"a":[{"text":"one"},{"text":"two"}]}}`
	for _, want := range []string{"one", "two", "two"} {
		if out, _ := talk(t, readScript(t, text), callOf("a", `{"n":1e2}`)); !strings.Contains(out, `"text":"`+want+`"`) {
			t.Errorf("got %s, want %s", out, want)
		}
	}
	talk(t, readScript(t, text), callOf("b", `{}`), callOf("none", `{}`))
	got, _ := os.ReadFile(ledger)
	if want := strings.Repeat(`{"tool":"a","arguments":{"n":1e2}}`+"\n", 3) + `{"tool":"b","arguments":{}}` + "\n"; string(got) != want {
		t.Errorf("ledger: %s", got)
	}
}

func TestScriptErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stub.json")
	for text, want := range map[string]string{
		`{"tool":[]}`:                        `json: unknown field "tool"`,
		`{"answers":{"a":{"txt":"x"}}}`:      `answers.a: json: unknown field "txt"`,
		`{"answers":{"a":[]}}`:               `answers.a: no answers`,
		`{"answers":{"a":{"delay":"long"}}}`: `answers.a: time: invalid duration "long"`,
	} {
		os.WriteFile(file, []byte(text), 0o600)
		if _, err := ReadScript(file); err == nil || err.Error() != file+": "+want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
