package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolflow-go/toolflow"
)

// A tap stands below the SDK's HTTP transport. It takes the answers to calls for their exchanges, reads
// JSON bodies inside the round trip, so that a call whose time is over ends alone, limits what is read,
// and knows what the SDK does not tell: whether a request was written, and how long to wait.
type tap struct {
	origin  string
	headers http.Header
	base    *http.Transport
	max     int64
	life    context.Context
	warn    *warner
	gone    atomic.Bool // the server has forgotten the session
}

const (
	refusalBody = 64 << 10
	deleteLimit = 2 * time.Second
)

func newTap(life context.Context, conf toolflow.Server, max int64, w *warner) *tap {
	u, _ := url.Parse(conf.URL) // checked by check
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 64
	t := &tap{origin: originOf(u), headers: http.Header{}, base: base, max: max, life: life, warn: w}
	for name, value := range conf.Headers {
		t.headers.Set(name, value)
	}
	return t
}

func originOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

func (t *tap) close() { t.base.CloseIdleConnections() }

// redirect lets a request go on only to the origin it was made for, and unchanged.
func (t *tap) redirect(req *http.Request, via []*http.Request) error {
	var err error
	switch {
	case originOf(req.URL) != t.origin:
		err = fmt.Errorf("redirected from %s to another origin, %s, which is not followed", t.origin, originOf(req.URL))
	case req.Method != via[0].Method:
		err = fmt.Errorf("redirected by HTTP %d, which turns a %s into a %s", req.Response.StatusCode, via[0].Method, req.Method)
	case len(via) >= 5:
		err = errors.New("redirected 5 times")
	default:
		return nil
	}
	if x, _ := req.Context().Value(exchangeKey{}).(*exchange); x != nil {
		x.fail(protocolError(err.Error()))
	}
	return err
}

// RoundTrip sends a request of the SDK.
func (t *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	if origin := originOf(req.URL); origin != t.origin {
		return nil, fmt.Errorf("a request to %s does not belong to %s", origin, t.origin)
	}
	switch req.Method {
	case http.MethodDelete:
		return t.delete(req)
	case http.MethodPost:
	default: // streams are resumed by eventTap, and others are not opened
		return reply(req, http.StatusMethodNotAllowed, "", nil), nil
	}
	ctx, cancel := t.bounded(req.Context())
	req, trip, err := t.prepare(ctx, req)
	if err != nil {
		cancel()
		return nil, err
	}
	if trip.drop {
		cancel()
		return reply(req, http.StatusAccepted, "", nil), nil
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		trip.broke(err)
		cancel()
		return nil, err
	}
	resp, err = trip.receive(resp)
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &closing{ReadCloser: resp.Body, also: cancel}
	return resp, nil
}

// bounded gives a context that also ends with the client.
func (t *tap) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(t.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// delete ends the session at the server, which gets little time for it: the client may be closing.
func (t *tap) delete(req *http.Request) (*http.Response, error) {
	if t.gone.Load() {
		return reply(req, http.StatusNoContent, "", nil), nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), deleteLimit)
	req = req.Clone(ctx)
	t.addHeaders(req)
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &closing{ReadCloser: resp.Body, also: cancel}
	return resp, nil
}

func (t *tap) addHeaders(req *http.Request) {
	for name, values := range t.headers {
		if req.Header.Get(name) == "" { // the protocol's own headers stand
			req.Header[name] = values
		}
	}
}

// A trip is one round trip: the request, and the call it belongs to.
type trip struct {
	tap *tap
	ctx context.Context // of the whole trip, what resumes it included
	req *http.Request
	x   *exchange // nil when it is no call and no opening
	id  int64     // of the request; 0 for what wants no answer

	opening bool // a session: the SDK gets the answer

	// drop: not to be sent. The SDK tells a server that opening was given up, and waits for it.
	drop bool
}

// prepare completes the request: static headers, the arguments of a call, and a watch on what is sent.
func (t *tap) prepare(ctx context.Context, orig *http.Request) (*http.Request, *trip, error) {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	tr := &trip{tap: t, ctx: ctx, x: x, opening: x != nil && x.method == ""}
	body, err := io.ReadAll(orig.Body)
	orig.Body.Close()
	if err == nil {
		body, err = tr.body(body)
	}
	if err != nil {
		return nil, nil, err
	}
	if tr.x != nil && !tr.opening {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GetConn:      func(string) { x.unsend() },
			WroteHeaders: func() { x.begin() },
		})
	}
	tr.req = orig.Clone(ctx)
	t.addHeaders(tr.req)
	tr.req.Body, tr.req.GetBody, tr.req.ContentLength = io.NopCloser(bytes.NewReader(body)), nil, int64(len(body))
	return tr.req, tr, nil
}

// body completes a message that is the exchange's own request; other messages of the same context
// (the notice of a cancellation) are none of its business.
func (tr *trip) body(body []byte) ([]byte, error) {
	if tr.x == nil {
		return body, nil
	}
	m, err := parseMessage(body)
	if err != nil {
		return nil, err
	}
	id, ok := wholeNumber(m.id)
	switch {
	case tr.opening:
		tr.id = id
		tr.drop = m.method == "notifications/cancelled"
		if m.id != nil { // of the requests the last counts; a notice takes back nothing that one was told
			tr.x.note(nil)
		}
		return body, nil
	case !ok || m.method != tr.x.method:
		tr.x = nil
		return body, nil
	}
	tr.id = id
	params, err := tr.x.params(m.params)
	if err != nil {
		return nil, err
	}
	i := bytes.LastIndex(body, m.params)
	out := make([]byte, 0, len(body)+len(params))
	return append(append(append(out, body[:i]...), params...), body[i+len(m.params):]...), nil
}

// broke notes a connection that could not be made or that ended.
func (tr *trip) broke(err error) {
	if tr.x == nil || tr.ctx.Err() != nil {
		return
	}
	e := toolflow.CallError{Kind: toolflow.CallUnreachable, Err: err, Message: fmt.Sprintf("%s: %v", tr.tap.origin, err)}
	if tr.opening {
		tr.x.note(&e)
		return
	}
	tr.x.lost(e)
}

// receive looks at the response and gives what the SDK has to see of it.
func (tr *trip) receive(resp *http.Response) (*http.Response, error) {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return resp, nil // followed, or refused by redirect
	}
	if tr.x == nil {
		resp.Body = &limited{ReadCloser: resp.Body, left: tr.tap.max}
		return resp, nil
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return tr.refused(resp)
	}
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case kind == "text/event-stream":
		if tr.id != 0 {
			resp.Body = newEventTap(resp, tr)
			resp.ContentLength = -1
		}
		return resp, nil
	case kind == "application/json":
		return tr.json(resp)
	case tr.opening:
		return resp, nil // the SDK knows what an opening may get
	default:
		return tr.noAnswer(resp, kind)
	}
}

// json reads an answer whole.
func (tr *trip) json(resp *http.Response) (*http.Response, error) {
	body, err := readAll(resp.Body, tr.tap.max)
	resp.Body.Close()
	switch {
	case errors.Is(err, errTooLarge):
		return tr.failed(resp, tooLarge(tr.tap.max))
	case err != nil:
		tr.broke(err)
		return nil, err
	case tr.id == 0:
		return reply(tr.req, resp.StatusCode, "application/json", body, resp.Header), nil
	}
	m, err := parseMessage(body)
	fault := m.fault(tr.id)
	switch {
	case errors.Is(err, errNoObject), err == nil && !m.isAnswer():
		return tr.failed(resp, protocolError("its answer is no JSON-RPC response: "+toolflow.Clip(string(body), 200)))
	case err != nil:
		return tr.failed(resp, brokenAnswer(err))
	case fault != "":
		return tr.failed(resp, protocolError(fault))
	case tr.opening:
		return reply(tr.req, resp.StatusCode, "application/json", body, resp.Header), nil
	}
	settle(tr.x, &m, true)
	return tr.over(resp), nil
}

// noAnswer handles a success that holds no answer, such as a page to sign in.
func (tr *trip) noAnswer(resp *http.Response, kind string) (*http.Response, error) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
	resp.Body.Close()
	what := fmt.Sprintf("of type %q", kind)
	if kind == "text/html" {
		what = "a web page"
	}
	return tr.failed(resp, protocolError(strings.TrimSuffix(fmt.Sprintf("HTTP %s brought no MCP answer but is %s: %s", resp.Status, what, body), ": ")))
}

// failed notes why there is no answer, and tells the SDK that the request has ended.
func (tr *trip) failed(resp *http.Response, e *toolflow.CallError) (*http.Response, error) {
	if tr.opening { // there is no call to end
		tr.x.note(e)
		return nil, errors.New(e.Message)
	}
	tr.x.fail(e)
	return tr.over(resp), nil
}

// over tells the SDK that the call has ended.
func (tr *trip) over(resp *http.Response) *http.Response {
	return reply(tr.req, http.StatusOK, "application/json", takenFrame(tr.id), resp.Header)
}

func takenFrame(id int64) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"error":{"code":-32000,"message":%q}}`, id, errTaken.Error())
}

// refused handles a status that is no success.
func (tr *trip) refused(resp *http.Response) (*http.Response, error) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, refusalBody))
	resp.Body.Close()
	e := tr.statusError(resp, body)
	if tr.opening {
		tr.x.note(e)
		return reply(tr.req, resp.StatusCode, resp.Header.Get("Content-Type"), body, resp.Header), nil
	}
	if e.Kind == toolflow.CallSession {
		tr.tap.gone.Store(true)
	}
	return tr.failed(resp, e)
}
