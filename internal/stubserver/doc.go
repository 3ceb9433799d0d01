// Package stubserver is an MCP server over stdio for tests. It is written without any SDK, so that it
// can also do what no server should: see the modes. A test binary runs itself again as this server:
//
//	func TestMain(m *testing.M) {
//		if mode, ok := os.LookupEnv("STUB_MODE"); ok {
//			stubserver.Main(mode)
//		}
//		os.Exit(m.Run())
//	}
//
// and a configuration with {"command": os.Args[0], "env": {"STUB_MODE": "", "STUB_SCRIPT": "stub.json"}}
// starts it. In a testscript, `stubserver` is a command like `toolflow`: `stubserver [-mode MODE] [SCRIPT]`.
//
// # Scripts
//
// A script is a JSON file, named by the first argument or by STUB_SCRIPT:
//
//	{
//	  "name": "stub",                     // of the server; optional
//	  "mode": "banner",                   // optional; see below
//	  "ledger": "calls.jsonl",            // optional
//	  "tools": [                          // as tools/list gives them, byte for byte
//	    {"name": "search", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}
//	  ],
//	  "answers": {                        // by tool; a tool without one echoes
//	    "search": {"structured": {"items": ["a"]}},
//	    "rank":   [{"isError": true, "text": "busy"}, {"text": "ranked"}]
//	  }
//	}
//
// An answer is an object; a list gives one answer per call of the tool, the last one from then on. Calls
// are counted in the ledger when there is one, so the count outlives the server. Its members, all
// optional:
//
//	result      the whole result of tools/call, byte for byte (the members below are then left out)
//	structured  structuredContent, byte for byte
//	echo        true: structuredContent is the arguments, byte for byte
//	text        the text of one content block; without it and with structured, that JSON
//	isError     true: the tool says no
//	error       {"code": -32000, "message": "…"}: a JSON-RPC error instead of a result
//	delay       "50ms": wait before anything else
//	progress    3: so many progress notifications first (1/3, 2/3, 3/3)
//	stderr      written to stderr
//	exit        3: end with this status instead of answering
//	hang        true: never answer
//
// The ledger gets one line per executed call, on disk before the answer:
// {"tool":"search","arguments":{…}} with the arguments as they came.
//
// # Modes
//
// A mode makes the server misbehave around its answers; the names are the constants Mode…. With a mode
// and no script, a fixed set of tools is offered (echo, big, deep, cut, exit, kill, hang, flood, spam, raw, ask).
package stubserver
