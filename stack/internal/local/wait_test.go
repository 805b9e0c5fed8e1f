// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A waitingCall is a call of the API that waits, and what ends it.
type waitingCall struct {
	call     func(ctx context.Context) error
	close    func() error             // of what it is a call of, or nil
	deadline func(at time.Time) error // of that, or nil
	ctx      bool                     // its context counts
}

var (
	waitName  = stack.Service{Type: 18888, Instance: 17}
	waitGroup = stack.Service{Type: 4242, Instance: 1}
)

// waitingCalls makes each call one that waits, of node a beside node b.
var waitingCalls = map[string]func(t *testing.T, a, b ward) waitingCall{
	"PacketConn.ReadFrom": func(t *testing.T, a, b ward) waitingCall {
		c := mustOpen(t, a.Node, nil)
		return waitingCall{call: func(context.Context) error { _, _, err := c.ReadFrom(make([]byte, 10)); return err }, close: c.Close, deadline: c.SetReadDeadline}
	},
	"PacketConn.ReadBuffer": func(t *testing.T, a, b ward) waitingCall {
		c := mustOpen(t, a.Node, nil)
		return waitingCall{call: func(context.Context) error { _, _, err := c.ReadBuffer(); return err }, close: c.Close, deadline: c.SetReadDeadline}
	},
	"PacketConn.ReadBatch": func(t *testing.T, a, b ward) waitingCall {
		c := mustOpen(t, a.Node, nil)
		return waitingCall{call: func(context.Context) error { _, err := c.ReadBatch(make([]stack.Message, 2)); return err }, close: c.Close, deadline: c.SetDeadline}
	},
	"PacketConn.WriteTo": func(t *testing.T, a, b ward) waitingCall {
		c := mustOpen(t, a.Node, nil)
		full(t, a, b)
		return waitingCall{call: func(context.Context) error { _, err := c.WriteTo(make([]byte, 1000), b.elsewhere()); return err }, close: c.Close, deadline: c.SetWriteDeadline}
	},
	"PacketConn.WriteTo a name": func(t *testing.T, a, b ward) waitingCall {
		c, err := stack.SocketConfig{NameWait: time.Hour}.ListenPacket(t.Context(), a.Node, "tipcrdm", nil)
		if err != nil {
			t.Fatal(err)
		}
		return waitingCall{call: func(context.Context) error { _, err := c.WriteTo([]byte("x"), waitName); return err }, close: c.Close, deadline: c.SetWriteDeadline}
	},
	"PacketConn.WriteBatch": func(t *testing.T, a, b ward) waitingCall {
		c := mustOpen(t, a.Node, nil)
		full(t, a, b)
		ms := []stack.Message{{Data: make([]byte, 1000), To: b.elsewhere()}}
		return waitingCall{call: func(context.Context) error { _, err := c.WriteBatch(ms); return err }, close: c.Close, deadline: c.SetDeadline}
	},
	"PacketConn.WriteBuffer": func(t *testing.T, a, b ward) waitingCall {
		c := mustOpen(t, a.Node, nil)
		x, err := c.NewBuffer(1000)
		if err != nil {
			t.Fatal(err)
		}
		full(t, a, b)
		return waitingCall{call: func(context.Context) error {
			err := c.WriteBuffer(x, b.elsewhere())
			x.Release()
			return err
		}, close: c.Close, deadline: c.SetWriteDeadline}
	},
	"Conn.Read": func(t *testing.T, a, b ward) waitingCall {
		c, _ := waitConn(t, a, b, "tipc")
		return waitingCall{call: func(context.Context) error { _, err := c.Read(make([]byte, 10)); return err }, close: c.Close, deadline: c.SetReadDeadline}
	},
	"Conn.ReadMsg, Abort": func(t *testing.T, a, b ward) waitingCall {
		c, _ := waitConn(t, a, b, "tipcpacket")
		return waitingCall{call: func(context.Context) error { _, _, err := c.ReadMsg(make([]byte, 10)); return err }, close: c.Abort, deadline: c.SetDeadline}
	},
	"Conn.ReadBuffer": func(t *testing.T, a, b ward) waitingCall {
		c, _ := waitConn(t, a, b, "tipc")
		return waitingCall{call: func(context.Context) error { _, err := c.ReadBuffer(); return err }, close: c.Close, deadline: c.SetReadDeadline}
	},
	"Conn.Write": func(t *testing.T, a, b ward) waitingCall {
		c, _ := waitConn(t, a, b, "tipcpacket")
		untilFull(t, func(b []byte) error { _, err := c.TryWrite(b); return err })
		return waitingCall{call: func(context.Context) error { _, err := c.Write(make([]byte, 1000)); return err }, close: c.Abort, deadline: c.SetWriteDeadline}
	},
	"Conn.Write, link full": func(t *testing.T, a, b ward) waitingCall {
		c, _ := waitConn(t, a, b, "tipcpacket")
		full(t, a, b)
		return waitingCall{call: func(context.Context) error { _, err := c.Write(make([]byte, 1000)); return err }, close: c.Abort, deadline: c.SetWriteDeadline}
	},
	"Conn.Write, long": func(t *testing.T, a, b ward) waitingCall {
		c, _ := waitConn(t, a, b, "tipc")
		return waitingCall{call: func(context.Context) error { _, err := c.Write(make([]byte, 10<<20)); return err }, close: c.Abort, deadline: c.SetDeadline}
	},
	"Listener.Accept": func(t *testing.T, a, b ward) waitingCall {
		l, err := a.Listen(t.Context(), "tipc", nil)
		if err != nil {
			t.Fatal(err)
		}
		return waitingCall{call: func(context.Context) error { _, err := l.Accept(); return err }, close: l.Close, deadline: l.SetDeadline}
	},
	"Dial": func(t *testing.T, a, b ward) waitingCall {
		silent := mustOpen(t, b.Node, nil)
		return waitingDial(a, silent.LocalAddr(), 0)
	},
	"Dial, link full": func(t *testing.T, a, b ward) waitingCall {
		silent := mustOpen(t, b.Node, nil)
		full(t, a, b)
		return waitingDial(a, silent.LocalAddr(), 0)
	},
	"Dial a name": func(t *testing.T, a, b ward) waitingCall {
		return waitingDial(a, waitName, time.Hour)
	},
	"Call": func(t *testing.T, a, b ward) waitingCall {
		silent := mustOpen(t, b.Node, nil)
		return waitingCall{call: func(ctx context.Context) error {
			_, _, err := a.Call(ctx, silent.LocalAddr(), []byte("x"), nil)
			return err
		}, ctx: true}
	},
	"Call, link full": func(t *testing.T, a, b ward) waitingCall {
		full(t, a, b)
		return waitingCall{call: func(ctx context.Context) error {
			_, _, err := a.Call(ctx, b.elsewhere(), make([]byte, 1000), nil)
			return err
		}, ctx: true}
	},
	"WaitFor": func(t *testing.T, a, b ward) waitingCall {
		return waitingCall{call: func(ctx context.Context) error { return a.WaitFor(ctx, waitName) }, ctx: true}
	},
	"Subscription.Next": func(t *testing.T, a, b ward) waitingCall {
		s, err := a.Subscribe(t.Context(), waitName.Range())
		if err != nil {
			t.Fatal(err)
		}
		return waitingCall{call: func(ctx context.Context) error { _, err := s.Next(ctx); return err }, close: s.Close, ctx: true}
	},
	"Subscription.Next at a node": func(t *testing.T, a, b ward) waitingCall {
		s, err := stack.SubscriptionConfig{At: 2}.Subscribe(t.Context(), a.Node, waitName.Range())
		if err != nil {
			t.Fatal(err)
		}
		return waitingCall{call: func(ctx context.Context) error { _, err := s.Next(ctx); return err }, close: s.Close, ctx: true}
	},
	"Subscribe at a node": func(t *testing.T, a, b ward) waitingCall {
		b.cut()
		return waitingCall{call: func(ctx context.Context) error {
			_, err := stack.SubscriptionConfig{At: 2}.Subscribe(ctx, a.Node, waitName.Range())
			return err
		}, ctx: true}
	},
	"Subscribe at a node, link full": func(t *testing.T, a, b ward) waitingCall {
		full(t, a, b)
		return waitingCall{call: func(ctx context.Context) error {
			_, err := stack.SubscriptionConfig{At: 2}.Subscribe(ctx, a.Node, waitName.Range())
			return err
		}, ctx: true}
	},
	"Group.ReadFrom": func(t *testing.T, a, b ward) waitingCall {
		g, _ := waitMembers(t, a, b)
		return waitingCall{call: func(context.Context) error { _, _, err := g.ReadFrom(make([]byte, 10)); return err }, close: g.Close, deadline: g.SetReadDeadline}
	},
	"Group.Write": func(t *testing.T, a, b ward) waitingCall {
		g, _ := waitMembers(t, a, b)
		untilFull(t, func(b []byte) error { _, err := g.TryWriteTo(b, nil); return err })
		return waitingCall{call: func(ctx context.Context) error { _, err := g.WriteContext(ctx, make([]byte, 1000)); return err }, close: g.Close, deadline: g.SetWriteDeadline, ctx: true}
	},
	"Group.WriteTo": func(t *testing.T, a, b ward) waitingCall {
		g, to := waitMembers(t, a, b)
		untilFull(t, func(b []byte) error { _, err := g.TryWriteTo(b, to.LocalAddr()); return err })
		return waitingCall{call: func(context.Context) error { _, err := g.WriteTo(make([]byte, 1000), to.LocalAddr()); return err }, close: g.Close, deadline: g.SetDeadline}
	},
	"Group.WaitMembers": func(t *testing.T, a, b ward) waitingCall {
		g, err := a.Join(t.Context(), waitGroup)
		if err != nil {
			t.Fatal(err)
		}
		return waitingCall{call: func(ctx context.Context) error { return g.WaitMembers(ctx, 2) }, close: g.Close, ctx: true}
	},
	"Audit": func(t *testing.T, a, b ward) waitingCall {
		b.cut()
		return waitingCall{call: func(ctx context.Context) error { _, err := a.Admin().Audit(ctx, admin.AuditConfig{}); return err }, ctx: true}
	},
	"Audit, between its rounds": func(t *testing.T, a, b ward) waitingCall {
		a.forge(stack.Binding{Range: waitName.Range(), Scope: stack.ClusterScope, Socket: stack.SocketAddr{Node: 1, Port: 8}}, false)
		return waitingCall{call: func(ctx context.Context) error {
			_, err := a.Admin().Audit(ctx, admin.AuditConfig{Settle: time.Hour, Types: []uint32{waitName.Type}})
			return err
		}, ctx: true}
	},
	"Watch.Next": func(t *testing.T, a, b ward) waitingCall {
		w, err := a.Admin().Watch(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return waitingCall{call: func(ctx context.Context) error {
			for {
				if _, err := w.Next(ctx); err != nil {
					return err
				}
			}
		}, close: w.Close, ctx: true}
	},
	"Poller.Wait": func(t *testing.T, a, b ward) waitingCall {
		p, err := a.NewPoller()
		if err != nil {
			t.Fatal(err)
		}
		return waitingCall{call: func(context.Context) error { _, err := p.Wait(make([]*stack.Polled, 1)); return err }, close: p.Close}
	},
	"Probe": func(t *testing.T, a, b ward) waitingCall {
		to := insidePacket(mustOpen(t, b.Node, nil)).Addr()
		b.cut()
		return waitingCall{call: func(ctx context.Context) error { _, _, err := a.Probe(ctx, to); return err }, ctx: true}
	},
}

// elsewhere is a socket of the node that nobody has.
func (w ward) elsewhere() stack.SocketAddr { return stack.SocketAddr{Node: w.Addr(), Port: 99} }

// repair undoes cut.
func (w ward) repair() { w.wire.Set(fault.Config{}) }

// full takes all frames of b away, and sends to it until the link there has no room.
func full(t *testing.T, a, b ward) {
	c := mustOpen(t, a.Node, nil)
	b.cut()
	untilFull(t, func(x []byte) error { _, err := c.TryWriteTo(x, b.elsewhere()); return err })
}

// untilFull sends until there is no room, and has not been a little later.
func untilFull(t *testing.T, try func(b []byte) error) {
	t.Helper()
	late := 0
	for range 100000 {
		switch err := try(make([]byte, 1000)); {
		case err == backend.ErrAgain && late == 2:
			return
		case err == backend.ErrAgain:
			late++
			pass(10 * time.Millisecond)
		case err == nil:
			late = 0
		default:
			t.Fatal(err)
		}
	}
	t.Fatal("there is room without end")
}

// waitConn is a connection from a to b, and its other end.
func waitConn(t *testing.T, a, b ward, network string) (from, to *stack.Conn) {
	l, err := b.Listen(t.Context(), network, nil)
	if err != nil {
		t.Fatal(err)
	}
	dialed := make(chan *stack.Conn)
	go func() {
		c, err := a.Dial(t.Context(), network, l.LocalAddr())
		if err != nil {
			t.Error(err)
		}
		dialed <- c
	}()
	if to, err = l.AcceptConn(); err != nil {
		t.Fatal(err)
	}
	return <-dialed, to
}

// waitMembers are two members of a group.
func waitMembers(t *testing.T, a, b ward) (from, to *stack.Group) {
	var all []*stack.Group
	for _, w := range []ward{a, b} {
		g, err := w.Join(t.Context(), waitGroup)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	for _, g := range all {
		if err := g.WaitMembers(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	return all[0], all[1]
}

// waitingDial dials to.
func waitingDial(a ward, to net.Addr, nameWait time.Duration) waitingCall {
	return waitingCall{call: func(ctx context.Context) error {
		_, err := stack.SocketConfig{NameWait: nameWait}.Dial(ctx, a.Node, "tipc", to)
		return err
	}, ctx: true}
}

// nobodyWaits checks that no call stands anywhere, unless some does still.
func nobodyWaits(t *testing.T, n *stack.Node, none bool) {
	t.Helper()
	if !none {
		return
	}
	inside(n).Loop().Lock()
	defer inside(n).Loop().Unlock()
	lists := inside(n).Calls()
	if !inside(n).IsClosing() {
		if s := inside(n).Loop().State(); s.Led || s.Parked > 0 {
			t.Errorf("a call leads: %t, and %d are parked", s.Led, s.Parked)
		}
	}
	for name, l := range lists {
		if len(l) > 0 {
			t.Errorf("%s: %d calls", name, len(l))
		}
	}
	if inside(n).AwaitedTypes() > 0 || inside(n).Engine().Waiting() > 0 || inside(n).IsTrying() {
		t.Errorf("%d types are awaited, %d calls stand in line", inside(n).AwaitedTypes(), inside(n).Engine().Waiting())
	}
}

// Every call that waits ends at once, with the error that says why, when what it is a call of
// is closed, the node is, its context is done, or its deadline passes or is set to a time
// that has passed; and leaves nothing behind that waits.
// Mutations: Loop.Await does not look at closed, ctx, or by; quit does not Quit; Poller.close
// rouses nobody; audit sleeps between its rounds.
func TestWaitingCallsEnd(t *testing.T) {
	const soon = 100 * time.Millisecond // before a link without answers is lost
	for name, open := range waitingCalls {
		ends := map[string]func(t *testing.T, n *stack.Node, w *waitingCall, cancel context.CancelFunc) (errs []error, ok bool){
			"close": func(t *testing.T, n *stack.Node, w *waitingCall, _ context.CancelFunc) ([]error, bool) {
				if w.close == nil {
					return nil, false
				}
				go w.close()
				return []error{net.ErrClosed}, true
			},
			"close of the node": func(t *testing.T, n *stack.Node, w *waitingCall, _ context.CancelFunc) ([]error, bool) {
				go n.Close(context.Background())
				if name == "Watch.Next" { // which has what happens meanwhile to tell
					<-n.Done()
				}
				return []error{net.ErrClosed}, true
			},
			"context": func(t *testing.T, n *stack.Node, w *waitingCall, cancel context.CancelFunc) ([]error, bool) {
				cancel()
				return []error{context.Canceled}, w.ctx
			},
			"deadline": func(t *testing.T, n *stack.Node, w *waitingCall, _ context.CancelFunc) ([]error, bool) {
				if w.deadline == nil {
					return nil, false
				}
				w.deadline(time.Now().Add(soon))
				pass(soon)
				return []error{os.ErrDeadlineExceeded}, true
			},
			"deadline in the past": func(t *testing.T, n *stack.Node, w *waitingCall, _ context.CancelFunc) ([]error, bool) {
				if w.deadline == nil {
					return nil, false
				}
				w.deadline(time.Now().Add(-time.Hour))
				return []error{os.ErrDeadlineExceeded}, true
			},
		}
		for how, end := range ends {
			t.Run(name+"/"+how, func(t *testing.T) {
				inWard(t, 2, func(t *testing.T, all []ward) {
					w := open(t, all[0], all[1])
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					done := make(chan error, 1)
					go func() { done <- w.call(ctx) }()
					pass(20 * time.Millisecond) // of the bubble: it has come to what it waits for
					synctest.Wait()
					select {
					case err := <-done:
						t.Fatalf("it did not wait: %v", err)
					default:
					}
					want, ok := end(t, all[0].Node, &w, cancel)
					if ok {
						synctest.Wait()
						select {
						case err := <-done:
							for _, x := range want {
								if !errors.Is(err, x) || err == io.EOF {
									t.Errorf("got %v, want %v", err, x)
								}
							}
						default:
							t.Error("it waits still")
						}
					}
					nobodyWaits(t, all[0].Node, ok)
					all[1].repair()
					cancel()
					if w.close != nil {
						w.close()
					}
				})
			})
		}
	}
}
