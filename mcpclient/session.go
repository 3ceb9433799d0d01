package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolflow-go/toolflow"
)

// A session is an open connection to a server.
type session struct {
	server string
	life   context.Context // of the client
	cs     *mcp.ClientSession
	stdio  *stdioConn // of a server over stdio
	http   *tap       // of a server over HTTP
	tokens atomic.Int64
	dead   atomic.Bool
	watch  sync.WaitGroup
}

// The newest protocol begins with `server/discover`, the one before with `initialize`.
const (
	newestVersion = "2026-07-28"
	legacyVersion = "2025-11-25"
)

// An era says how a session is opened.
type era struct {
	legacy bool          // `initialize` at once
	probe  time.Duration // how long `server/discover` may take before `initialize` is tried
}

// An opening is what was seen of an attempt to open a session.
type opening struct {
	probeOver bool // `server/discover` was not answered in time
	late      bool // but it was, and well, before `initialize` was refused
	refused   bool // `initialize` was answered with a JSON-RPC error
	exited    bool // the process ended
	withheld  []string
}

// open opens a session, within the server's start limit. The newest protocol is asked for first, with
// `server/discover`, then the older one with `initialize`. A server that has not answered in probeLimit
// may be one that ignores what it does not know, or only slow: it gets `initialize` too, and when it then
// answers both, what it says first counts. Servers that end at a request they do not know are started
// once more, with `initialize` alone; those that refuse `initialize` without having said more are asked
// again without the short limit.
func (c *Client) open(ctx context.Context, conf toolflow.Server) (*session, *toolflow.CallError) {
	limit := or(conf.StartTimeout, defaultStart)
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("it did not answer within %v (startTimeout gives it longer)", limit))
	defer cancel()
	s, seen, err := c.attempt(ctx, conf, era{probe: min(c.probe, limit/3)})
	switch {
	case err == nil || ctx.Err() != nil:
	case seen.exited && !seen.refused:
		s, seen, err = c.attempt(ctx, conf, era{legacy: true})
	case seen.probeOver && seen.refused:
		s, seen, err = c.attempt(ctx, conf, era{probe: limit})
	}
	if err != nil && len(seen.withheld) > 0 {
		err.Message += "; withheld from its environment: " + strings.Join(seen.withheld, ", ")
	}
	return s, err
}

const (
	defaultStart = 30 * time.Second
	probeLimit   = 1500 * time.Millisecond
)

func (c *Client) attempt(ctx context.Context, conf toolflow.Server, e era) (*session, opening, *toolflow.CallError) {
	s := &session{server: conf.Name, life: c.life}
	x := &exchange{server: conf.Name}
	var seen opening
	transport, err := c.transport(conf, s, &seen)
	if err != nil {
		return nil, opening{}, &toolflow.CallError{Kind: toolflow.CallUnreachable, Err: err,
			Message: oneLine(fmt.Sprintf("server %q did not start: %v", conf.Name, err))}
	}
	opts := &mcp.ClientSessionOptions{}
	if e.legacy {
		opts.ProtocolVersion = legacyVersion
	}
	s.cs, err = c.sdk(s, e, &seen).Connect(withExchange(ctx, x), transport, opts)
	if err != nil {
		failed := s.openingError(ctx, x, err)
		seen.exited = failed.Exit != ""
		s.abandon()
		return nil, seen, failed
	}
	s.watch.Go(func() {
		s.cs.Wait()
		s.dead.Store(true)
	})
	return s, seen, nil
}

// openingError tells why a session could not be opened. The request that was to follow was not sent.
func (s *session) openingError(ctx context.Context, x *exchange, err error) *toolflow.CallError {
	e := &toolflow.CallError{Kind: toolflow.CallUnreachable, Err: err, Message: err.Error()}
	x.mu.Lock()
	noted := x.err
	x.mu.Unlock()
	switch {
	case s.stdio == nil || ctx.Err() != nil:
	case isRPCError(err): // an answer, after which the SDK ends the connection itself
		_, e.Stderr = s.stdio.proc.end(0)
	default:
		waitFor(s.stdio.done, 3*time.Second) // the process may just be ending
		if end := s.stdio.failure(); end != nil {
			*e = *end
			e.Kind = toolflow.CallUnreachable
		}
	}
	if noted != nil {
		*e = *noted
		if e.Kind != toolflow.CallUnauthorized && e.Kind != toolflow.CallBusy {
			e.Kind = toolflow.CallUnreachable
		}
	}
	if ctx.Err() != nil {
		e.Err = context.Cause(ctx)
		e.Message = e.Err.Error()
		if s.stdio != nil {
			_, e.Stderr = s.stdio.proc.end(0)
		}
	}
	e.Sent = false
	e.Message = oneLine(fmt.Sprintf("server %q did not start: %s", s.server, e.Message))
	return e
}

// sdk gives the SDK's client, with everything off that would act behind a plan's back: no answers to
// sampling, elicitation or roots, no requests sent again.
func (c *Client) sdk(s *session, e era, seen *opening) *mcp.Client {
	client := mcp.NewClient(c.info, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	client.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch method {
			case "server/discover":
				probe, cancel := context.WithTimeout(ctx, e.probe)
				defer cancel()
				res, err := next(probe, method, req)
				seen.probeOver = err != nil && probe.Err() != nil
				return res, err
			case "initialize":
				res, err := next(ctx, method, req)
				seen.refused = err != nil && isRPCError(err)
				if seen.late = seen.refused && s.stdio != nil && s.stdio.discovered(newestVersion); seen.late {
					return &mcp.InitializeResult{ProtocolVersion: newestVersion, Capabilities: &mcp.ServerCapabilities{}}, nil
				}
				return res, err
			case "notifications/initialized":
				if seen.late { // the newest protocol has no such thing
					return nil, nil
				}
			}
			return next(ctx, method, req)
		}
	})
	return client
}

// transport makes what the SDK connects over, and starts the process of a server over stdio.
func (c *Client) transport(conf toolflow.Server, s *session, seen *opening) (mcp.Transport, error) {
	if conf.URL != "" {
		s.http = newTap(c.life, conf, c.maxFrame, c.warner(conf.Name))
		return &mcp.StreamableClientTransport{
			Endpoint:             conf.URL,
			HTTPClient:           &http.Client{Transport: s.http, CheckRedirect: s.http.redirect},
			MaxEventSize:         int(c.maxFrame),
			DisableStandaloneSSE: true, // nothing that a server says unasked is needed, and opening the stream may hang
		}, nil
	}
	env, withheld := environment(c.environ(), conf.Env)
	p, err := start(conf, c.dir, env, c.ended)
	if err != nil {
		return nil, err
	}
	seen.withheld = withheld
	c.started(p)
	s.stdio = newStdioConn(p, c.maxFrame, c.warner(conf.Name))
	return s.stdio, nil
}

// do sends a request and waits for its outcome.
func (s *session) do(ctx context.Context, x *exchange) ([]byte, *toolflow.CallError) {
	if ctx.Err() != nil { // the SDK would send it all the same
		return x.finish(ctx, nil)
	}
	sending, cancel := context.WithCancel(withExchange(ctx, x))
	defer cancel()
	var err error
	switch x.method {
	case "tools/call":
		params := &mcp.CallToolParams{Name: x.tool, Arguments: struct{}{}}
		if x.progress != nil {
			x.token = s.tokens.Add(1)
			params.SetProgressToken(x.token)
		}
		_, err = s.cs.CallTool(sending, params)
	case "tools/list":
		_, err = s.cs.ListTools(sending, &mcp.ListToolsParams{})
	}
	if errors.Is(err, mcp.ErrConnectionClosed) {
		s.dead.Store(true)
		if s.stdio != nil {
			if end := s.stdio.failure(); end != nil {
				x.lost(*end)
			}
		}
	}
	if err != nil && s.life.Err() != nil {
		x.lost(toolflow.CallError{Err: errClosed, Message: errClosed.Error()})
	}
	return x.finish(ctx, err)
}

func (s *session) alive() bool {
	return !s.dead.Load() && (s.stdio == nil || s.stdio.failure() == nil) && (s.http == nil || !s.http.gone.Load())
}

// close ends the session and its process, gently.
func (s *session) close() {
	if s.stdio != nil {
		s.stdio.because(errClosed)
		s.stdio.proc.stop()
		s.stdio.Close()
	}
	s.cs.Close()
	s.watch.Wait()
	if s.http != nil {
		s.http.close()
	}
}

// abandon clears away a session that was never opened.
func (s *session) abandon() {
	if s.stdio != nil {
		s.stdio.Close()
		s.stdio.proc.kill()
	}
	if s.http != nil {
		s.http.close()
	}
}

// isRPCError reports whether err is a server's answer; the SDK uses the same type, with codes of its
// own, for a connection that is closing (-32003, -32004) or rejects a request (-32005).
func isRPCError(err error) bool {
	var e *jsonrpc.Error
	return errors.As(err, &e) && (e.Code < -32005 || e.Code > -32003)
}

func waitFor(done <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
