// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/admin"
)

// A remoteStream is a management call that tells item by item.
type remoteStream struct {
	verb string
	in   any
	take func(*attach.Header, []byte) // an item
	over func(error)                  // there are no more
	lost func(why error)              // the daemon; nil: that ends the stream
	back func()                       // it goes on with another daemon
}

// stream begins a stream on a connection of its own. A goroutine hands the items out until the
// stream is closed, or over. Errors: those of the daemon, the context's.
func (f *remoteNode) stream(ctx context.Context, c remoteStream) (stop func(), err error) {
	words, err := json.Marshal(c.in)
	if err != nil {
		return nil, err
	}
	s := &remoteSocket{f: f, network: "tipc", aside: true, kept: c.lost != nil}
	s.make = func(ctx context.Context, _ string, _ wantedState, l *clientConn) (SocketAddr, error) {
		_, err := l.ask(ctx, attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, c.verb, words))
		return SocketAddr{}, err
	}
	if err := s.open(ctx, false); err != nil {
		return nil, err
	}
	begun := f.background(func() {
		defer s.close("close", true)
		for {
			cur := s.session.Load()
			err := c.read(cur.line)
			if s.kept && isGone(err) {
				c.lost(err)
			}
			again, err := s.follow(context.Background(), cur, noEnd, err)
			if !again {
				c.over(err)
				return
			}
			c.back()
		}
	})
	if !begun {
		s.close("close", true)
		return nil, net.ErrClosed
	}
	return func() { s.close("close", true) }, nil
}

// read hands out items until there are no more. Errors: why.
func (c *remoteStream) read(l *clientConn) error {
	var whole attach.Join
	for {
		err := l.next(context.Background(), false, func(r *clientRecord) bool {
			if all, done, err := whole.Add(&r.Header, r.data, attach.MaxAnswer); done && err == nil {
				c.take(&r.Header, all)
			}
			return true
		})
		if err == io.EOF {
			err = net.ErrClosed
		}
		if err != nil {
			return err
		}
	}
}

// Capture implements nodeBackend.
func (f *remoteNode) Capture(ctx context.Context, cfg admin.CaptureConfig) (admin.Capture, error) {
	c, err := f.capture(ctx, cfg)
	if err != nil {
		return nil, manageError("capture", err)
	}
	return c, nil
}

func (f *remoteNode) capture(ctx context.Context, cfg admin.CaptureConfig) (*frameCapture, error) {
	c, err := newCapture(cfg)
	if err != nil {
		return nil, err
	}
	stop, err := f.stream(ctx, remoteStream{verb: "capture", in: cfg, over: c.end, take: func(h *attach.Header, data []byte) {
		c.ring.lose(uint64(h.Arg1))
		if x, err := attach.ParseFrame(data); err == nil {
			c.put(admin.CapturedFrame{
				Time: time.Unix(0, int64(h.Wide)), Out: h.Arg0 != 0,
				Bearer: x.Bearer, Length: x.Length, Data: x.Data, Comment: x.Comment,
			})
		}
	}})
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

// Watch implements nodeBackend. It goes on with the next daemon.
func (f *remoteNode) Watch(ctx context.Context) (admin.Watch, error) {
	w, err := f.watchNode(ctx)
	if err != nil {
		return nil, manageError("watch", err)
	}
	return w, nil
}

func (f *remoteNode) watchNode(ctx context.Context) (*watch, error) {
	w := newWatch()
	put := func(kind admin.EventKind, reason string) {
		w.queue.put(admin.NodeEvent{Time: time.Now(), Kind: kind, Node: f.welcomed().Node, Reason: reason})
	}
	stop, err := f.stream(ctx, remoteStream{
		verb: "watch", in: control.Nothing{}, over: w.end,
		lost: func(why error) { put(admin.DaemonLost, why.Error()) },
		back: func() { put(admin.DaemonBack, "") },
		take: func(_ *attach.Header, data []byte) {
			var ev admin.NodeEvent
			if json.Unmarshal(data, &ev) == nil {
				w.queue.put(ev)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	w.stop = stop
	return w, nil
}
