package mcpclient

import (
	"errors"
	"io"
	"slices"
	"sync"
)

// An outbox writes frames in order from a goroutine of its own, so that a server that does not read
// blocks nobody: a call whose context ends leaves its frame behind, and it is then never written.
type outbox struct {
	w io.Writer

	mu      sync.Mutex
	waiting []outFrame
	others  int // of waiting, those that belong to no call
	closed  bool
	wake    chan struct{}
}

type outFrame struct {
	data []byte // with its line break
	x    *exchange
}

const (
	// maxUnread is how many answers to a server's own requests may wait until it is given up.
	maxUnread  = 4096
	writeBatch = 64 << 10
)

var (
	errClosed = errors.New("the client was closed")
	errUnread = errors.New("the server keeps asking, but does not read its stdin")
)

func newOutbox(w io.Writer) *outbox { return &outbox{w: w, wake: make(chan struct{}, 1)} }

// put queues a frame; x is the call that it sends, or nil.
func (o *outbox) put(data []byte, x *exchange) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errClosed
	}
	if x == nil {
		if o.others++; o.others > maxUnread {
			return errUnread
		}
	}
	o.waiting = append(o.waiting, outFrame{data, x})
	o.signal()
	return nil
}

// drop takes the frame of a call out that nobody waits for any more, with the memory it holds.
func (o *outbox) drop(x *exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = slices.DeleteFunc(o.waiting, func(f outFrame) bool { return f.x == x })
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.waiting = true, nil
	o.signal()
}

// take gives the frames to write next, as few bytes as make a good write. It is empty at the end.
func (o *outbox) take() (frames []outFrame, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, bytes := 0, 0
	for n < len(o.waiting) && bytes < writeBatch {
		bytes += len(o.waiting[n].data)
		if o.waiting[n].x == nil {
			o.others--
		}
		n++
	}
	frames, o.waiting = o.waiting[:n:n], o.waiting[n:]
	return frames, !o.closed
}

// run writes until the outbox is closed or a write fails.
func (o *outbox) run() error {
	var batch []byte
	for range o.wake {
		for {
			frames, ok := o.take()
			if !ok {
				return nil
			}
			if len(frames) == 0 {
				break
			}
			batch = batch[:0]
			for _, f := range frames {
				switch {
				case f.x != nil && !f.x.begin():
				case len(frames) == 1:
					batch = f.data
				default:
					batch = append(batch, f.data...)
				}
			}
			if _, err := o.w.Write(batch); err != nil {
				o.close()
				return err
			}
			if cap(batch) > 2*writeBatch {
				batch = nil
			}
		}
	}
	return nil
}
