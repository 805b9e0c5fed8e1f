// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

var roughSeed = flag.Uint64("rough", 0, "seed")

// A twin is two nodes on two segments, with traffic between sockets of both, whose
// every message is numbered.
type twin struct {
	*bed
	to    []frame.SocketAddr // of y's sockets
	from  []*Port            // of x's, one for each
	ports []*Port            // y's
	sent  []int
	next  []int // the number expected
	buf   [2048]byte
}

func newTwin(t testing.TB, second BearerConfig, change ...func(*Config)) *twin {
	t.Helper()
	return twinOn(&bed{t: t}, second, change...)
}

func twinOn(b *bed, second BearerConfig, change ...func(*Config)) *twin {
	w := &twin{bed: b.grow(2, change...)}
	b.waitFor(w.bothUp(1))
	second.MTU = max(second.MTU, 1500)
	b.attach(w.x, second)
	b.attach(w.y, second)
	b.waitFor(w.bothUp(2))
	for range 6 {
		p := w.y.OpenPort(PortConfig{ReceiveLimit: 64 << 20})
		w.ports, w.to = append(w.ports, p), append(w.to, p.Addr())
		w.from = append(w.from, w.x.OpenPort(PortConfig{}))
	}
	w.sent, w.next = make([]int, 6), make([]int, 6)
	return w
}

// bothUp tells whether so many links are up at both ends, none held back.
func (w *twin) bothUp(links int) func() bool {
	return func() bool {
		for _, n := range w.nodes {
			up := 0
			for _, p := range n.nodes {
				for _, l := range p.links {
					if l != nil && l.State() == flowctl.Established {
						up++
					}
				}
				if p.contact != UpUp {
					return false
				}
			}
			if up != links {
				return false
			}
		}
		return true
	}
}

// send sends a message from every socket; those that are blocked keep theirs.
func (w *twin) send() {
	w.t.Helper()
	for i, p := range w.from {
		err := p.Send(w.now, w.to[i], fmt.Appendf(make([]byte, 0, 1024), "%d %d %0*d", i, w.sent[i], w.sent[i]*37%900, 0))
		switch err.(type) {
		case nil:
			w.sent[i]++
		case *Blocked:
		default:
			if err == ErrMemory {
				return
			}
			w.t.Fatalf("socket %d, message %d: %v", i, w.sent[i], err)
		}
	}
}

// read checks what has come: each message once, in order.
func (w *twin) read() {
	w.t.Helper()
	for i, p := range w.ports {
		for {
			n, _, ok := p.Read(w.buf[:])
			if !ok {
				break
			}
			var sock, no int
			if fmt.Sscanf(string(w.buf[:n]), "%d %d", &sock, &no); sock != i || no != w.next[i] {
				w.t.Fatalf("%v: socket %d got message %d of %d, want %d; frames: %q", w.now, i, no, sock, w.next[i], w.lines[max(0, len(w.lines)-60):])
			}
			w.next[i]++
		}
	}
}

// work sends for a while, a burst every 100 µs.
func (w *twin) work(d time.Duration) {
	w.t.Helper()
	for end := w.now + d; w.now < end; {
		for range 10 {
			w.send()
		}
		w.pass(100 * time.Microsecond)
		w.read()
		w.lines = w.lines[max(0, len(w.lines)-200):]
	}
}

// done waits until all has come.
func (w *twin) done() {
	w.t.Helper()
	w.waitFor(func() bool { w.read(); return w.x.Unsent()+w.y.Unsent() == 0 })
	for i := range w.sent {
		if w.sent[i] != w.next[i] || w.sent[i] == 0 {
			w.t.Errorf("socket %d: %d sent, %d received", i, w.sent[i], w.next[i])
		}
	}
	w.wantFree()
	for i, n := range w.nodes {
		for _, ev := range n.events {
			if ev.Kind == PeerLost {
				w.t.Errorf("node %d: contact lost, %v", i, ev.Cause)
			}
		}
	}
}

// rough makes the network slow, and lose and reorder frames, the second segment more.
func (w *twin) rough(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	w.delay = func(_, bearer int) time.Duration {
		d := time.Duration(20+80*bearer) * time.Microsecond
		if r.IntN(20) == 0 {
			d += time.Duration(r.IntN(100)) * time.Microsecond
		}
		return d
	}
	w.lose = func(int, []byte) bool { return r.IntN(50) == 0 }
}

func (w *twin) link(n *bedNode, bearer int) *link { return n.nodes[0].links[bearer] }

// Two links of one priority share the load by socket.
//
// Proves: link.failover
func TestTwoLinksShareTheLoad(t *testing.T) {
	w := newTwin(t, BearerConfig{})
	w.work(5 * time.Millisecond)
	w.done()
	for i := range 2 {
		if got := w.link(w.x, i).SentPackets; got < 100 {
			t.Errorf("link %d carried %d packets", i, got)
		}
	}
}

// A link of lower priority carries messages only when the other is gone.
//
// Proves: link.failover
func TestStandbyLinkWaits(t *testing.T) {
	w := newTwin(t, BearerConfig{LinkConfig: LinkConfig{Priority: 5}})
	w.work(5 * time.Millisecond)
	if got := w.link(w.x, 1).SentPackets; got > 2 {
		t.Errorf("the standby link carried %d packets", got)
	}
	w.x.SetMTU(w.now, 0, 0)
	w.work(5 * time.Millisecond)
	if got := w.link(w.x, 1).SentPackets; got < 100 {
		t.Errorf("the standby link carried %d packets when it was the only one", got)
	}
	w.done()
}

// A link of higher priority takes everything over when it comes up.
//
// Proves: link.failover
func TestBetterLinkTakesOver(t *testing.T) {
	w := newTwin(t, BearerConfig{LinkConfig: LinkConfig{Priority: 20}})
	before := w.link(w.x, 0).SentPackets
	w.work(5 * time.Millisecond)
	w.done()
	if got := w.link(w.x, 0).SentPackets; got != before {
		t.Errorf("the old link carried %d packets", got-before)
	}
}

// Nothing is lost, doubled or reordered when one of two links dies, either way,
// and when it returns.
//
// Proves: link.failover
func TestFailover(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(w *twin, bearer int)
		heal func(w *twin, bearer int)
	}{
		{"carrier", func(w *twin, b int) { w.x.SetMTU(w.now, b, 0) }, func(w *twin, b int) { w.x.SetMTU(w.now, b, 1500) }},
		{"silence", func(w *twin, b int) { w.cut = func(_, _, bearer int) bool { return bearer == b } }, func(w *twin, b int) { w.cut = nil }},
		{"one way", func(w *twin, b int) { w.cut = func(from, _, bearer int) bool { return bearer == b && from == 0 } }, func(w *twin, b int) { w.cut = nil }},
		{"other way", func(w *twin, b int) { w.cut = func(from, _, bearer int) bool { return bearer == b && from == 1 } }, func(w *twin, b int) { w.cut = nil }},
		{"removal", func(w *twin, b int) { w.x.RemoveBearer(w.now, b) }, func(w *twin, b int) {
			if id, err := w.x.AddBearer(w.now, BearerConfig{Name: "new", MAC: w.x.macs[b], MTU: 1500}); id != b || err != nil {
				w.t.Fatalf("got bearer %d, %v; want %d", id, err, b)
			}
		}},
		{"decision", func(w *twin, b int) { w.x.cutLink(w.now, w.link(w.x, b)) }, func(*twin, int) {}},
	} {
		for _, bearer := range []int{0, 1} {
			t.Run(fmt.Sprint(c.name, " ", bearer), func(t *testing.T) {
				w := newTwin(t, BearerConfig{})
				w.rough(uint64(bearer) + *roughSeed)
				for range 3 {
					w.work(2 * time.Millisecond)
					c.cut(w, bearer)
					w.work(4 * time.Millisecond)
					w.until(5*time.Second, func() bool { w.read(); return false })
					w.work(2 * time.Millisecond)
					c.heal(w, bearer)
					for end := w.now + time.Minute; !w.bothUp(2)() && w.now < end; {
						w.work(200 * time.Microsecond)
						w.pass(time.Duration(20+w.sent[0]%20) * time.Millisecond)
						w.read()
					}
					w.work(4 * time.Millisecond)
				}
				w.done()
			})
		}
	}
}

// Chunks that are refused while a link fails cost no contact and no message: the k-th that a node
// asks for then, for many k, and those after it, for a while; either end's.
//
// Mutation: SendFailover that returns ErrTunnel where moveNext reports false.
func TestFailoverWithoutChunks(t *testing.T) {
	refused := 0
	for k := range 24 {
		asked, until := 0, time.Duration(0)
		b := &bed{t: t}
		b.short = func(node int) bool {
			if b.now >= until || node != k%2 {
				return false
			}
			if asked++; asked <= k/2 {
				return false
			}
			refused++
			return true
		}
		w := twinOn(b, BearerConfig{})
		w.work(300 * time.Microsecond)
		w.send()
		asked, until = 0, w.now+12*time.Millisecond
		w.x.SetMTU(w.now, 0, 0)
		w.work(3 * time.Millisecond)
		w.until(time.Second, func() bool { w.read(); return false })
		w.x.SetMTU(w.now, 0, 1500)
		w.work(time.Millisecond)
		w.done()
	}
	if refused < 50 {
		t.Errorf("%d chunks were refused", refused)
	}
}

// A node that leaves says so on every link: its peer does not wait for silence.
//
// Proves: link.failover
func TestLeaveOverTwoLinks(t *testing.T) {
	w := newTwin(t, BearerConfig{})
	w.x.Leave(w.now)
	w.settle()
	lost := 0
	for _, ev := range w.y.events {
		if ev.Kind == PeerLost {
			lost++
		}
	}
	if w.y.nodes[0].up() || lost != 1 {
		t.Errorf("the peer heard of it %d times, contact %v", lost, w.y.nodes[0].contact)
	}
	lost = 0
	for _, ev := range w.x.events {
		if ev.Kind == PeerLost {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("%d times lost, want 1", lost)
	}
}

// A link that is not up yet takes nothing over: the packet comes again when it is.
func TestFailoverOntoALinkThatIsNotUp(t *testing.T) {
	w := newTwin(t, BearerConfig{})
	w.cut = func(_, to, bearer int) bool { return bearer == 1 && to == 1 } // y hears nothing there
	w.x.SetMTU(w.now, 1, 0)
	w.y.SetMTU(w.now, 1, 0)
	w.pass(5 * time.Second)
	f := frame.TunnelFields{
		Common: frame.Common{Seq: 1, Prev: 0x1001001}, Type: frame.TunnelFailover,
		Orig: 0x1001001, Dest: 0x1001002, Count: 1,
	}
	inner := frame.PayloadFields{Common: frame.Common{Seq: 1, Prev: 0x1001001}, Type: frame.DirectMsg, Error: frame.NoPort}
	b := w.y.arena.Get(200, netdev.Control)
	frame.PutEthernet(b.Extend(frame.EthernetLen), w.y.macs[1], w.x.macs[1])
	msg := f.Append(nil, inner.Append(nil, nil))
	copy(b.Extend(len(msg)), msg)
	w.y.SetMTU(w.now, 1, 1500)
	w.y.HandleFrame(w.now, 1, b)
	b.Release()
	w.settle()
	if !w.y.nodes[0].up() || !w.link(w.y, 0).IsUp() {
		t.Error("the link that works was given up")
	}
	w.send()
	w.done()
}
