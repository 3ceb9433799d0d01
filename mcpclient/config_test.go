package mcpclient_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/mcpclient"
)

func variables(name string) (string, bool) {
	v, ok := map[string]string{"A": "1", "EMPTY": "", "NESTED": "${A}"}[name]
	return v, ok
}

func TestExpand(t *testing.T) {
	in := toolflow.Server{Name: "s", Command: "${A}", Args: []string{"x${A}y${env:A}", "$A ${A:-z} ${NO:-z} ${EMPTY:-z} [${EMPTY}] ${NO:-}", "${NESTED}"},
		Env: map[string]string{"E": "${A}"}, Cwd: "/${A}", URL: "http://${A}/", Headers: map[string]string{"Authorization": "Bearer ${NO:-a:b-c}"}}
	want := toolflow.Server{Name: "s", Command: "1", Args: []string{"x1y1", "$A 1 z z [] ", "${A}"},
		Env: map[string]string{"E": "1"}, Cwd: "/1", URL: "http://1/", Headers: map[string]string{"Authorization": "Bearer a:b-c"}}
	got, err := mcpclient.Expand(in, variables)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v, -want +got\n%s", err, d)
	}
	if in.Args[0] != "x${A}y${env:A}" || in.Env["E"] != "${A}" {
		t.Errorf("the input was changed: %v", in)
	}
}

func TestConfigurationErrors(t *testing.T) {
	tests := []struct {
		conf toolflow.Server
		want string
	}{
		{toolflow.Server{Name: "s", File: "mcp.json", Command: "x", Args: []string{"${KEY}"}, Env: map[string]string{"B": "${env:B}", "A": "${input:x}"}},
			"mcp.json: server \"s\": args[0]: the variable KEY is not set (set it, or write ${KEY:-default})\n" +
				"mcp.json: server \"s\": env.A: ${input:x} is no variable (write ${NAME}, ${NAME:-default} or ${env:NAME})\n" +
				"mcp.json: server \"s\": env.B: the variable B is not set (set it, or write ${B:-default})"},
		{toolflow.Server{Name: "s"}, `server "s": neither command nor url is given (command starts a server, url reaches one)`},
		{toolflow.Server{Name: "s", Command: "x", URL: "http://x"}, `server "s": both command and url are given (command starts a server, url reaches one: keep one)`},
		{toolflow.Server{Command: "x"}, `server "": a server needs a name`},
		{toolflow.Server{Name: "s", URL: "http://x", Type: "sse"},
			`server "s": type "sse", the old HTTP transport, is not supported yet (use "http" with the server's Streamable HTTP address)`},
		{toolflow.Server{Name: "s", URL: "http://x", Type: "ws"}, `server "s": type "ws" is unknown (it is "stdio" or "http")`},
		{toolflow.Server{Name: "s", URL: "http://x", Type: "stdio"}, `server "s": type "stdio" needs a command`},
		{toolflow.Server{Name: "s", Command: "x", Type: "http"}, `server "s": type "http" needs a url`},
		{toolflow.Server{Name: "s", URL: "ftp://x"}, `server "s": url: it is no http or https address`},
		{toolflow.Server{Name: "s", URL: "http://x", Headers: map[string]string{"a b": "c"}}, `server "s": headers: "a b" is no name of a header`},
		{toolflow.Server{Name: "s", URL: "http://x", Headers: map[string]string{"A": "b\nc"}}, `server "s": headers.A: the value holds a line break`},
		{toolflow.Server{Name: "s", URL: "http://x", Headers: map[string]string{"Idempotency-Key": "1"}},
			`server "s": headers.Idempotency-Key: one key for all calls would make calls repeat (take it out)`},
		{toolflow.Server{Name: "s", Command: "x", Env: map[string]string{"A=B": ""}}, `server "s": env: "A=B" is no name and value of an environment variable`},
		{toolflow.Server{Name: "twice", Command: "x"}, `server "twice": two servers have this name`},
	}
	for _, test := range tests {
		_, err := mcpclient.New([]toolflow.Server{{Name: "twice", Command: "x"}, test.conf}, &mcpclient.Options{Getenv: variables})
		if err == nil || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
	_, err := mcpclient.New([]toolflow.Server{{Name: "a"}, {Name: "b"}}, nil)
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("not all are reported: %v", err)
	}
}

func TestServers(t *testing.T) {
	c := newClient(t, nil, toolflow.Server{Name: "b", Command: "x"}, toolflow.Server{Name: "a", URL: "http://x"})
	if got := strings.Join(c.Servers(), " "); got != "a b" {
		t.Errorf("got %q", got)
	}
}
