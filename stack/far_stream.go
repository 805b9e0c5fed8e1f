// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
)

// stream makes a connection on which the daemon tells item by item. A goroutine hands
// them to take, until the stream is closed, and then calls over with the reason. Errors:
// those of the daemon, the context's.
func (f *farNode) stream(ctx context.Context, verb string, in any, take func(*attach.Header, []byte), over func(error)) (stop func(), err error) {
	words, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	l, _, err := f.dial(ctx, false)
	if err != nil {
		return nil, err
	}
	s := &farSubscription{f, l}
	if _, err = l.ask(ctx, attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, verb, words)); err == nil {
		err = s.enroll()
	}
	if err != nil {
		l.close()
		return nil, err
	}
	begun := f.background(func() {
		defer s.close()
		var whole attach.Join
		for {
			err := l.next(context.Background(), false, func(r *farRecord) bool {
				if all, done, err := whole.Add(&r.Header, r.data, attach.MaxAnswer); done && err == nil {
					take(&r.Header, all)
				}
				return true
			})
			if err == io.EOF {
				err = net.ErrClosed
			}
			if err != nil {
				over(err)
				return
			}
		}
	})
	if !begun {
		s.close()
		return nil, net.ErrClosed
	}
	return s.close, nil
}

// capture is Capture for an attached node.
func (f *farNode) capture(ctx context.Context, cfg CaptureConfig) (*Capture, error) {
	c, err := newCapture(cfg)
	if err != nil {
		return nil, err
	}
	stop, err := f.stream(ctx, "capture", cfg, func(h *attach.Header, data []byte) {
		x, ok := parseCaptured(data)
		x.Time, x.Out = time.Unix(0, int64(h.Wide)), h.Arg0 != 0
		c.ring.lose(uint64(h.Arg1))
		if ok {
			c.put(x)
		}
	}, c.end)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c.stop = func() {
		cancel()
		stop()
	}
	context.AfterFunc(ctx, func() { c.Close() })
	return c, nil
}

// watchNode is Watch for an attached node.
func (f *farNode) watchNode() (*Watch, error) {
	w := newWatch()
	ctx, cancel := context.WithTimeout(context.Background(), showWait)
	defer cancel()
	stop, err := f.stream(ctx, "watch", none{}, func(_ *attach.Header, data []byte) {
		var ev NodeEvent
		if json.Unmarshal(data, &ev) == nil {
			w.queue.put(ev)
		}
	}, w.end)
	if err != nil {
		return nil, err
	}
	w.stop = stop
	return w, nil
}
