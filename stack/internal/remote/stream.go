// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/feed"
)

// A stream is a management call that tells item by item.
type stream struct {
	verb string
	in   any
	take func(*attach.Header, []byte) // an item
	over func(error)                  // there are no more
	lost func(why error)              // the daemon; nil: that ends the stream
	back func()                       // it goes on with another daemon
}

// stream begins a stream on a connection of its own. A goroutine hands the items out until the
// stream is closed, or over. Errors: those of the daemon, the context's.
func (f *Node) stream(ctx context.Context, c stream) (stop func(), err error) {
	words, err := json.Marshal(c.in)
	if err != nil {
		return nil, err
	}
	s := &Socket{f: f, network: "tipc", aside: true, kept: c.lost != nil}
	s.make = func(ctx context.Context, _ string, _ wantedState, l *clientConn) (frame.SocketAddr, error) {
		_, err := l.ask(ctx, attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, c.verb, words))
		return frame.SocketAddr{}, err
	}
	if err := s.open(ctx, false); err != nil {
		return nil, err
	}
	begun := f.background(func() {
		defer s.close("close", true)
		again := false
		_, err := s.onSession(context.Background(), noLimit, func(cur *session) error {
			if again {
				c.back()
			}
			err := c.read(cur.line)
			if again = s.kept && isGone(err); again {
				c.lost(err)
			}
			return err
		})
		c.over(err)
	})
	if !begun {
		s.close("close", true)
		return nil, net.ErrClosed
	}
	return func() { s.close("close", true) }, nil
}

// read hands out items until there are no more. Errors: why.
func (c *stream) read(l *clientConn) error {
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

// Capture implements backend.Node.
func (f *Node) Capture(ctx context.Context, cfg admin.CaptureConfig) (admin.Capture, error) {
	c, err := f.capture(ctx, cfg)
	if err != nil {
		return nil, backend.ManageError("capture", err)
	}
	return c, nil
}

func (f *Node) capture(ctx context.Context, cfg admin.CaptureConfig) (*feed.Capture, error) {
	c, err := feed.NewCapture(cfg)
	if err != nil {
		return nil, err
	}
	stop, err := f.stream(ctx, stream{verb: "capture", in: cfg, over: c.End, take: func(h *attach.Header, data []byte) {
		c.Ring.Lose(uint64(h.Arg1))
		if x, err := attach.ParseFrame(data); err == nil {
			c.Put(admin.CapturedFrame{
				Time: time.Unix(0, int64(h.Wide)), Out: h.Arg0 != 0,
				Bearer: x.Bearer, Length: x.Length, Data: x.Data, Comment: x.Comment,
			})
		}
	}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c.Stop = func() {
		cancel()
		stop()
	}
	context.AfterFunc(ctx, func() { c.Close() })
	return c, nil
}

// Watch implements backend.Node. It goes on with the next daemon.
func (f *Node) Watch(ctx context.Context) (admin.Watch, error) {
	w, err := f.watchNode(ctx)
	if err != nil {
		return nil, backend.ManageError("watch", err)
	}
	return w, nil
}

func (f *Node) watchNode(ctx context.Context) (*feed.Watch, error) {
	w := feed.NewWatch()
	put := func(kind admin.EventKind, reason string) {
		w.Queue.Put(admin.NodeEvent{Time: time.Now(), Kind: kind, Node: f.welcomed().Node, Reason: reason})
	}
	stop, err := f.stream(ctx, stream{
		verb: "watch", in: control.Nothing{}, over: w.End,
		lost: func(why error) { put(admin.DaemonLost, why.Error()) },
		back: func() { put(admin.DaemonBack, "") },
		take: func(_ *attach.Header, data []byte) {
			var ev admin.NodeEvent
			if json.Unmarshal(data, &ev) == nil {
				w.Queue.Put(ev)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	w.Stop = stop
	return w, nil
}
