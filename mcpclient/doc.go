// Package mcpclient reaches MCP servers: it starts them over stdio or dials them over Streamable
// HTTP, keeps their sessions, lists their tools and calls them.
//
// What a reader must hold: results are raw. The MCP SDK speaks the protocol, but it never sees an
// answer to a call: the transport below it takes the bytes of each answer for the caller and tells
// the SDK only that the request is over (see exchange). So every digit and every character of a
// result survives, and nothing is decoded twice.
//
// A server is untrusted. It may write garbage, answer twice, flood, hang or die: its own calls fail
// with a [*toolflow.CallError] that says whether the request was sent, and nothing else does.
//
// Servers start at their first use, once, and start again at a later use when they died. Over stdio
// each is a process group of its own (on Windows a job). That group is what Close and Kill reach, be
// the server itself alive or not; a process that left it, such as a daemon that called setsid, is not
// reached. When this program is killed, nobody closes anything: then a server learns by the end of its
// input that it is to go, and on Linux gets TERM as well, the server's first process alone. No signal is
// caught or reset: a server ignores at its start what this program ignores.
//
// Over HTTP an answer that comes as a stream of events is resumed where the stream breaks, when its
// events have ids, at most twice a second and five times without a new event. A call whose stream could
// not be resumed is lost, whatever status says so: its request was received.
//
// A name that a server lists with two different definitions is left out of its tools, with a warning.
//
// The package decides nothing about retries, order or limits on parallel calls, and knows no documents
// or bindings; see package runner for those. `type: "sse"` (the old transport), OAuth and answers to
// servers that ask a person are left out.
package mcpclient
