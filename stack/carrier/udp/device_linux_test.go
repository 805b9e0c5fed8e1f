// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// Whatever offloads there are, what arrives is what was sent, byte for byte.
//
// Proves: device.udp
func TestOffloadsChangeNothing(t *testing.T) {
	for _, off := range []struct{ gso, gro bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		t.Run(fmt.Sprintf("gso %v, gro %v", off.gso, off.gro), func(t *testing.T) {
			a, b := pair(t, Config{MTU: 3000, NoGSO: !off.gso, NoGRO: !off.gro})
			r := rand.New(rand.NewPCG(1, 2))
			for round := range 200 {
				size := 1 + r.IntN(3000)
				var want []string
				var data [][]byte
				for range 1 + r.IntN(64) {
					switch r.IntN(8) {
					case 0:
						size = 1 + r.IntN(3000)
					case 1:
						size = max(1, size-1)
					}
					d := make([]byte, size)
					for i := range d {
						d[i] = byte(r.Uint32())
					}
					want, data = append(want, string(d)), append(data, d)
				}
				a.send(a.frames(b.Addr(), data...)...)
				b.want(a.Addr(), want...)
				if t.Failed() {
					t.Fatalf("round %d", round)
				}
			}
			s, r2 := a.Stats(), b.Stats()
			t.Logf("%v; sent %+v; received %+v", a.Device, s, r2)
			if off.gso != (s.SentRuns < s.Sent) || off.gso && off.gro != (r2.RecvRuns < r2.Received) {
				t.Errorf("%d frames sent as %d messages, %d received as %d", s.Sent, s.SentRuns, r2.Received, r2.RecvRuns)
			}
		})
	}
}

// A batch of equal frames is one message; mixed ones are still one call.
//
// Proves: device.udp
func TestManyFramesACall(t *testing.T) {
	a, b := pair(t, Config{MTU: 1400})
	c := open(t, Config{Local: local(1)[0], Remotes: []netip.AddrPort{b.Own()}, MTU: 1400})
	c.say(b.Addr(), "from c")
	b.want(c.Addr(), "from c")
	data := make([][]byte, 40)
	for i := range data {
		data[i] = make([]byte, 1400)
	}
	before := b.Stats()
	b.send(b.frames(a.Addr(), data...)...)
	if s := b.Stats(); s.SendCalls != before.SendCalls+1 || s.SentRuns != before.SentRuns+1 || s.Sent != before.Sent+40 {
		t.Errorf("40 equal frames: %+v, before %+v", s, before)
	}
	a.next(40)
	if s := a.Stats(); s.RecvCalls != 1 || s.RecvRuns != 1 {
		t.Errorf("40 equal frames received: %+v", s)
	}
	before = b.Stats()
	b.send(append(b.frames(a.Addr(), data[:8]...), append(b.frames(c.Addr(), data[:8]...), b.frames(a.Addr(), []byte("x"))...)...)...)
	if s := b.Stats(); s.SendCalls != before.SendCalls+1 || s.SentRuns != before.SentRuns+3 {
		t.Errorf("to two stations in turn: %+v, before %+v", s, before)
	}
	a.next(9)
	c.next(8)
}

// A call takes a whole run, however little is asked for, as Prefetches says.
//
// Mutation it catches: report false; receive anew before all of the last call is handed out.
func TestReceivePrefetches(t *testing.T) {
	a, b := pair(t, Config{MTU: 1400})
	if !a.Prefetches() {
		t.Error("a device does not say that it prefetches")
	}
	data := make([][]byte, 10)
	for i := range data {
		data[i] = make([]byte, 1400)
	}
	b.send(b.frames(a.Addr(), data...)...)
	for range data {
		a.next(1)
	}
	if s := a.Stats(); s.RecvCalls != 1 || s.Received != 10 {
		t.Errorf("10 frames, asked for one by one: %+v", s)
	}
}

func TestBroadcastWithoutGroup(t *testing.T) {
	at := local(4)
	a := open(t, Config{Local: at[0], Remotes: at[:3]}) // itself among them
	b, c := open(t, Config{Local: at[1], Remotes: at[:1]}), open(t, Config{Local: at[2], Remotes: at[:1]})
	d := open(t, Config{Local: at[3], Remotes: at[:1]}) // whom nobody has configured
	a.say(frame.BroadcastMAC, "one")
	b.want(a.Addr(), "one")
	c.want(a.Addr(), "one")
	d.say(frame.BroadcastMAC, "me too")
	a.want(d.Addr(), "me too")
	a.say(frame.BroadcastMAC, "two")
	a.Keep(d.Addr(), true)
	a.say(frame.BroadcastMAC, "three")
	a.Keep(d.Addr(), false)
	a.say(frame.BroadcastMAC, "four")
	a.say(d.Addr(), "five")
	b.want(a.Addr(), "two", "three", "four")
	c.want(a.Addr(), "two", "three", "four")
	d.want(a.Addr(), "three", "five")
	if r, ok := a.Remote(d.Addr()); r != at[3] || !ok {
		t.Errorf("got %v, %v, want %v", r, ok, at[3])
	}
	if r, ok := a.Remote(frame.MAC{2, 1, 1, 1, 1, 1}); ok {
		t.Errorf("a station nobody is: got %v", r)
	}
	a.say(frame.MAC{2, 1, 1, 1, 1, 1}, "nobody")
	a.say(a.Addr(), "myself")
	if s := a.Stats(); s.Nowhere != 2 {
		t.Errorf("got %d frames nowhere, want 2", s.Nowhere)
	}
}

// Own multicasts come back, and are not received.
func TestOwnMulticast(t *testing.T) {
	at := local(2)
	group := netip.AddrPortFrom(netip.AddrFrom4([4]byte{228, 2, at[0].Addr().As4()[3], byte(at[0].Port())}), at[0].Port())
	a := open(t, Config{Local: at[0], Multicast: group})
	b := open(t, Config{Local: at[1], Multicast: group})
	a.say(frame.BroadcastMAC, "all")
	b.want(a.Addr(), "all")
	a.until("its own", func() bool { return a.Stats().Own == 1 })
	b.say(frame.BroadcastMAC, "answer")
	a.want(b.Addr(), "answer")
	if s := a.Stats(); s.Own != 1 || s.Received != 1 {
		t.Errorf("got %+v, want one of its own", s)
	}
	// However busy the own address is, the group has its turn.
	b.say(frame.BroadcastMAC, "urgent")
	if err := a.wait(); err != nil { // it has come
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		b.say(a.Addr(), "usual")
		if a.next(1)[0].data == "urgent" {
			break
		}
		if n == groupTurn {
			t.Fatal("the group has no turn")
		}
	}
	a.want(b.Addr(), "usual")
}

// Strangers have room for themselves, and displace nobody who matters.
//
// Proves: device.udp
func TestStrangers(t *testing.T) {
	a, b := pair(t, Config{})
	peer := open(t, Config{Local: local(1)[0], Remotes: []netip.AddrPort{a.Own()}})
	a.table.limit = 10
	peer.say(a.Addr(), "hello")
	a.want(peer.Addr(), "hello")
	a.Keep(peer.Addr(), true)
	known := map[frame.MAC]bool{}
	for i := range 100 {
		s := dial(t, netip.AddrPortFrom(b.Own().Addr(), 0), a.Own())
		s.say(fmt.Sprint(i))
		p := a.next(1)[0]
		if p.data != fmt.Sprint(i) || known[p.src] {
			t.Fatalf("stranger %d: got %q from %v", i, p.data, p.src)
		}
		known[p.src] = true
		if r, ok := a.Remote(p.src); !ok || r != s.addr() {
			t.Fatalf("stranger %d: got %v, %v, want %v", i, r, ok, s.addr())
		}
	}
	if s := a.Stats(); s.Strangers != 101 || s.Displaced != 101-9 || len(a.table.byAddr) != 10 {
		t.Errorf("got %+v, %d in the table", s, len(a.table.byAddr))
	}
	a.say(peer.Addr(), "still there")
	peer.want(a.Addr(), "still there")
	for m := range known {
		a.Keep(m, true) // those that are still there
	}
	dial(t, netip.AddrPortFrom(b.Own().Addr(), 0), a.Own()).say("one more")
	a.until("turned away", func() bool { return a.Stats().TableFull == 1 })
	peer.say(a.Addr(), "me")
	a.want(peer.Addr(), "me")
}

// Datagrams of every length, up to what cannot be a frame here.
//
// Proves: device.udp
func TestOddDatagrams(t *testing.T) {
	a, b := pair(t, Config{MTU: 1000})
	for _, gro := range []bool{true, false} {
		at := local(2)
		z := open(t, Config{Local: at[0], Remotes: at[1:], MTU: 1000, NoGRO: !gro})
		s := dial(t, at[1], at[0])
		for n := 0; n <= 1100; n += 1 + n/100 {
			s.say(strings.Repeat("x", n))
			s.say("mark")
			if n > 0 && n <= 1000 {
				z.want(hash(at[1]), strings.Repeat("x", n), "mark")
			} else {
				z.want(hash(at[1]), "mark")
			}
		}
		before := z.Stats().TooLong
		s.say(strings.Repeat("x", 65000))
		z.until("too long", func() bool { return z.Stats().TooLong > before })
		st := z.Stats()
		if in, _ := z.Dropped(); st.Empty != 1 || st.TooLong < 10 || in != st.Empty+st.TooLong {
			t.Errorf("gro %v: got %d dropped, %+v", gro, in, st)
		}
	}
	// One from port 0 could not be answered. Nor does a frame that nobody can take
	// stop others.
	x := a.frames(b.Addr(), make([]byte, 1001))
	if n, err := a.Transmit(x); n != 0 || !errors.Is(err, unix.EMSGSIZE) || !errors.As(err, new(*FrameError)) {
		t.Errorf("too long: got %d, %v", n, err)
	}
	x[0].Release()
}

func TestAddressInUse(t *testing.T) {
	a, _ := pair(t, Config{})
	for _, c := range []Config{
		{Local: a.Own(), Remotes: a.cfg.Remotes},
		{Local: a.Own(), Multicast: netip.MustParseAddrPort("228.1.1.1:0")},
	} {
		if _, err := Open(c); !errors.Is(err, unix.EADDRINUSE) || !strings.Contains(fmt.Sprint(err), "another node or program has it") {
			t.Errorf("got %v, want that it is in use", err)
		}
	}
	before := descriptors(t)
	for range 20 { // what other tests have still open may be closed meanwhile
		for _, c := range []Config{
			{Local: netip.MustParseAddrPort("192.0.2.1:0"), Remotes: a.cfg.Remotes},
			{Local: netip.MustParseAddrPort("192.0.2.1:0"), Remotes: a.cfg.Remotes, Interface: "lo"},
			{Local: local(1)[0], Remotes: a.cfg.Remotes, Interface: "no-such-if"},
			{Local: a.Own(), Remotes: a.cfg.Remotes},
		} {
			var e *OpenError
			if _, err := Open(c); !errors.As(err, &e) {
				t.Errorf("%+v: got %v, want an OpenError", c, err)
			}
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("got %d descriptors, %d before", after, before)
	}
}
