// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A barrierBed is $1 peers, some receiving sockets, and messages to them that come by ways
// which keep no order between them: of each sender the broadcast link and the unicast one.
type barrierBed struct {
	*peers
	ports []*Port
	ways  [][]frame.Payload // each in the order of its way
}

func newBarrierBed(t testing.TB, senders, receivers int) *barrierBed {
	b := &barrierBed{peers: newPeers(t, 1, senders)}
	for range receivers {
		p := b.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
		if err := p.Bind(b.now, allRange, frame.ClusterScope); err != nil {
			t.Fatal(err)
		}
		b.ports = append(b.ports, p)
	}
	return b
}

// message is one of a sender, with the marks of the method and of a change.
func (b *barrierBed) message(sender int, replicast, syn, twin bool, text string) frame.Payload {
	msg := b.peerList[sender].mcast(allRange, func(f *frame.PayloadFields) {
		f.SrcDroppable, f.Syn, f.NonSeq = replicast, syn, !replicast
		if twin {
			f.Error = frame.NoPort
		}
	}, text)
	m, err := frame.Parse(msg)
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := frame.ParsePayload(m)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// plan makes a sender send messages by these methods, 'b' for broadcast and 'r' for
// copies, numbered from 1. It begins by broadcast.
func (b *barrierBed) plan(sender int, methods string) {
	ways := make([][]frame.Payload, 2)
	was := byte('b')
	for i := range len(methods) {
		way, changed := strings.IndexByte("br", methods[i]), methods[i] != was
		other := 1 - way
		if changed {
			ways[other] = append(ways[other], b.message(sender, other == 1, true, true, ""))
		}
		ways[way] = append(ways[way], b.message(sender, way == 1, changed, false, fmt.Sprint(i+1)))
		was = methods[i]
	}
	b.ways = append(b.ways, ways...)
}

// arrive gives the engine the next message of a way.
func (b *barrierBed) arrive(p frame.Payload) {
	b.deliverPayload(b.now, b.node(int(p.From().Node-popAddr)), p, nil, p.NonSeq())
}

// orders calls f with every order in which the messages of all ways may arrive.
func (b *barrierBed) orders(f func(order []frame.Payload)) {
	at := make([]int, len(b.ways))
	var order []frame.Payload
	var next func()
	next = func() {
		last := true
		for w := range b.ways {
			if at[w] == len(b.ways[w]) {
				continue
			}
			last = false
			order = append(order, b.ways[w][at[w]])
			at[w]++
			next()
			at[w]--
			order = order[:len(order)-1]
		}
		if last {
			f(order)
		}
	}
	next()
}

func orderText(order []frame.Payload) string {
	var s []string
	for _, p := range order {
		what := string(p.Data())
		if p.Syn() {
			what += "*"
		}
		s = append(s, fmt.Sprintf("%d%s%s", p.From().Node-popAddr, map[bool]string{true: "r", false: "b"}[p.SrcDroppable()], what))
	}
	return strings.Join(s, " ")
}

// Whatever order messages by two ways arrive in, each receiver has those of each sender in
// the order sent, once, and no twin; nothing waits in the end.
//
// Proves: multicast.once
func TestBarrierInAllOrders(t *testing.T) {
	for _, x := range []struct {
		receivers int
		plans     []string // of the senders
	}{
		{1, []string{"r"}},
		{1, []string{"b"}},
		{1, []string{"bbrr"}},
		{2, []string{"brrbb"}},
		{1, []string{"brbrbr"}},
		{1, []string{"bbrrrbb"}},
		{1, []string{"rbrbrb"}},
		{2, []string{"brr", "rb"}},
		{1, []string{"brb", "br"}},
		{1, []string{"r", "r", "r"}},
		{1, []string{"bbbrrrbbbrr"}},
	} {
		b := newBarrierBed(t, len(x.plans), x.receivers)
		for i, p := range x.plans {
			b.plan(i, p)
		}
		runs := 0
		b.orders(func(order []frame.Payload) {
			runs++
			for _, p := range order {
				b.arrive(p)
			}
			for i, port := range b.ports {
				got := map[frame.NodeAddr][]string{}
				var buf [16]byte
				for n, r, ok := port.Read(buf[:]); ok; n, r, ok = port.Read(buf[:]) {
					got[r.From.Node] = append(got[r.From.Node], string(buf[:n]))
				}
				for s, plan := range x.plans {
					var want []string
					for k := range plan {
						want = append(want, fmt.Sprint(k+1))
					}
					if g := got[b.peerList[s].addr]; !slices.Equal(g, want) {
						t.Fatalf("%v, receiver %d: got %v of sender %d in order %s", x.plans, i, g, s, orderText(order))
					}
				}
				if port.barrier != nil || len(b.barriers.ports) != 0 {
					t.Fatalf("%v, receiver %d: something waits in order %s", x.plans, i, orderText(order))
				}
			}
		})
		if b.count.BarrierBroken != 0 {
			t.Errorf("%v: %d barriers broken", x.plans, b.count.BarrierBroken)
		}
		if runs == 0 || runs > 200000 {
			t.Errorf("%v: %d orders", x.plans, runs)
		}
		b.done("")
	}
}

// A twin that does not come is waited for 5 s, then all that waits goes on in order; the
// node wakes for that once.
//
// Proves: multicast.once
func TestBarrierEnds(t *testing.T) {
	b := newBarrierBed(t, 2, 2)
	b.forget()
	b.arrive(b.message(0, true, true, false, "1"))
	b.arrive(b.message(0, true, false, false, "2"))
	b.arrive(b.message(1, true, true, false, "a"))
	start := b.now
	b.now += 2 * time.Second
	b.arrive(b.message(0, true, false, false, "3"))
	b.arrive(b.message(1, false, true, true, "")) // of the other sender it comes
	b.live()
	for _, p := range b.ports {
		wantLines(t, "before", read(p), "<1001003:77> a")
	}
	if got, want := b.barriers.next, start+barrierLife; got != want {
		t.Errorf("looks at %v, want %v", got, want)
	}
	b.now = start + barrierLife - 1
	b.HandleTimeout(b.now)
	if b.ports[0].Pending() != 0 {
		t.Error("too early")
	}
	b.now = start + barrierLife
	b.HandleTimeout(b.now)
	for i, p := range b.ports {
		wantLines(t, fmt.Sprint("receiver ", i), read(p), "<1001002:77> 1", "<1001002:77> 2", "<1001002:77> 3")
		if p.barrier != nil {
			t.Errorf("receiver %d: something waits", i)
		}
	}
	if got := b.Counters().BarrierBroken; got != 2 {
		t.Errorf("counted %d, want 2", got)
	}
	if len(b.barriers.ports) != 0 || b.barriers.next != 1<<63-1 {
		t.Errorf("%d sockets, looks at %v", len(b.barriers.ports), b.barriers.next)
	}
	b.done("")
}

// One that began to wait later has its own 5 s.
func TestBarrierEndsOneByOne(t *testing.T) {
	b := newBarrierBed(t, 2, 1)
	start := b.now
	b.arrive(b.message(0, true, true, false, "1"))
	b.now += time.Second
	b.arrive(b.message(1, true, true, false, "a"))
	for _, x := range []struct {
		at   time.Duration
		want []string
	}{{5 * time.Second, []string{"<1001002:77> 1"}}, {6*time.Second - 1, nil}, {6 * time.Second, []string{"<1001003:77> a"}}} {
		b.now = start + x.at
		b.breakBarriers(b.now)
		wantLines(t, x.at.String(), read(b.ports[0]), x.want...)
	}
	b.done("")
}

// A receiver that was bound between the two gets but one of them: its sender's messages
// wait, others' do not, and a change back later is no trouble for ever.
//
// Proves: multicast.once
func TestBarrierBoundInBetween(t *testing.T) {
	b := newBarrierBed(t, 1, 1)
	b.arrive(b.message(0, false, true, true, ""))
	late := b.OpenPort(PortConfig{})
	late.Bind(b.now, allRange, frame.ClusterScope)
	b.ports = append(b.ports, late)
	b.arrive(b.message(0, true, true, false, "1"))
	b.arrive(b.message(0, true, false, false, "2"))
	wantLines(t, "bound before", read(b.ports[0]), "<1001002:77> 1", "<1001002:77> 2")
	wantLines(t, "bound in between", read(late))
	b.arrive(b.message(0, true, true, true, "")) // back to broadcast
	b.arrive(b.message(0, false, true, false, "3"))
	wantLines(t, "bound before", read(b.ports[0]), "<1001002:77> 3")
	b.now += barrierLife
	b.breakBarriers(b.now)
	if got := strings.Join(read(late), " "); !strings.Contains(got, " 1") || !strings.Contains(got, " 2") || !strings.Contains(got, " 3") {
		t.Errorf("bound in between: got %s", got)
	}
	b.arrive(b.message(0, false, false, false, "4"))
	for _, p := range b.ports {
		wantLines(t, "after that", read(p), "<1001002:77> 4")
		if p.barrier != nil {
			t.Error("something waits")
		}
	}
	b.done("")
}

// Senders that run ahead of their twins by as much as one may do not end each other's waiting:
// what each sent is read in order. With so many at one socket another sender's do not wait.
// Mutations: the number is limited to maxHeld for the socket as a whole; it is not limited.
func TestBarrierOfManySenders(t *testing.T) {
	b := newBarrierBed(t, 5, 1)
	p := b.ports[0]
	for k := range maxHeld {
		for s := range 4 {
			b.arrive(b.message(s, true, k == 0, false, fmt.Sprint(k)))
		}
	}
	if n := p.Pending(); n > 0 {
		t.Fatalf("%d messages did not wait", n)
	}
	b.arrive(b.message(4, true, true, false, "one more"))
	wantLines(t, "the fifth sender", read(p), "<"+strings.Trim(b.peerList[4].addr.String(), "<>")+":77> one more")
	for s := range 4 {
		b.arrive(b.message(s, false, true, true, ""))
		want := make([]string, maxHeld)
		for k := range want {
			want[k] = fmt.Sprintf("<%s:77> %d", strings.Trim(b.peerList[s].addr.String(), "<>"), k)
		}
		wantLines(t, fmt.Sprint("sender ", s), read(p), want...)
	}
	if k := b.Counters().BarrierBroken; k != 1 || p.barrier != nil {
		t.Errorf("%d broken, want the fifth sender's; waits: %v", k, p.barrier)
	}
	b.done("")
}

// What waits is limited: in number, in bytes. Beyond it the sender's go on as they came,
// the new one behind them; others' stay.
//
// Proves: multicast.once
func TestBarrierLimits(t *testing.T) {
	for _, x := range []struct {
		what  string
		limit int // bytes
		size  int // of a message's data
		most  int // that wait
	}{{"number", 1 << 20, 4, maxHeld}, {"bytes", 1 << 16, 1000, 1 << 16 / (1044 + recordCost)}} {
		b := newBarrierBed(t, 2, 1)
		p := b.ports[0]
		p.ReceiveLimit = x.limit << 8 // room for what goes on
		b.arrive(b.message(1, true, true, false, "a"))
		p.ReceiveLimit = x.limit
		text := func(k int) string { return fmt.Sprintf("%-*d", x.size, k) }
		b.arrive(b.message(0, true, true, false, text(0)))
		n := 1
		for ; n < 3000 && p.Pending() == 0; n++ {
			b.arrive(b.message(0, true, false, false, text(n)))
			if k := held(p, b.peerList[0].addr); p.barrier.bytes > x.limit || k > maxHeld {
				t.Fatalf("%s: %d messages, %d bytes wait", x.what, k, p.barrier.bytes)
			}
		}
		if n < x.most-1 || n > x.most+1 || b.Counters().BarrierBroken != 1 {
			t.Errorf("%s: went on after %d, want %d; %d broken", x.what, n, x.most, b.Counters().BarrierBroken)
		}
		var buf [2048]byte
		for k := range n {
			if size, _, ok := p.Read(buf[:]); !ok || string(buf[:size]) != text(k) {
				if x.what == "bytes" && k >= x.limit/(x.size+recordCost) {
					break // its queue was full too
				}
				t.Fatalf("%s: message %d: got %q", x.what, k, buf[:size])
			}
		}
		if k := held(p, b.peerList[1].addr); len(p.barrier.senders) != 1 || k != 1 {
			t.Errorf("%s: of %d senders %d wait, want the other sender's", x.what, len(p.barrier.senders), k)
		}
		b.done(x.what)
	}
}

// With contact what waits of a node goes on; of others it waits still. A socket that is
// closed forgets what waits.
//
// Proves: multicast.once
func TestBarrierLostAndClosed(t *testing.T) {
	b := newBarrierBed(t, 2, 2)
	for s := range 2 {
		b.arrive(b.message(s, true, true, false, "1"))
		b.arrive(b.message(s, true, false, false, "2"))
	}
	b.on(0, 0).leave()
	for i, p := range b.ports {
		wantLines(t, fmt.Sprint("receiver ", i), read(p), "<1001002:77> 1", "<1001002:77> 2")
		if p.barrier == nil || held(p, b.peerList[1].addr) != 2 {
			t.Fatalf("receiver %d: got %+v, want two of the other sender that wait", i, p.barrier)
		}
	}
	b.ports[0].Close(b.now)
	if b.ports[0].barrier != nil || len(b.barriers.ports) != 1 || b.barriers.ports[0] != b.ports[1] {
		t.Fatalf("closed: %d sockets at which something waits", len(b.barriers.ports))
	}
	b.arrive(b.message(1, false, true, true, ""))
	wantLines(t, "the twin", read(b.ports[1]), "<1001003:77> 1", "<1001003:77> 2")
	if len(b.barriers.ports) != 0 {
		t.Error("something waits")
	}
	b.ports[1].Close(b.now)
	b.now += 2 * barrierLife
	b.breakBarriers(b.now)
	b.done("")
}

// Two marked messages with data that meet, as kernels' twins that overtook each other
// leave them: both are read. Two twins that meet: neither is.
func TestBarrierOfShiftedPairs(t *testing.T) {
	b := newBarrierBed(t, 1, 1)
	p := b.ports[0]
	b.arrive(b.message(0, true, true, false, "1"))
	b.arrive(b.message(0, false, true, false, "2"))
	wantLines(t, "two with data", read(p), "<1001002:77> 1", "<1001002:77> 2")
	b.arrive(b.message(0, true, true, true, ""))
	b.arrive(b.message(0, false, true, true, ""))
	wantLines(t, "two without", read(p))
	if got := b.Counters().Twins; got != 2 || p.barrier != nil {
		t.Errorf("%d twins counted; waiting: %v", got, p.barrier != nil)
	}
	b.arrive(b.message(0, false, true, true, "data of a twin"))
	b.arrive(b.message(0, true, true, false, "3"))
	wantLines(t, "a twin with data", read(p), "<1001002:77> 3")
	b.done("")
}

// A message in fragments waits whole, in memory of its own: no chunk is kept for it.
func TestBarrierOfFragments(t *testing.T) {
	b := newBarrierBed(t, 1, 1)
	b.allAck()
	b.forget()
	whole := b.peerList[0].mcast(allRange, func(f *frame.PayloadFields) { f.SrcDroppable, f.Syn = true, true }, strings.Repeat("x", 2000))
	f := frame.FragmentFields{Common: frame.Common{Prev: b.peerList[0].addr}, Type: frame.FirstFragment, Orig: b.peerList[0].addr, Dest: b.Address()}
	b.on(0, 0).packet(f.Append(nil, whole[:1400]))
	f.Type = frame.LastFragment
	b.on(0, 0).packet(f.Append(nil, whole[1400:]))
	b.on(0, 0).packet(b.peerList[0].replica("behind"))
	if free, total := b.arena.Free(), b.arena.Total(); free != total || held(b.ports[0], b.peerList[0].addr) != 2 {
		t.Errorf("%d of %d chunks free, %d wait", free, total, held(b.ports[0], b.peerList[0].addr))
	}
	b.on(0, 0).broadcast(b.peerList[0].mcast(allRange, func(f *frame.PayloadFields) { f.Syn, f.Error = true, frame.NoPort }, ""))
	wantLines(t, "read", read(b.ports[0]), "<1001002:77> 2000 bytes", "<1001002:77> behind")
	b.done("")
}

// held is the number of messages of a node that wait at the socket.
func held(p *Port, from frame.NodeAddr) (k int) {
	for _, q := range p.barrier.senders {
		if q.from.Node == from {
			k += q.held.Len()
		}
	}
	return k
}
