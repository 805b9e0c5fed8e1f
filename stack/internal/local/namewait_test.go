// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/local"
)

var absent = stack.Service{Type: 18888, Instance: 17}

// openQuiet opens a node that does not spin, in a bubble of synctest.
func openQuiet(t *testing.T, h *hub.Hub, i int, c stack.Config) (*stack.Node, *fakeDevice) {
	t.Helper()
	port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i)})
	if err != nil {
		t.Fatal(err)
	}
	d := &fakeDevice{Device: port}
	c.Bearers, c.Address, c.Wait, c.Chunks = []stack.Bearer{d}, stack.NodeAddr(i), stack.Sleep, 512
	n, err := stack.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		n.Close(ctx)
		if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
			t.Errorf("node %d: %d of %d chunks came back", i, s.ChunksFree, s.ChunksTotal)
		}
	})
	return n, d
}

func openWith(t *testing.T, n *stack.Node, c stack.SocketConfig, addr net.Addr) *stack.PacketConn {
	t.Helper()
	p, err := c.ListenPacket(t.Context(), n, "tipcrdm", addr)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// next reads a message within five seconds.
func next(c *stack.PacketConn) (string, error) {
	b := make([]byte, 100)
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	n, _, err := c.ReadFrom(b)
	return string(b[:n]), err
}

// started begins a write of "hi", and returns when that waits or has ended.
func started(c *stack.PacketConn, to net.Addr) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := c.WriteTo([]byte("hi"), to)
		ended <- err
	}()
	synctest.Wait()
	return ended
}

// A send to a name unknown here waits for it, is listed meanwhile, and goes on when
// somebody binds the name, here or on another node; not when it is another name.
//
// Proves: names.late
func TestSendWaitsForName(t *testing.T) {
	for _, here := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			h := hub.New(hub.Config{})
			a, _ := openQuiet(t, h, 1, stack.Config{NameWait: time.Minute})
			b, _ := openQuiet(t, h, 2, stack.Config{})
			binder := b
			if here {
				binder = a
			}
			if err := a.WaitFor(t.Context(), stack.Service{Type: stack.NodeState, Instance: 2}); err != nil {
				t.Fatal(err)
			}
			c := mustOpen(t, a, nil)
			ended := started(c, absent)
			<-time.After(3 * time.Second)
			waits := must.Get(a.Waits(context.Background()))
			if len(waits) != 1 || waits[0].Reason() != "waits for name 18888:17" || waits[0].Name != net.Addr(absent) ||
				waits[0].To != net.Addr(absent) || waits[0].Blocked != 3*time.Second || waits[0].Socket != c.LocalAddr().(stack.SocketAddr) {
				t.Errorf("waits: %+v", waits)
			}
			for _, other := range []net.Addr{stack.Service{Type: 18888, Instance: 18}, stack.Service{Type: 18889, Instance: 17}} {
				mustOpen(t, binder, other)
				synctest.Wait()
			}
			select {
			case err := <-ended:
				t.Fatalf("another name ended the wait: %v", err)
			default:
			}
			s := mustOpen(t, binder, stack.Range{Type: 18888, Lower: 10, Upper: 17})
			began := time.Now()
			if got, err := next(s); got != "hi" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			if err := <-ended; err != nil || time.Since(began) > 0 {
				t.Errorf("ended %v after the name appeared: %v", time.Since(began), err)
			}
			if w := must.Get(a.Waits(context.Background())); len(w) != 0 || inside(a).AwaitedTypes() != 0 {
				t.Errorf("still waits: %+v, %v", w, inside(a).AwaitedTypes())
			}
		})
	}
}

// A multicast to a range in which nobody is bound waits for the first who is.
//
// Proves: names.late
func TestSendToRangeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _ := openQuiet(t, hub.New(hub.Config{}), 1, stack.Config{NameWait: time.Second})
		to := stack.Range{Type: 18888, Lower: 10, Upper: 20}
		c := mustOpen(t, n, nil)
		ended := started(c, to)
		if w := must.Get(n.Waits(context.Background())); len(w) != 1 || w[0].Reason() != "waits for name 18888:10-20" {
			t.Errorf("waits: %+v", w)
		}
		s, began := mustOpen(t, n, stack.Range{Type: 18888, Lower: 20, Upper: 30}), time.Now()
		if got, err := next(s); got != "hi" || err != nil || <-ended != nil || time.Since(began) > 0 {
			t.Errorf("got %q, %v, after %v", got, err, time.Since(began))
		}
	})
}

// Methods in which a wait for a name ends without it.
//
// Proves: names.late
func TestWaitForNameEnds(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		what   string
		node   time.Duration // Config.NameWait
		socket time.Duration
		to     stack.Service
		during func(n *stack.Node, c *stack.PacketConn) // half a second after it began
		after  time.Duration
		want   error
		text   string
	}{
		{"by default not at all", 0, 0, absent, nil, 0, stack.ErrUnreachable, "no socket is bound to 18888:17 (is one?"},
		{"as long as the node says", second, 0, absent, nil, second, stack.ErrUnreachable, "no socket is bound to 18888:17 for 1s"},
		{"as long as the socket says", 0, 2 * second, absent, nil, 2 * second, stack.ErrUnreachable, "no socket is bound to 18888:17 for 2s"},
		{"the socket says: shorter", 5 * second, 2 * second, absent, nil, 2 * second, stack.ErrUnreachable, ""},
		{"the socket says: not at all", 5 * second, -1, absent, nil, 0, stack.ErrUnreachable, ""},
		{"lookup node is this one", second, 0, stack.Service{Type: 18888, Instance: 17, Node: 1}, nil, second, stack.ErrUnreachable, "18888:17@1"},
		{"lookup node is another", second, 0, stack.Service{Type: 18888, Instance: 17, Node: 9}, nil, 0, stack.ErrUnreachable, ""},
		{"the write deadline comes first", 5 * second, 0, absent, func(n *stack.Node, c *stack.PacketConn) {
			c.SetWriteDeadline(time.Now().Add(second / 4))
		}, 3 * second / 4, os.ErrDeadlineExceeded, "blocked for 750ms: waits for name 18888:17: i/o timeout"},
		{"the write deadline has come", 5 * second, 0, absent, func(n *stack.Node, c *stack.PacketConn) {
			c.SetWriteDeadline(time.Now())
		}, second / 2, os.ErrDeadlineExceeded, "waits for name"},
		{"the write deadline comes later", second, 0, absent, func(n *stack.Node, c *stack.PacketConn) {
			c.SetWriteDeadline(time.Now().Add(second))
		}, second, stack.ErrUnreachable, "no socket is bound to"},
		{"the socket closes", 5 * second, 0, absent, func(n *stack.Node, c *stack.PacketConn) { c.Close() }, second / 2, net.ErrClosed, ""},
		{"the node closes", 5 * second, 0, absent, func(n *stack.Node, c *stack.PacketConn) { n.Close(context.Background()) }, second / 2, net.ErrClosed, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, _ := openQuiet(t, hub.New(hub.Config{}), 1, stack.Config{NameWait: c.node})
				p := openWith(t, n, stack.SocketConfig{NameWait: c.socket}, nil)
				began := time.Now()
				ended := started(p, c.to)
				if c.during != nil {
					<-time.After(second / 2)
					c.during(n, p)
				}
				err := <-ended
				if d := time.Since(began); d != c.after || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("after %v: %v; want %v: %v %q", d, err, c.after, c.want, c.text)
				}
				var op *net.OpError
				if !errors.As(err, &op) || op.Op != "write" || op.Addr != net.Addr(c.to) {
					t.Errorf("got %#v", err)
				}
				if inside(n).AwaitedTypes() != 0 || len(insidePacket(p).Writers()) != 0 {
					t.Errorf("left: %v, %v", inside(n).AwaitedTypes(), insidePacket(p).Writers())
				}
			})
		})
	}
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, NameWait: -1}); !errors.Is(err, stack.ErrConfig) {
		t.Errorf("negative: %v", err)
	}
}

// Of 1000 calls that wait for names a binding wakes those that it is for, by type
// without a look at the others; and each of many that wait for one name sends once.
//
// Proves: names.late
func TestNamesWakeTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _ := openQuiet(t, hub.New(hub.Config{}), 1, stack.Config{NameWait: time.Hour})
		const types, instances = 10, 100
		c := mustOpen(t, n, nil)
		var ended []<-chan error
		for i := range types * instances {
			ended = append(ended, started(c, stack.Service{Type: 1000 + uint32(i/instances), Instance: uint32(i % instances)}))
		}
		woken := func() (s []string) {
			inside(n).Loop().Lock()
			defer inside(n).Loop().Unlock()
			for typ := uint32(1000); typ < 1000+types; typ++ {
				s = append(s, inside(n).Woken(typ)...)
			}
			return s
		}
		call := func(r stack.Range) { // without the sends that would follow
			inside(n).Loop().Lock()
			inside(n).CallAwaiting(r)
			inside(n).Loop().Unlock()
		}
		for _, c := range []struct {
			r    stack.Range
			want []string
		}{
			{stack.Range{Type: 999, Upper: 1<<32 - 1}, nil},
			{stack.Range{Type: 1000, Lower: instances, Upper: 1<<32 - 1}, nil},
			{stack.Range{Type: 1003, Lower: 98, Upper: 200}, []string{"1003:98-98", "1003:99-99"}},
		} {
			call(c.r)
			if got := woken(); !slices.Equal(got, c.want) {
				t.Errorf("%v: woke %q, want %q", c.r, got, c.want)
			}
		}
		synctest.Wait()
		if w := len(must.Get(n.Waits(context.Background()))); w != types*instances {
			t.Fatalf("%d wait, want all", w)
		}
		s := mustOpen(t, n, stack.Range{Type: 1004, Upper: 1<<32 - 1})
		for i := range instances {
			if err := <-ended[4*instances+i]; err != nil {
				t.Error(err)
			}
			if got, err := next(s); got != "hi" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
		if w := len(must.Get(n.Waits(context.Background()))); w != (types-1)*instances {
			t.Errorf("%d wait, want all of the other types", w)
		}
	})
}

// A name that vanishes while writes wait for room is waited for, and they give up their
// places in the line to those behind.
//
// Proves: names.late
func TestNameGoneWhileWriteWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := jam(t, stack.Config{Window: 1, NameWait: time.Minute})
		var ended []<-chan error
		for range 3 { // as many as the link ever has room for
			ended = append(ended, j.write(t, mustOpen(t, j.n, nil), big('a')))
		}
		if w := must.Get(j.n.Waits(context.Background())); len(w) != 3 || w[0].Name != nil || w[0].Link == "" {
			t.Fatalf("waits: %+v", w)
		}
		direct := mustOpen(t, j.other, nil)
		behind := make(chan error, 1)
		go func() {
			_, err := mustOpen(t, j.n, nil).WriteTo(big('d'), direct.LocalAddr())
			behind <- err
		}()
		synctest.Wait()
		j.server.Close()
		<-time.After(100 * time.Millisecond)
		j.free()
		if got, err := next(direct); err != nil || got[0] != 'd' || <-behind != nil {
			t.Errorf("behind: %v", err)
		}
		if w := must.Get(j.n.Waits(context.Background())); len(w) != 3 || w[0].Reason() != "waits for name 18888:0" || w[0].Unacked != 0 {
			t.Fatalf("waits: %+v", w)
		}
		j.server = mustOpen(t, j.other, stack.Service{Type: 18888})
		if got := j.received(t, 3); got != "aaa" {
			t.Errorf("got %q", got)
		}
		for _, e := range ended {
			if err := <-e; err != nil {
				t.Error(err)
			}
		}
	})
}

// A name that appears behind a link without room ends the wait for the name, and begins
// one for room.
//
// Proves: names.late
func TestNameAppearsBehindFullLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := jam(t, stack.Config{Window: 1, NameWait: 5 * time.Second})
		c := mustOpen(t, j.n, nil)
		ended := started(c, absent)
		s := mustOpen(t, j.other, absent)
		<-time.After(500 * time.Millisecond)
		if w := must.Get(j.n.Waits(context.Background())); len(w) != 1 || w[0].Name != nil || w[0].Link == "" || inside(j.n).AwaitedTypes() != 0 {
			t.Fatalf("waits: %+v", w)
		}
		j.free()
		if got, err := next(s); got != "hi" || err != nil || <-ended != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// A wait for a name that lasts is logged.
func TestLongWaitForNameIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		n, _ := openQuiet(t, hub.New(hub.Config{}), 1, stack.Config{NameWait: 3 * time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		c := mustOpen(t, n, nil)
		if err := <-started(c, absent); !errors.Is(err, stack.ErrUnreachable) {
			t.Error(err)
		}
		n.Close(t.Context())
		if got := strings.Count(log.String(), `msg="write waits" service=18888:17 for=1s`); got != 1 {
			t.Errorf("logged %d times in %s", got, log.String())
		}
	})
}

// A gate keeps what some stations send to a device, alone or to all, until it is opened.
type gate struct {
	n    *stack.Node
	d    *fakeDevice
	kept []*netdev.Buffer
}

// shut keeps the frames of other nodes from a node's device.
func shut(n *stack.Node, d *fakeDevice, nodes ...byte) *gate {
	g := &gate{n: n, d: d}
	inside(n).Loop().Lock()
	defer inside(n).Loop().Unlock()
	d.receive = func(bufs []*netdev.Buffer) (k int, err error) {
		var one [1]*netdev.Buffer
		for k < len(bufs) {
			got, err := d.Device.Receive(one[:])
			if got == 0 || err != nil {
				return k, err
			}
			if eth, _, err := frame.ParseEthernet(one[0].Bytes()); err == nil && slices.Contains(nodes, eth.Src()[5]) {
				g.kept = append(g.kept, one[0])
				continue
			}
			bufs[k] = one[0]
			k++
		}
		return k, nil
	}
	return g
}

func (g *gate) open() {
	inside(g.n).Loop().Lock()
	defer inside(g.n).Loop().Unlock()
	g.d.receive = nil
	for _, f := range g.kept {
		inside(g.n).Engine().HandleFrame(inside(g.n).Loop().Now(), 0, f)
		f.Release()
	}
	g.kept = nil
	inside(g.n).PollOnce(inside(g.n).Loop().Now(), true)
}

// The complaint: data that refers to a name is there before the publication. A name
// moves from node 2 to node 1. Node 3 hears of that at once; that node 1 has it nodes 2
// and 4 hear 50 ms later, and node 4 that node 2 has it no more.
//
//   - Node 3 asks node 2, which answers to the name: it fails, as nobody has it.
//   - Node 4 sends to the name, to the socket that was on node 2: that has the message
//     returned, as it knows nobody to send it on to.
//
// With the knobs off both are lost, as between kernels; with them nothing is.
//
// Proves: names.late
func TestDataBeforeItsName(t *testing.T) {
	for _, on := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			cfg := stack.Config{NamePark: -1, NoNamesAhead: true}
			if on {
				cfg = stack.Config{NameWait: time.Second}
			}
			h := hub.New(hub.Config{})
			var nodes [5]*stack.Node
			var devs [5]*fakeDevice
			for i := 1; i <= 4; i++ {
				nodes[i], devs[i] = openQuiet(t, h, i, cfg)
			}
			before, ears := mustOpen(t, nodes[2], absent), mustOpen(t, nodes[2], nil)
			for i := 1; i <= 4; i++ {
				if err := nodes[i].WaitFor(t.Context(), absent); err != nil {
					t.Fatal(err)
				}
			}
			asks, sends := mustOpen(t, nodes[3], nil), openWith(t, nodes[4], stack.SocketConfig{Returnable: true}, nil)
			<-time.After(time.Second) // everything is acknowledged

			gates := []*gate{shut(nodes[2], devs[2], 1), shut(nodes[4], devs[4], 1, 2)}
			before.Close()
			server := mustOpen(t, nodes[1], absent)
			if err := nodes[3].WaitFor(t.Context(), stack.Service{Type: 18888, Instance: 17, Node: 1}); err != nil {
				t.Fatal(err)
			}
			if _, err := asks.WriteTo([]byte("answer to 18888:17"), ears.LocalAddr()); err != nil {
				t.Fatal(err)
			}
			if got, err := next(ears); got != "answer to 18888:17" {
				t.Fatal(got, err)
			}
			answered := started(ears, absent)
			if _, err := sends.WriteTo([]byte("sent"), absent); err != nil {
				t.Fatal(err)
			}
			<-time.After(50 * time.Millisecond)
			for _, g := range gates {
				g.open()
			}

			if !on {
				if err := <-answered; !errors.Is(err, stack.ErrUnreachable) {
					t.Errorf("off: the answer: %v", err)
				}
				var reject *stack.RejectError
				if _, err := next(sends); !errors.As(err, &reject) || reject.Code != frame.NoName {
					t.Errorf("off: the message: %v", err)
				}
				if got, err := next(server); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("off: arrived: %q, %v", got, err)
				}
				return
			}
			if err := <-answered; err != nil {
				t.Errorf("on: the answer: %v", err)
			}
			var got []string
			for range 2 {
				m, err := next(server)
				if err != nil {
					t.Errorf("on: after %q: %v", got, err)
				}
				got = append(got, m)
			}
			if slices.Sort(got); !slices.Equal(got, []string{"hi", "sent"}) {
				t.Errorf("on: arrived: %q", got)
			}
			if c := must.Get(nodes[2].Admin().Stats(context.Background())).Counters; c.Parked != 1 || c.ParkReleased != 1 {
				t.Errorf("on: counted %d parked, %d released", c.Parked, c.ParkReleased)
			}
		})
	}
}

// What a binding costs while 1000 calls wait for names of other types, or for other
// instances of its own.
func BenchmarkBindingBesideWaiters(b *testing.B) {
	for _, typ := range []uint32{18888, 18889} {
		b.Run(fmt.Sprint("of type ", typ), func(b *testing.B) {
			n := &local.Node{}
			for i := range uint32(1000) {
				n.AwaitName(backend.ServiceDest(stack.Service{Type: typ, Instance: i}))
			}
			for b.Loop() {
				n.CallAwaiting(stack.Range{Type: 18888, Lower: 5000, Upper: 6000})
			}
		})
	}
}
