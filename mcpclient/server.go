package mcpclient

import (
	"context"
	"fmt"
	"sync"

	"github.com/toolflow-go/toolflow"
)

// A server is a configured server and, while there is one, its session.
type server struct {
	client *Client
	conf   toolflow.Server

	mu      sync.Mutex
	current *session
	start   *starting // in progress; nil when there is none
}

// A starting is a session being opened, for all who wait for it.
type starting struct {
	done    chan struct{}
	session *session
	err     *toolflow.CallError
}

// session gives the open session, opening one when there is none or it has died. Opening goes on for
// the others when one of those who wait gives up.
func (s *server) session(ctx context.Context) (*session, *toolflow.CallError) {
	st, live, err := s.join()
	if live != nil || err != nil {
		return live, err
	}
	select {
	case <-st.done:
		return st.session, copyOf(st.err)
	case <-ctx.Done():
		cause := context.Cause(ctx)
		return nil, &toolflow.CallError{Kind: toolflow.CallCancelled, Err: cause,
			Message: oneLine(fmt.Sprintf("server %q: cancelled while it started: %v", s.conf.Name, cause))}
	}
}

func copyOf(e *toolflow.CallError) *toolflow.CallError {
	if e == nil {
		return nil
	}
	out := *e
	return &out
}

// join gives the live session, or the start to wait for, having begun it when needed.
func (s *server) join() (*starting, *session, *toolflow.CallError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed := &toolflow.CallError{Kind: toolflow.CallUnreachable, Err: errClosed,
		Message: fmt.Sprintf("server %q: %v", s.conf.Name, errClosed)}
	if s.client.life.Err() != nil {
		return nil, nil, closed
	}
	if s.current != nil {
		if s.current.alive() {
			return nil, s.current, nil
		}
		if !s.client.begin(s.current.close) {
			return nil, nil, closed
		}
		s.current = nil
	}
	if s.start == nil {
		st := &starting{done: make(chan struct{})}
		if !s.client.begin(func() { s.run(st) }) {
			return nil, nil, closed
		}
		s.start = st
	}
	return s.start, nil, nil
}

func (s *server) run(st *starting) {
	st.session, st.err = s.client.open(s.client.life, s.conf)
	s.mu.Lock()
	s.current, s.start = st.session, nil
	s.mu.Unlock()
	close(st.done)
}

// close waits for a start in progress, which the client's end has cancelled, and ends the session.
func (s *server) close() {
	s.mu.Lock()
	st := s.start
	s.mu.Unlock()
	if st != nil {
		<-st.done
	}
	s.mu.Lock()
	live := s.current
	s.current = nil
	s.mu.Unlock()
	if live != nil {
		live.close()
	}
}
