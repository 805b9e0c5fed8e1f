// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"net"
	"os"
	"regexp"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// Every call that waits ends when its deadline is over or its context is done: within
// 10 ms is the promise. The clock of a bubble, which stands still while somebody has work, holds
// the calls to it; on the system's clock what they take is printed.
const (
	latePromise = 10 * time.Millisecond
	lateAfter   = 30 * time.Millisecond // from the beginning of the call
)

// What the errors say of who blocks, and of how long.
var lateSays = map[string]string{
	"WriteTo, link full":    `blocked for [23]\d.* link 1:eth0-2:eth0 on eth0 to 2: 50 of 50 packets unacknowledged, 100 wait, limit at importance low is 100`,
	"Conn.Write, link full": `blocked for [23]\d.* link 1:eth0-2:eth0 on eth0 to 2: 50 of 50 packets unacknowledged, 100 wait, limit at importance low is 100`,
	"Dial, link full":       `blocked for [23]\d.* link 1:eth0-2:eth0 on eth0 to 2: 50 of 50 packets unacknowledged, 100 wait, limit at importance low is 100`,
	"Dial, no answer":       `no answer for [23]\d`,
	"WriteTo, nobody bound": `blocked for [23]\d.* waits for name 400:1`,
	"WaitFor":               `blocked for [23]\d.* waits for name 400:1`,
	"SubscriptionConfig.At": `no answer from node 2 on link "1:eth0-2:eth0" for [23]\d`,
	"WaitMembers":           `0 of 1 members after [23]\d`,
	"Probe":                 `no answer from node 2 on link "1:eth0-2:eth0" for [23]\d`,
	"Close":                 `with \d+ packets unacknowledged`,
}

// A lateCall waits until at, or for ever if ctx is to end it.
type lateCall struct {
	name string
	call func(ctx context.Context, at time.Time) error
	ctx  bool   // a context ends it, not a deadline
	prep func() // before each try; nil: nothing
}

// lateBed is a node whose peer takes nothing any more, so that a write to it blocks.
type lateBed struct {
	node, peer *stack.Node
	quiet      *stack.Node       // alone, so that next to nothing wakes its calls
	lone       *stack.PacketConn // of quiet
	wire       *fault.Injector
	hub        *hub.Hub
	remote     stack.SocketAddr
	packet     *stack.PacketConn
	conn       *stack.Conn
	listener   *stack.Listener // nobody dials it
	group      *stack.Group    // nobody else is in it
}

func newLateBed(t *testing.T) *lateBed {
	b := &lateBed{hub: hub.New(hub.Config{})}
	pa, _ := b.hub.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	pb, _ := b.hub.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 2})
	b.wire = fault.New(pa, fault.Config{})
	open := func(dev netdev.Device, a stack.NodeAddr) *stack.Node {
		n, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{dev}, Address: a, Wait: stack.Sleep, Tolerance: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			n.Close(ctx)
		})
		return n
	}
	b.node, b.peer = open(b.wire, 1), open(pb, 2)
	pc, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 3})
	if err != nil {
		t.Fatal(err)
	}
	b.quiet = open(pc, 3)
	b.lone = listen(t, b.quiet, nil)
	server := listen(t, b.peer, echoService)
	b.remote = server.LocalAddr().(stack.SocketAddr)
	if err := b.node.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	b.packet = listen(t, b.node, nil)
	l, err := b.peer.Listen(within(t), "tipcpacket", nil)
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan error, 1)
	go func() { _, err := l.Accept(); accepted <- err }()
	if b.conn, err = b.node.Dial(within(t), "tipcpacket", l.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	if b.listener, err = b.quiet.Listen(within(t), "tipcpacket", nil); err != nil {
		t.Fatal(err)
	}
	if b.group, err = b.quiet.Join(within(t), stack.Service{Type: 500}); err != nil {
		t.Fatal(err)
	}
	return b
}

// cut ends all traffic and fills the link.
func (b *lateBed) cut(t *testing.T) {
	b.wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
	var err error
	for err == nil {
		_, err = b.packet.TryWriteBatch([]stack.Message{{Data: make([]byte, 1000), To: b.remote}})
	}
	if !errors.Is(err, syscall.EAGAIN) {
		t.Fatal(err)
	}
}

func (b *lateBed) calls(t *testing.T) []lateCall {
	nobody := stack.Service{Type: 400, Instance: 1}
	sub, err := b.quiet.Subscribe(t.Context(), nobody.Range())
	if err != nil {
		t.Fatal(err)
	}
	patient := stack.SocketConfig{NameWait: time.Hour}
	p, err := patient.ListenPacket(t.Context(), b.quiet, "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	devices := byte(10)
	lonely := func() (netdev.Device, error) {
		devices++
		return hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, devices})
	}
	return []lateCall{
		{"ReadFrom", func(_ context.Context, at time.Time) error {
			b.lone.SetReadDeadline(at)
			_, _, err := b.lone.ReadFrom(make([]byte, 10))
			return err
		}, false, nil},
		{"WriteTo, link full", func(_ context.Context, at time.Time) error {
			b.packet.SetWriteDeadline(at)
			_, err := b.packet.WriteTo(make([]byte, 1000), b.remote)
			return err
		}, false, nil},
		{"WriteTo, nobody bound", func(_ context.Context, at time.Time) error {
			p.SetWriteDeadline(at)
			_, err := p.WriteTo([]byte("x"), nobody)
			return err
		}, false, nil},
		{"Conn.Read", func(_ context.Context, at time.Time) error {
			b.conn.SetReadDeadline(at)
			_, err := b.conn.Read(make([]byte, 10))
			return err
		}, false, nil},
		{"Conn.Write, link full", func(_ context.Context, at time.Time) error {
			b.conn.SetWriteDeadline(at)
			_, err := b.conn.Write(make([]byte, 1000))
			return err
		}, false, nil},
		{"Accept", func(_ context.Context, at time.Time) error {
			b.listener.SetDeadline(at)
			_, err := b.listener.Accept()
			return err
		}, false, nil},
		{"Group.ReadMsg", func(_ context.Context, at time.Time) error {
			b.group.SetReadDeadline(at)
			_, _, err := b.group.ReadMsg(make([]byte, 10))
			return err
		}, false, nil},
		{"WaitMembers", func(ctx context.Context, _ time.Time) error { return b.group.WaitMembers(ctx, 1) }, true, nil},
		{"Dial, link full", func(ctx context.Context, _ time.Time) error {
			_, err := b.node.Dial(ctx, "tipcpacket", b.remote)
			return err
		}, true, nil},
		{"Dial, no answer", func(ctx context.Context, _ time.Time) error {
			_, err := b.quiet.Dial(ctx, "tipcpacket", b.lone.LocalAddr())
			return err
		}, true, nil},
		{"Next", func(ctx context.Context, _ time.Time) error { _, err := sub.Next(ctx); return err }, true, nil},
		{"Events", func(ctx context.Context, _ time.Time) error {
			for range sub.Events(ctx) {
			}
			_, err := sub.Next(ctx)
			return err
		}, true, nil},
		{"WaitFor", func(ctx context.Context, _ time.Time) error { return b.quiet.WaitFor(ctx, nobody) }, true, nil},
		{"SubscriptionConfig.At", func(ctx context.Context, _ time.Time) error {
			_, err := stack.SubscriptionConfig{At: 2}.Subscribe(ctx, b.node, nobody.Range())
			return err
		}, true, nil},
		{"Probe", func(ctx context.Context, _ time.Time) error {
			_, _, err := b.node.Probe(ctx, b.remote)
			return err
		}, true, nil},
		{"Audit", func(ctx context.Context, _ time.Time) error {
			_, err := b.node.Admin().Audit(ctx, admin.AuditConfig{})
			return err
		}, true, nil},
		{"Open, address on trial", func(ctx context.Context, _ time.Time) error {
			dev, err := lonely()
			if err != nil {
				return err
			}
			_, err = stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{dev}, Wait: stack.Sleep})
			return err
		}, true, nil},
	}
}

// late measures how long after its end a call returns.
func (c *lateCall) late() (time.Duration, error) {
	if c.prep != nil {
		c.prep()
	}
	at := time.Now().Add(lateAfter)
	ctx := context.Background()
	if c.ctx {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, at)
		defer cancel()
	}
	err := c.call(ctx, at)
	return time.Since(at), err
}

// Mutations: until gives no time; the parker sleeps until the engine's deadline alone.
//
// Proves: socket.deadlines
func TestWaitsEndInTime(t *testing.T) {
	t.Run("clock of a bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { waitsEndInTime(t, true) })
	})
	t.Run("system's clock", func(t *testing.T) { waitsEndInTime(t, false) })
}

func waitsEndInTime(t *testing.T, exact bool) {
	b := newLateBed(t)
	calls := b.calls(t)
	b.cut(t)
	var closing *lateBed // another each time
	calls = append(calls, lateCall{"Close", func(ctx context.Context, _ time.Time) error { return closing.node.Close(ctx) }, true, func() {
		closing = newLateBed(t)
		closing.cut(t)
	}})
	t.Logf("%-24s %10s   promise %v", "call", "late by", latePromise)
	for _, c := range calls {
		late, err := c.late()
		t.Logf("%-24s %10v   %v", c.name, late.Round(10*time.Microsecond), err)
		if exact && late > latePromise || late < 0 {
			t.Errorf("%s: returned %v after its time, want at most %v", c.name, late, latePromise)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) && c.name != "Audit" {
			t.Errorf("%s: got %v", c.name, err)
		}
		if says := lateSays[c.name]; exact && err != nil && !regexp.MustCompile(says).MatchString(err.Error()) {
			t.Errorf("%s: got %v, want %s", c.name, err, says)
		}
		var timeout net.Error
		if err != nil && (!errors.As(err, &timeout) || !timeout.Timeout()) && c.name != "Close" {
			t.Errorf("%s: %v is no timeout", c.name, err)
		}
	}
}
