package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolflow-go/toolflow"
	"github.com/toolflow-go/toolflow/plan"
)

const object = `{"type":"object"}`

func TestServers(t *testing.T) {
	one := `{"mcpServers":{"web":{"command":"x"}},
 "tools":[{"name":"search","inputSchema":{"type":"object"}}]}`
	two := `{"mcpServers":{"web":{"command":"x"},"wiki":{"command":"y"}},
 "tools":[{"name":"search","inputSchema":{"type":"object"}}]}`
	named := `{"mcpServers":{"web":{"command":"x"},"wiki":{"command":"y"}},
 "steps":[{"tool":"search","server":"wbe"}]}`
	check(t, []said{
		{"sole, which does not offer it", one, plan.Options{Live: plan.Live{"web": {tool("serach", object), tool("fetch", object)}}},
			`plan.json:2:11: step "search": server "web" offers no tool "search" (did you mean "serach"?)`},
		{"sole, which offers others", one, plan.Options{Live: plan.Live{"web": {tool("read", object), tool("fetch", object)}}},
			`plan.json:2:11: step "search": server "web" offers no tool "search" (it offers fetch, read)`},
		{"two offers", two, plan.Options{Live: plan.Live{"web": {tool("search", object)}, "wiki": {tool("search", object)}}},
			`plan.json:2:11: step "search": tool "search" is offered by the servers web and wiki (name one: "server": "web")`},
		{"no offer", two, plan.Options{Live: plan.Live{"web": {tool("searches", object)}, "wiki": {tool("read", object)}}},
			`plan.json:2:11: step "search": none of the servers web, wiki offers tool "search" (did you mean "searches"?)`},
		{"unknown name", named, plan.Options{},
			`plan.json:2:11: step "search": server "wbe" is not configured (did you mean "web"?)`},
		{"unknown name, nothing near", `{"mcpServers":{"web":{"command":"x"},"wiki":{"command":"y"}},
 "steps":[{"tool":"search","server":"database"}]}`, plan.Options{},
			`plan.json:2:11: step "search": server "database" is not configured (configured: web, wiki)`},
		{"unknown name, none configured, needed", `{"steps":[{"tool":"search","server":"web"}]}`, plan.Options{NeedServers: true},
			`plan.json:1:11: step "search": server "web" is not configured (give it with --servers FILE)`},
		{"none configured, needed", `{"steps":[{"tool":"search"},{"tool":"rank"}]}`, plan.Options{NeedServers: true},
			`plan.json:1:11: step "search": no server is configured that could offer tool "search" (name one in "mcpServers", or with --servers FILE)`},
		{"none configured, not needed", `{"steps":[{"tool":"search"},{"id":"b","tool":"search","server":"web"}]}`, plan.Options{}, ``},
		{"offline with two, undecided", two, plan.Options{}, ``},
		{"a listed server without the step's tool", `{"mcpServers":{"web":{"command":"x"},"wiki":{"command":"y"}},
 "steps":[{"tool":"search","server":"wiki"}]}`, plan.Options{Live: plan.Live{"web": {tool("search", object)}, "wiki": {tool("read", object)}}},
			`plan.json:2:11: step "search": server "wiki" offers no tool "search" (it offers read)`},
	})
}

func TestServerThatAStepFinds(t *testing.T) {
	two := `{"mcpServers":{"web":{"command":"x"},"wiki":{"command":"y"}},
 "tools":[{"name":"search","inputSchema":{"type":"object"}}]}`
	for _, c := range []struct {
		name, doc  string
		o          plan.Options
		want, asks string
	}{
		{"the sole one, unasked", `{"mcpServers":{"web":{"command":"x"}},"steps":[{"tool":"t"}]}`, plan.Options{}, "web", "web"},
		{"of --servers", `{"steps":[{"tool":"t"}]}`, plan.Options{Servers: []toolflow.Server{{Name: "given"}}}, "given", "given"},
		{"the step's", `{"mcpServers":{"web":{"command":"x"},"wiki":{"command":"y"}},"tools":[{"name":"t","server":"web","inputSchema":{"type":"object"}}],"steps":[{"tool":"t","server":"wiki"}]}`, plan.Options{}, "wiki", "wiki"},
		{"the tool's", `{"mcpServers":{"web":{"command":"x"},"wiki":{"command":"y"}},"tools":[{"name":"t","server":"web"}]}`, plan.Options{}, "web", "web"},
		{"the only one that offers it", two, plan.Options{Live: plan.Live{"web": {tool("read", object)}, "wiki": {tool("search", object)}}}, "wiki", "wiki"},
		{"the only one that was not asked", two, plan.Options{Live: plan.Live{"web": {tool("read", object)}}}, "wiki", "wiki"},
		{"the one that offers it, though another was not asked", two, plan.Options{Live: plan.Live{"web": {tool("search", object)}}}, "web", "web"},
		{"undecided: all are asked", two, plan.Options{}, "", "web wiki"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustCompile(t, c.doc, c.o)
			same(t, "server", p.Steps[0].Server, c.want)
			same(t, "servers to ask", strings.Join(p.ServersToAsk(), " "), c.asks)
		})
	}
}

func TestServersGivenWinOverTheDocuments(t *testing.T) {
	p := mustCompile(t, `{"mcpServers":{"web":{"command":"old"},"b":{"command":"b"}},"steps":[{"tool":"t","server":"web"}]}`,
		plan.Options{Servers: []toolflow.Server{{Name: "web", Command: "new"}, {Name: "c", Command: "c"}}})
	var got []string
	for _, s := range p.Servers {
		got = append(got, s.Name+"="+s.Command)
	}
	same(t, "servers", got, []string{"web=new", "b=b", "c=c"})
}

func TestLiveSchemas(t *testing.T) {
	live := tool("search", `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`)
	live.OutputSchema = json.RawMessage(`{"type":"object","properties":{"items":{"type":"array"}}}`)
	o := plan.Options{Live: plan.Live{"web": {live}}}

	t.Run("fill what the document leaves out", func(t *testing.T) {
		p := mustCompile(t, `{"mcpServers":{"web":{"command":"x"}},"steps":[{"tool":"search","arguments":{"q":"x"}}]}`, o)
		s := p.Steps[0]
		same(t, "input", string(s.Input.Raw()), string(live.InputSchema))
		same(t, "output", string(s.Output.Raw()), string(live.OutputSchema))
		same(t, "checked", s.Checked, true)
		same(t, "an input schema of the server's own", s.ServerOnly == nil, true)
	})
	t.Run("the document wins where both speak", func(t *testing.T) {
		p := mustCompile(t, `{"mcpServers":{"web":{"command":"x"}},"tools":[{"name":"search","inputSchema":{"type":"object","required":["q"]},"outputSchema":{"type":"string"}}],
 "steps":[{"tool":"search","arguments":{"q":"x"}}]}`, o)
		s := p.Steps[0]
		same(t, "input", string(s.Input.Raw()), `{"type":"object","required":["q"]}`)
		same(t, "output", string(s.Output.Raw()), `{"type":"string"}`)
		same(t, "the server's own", string(s.ServerOnly.Raw()), string(live.InputSchema))
	})
	t.Run("equal schemas are one", func(t *testing.T) {
		p := mustCompile(t, `{"mcpServers":{"web":{"command":"x"}},"tools":[{"name":"search","inputSchema":`+string(live.InputSchema)+`}],
 "steps":[{"tool":"search","arguments":{"q":"x"}}]}`, o)
		same(t, "an input schema of the server's own", p.Steps[0].ServerOnly == nil, true)
	})
	t.Run("the server's own is checked too", func(t *testing.T) {
		_, got := compile(t, `{"mcpServers":{"web":{"command":"x"}},"tools":[{"name":"search","inputSchema":{"type":"object"}}],
 "steps":[{"tool":"search","arguments":{"q":5}}]}`, o)
		same(t, "said", got, `plan.json:1:65: note: tool "search": the inputSchema of server "web" differs from the document's`+"\n"+
			`plan.json:2:41: step "search": argument q: got number, want string (by the server's own inputSchema)`)
	})
	t.Run("a broken one is the server's fault", func(t *testing.T) {
		_, got := compile(t, `{"mcpServers":{"web":{"command":"x"}},"steps":[{"tool":"search"}]}`, plan.Options{Live: plan.Live{"web": {tool("search", `{"type":"objct"}`)}}})
		same(t, "said", got, `tool "search": inputSchema of server "web": got "objct", want one of "array", "boolean", "integer", "null", "number", "object", "string", or array at /type`)
	})
}

func TestSchemasOfADocument(t *testing.T) {
	check(t, []said{
		{"no inputSchema", `{"tools":[
  {"name":"a"}]}`, plan.Options{},
			`plan.json:2:3: tool "a": the spec has no inputSchema (write one, or name the tool's "server", so that the server's own holds)`},
		{"no inputSchema, but a server", `{"mcpServers":{"web":{"command":"x"}},"tools":[{"name":"a","server":"web"}]}`, plan.Options{}, ``},
		{"root is no object", `{"tools":[
  {"name":"a",
   "inputSchema":{"type":"array"}}]}`, plan.Options{},
			`plan.json:3:4: tool "a": the root of inputSchema must be an object (write "type": "object")`},
		{"root without a type", `{"tools":[
  {"name":"a","inputSchema":{"properties":{}}}]}`, plan.Options{},
			`plan.json:2:15: tool "a": the root of inputSchema must be an object (write "type": "object")`},
		{"root that may be null", `{"tools":[
  {"name":"a","inputSchema":{"type":["object","null"]}}]}`, plan.Options{},
			`plan.json:2:15: tool "a": the root of inputSchema must be an object (write "type": "object")`},
		{"foreign dialect", `{"tools":[
  {"name":"a","inputSchema":{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}}]}`, plan.Options{},
			`plan.json:2:30: tool "a": inputSchema: dialect "http://json-schema.org/draft-04/schema#" is not supported, use https://json-schema.org/draft/2020-12/schema, https://json-schema.org/draft/2019-09/schema or http://json-schema.org/draft-07/schema#`},
		{"unknown type inside", `{"tools":[
  {"name":"a","inputSchema":{"type":"object",
    "properties":{"x":{
      "type":"strng"}}}}]}`, plan.Options{},
			`plan.json:4:7: tool "a": inputSchema: got "strng", want one of "array", "boolean", "integer", "null", "number", "object", "string", or array`},
		{"output of any kind", `{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":true}]}`, plan.Options{}, ``},
		{"reference out of the document", `{"tools":[
  {"name":"a","inputSchema":{"type":"object"},"outputSchema":{"$ref":"https://example.com/x.json"}}]}`, plan.Options{},
			`plan.json:2:63: tool "a": outputSchema: $ref "https://example.com/x.json" leads outside the schema, and nothing is loaded from there: copy the target into $defs`},
	})
}

func TestEachDistinctSchemaIsCompiledOnce(t *testing.T) {
	p := mustCompile(t, `{"tools":[{"name":"a","inputSchema":{"type":"object"},"dependencies":{}},{"name":"b","inputSchema":{"type":"object"}}]}`, plan.Options{})
	if p.Steps[0].Input != p.Steps[1].Input {
		t.Error("got two compiled schemas of one text, want one")
	}
}
