// Package runner carries plans out.
//
// The fact to hold: [State] decides and the engine acts. State is a deterministic value, a plan and
// events in, steps to start out; it has no clock and no goroutine. The engine is one goroutine that
// owns the State and feeds it; every call runs in a goroutine of its own, through execute, which is
// the only place where a step is bound, validated, called, classified and mapped. When [Runner.Run]
// returns, every goroutine of the run has ended.
//
// The package knows no MCP: servers are behind [Caller] and [Lister], which package mcpclient
// satisfies, and events are made durable by a [Journal].
package runner
