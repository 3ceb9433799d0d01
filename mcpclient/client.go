package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolflow-go/toolflow"
)

// Options adjusts a [Client]. A nil *Options means every default.
type Options struct {
	Getenv   func(string) (string, bool)  // for ${VAR}; nil means [os.LookupEnv]
	Environ  func() []string              // what servers may get a part of; nil means [os.Environ]
	Warn     func(server, message string) // told of each oddity, one line, one at a time; nil: nobody is
	Name     string                       // what servers are told; "" means "toolflow"
	Version  string                       // the same; "" means "toolflow"
	Dir      string                       // what a server's relative cwd is relative to; "" means the current folder
	MaxFrame int64                        // most bytes of a message; 0 means 64 MiB
	MaxPages int                          // most pages of a tools/list; 0 means 1,000
	MaxTools int                          // most tools of a server; 0 means 100,000
	Probe    time.Duration                // how long `server/discover` may take; 0 means 1.5 s
}

// A Client reaches the servers it was made with. Its methods may be called at the same time.
type Client struct {
	servers map[string]*server
	names   []string

	environ  func() []string
	warn     func(server, message string)
	info     *mcp.Implementation
	dir      string
	maxFrame int64
	maxPages int
	maxTools int
	probe    time.Duration

	life    context.Context // ends when the client is closed
	endLife context.CancelCauseFunc
	work    sync.WaitGroup // sessions being opened or closed

	mu        sync.Mutex
	warning   sync.Mutex // held while warn runs
	warners   map[string]*warner
	processes map[*process]bool
	closed    bool
}

// New makes a client of servers, having checked and expanded their configurations; what is wrong with
// any of them is reported together. No server is started.
func New(servers []toolflow.Server, o *Options) (*Client, error) {
	if o == nil {
		o = &Options{}
	}
	c := &Client{
		servers: map[string]*server{}, environ: o.Environ, warn: o.Warn, dir: o.Dir,
		info:     &mcp.Implementation{Name: or(o.Name, "toolflow"), Version: or(o.Version, "toolflow")},
		maxFrame: or(o.MaxFrame, 64<<20), maxPages: or(o.MaxPages, 1000), maxTools: or(o.MaxTools, 100_000),
		probe: or(o.Probe, probeLimit), warners: map[string]*warner{}, processes: map[*process]bool{},
	}
	if c.environ == nil {
		c.environ = os.Environ
	}
	var errs []error
	for _, s := range servers {
		conf, err := Expand(s, o.Getenv)
		if err == nil {
			err = check(conf)
		}
		if err == nil && c.servers[conf.Name] != nil {
			err = configError(conf, "two servers have this name")
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c.servers[conf.Name] = &server{client: c, conf: conf}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	c.names = sortedNames(c.servers)
	c.life, c.endLife = context.WithCancelCause(context.Background())
	return c, nil
}

func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// Servers gives the names of the configured servers, sorted.
func (c *Client) Servers() []string { return append([]string(nil), c.names...) }

// Call calls a tool, starting its server when needed. A call that brings no result is a
// [*toolflow.CallError]. progress, when it is not nil, is called for each progress notification that
// arrives before the answer, and never after Call has returned; it runs on the session's reader and
// must not wait. The parts of the result are the server's bytes.
func (c *Client) Call(ctx context.Context, call toolflow.Call, progress func(toolflow.Progress)) (toolflow.Result, error) {
	if progress == nil {
		progress = func(toolflow.Progress) {} // a token is always sent: servers may work differently without
	}
	out, err := c.call(ctx, call, progress)
	if err != nil {
		return toolflow.Result{}, err
	}
	return out, nil
}

func (c *Client) call(ctx context.Context, call toolflow.Call, progress func(toolflow.Progress)) (toolflow.Result, *toolflow.CallError) {
	x := &exchange{server: call.Server, tool: call.Tool, method: "tools/call", progress: progress}
	args, err := arguments(call.Args)
	if err != nil {
		return toolflow.Result{}, x.complete(err)
	}
	s, err := c.session(ctx, call.Server)
	if err != nil {
		return toolflow.Result{}, err
	}
	x.args = args
	raw, err := s.do(ctx, x)
	if err != nil {
		return toolflow.Result{}, err
	}
	out, err := parseResult(raw)
	if err != nil {
		return toolflow.Result{}, x.complete(err)
	}
	return out, nil
}

// arguments gives the arguments as they are sent: on one line, because lines frame messages. A line
// break in JSON is white space.
func arguments(args []byte) ([]byte, *toolflow.CallError) {
	if len(args) == 0 {
		return []byte("{}"), nil
	}
	v := jsontext.Value(args)
	if v.Kind() != '{' || !v.IsValid(jsontext.AllowDuplicateNames(true)) {
		return nil, &toolflow.CallError{Kind: toolflow.CallProtocol, Message: "the arguments are no JSON object"}
	}
	for i, b := range args {
		if b == '\n' || b == '\r' {
			args = append([]byte(nil), args...)
			for ; i < len(args); i++ {
				if args[i] == '\n' || args[i] == '\r' {
					args[i] = ' '
				}
			}
			break
		}
	}
	return args, nil
}

// session gives the open session of a server.
func (c *Client) session(ctx context.Context, name string) (*session, *toolflow.CallError) {
	s := c.servers[name]
	if s == nil {
		return nil, &toolflow.CallError{Kind: toolflow.CallUnreachable,
			Message: fmt.Sprintf("server %q is not configured", name)}
	}
	return s.session(ctx)
}

// Close stops all servers side by side: end of input, after 2 s TERM to the server's process group,
// after 2 s more KILL. Calls in flight fail. It returns when nothing is left.
func (c *Client) Close() error {
	c.shut()
	for _, name := range c.names {
		c.work.Go(c.servers[name].close)
	}
	c.work.Wait()
	return nil
}

// Kill ends the processes of all servers, and their children, at once. It may be called while Close
// waits.
func (c *Client) Kill() {
	c.shut()
	c.mu.Lock()
	var all []*process
	for p := range c.processes {
		all = append(all, p)
	}
	c.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(p.kill)
	}
	wg.Wait()
}

func (c *Client) shut() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.endLife(errClosed)
}

// begin runs f for the client, which waits for it when it is closed. It reports whether it is still open.
func (c *Client) begin(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Go(f)
	}
	return !c.closed
}

// started remembers a process for Kill until it has ended.
func (c *Client) started(p *process) {
	c.mu.Lock()
	if !p.gone(0) {
		c.processes[p] = true
	}
	closed := c.closed
	c.mu.Unlock()
	if closed {
		p.kill()
	}
}

func (c *Client) ended(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.processes, p)
}

// A warner passes on what is odd about a server, but not without end.
type warner struct {
	mu   sync.Mutex
	n    int
	told func(message string)
}

const mostWarnings = 20

func (w *warner) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.n++; {
	case w.n <= mostWarnings:
		w.told(oneLine(fmt.Sprintf(format, args...)))
	case w.n == mostWarnings+1:
		w.told("more oddities of this server are not reported")
	}
}

// warner gives the one warner of a server.
func (c *Client) warner(server string) *warner {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.warners[server]
	if w == nil {
		w = &warner{told: func(message string) {
			if c.warn == nil {
				return
			}
			c.warning.Lock()
			defer c.warning.Unlock()
			c.warn(server, message)
		}}
		c.warners[server] = w
	}
	return w
}
