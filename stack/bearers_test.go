// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// redundant is two nodes on two networks, whose cables can be cut.
type redundant struct {
	a, b *stack.Node
	wire [2]*fault.Injector // of a
}

func (r *redundant) cut(i int) {
	r.wire[i].Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
}

// inRedundantBubble runs f with two nodes on a clock that jumps.
func inRedundantBubble(t *testing.T, links map[string]stack.LinkConfig, f func(t *testing.T, r *redundant)) {
	synctest.Test(t, func(t *testing.T) {
		hubs := [2]*hub.Hub{hub.New(hub.Config{}), hub.New(hub.Config{MTU: 1400})}
		r := &redundant{}
		for i, n := range []**stack.Node{&r.a, &r.b} {
			c := stack.Config{Address: stack.NodeAddr(i + 1), Wait: stack.Sleep, Chunks: 1024, Links: links, Encryption: sealedWith}
			for k, h := range hubs {
				p, err := h.Port(fmt.Sprintf("eth%d", k), frame.MAC{2, 0, 0, 0, byte(k), byte(i + 1)})
				if err != nil {
					t.Fatal(err)
				}
				d := fault.New(p, fault.Config{})
				if i == 0 {
					r.wire[k] = d
				}
				c.Bearers = append(c.Bearers, d)
			}
			var err error
			if *n, err = stack.Open(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			defer func() {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				(*n).Close(ctx)
				if s := must.Get((*n).Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
					t.Errorf("%d of %d chunks came back", s.ChunksFree, s.ChunksTotal)
				}
			}()
		}
		<-time.After(2 * time.Second) // both links are up
		f(t, r)
	})
}

// states tells how a node's links stand.
func states(n *stack.Node) string {
	var s []string
	for _, l := range must.Get(n.Admin().Links(context.Background())) {
		s = append(s, l.Bearer+" "+l.State())
	}
	return strings.Join(s, ", ")
}

// One of two networks is cut under load, comes back, and the other is cut: nothing is
// lost, doubled or reordered, be both links used or one a standby.
//
// Proves: link.failover
func TestCutNetworkLosesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		links      map[string]stack.LinkConfig
	}{
		{"load sharing", "eth0 ACTIVE, eth1 ACTIVE", nil},
		{"standby", "eth0 STANDBY, eth1 ACTIVE", map[string]stack.LinkConfig{"eth1": {Priority: 15}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inRedundantBubble(t, c.links, func(t *testing.T, r *redundant) {
				if got := states(r.a); got != c.want {
					t.Fatalf("links: %s, want %s", got, c.want)
				}
				server := mustListen(t, r.b, stack.SocketConfig{}, echoService)
				if err := r.a.WaitFor(t.Context(), echoService); err != nil {
					t.Fatal(err)
				}
				const senders, each = 6, 4000
				var wg sync.WaitGroup
				for i := range senders {
					s := mustListen(t, r.a, stack.SocketConfig{}, nil)
					wg.Go(func() {
						tick := time.NewTicker(2 * time.Millisecond)
						defer tick.Stop()
						for k := range each {
							data := make([]byte, 8+(k*97+i)%3500) // one and several fragments
							binary.BigEndian.PutUint32(data, uint32(i))
							binary.BigEndian.PutUint32(data[4:], uint32(k))
							if _, err := s.WriteTo(data, echoService); err != nil {
								t.Errorf("sender %d, message %d: %v", i, k, err)
								return
							}
							<-tick.C
						}
					})
				}
				wg.Go(func() {
					for i := range 2 {
						<-time.After(500 * time.Millisecond)
						r.cut(i)
						<-time.After(3 * time.Second)
						r.wire[i].Set(fault.Config{})
						<-time.After(2 * time.Second)
					}
				})
				var next [senders]uint32
				buf := make([]byte, 4096)
				server.SetReadDeadline(time.Now().Add(time.Minute))
				for got := 0; got < senders*each; got++ {
					n, _, err := server.ReadFrom(buf)
					if err != nil {
						t.Fatalf("after %d messages: %v", got, err)
					}
					i, k := binary.BigEndian.Uint32(buf), binary.BigEndian.Uint32(buf[4:])
					if k != next[i] || n != 8+int(k*97+i)%3500 {
						t.Fatalf("sender %d: message %d of %d bytes, want %d", i, k, n, next[i])
					}
					next[i]++
				}
				wg.Wait()
				downs := uint64(0)
				for _, l := range must.Get(r.a.Admin().Links(context.Background())) {
					downs += l.Resets
				}
				if downs < 2 {
					t.Errorf("the links went down %d times, want 2 or more: nothing was tested", downs)
				}
				if got := states(r.a); got != c.want {
					t.Errorf("links: %s at the end", got)
				}
			})
		})
	}
}

// Writes that wait for a link that goes down wait for the other one, and go.
func TestWaitersMoveToTheOtherLink(t *testing.T) {
	inRedundantBubble(t, map[string]stack.LinkConfig{"eth1": {Priority: 15}}, func(t *testing.T, r *redundant) {
		server := mustListen(t, r.b, stack.SocketConfig{}, echoService)
		if err := r.a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		r.wire[1].Set(fault.Config{Out: fault.Faults{Loss: 1}}) // nothing is acknowledged
		var wg sync.WaitGroup
		const senders, each = 4, 200
		for range senders {
			c := mustListen(t, r.a, stack.SocketConfig{}, nil)
			wg.Go(func() {
				for range each {
					if _, err := c.WriteTo(make([]byte, 1000), echoService); err != nil {
						t.Error(err)
					}
				}
			})
		}
		<-time.After(100 * time.Millisecond)
		for _, w := range must.Get(r.a.Waits(context.Background())) {
			if w.Bearer != "eth1" {
				t.Errorf("one waits for %+v", w)
			}
		}
		if n := len(must.Get(r.a.Waits(context.Background()))); n != senders {
			t.Errorf("%d writes wait, want %d", n, senders)
		}
		server.SetReadDeadline(time.Now().Add(20 * time.Second))
		for i := range senders * each {
			if _, _, err := server.ReadFrom(make([]byte, 1000)); err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
		}
		wg.Wait()
	})
}

// A window takes effect at once, also one that moves; a tolerance reaches the peer; a
// priority makes a link the only active one. Bearers without such a link say so.
//
// Proves: link.windows
func TestSetLink(t *testing.T) {
	inRedundantBubble(t, nil, func(t *testing.T, r *redundant) {
		link := func(n *stack.Node, i int) admin.Link { return must.Get(n.Admin().Links(context.Background()))[i] }
		set := func(peer stack.NodeAddr, bearer string, c stack.LinkConfig, want error) {
			t.Helper()
			if err := r.a.Admin().SetLink(context.Background(), peer, bearer, c); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		set(2, "eth0", stack.LinkConfig{Window: 20}, nil)
		if l := link(r.a, 0); l.Window != 20 || l.MinWindow != 20 || l.MaxWindow != 20 || link(r.a, 1).Window != 50 {
			t.Errorf("window %d, %d to %d; of the other %d", l.Window, l.MinWindow, l.MaxWindow, link(r.a, 1).Window)
		}
		set(2, "eth0", stack.LinkConfig{MaxWindow: 800}, nil)
		if l := link(r.a, 0); l.MinWindow != 20 || l.MaxWindow != 800 {
			t.Errorf("window %d to %d", l.MinWindow, l.MaxWindow)
		}
		set(2, "eth0", stack.LinkConfig{Tolerance: 3 * time.Second}, nil)
		<-time.After(10 * time.Millisecond)
		if x, y := link(r.a, 0).Tolerance, link(r.b, 0).Tolerance; x != 3*time.Second || y != x {
			t.Errorf("tolerances %v and %v", x, y)
		}
		set(0, "eth1", stack.LinkConfig{Priority: 20, Window: 100}, nil)
		<-time.After(5 * time.Second)
		if got := states(r.a) + "; " + states(r.b); got != "eth0 STANDBY, eth1 ACTIVE; eth0 STANDBY, eth1 ACTIVE" {
			t.Errorf("links: %s", got)
		}
		if l := must.Get(r.a.Admin().Bearers(context.Background()))[1]; l.Links.Priority != 20 || l.Links.Window != 100 || l.Name != "eth1" || l.MTU != 1400 || l.FramesIn == 0 {
			t.Errorf("got %+v", l)
		}
		set(3, "eth0", stack.LinkConfig{Window: 20}, stack.ErrUnreachable)
		set(2, "eth2", stack.LinkConfig{Window: 20}, stack.ErrUnreachable)
		set(2, "eth0", stack.LinkConfig{Window: 9000}, stack.ErrConfig)
		set(2, "eth0", stack.LinkConfig{Tolerance: time.Millisecond}, stack.ErrConfig)
		if err := r.a.Admin().ResetStatistics(context.Background(), link(r.a, 0).Name); err != nil || link(r.a, 0).SentStates != 0 || link(r.a, 1).SentStates == 0 {
			t.Errorf("statistics were reset with %v: %d, %d", err, link(r.a, 0).SentStates, link(r.a, 1).SentStates)
		}
	})
}

// A link's statistics are printed as tipc(8) does, and tell what lost: the peer is
// silent while the device drops nothing.
//
// Proves: link.statistics
func TestLinkStatisticsText(t *testing.T) {
	inRedundantBubble(t, nil, func(t *testing.T, r *redundant) {
		r.cut(1)
		<-time.After(4 * time.Second)
		if err := r.a.Admin().ResetStatistics(context.Background(), must.Get(r.a.Admin().Links(context.Background()))[0].Name); err != nil {
			t.Fatal(err)
		}
		l := must.Get(r.a.Admin().Links(context.Background()))
		want := `Link <1:eth0-2:eth0>
  ACTIVE  MTU:1500  Priority:10  Tolerance:1500 ms  Window:50 packets
  RX packets:0 fragments:0/0 bundles:0/0
  TX packets:0 fragments:0/0 bundles:0/0
  TX profile sample:0 packets average:0 octets
  0-64:0% -256:0% -1024:0% -4096:0% -16384:0% -32768:0% -66000:0%
  RX states:0 probes:0 naks:0 defs:0 dups:0
  TX states:0 probes:0 naks:0 acks:0 retrans:0
  Congestion link:0  Send queue max:0 avg:0
`
		if got := l[0].String(); !strings.HasPrefix(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		got := l[1].String()
		if !strings.Contains(got, "  DEFUNCT  MTU:1400") || !strings.Contains(got, "dropped in:0 out:0\n") {
			t.Errorf("got\n%s", got)
		}
		// One end noticed first, and the other by that.
		if both := got + must.Get(r.b.Admin().Links(context.Background()))[1].String(); !strings.Contains(both, "last:peer silent\n") {
			t.Errorf("got\n%s", both)
		}
	})
}
