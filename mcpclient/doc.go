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
// Servers start at their first use, once, and start again at a later use when they died. The package
// decides nothing about retries, order or limits on parallel calls, and knows no documents or
// bindings; see package runner for those. `type: "sse"` (the old transport), OAuth and answers to
// servers that ask a person are left out.
package mcpclient
