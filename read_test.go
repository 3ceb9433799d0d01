package toolflow

import (
	"os"
	"strings"
	"testing"
)

func parse(t *testing.T, file, text string) (*Document, string) {
	t.Helper()
	doc, diags := ParseDocument([]byte(text), file)
	if doc != nil {
		diags = append(diags, doc.Locate(doc.CheckNames())...)
	}
	var lines []string
	for _, d := range diags {
		lines = append(lines, d.String())
	}
	return doc, strings.Join(lines, "\n")
}

func TestReadDocumentMessages(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"empty", "p.json", "", `p.json:1:1: the document is empty (it needs "tools" or "steps")`},
		{"array", "p.json", "[]", `p.json:1:1: the document is an array (put it into an object: {"tools": […]})`},
		{"prose first", "p.json", "// seed\n\n{\"tools\":[]}", `p.json:1:1: the document does not start with { (its JSON seems to start at line 3: leave out what stands before)`},
		{"truncated", "p.json", "{\"tools\":[\n", `p.json:2:1: not JSON: the text ends in the middle of a JSON value`},
		{"trailing comma", "p.json", "{\"tools\":[],\n}", `p.json:1:12: not JSON: invalid character ',' at start of value`},
		{"text after", "p.json", "{\"tools\":[]}\n{}", `p.json:2:2: not JSON: text after the document`},
		{"duplicate", "p.json", "{\"tools\":[],\n\"tools\":[]}", `p.json:2:1: member "tools" stands twice`},
		{"envelope", "p.json", `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`, `p.json:1:1: the document is a JSON-RPC message, not a plan (save the "result" of the message alone: {"tools": […]})`},
		{"openapi", "p.json", `{"openapi":"3.1.0","paths":{}}`, `p.json:1:1: the document is an OpenAPI file, not a plan (toolflow runs MCP tools: put an MCP server in front of the interface)`},
		{"toolmetadata", "p.json", `{"description":"x","parameters":[]}`, `p.json:1:1: the document is a toolmetadata file, not a plan (a plan holds "tools", each with an "inputSchema")`},
		{"servers only", "p.json", `{"mcpServers":{"a":{"command":"x"}}}`, `p.json:1:1: the document holds servers, but no tools or steps (give it with --servers, beside a plan)`},
		{"nothing", "p.json", `{"name":"x"}`, `p.json:1:1: the document has neither "tools" nor "steps" ({"tools": […]} or {"steps": […]})`},
		{"type", "p.json", "{\"tools\":[\n  {\"name\":5}]}", "p.json:2:4: the tool's name must be a string, not a number"},
		{"not an object", "p.json", "{\"tools\":[\n  {\"name\":\"a\"},\n  7]}", "p.json:3:3: a tool must be an object, not a number"},
		{"unknown member once", "p.json", "{\"tools\":[{\"name\":\"a\",\"dependsOn\":[]},{\"name\":\"b\",\"dependsOn\":[]}]}", `p.json:1:23: warning: a tool has a member "dependsOn" that toolflow does not know (did you mean "dependencies": {"requires": […]}?)`},
		{"unknown in dependencies", "p.json", `{"tools":[{"name":"a","dependencies":{"require":["b"]}}]}`, `p.json:1:39: dependencies has a member "require" that toolflow does not know (did you mean "requires"?)`},
		{"binding array", "p.json", `{"tools":[{"name":"a","dependencies":{"bindings":[]}}]}`, `p.json:1:39: bindings must be an object that maps input fields to sources, not an array ({"messages[0].content": {"fromTool": "search", "outputPath": "items[0].text"}})`},
		{"no source", "p.json", `{"tools":[{"name":"a","dependencies":{"bindings":{"x":{}}}}]}`, `p.json:1:51: the binding of "x" names no source: it needs "fromTool", "fromInput" or "value" ({"fromTool": "search", "outputPath": "items"})`},
		{"two paths", "p.json", `{"tools":[{"name":"a","dependencies":{"bindings":{"x":{"fromTool":"b","outputPath":"y","contentPath":"z"}}}}]}`, `p.json:1:51: the binding of "x" has both "outputPath" and "contentPath" (leave one)`},
		{"reserved", "p.json", `{"steps":[{"tool":"a","when":"x"}]}`, `p.json:1:23: "when" has no meaning in toolflow yet (leave it out)`},
		{"policy", "p.json", `{"steps":[{"tool":"a","policy":{"retries":3,"timeout":"fast","approve":"maybe"}}]}`,
			"p.json:1:33: policy has a member \"retries\" that toolflow does not know (did you mean \"retry\"?)\n" +
				"p.json:1:45: timeout \"fast\" is no duration above zero (write \"500ms\", \"30s\", \"2m\", or a number of seconds)\n" +
				"p.json:1:62: approve \"maybe\" is not known (write \"always\" or \"never\")"},
		{"version", "p.json", `{"toolflow":"2","tools":[]}`, `p.json:1:2: version "2" of the document is not known (write "toolflow": "1")`},
		{"two tools", "p.json", `{"tools":[{"name":"a"},{"name":"a"}]}`, `p.json:1:25: tool "a" stands twice (to call a tool twice, list "steps" with ids of their own)`},
		{"bidi name", "p.json", `{"tools":[{"name":"a\u202eb"}]}`, "p.json:1:12: the name of tool \"a\\u202eb\" holds the invisible character U+202E (use letters, digits, _ - and .)"},
		{"mixed scripts", "p.json", `{"tools":[{"name":"pаypal"}]}`, `p.json:1:12: the name of tool "pаypal" mixes scripts whose letters look alike (use letters, digits, _ - and .)`},
		{"same to Unicode", "p.json", `{"tools":[{"name":"\u00e9"},{"name":"e\u0301"}]}`, "p.json:1:12: warning: the name of tool \"\u00e9\" has characters outside A-Z a-z 0-9 _ - . (MCP asks for 1 to 128 of A-Z a-z 0-9 _ - .)\np.json:1:30: warning: the name of tool \"e\u0301\" has characters outside A-Z a-z 0-9 _ - . (MCP asks for 1 to 128 of A-Z a-z 0-9 _ - .)\np.json:1:30: tool \"\u00e9\" and \"e\u0301\" are the same name to Unicode (rename one)"},
		{"dots", "p.json", `{"tools":[{"name":".."}]}`, `p.json:1:12: the name of tool ".." consists of dots only (use letters, digits, _ - and .)`},
		{"yaml duplicate", "p.yaml", "tools: []\ntools: []\n", `p.yaml:2:1: member "tools" stands twice`},
		{"yaml second document", "p.yaml", "tools: []\n---\na: 1\n", `p.yaml:2:1: the file holds a second YAML document (a plan is one document: leave out the part after ---)`},
		{"yaml tag", "p.yaml", "tools: !x []\n", `p.yaml:1:8: the tag !x has no meaning in a plan`},
		{"yaml place", "p.yaml", "tools:\n  - name: a\n    dependencies:\n      bindings:\n        x: {}\n", `p.yaml:5:9: the binding of "x" names no source: it needs "fromTool", "fromInput" or "value" ({"fromTool": "search", "outputPath": "items"})`},
		{"yaml list", "p.yaml", "- a\n", `p.yaml:1:1: the document is not a mapping (it needs "tools:" or "steps:")`},
		{"yaml empty", "p.yaml", "", `p.yaml: the document is empty (it needs "tools:" or "steps:")`},
		{"yaml bomb", "p.yaml", bomb(), "p.yaml:"},
		{"yaml self", "p.yaml", "tools: &a [*a]\n", "p.yaml:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := parse(t, c.file, c.text)
			if got != c.want && !(strings.HasSuffix(c.want, ":") && strings.HasPrefix(got, c.want)) {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func bomb() string {
	var b strings.Builder
	b.WriteString("a: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		b.WriteString(strings.Replace(strings.Replace("kN: &aM [*aN,*aN,*aN,*aN,*aN,*aN,*aN,*aN,*aN]\n", "aM", "a"+string(rune('1'+i)), 1), "N", string(rune('0'+i)), -1))
	}
	return b.String()
}

func TestReadSeed(t *testing.T) {
	text, err := os.ReadFile("examples/perplexity/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, got := parse(t, "tools.json", string(text))
	if got != "" {
		t.Fatalf("the seed's document gives diagnostics: %s", got)
	}
	b := doc.Tools[0].Dependencies.Bindings
	if len(doc.Tools) != 2 || len(b) != 1 || b[0].Input != "messages[0].content" || b[0].FromTool != "perplexity_research" || b[0].OutputPath != "system_response" {
		t.Errorf("got tools %+v", doc.Tools)
	}
}

// YAML scalars follow JSON's rules, so that nothing changes silently.
func TestYAMLScalars(t *testing.T) {
	doc, got := parse(t, "p.yml", "steps:\n  - tool: a\n    arguments: {a: 017, b: 2020-01-01, c: yes, d: 0x10, e: 9007199254740993, f: 0.10, g: ~, h: '1', i: true, 1: one, j: 1e2}\n")
	if got != "" {
		t.Fatal(got)
	}
	want := `{"a":"017","b":"2020-01-01","c":"yes","d":"0x10","e":9007199254740993,"f":0.10,"g":null,"h":"1","i":true,"1":"one","j":1e2}`
	if s := string(doc.Steps[0].Arguments); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestResolver(t *testing.T) {
	r := NewResolver([]Step{{ID: "a", Tool: "search"}, {ID: "b", Tool: "fetch"}, {ID: "c", Tool: "fetch"}, {ID: "search2", Tool: "search2"}})
	for _, c := range []struct {
		name  string
		asker int
		want  int
		text  string
	}{
		{"a", 1, 0, ""}, {"search", 1, 0, ""}, {"fetch", 1, 2, ""}, {"search2", 0, 3, ""},
		{"search", 0, -1, `"search" is the tool of this step alone; a step cannot wait for itself`},
		{"fetch", 0, -1, `"fetch" is ambiguous: the steps b, c call that tool; name one by its id, such as "b", in "dependencies" of the step's own`},
		{"serach2", 0, -1, `"serach2" is no step, and no step calls a tool of that name; did you mean "search2"?`},
	} {
		got, message, hint := r.Resolve(c.name, c.asker)
		if text := strings.Trim(message+"; "+hint, "; "); got != c.want || text != c.text {
			t.Errorf("Resolve(%q, %d) = %d %q, want %d %q", c.name, c.asker, got, text, c.want, c.text)
		}
	}
}

func FuzzReadDocument(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"a","inputSchema":{"type":"object"},"dependencies":{"requires":["b"],"bindings":{"x":{"fromTool":"b","outputPath":"$"}}}}]}`), false)
	f.Add([]byte("tools:\n  - {name: a}\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, yaml bool) {
		file := "p.json"
		if yaml {
			file = "p.yaml"
		}
		doc, diags := ParseDocument(text, file)
		if doc == nil && !HasErrors(diags) {
			t.Fatal("no document, and no error that says why")
		}
		for _, d := range diags {
			if d.Message == "" || d.File != file || d.Line < 0 || d.Line > 0 && d.Column < 1 {
				t.Fatalf("a diagnostic without message or place: %+v", d)
			}
		}
	})
}

func TestParseServers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"mcpServers":{"a":{"command":"x"}},"steps":[]}`, ""},
		{`{"servers":{"a":{"url":"http://127.0.0.1/"}},"inputs":{}}`, ""},
		{`{"mcpServers":{"a":{"command":"x","args":null,"env":null,"url":null}}}`, ""},
		{`{"inputs":[{"type":"promptString","id":"x"}],"policy":{"no":1},"servers":{"a":{"command":"x"}}}`, ""},
		{`{"mcpServers":{"a":{"command":5}}}`, `s.json:1:21: command of server "a" must be a string, not a number`},
		{`{"mcpServers":{"a":{"command":"x","args":["y",7],"timeout":"zzz"}}}`, `s.json:1:47: an entry of args of server "a" must be a string, not a number` + "\n" +
			`s.json:1:50: timeout of server "a" "zzz" is no duration above zero (write "500ms", "30s", "2m", or a number of seconds)`},
		{`{}`, `s.json:1:1: the file holds no servers ({"mcpServers": {"name": {"command": "…"}}})`},
	} {
		servers, diags := ParseServers([]byte(c.text), "s.json")
		var lines []string
		for _, d := range diags {
			lines = append(lines, d.String())
		}
		if got := strings.Join(lines, "\n"); got != c.want || c.want == "" && (len(servers) != 1 || servers[0].Name != "a") {
			t.Errorf("%s:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}
