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

// says lets the peer send a message to a name, and returns the data that
// the engine sent for it.
func (p *scriptedPeer) says(to uint32, typ, instance uint32, change func(*frame.PayloadFields), text string) string {
	p.t.Helper()
	p.packet(data(to, func(f *frame.PayloadFields) {
		named(typ, instance)(f)
		if change != nil {
			change(f)
		}
	}, text))
	return p.told()
}

// told returns the data that the engine has sent, without the numbers of its link.
func (p *scriptedPeer) told() string {
	var s []string
	for _, l := range p.drain() {
		if l, _, _ = strings.Cut(l, " seq="); strings.HasPrefix(l, "data-") {
			s = append(s, l)
		}
	}
	return strings.Join(s, "; ")
}

// publishes lets the peer publish or withdraw names, in the update with a number.
func (p *scriptedPeer) publishes(seq frame.Seq, withdrawal bool, items ...frame.NameItem) {
	p.t.Helper()
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq, f.Withdrawal = seq, withdrawal }, items...))
}

// wantParked compares the counters of the parking: began, released, expired, lost, refused.
func (p *scriptedPeer) wantParked(what string, want ...uint64) {
	p.t.Helper()
	c := p.Counters()
	if got := []uint64{c.Parked, c.ParkReleased, c.ParkExpired, c.ParkLost, c.ParkRefused}; !slices.Equal(got, want) {
		p.t.Errorf("%s: parked, released, expired, lost, refused %v, want %v", what, got, want)
	}
}

func ofNode(f *frame.PayloadFields) { f.Scope = frame.NodeScope }

// A message for a name that is bound within 100 ms arrives, whatever it is and however
// it came.
//
// Proves: names.late
func TestParkedUntilBound(t *testing.T) {
	name := named(18888, 17)
	with := func(change func(*frame.PayloadFields)) func(*frame.PayloadFields) {
		return func(f *frame.PayloadFields) { name(f); change(f) }
	}
	long := strings.Repeat("x", 3000)
	for _, c := range []struct {
		what string
		give func(p *scriptedPeer)
		want string
	}{
		{"port 0", func(p *scriptedPeer) { p.packet(data(0, name, "hi")) }, "hi"},
		{"a port that is not here", func(p *scriptedPeer) { p.packet(data(4711, name, "hi")) }, "hi"},
		{"droppable", func(p *scriptedPeer) {
			p.packet(data(0, with(func(f *frame.PayloadFields) { f.DestDroppable = true }), "hi"))
		}, "hi"},
		{"connection request", func(p *scriptedPeer) { p.packet(data(0, with(func(f *frame.PayloadFields) { f.Syn = true }), "hi")) }, "hi"},
		{"lookup here alone", func(p *scriptedPeer) { p.packet(data(0, with(ofNode), "hi")) }, "hi"},
		{"in a bundle", func(p *scriptedPeer) { p.packet(bundle(nil, data(0, name, "hi"))) }, "hi"},
		{"in fragments", func(p *scriptedPeer) {
			b := data(0, name, long)
			p.packet(frag(frame.FirstFragment, b[:1400]))
			p.packet(frag(frame.MiddleFragment, b[1400:2800]))
			p.packet(frag(frame.LastFragment, b[2800:]))
			for range 3 { // what the message was joined in is used again
				b := data(0, func(f *frame.PayloadFields) { f.DestDroppable = true }, strings.Repeat("y", 3000))
				p.packet(frag(frame.FirstFragment, b[:1400]))
				p.packet(frag(frame.LastFragment, b[1400:]))
			}
		}, "3000 bytes"},
	} {
		p := newScriptedPeer(t).up()
		c.give(p)
		if got := p.told(); got != "" {
			t.Errorf("%s: sent %q, want nothing yet", c.what, got)
		}
		p.wait(p.now + DefaultNamePark - time.Nanosecond)
		port := p.bound(t, PortConfig{}, 18888, 17)
		if got, want := read(port), "<1001002:77> "+c.want; !slices.Equal(got, []string{want}) {
			t.Errorf("%s: read %q, want %q", c.what, got, want)
		}
		p.wantParked(c.what, 1, 1, 0, 0, 0)
		p.done()
	}
}

// A binding of another node sends the parked message on, with its lookup counted; it
// does not matter which way the publication came.
//
// Proves: names.late
func TestParkedGoesOn(t *testing.T) {
	for _, way := range []string{"unicast", "broadcast", "bulk"} {
		p := newScriptedPeer(t).up()
		p.says(0, 18888, 17, nil, "hi")
		switch it := nameItem(18888, 10, 20, 99); way {
		case "unicast":
			p.publishes(1, false, it)
		case "broadcast":
			p.broadcast(p.names(func(f *frame.NamesFields) {
				f.NonSeq, f.NetID, f.Dest, f.UpdateSeq = true, frame.DefaultNetID, 0, 1
			}, it))
		case "bulk":
			p.packet(p.names(func(f *frame.NamesFields) { f.Bulk = true }, it))
		}
		if got, want := p.told(), "data-low/named 77>99 name=18888:17 reroute=1 bytes=2"; got != want {
			t.Errorf("%s: sent %q, want %q", way, got, want)
		}
		p.wantParked(way, 1, 1, 0, 0, 0)
		p.done()
	}
}

// Without a binding a message comes back, or vanishes, as it would have at once.
//
// Proves: names.late
func TestParkExpiresWithNoName(t *testing.T) {
	const reject = "data-low/named 0>77 name=18888:18 error=no name bytes=2"
	for _, c := range []struct {
		what   string
		config func(*Config)
		change func(*frame.PayloadFields)
		after  time.Duration
		sent   string
		drop   string
	}{
		{"by default", nil, nil, 100 * time.Millisecond, reject, ""},
		{
			"droppable", nil, func(f *frame.PayloadFields) { f.DestDroppable = true }, 100 * time.Millisecond, "",
			"nobody to take it, and not to be returned=1",
		},
		{"for as long as it is told", func(c *Config) { c.NamePark = 20 * time.Millisecond }, nil, 20 * time.Millisecond, reject, ""},
		{"not at all", unparked, nil, 0, reject, ""},
		{"as a kernel", func(c *Config) { c.AsKernel, c.NamePark = true, time.Second }, nil, 0, reject, ""},
		{
			"looked up before", nil, func(f *frame.PayloadFields) { f.Reroute = 1 }, 0,
			"data-low/named 0>77 name=18888:18 error=no name reroute=1 bytes=2", "",
		},
	} {
		var change []func(*Config)
		if c.config != nil {
			change = append(change, c.config)
		}
		p := newScriptedPeer(t, change...).up()
		port := p.bound(t, PortConfig{}, 18888, 17)
		began := p.now
		got := p.says(0, 18888, 18, c.change, "hi")
		if c.after > 0 {
			if got != "" || p.Deadline() > began+c.after {
				t.Errorf("%s: sent %q at once, deadline %v", c.what, got, p.Deadline())
			}
			p.HandleTimeout(began + c.after - 1)
			got = p.told()
			if got != "" {
				t.Errorf("%s: sent %q too early", c.what, got)
			}
			p.now = began + c.after
			p.HandleTimeout(p.now)
			got = p.told()
		}
		if got != c.sent {
			t.Errorf("%s: sent %q, want %q", c.what, got, c.sent)
		}
		p.wantDrops(c.what, c.drop)
		if err := port.Bind(p.now, frame.Range{Type: 18888, Lower: 18, Upper: 18}, frame.ClusterScope); err != nil || port.Pending() > 0 {
			t.Errorf("%s: %v, %d messages after their end", c.what, err, port.Pending())
		}
		if p.Parked() != 0 || p.parking.bytes != 0 || len(p.parking.types) != 0 {
			t.Errorf("%s: left %+v", c.what, p.parking)
		}
		p.done()
	}
}

// Beyond 64 messages or 256 KiB of a peer, and 1024 or 4 MiB of all, a message is
// rejected at once; room that becomes free is used again.
//
// Proves: names.late
func TestParkLimits(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	const reject = "data-low/named 0>77 name=18888:17 error=no name bytes=1"
	for i := range 64 {
		if got := p.says(0, 18888, 17, nil, "x"); got != "" {
			t.Fatalf("message %d: sent %q", i, got)
		}
	}
	if got := p.says(0, 18888, 17, nil, "x"); got != reject {
		t.Errorf("message 65: sent %q, want %q", got, reject)
	}
	p.wantParked("full", 64, 0, 0, 0, 1)
	p.report(nil)
	port := p.bound(t, PortConfig{}, 18888, 17)
	if n := len(read(port)); n != 64 {
		t.Errorf("got %d messages, want 64", n)
	}
	port.Close(p.now)
	p.told()
	if got := p.says(0, 18888, 17, nil, "x"); got != "" {
		t.Errorf("there is room again: sent %q", got)
	}

	// Not through a link: other nodes, and messages longer than a packet.
	message := func(n int) frame.Payload {
		m, err := frame.Parse(data(0, named(18888, 17), strings.Repeat("x", n)))
		if err != nil {
			t.Fatal(err)
		}
		pl, err := frame.ParsePayload(m)
		if err != nil {
			t.Fatal(err)
		}
		return pl
	}
	for _, c := range []struct {
		what               string
		size               int // of a message, without its header of 40 bytes
		of                 int // nodes
		wantEach, wantSums int
	}{
		{"messages of one", 1, 1, 64, 64},
		{"messages of 17", 1, 17, 64, 1024},
		{"bytes of one", 1<<16 - 40, 1, 4, 4},
		{"a byte too many", 1<<16 - 39, 1, 3, 3},
		{"bytes of 17", 1<<16 - 40, 17, 4, 64},
	} {
		e, err := New(Config{Address: ownAddr, Arena: p.arena, Chance: NewSeeded(1, 2)})
		if err != nil {
			t.Fatal(err)
		}
		all := 0
		for range c.of {
			n, each := &node{}, 0
			for e.park(0, n, message(c.size)) {
				each++
			}
			if all += each; each != c.wantEach && all != c.wantSums {
				t.Errorf("%s: got %d, want %d", c.what, each, c.wantEach)
			}
		}
		if all != c.wantSums || e.Counters().ParkRefused != uint64(c.of) || e.Parked() != all {
			t.Errorf("%s: got %d, %d refused, want %d, %d", c.what, all, e.Counters().ParkRefused, c.wantSums, c.of)
		}
	}
}

// Messages to one name keep their order: those that were parked, those that come in the
// same bundle behind the publication, and those that come later, to the socket's
// number or to be looked up. Who waits for another name waits on.
//
// Proves: names.late
func TestParkedOrder(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	for i, to := range []uint32{0, 4711, 0, 4712} {
		p.says(to, 18888, 17, nil, fmt.Sprint("a", i))
		p.says(to, 18888, 18, nil, fmt.Sprint("b", i))
		p.wait(p.now + time.Millisecond)
	}
	port := p.OpenPort(PortConfig{})
	bind := func(instance uint32) {
		if err := port.Bind(p.now, frame.Range{Type: 18888, Lower: instance, Upper: instance}, frame.ClusterScope); err != nil {
			t.Fatal(err)
		}
	}
	bind(17)
	p.says(0, 18888, 17, nil, "a4")
	p.says(port.number, 18888, 17, nil, "a5")
	bind(18)
	p.says(port.number, 18888, 18, nil, "b4")
	var want []string
	for _, s := range []string{"a0", "a1", "a2", "a3", "a4", "a5", "b0", "b1", "b2", "b3", "b4"} {
		want = append(want, "<1001002:77> "+s)
	}
	wantLines(t, "order", read(port), want...)

	// Sent on, in a bundle with the publication, which has what follows behind it.
	p.told()
	p.says(0, 18888, 30, nil, "first")
	p.packet(bundle(nil, p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(18888, 30, 30, 99)),
		data(0, named(18888, 30), "second!")))
	if got, want := p.told(), "data-low/named 77>99 name=18888:30 reroute=1 bytes=5; data-low/named 77>99 name=18888:30 reroute=1 bytes=7"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// A message with the scope "node" waits for a socket of this node, others for any.
//
// Proves: names.late
func TestParkScope(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	p.says(0, 18888, 17, ofNode, "here")
	p.says(0, 18888, 17, nil, "anywhere")
	p.publishes(1, false, nameItem(18888, 17, 17, 99))
	if got, want := p.told(), "data-low/named 77>99 name=18888:17 reroute=1 bytes=8"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	p.wantParked("another node's", 2, 1, 0, 0, 0)
	p.publishes(2, true, nameItem(18888, 17, 17, 99))
	port := p.OpenPort(PortConfig{})
	if err := port.Bind(p.now, frame.Range{Type: 18888, Lower: 17, Upper: 17}, frame.NodeScope); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "own", read(port), "<1001002:77> here")
}

// What waits goes with the contact to its node, and makes room for what comes after.
//
// Proves: names.late
func TestParkedOfLostNode(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	for range 65 {
		p.says(0, 18888, 17, nil, "x")
	}
	p.count.Drops = Drops{}
	p.lose(p.now, p.byAddr[popAddr])
	p.collect()
	p.wantDrops("lost", "while contact is being lost or made=64")
	p.wantParked("lost", 64, 0, 0, 64, 1)
	if p.Parked() != 0 || p.byAddr[popAddr].parked != (parked{}) || len(p.parking.types) != 0 {
		t.Errorf("left %+v, %+v", p.parking, p.byAddr[popAddr].parked)
	}
	port := p.bound(t, PortConfig{}, 18888, 17)
	if port.Pending() != 0 {
		t.Errorf("%d messages of a lost node", port.Pending())
	}
	p.session++
	p.disc(frame.Request, nil)
	p.reset(false)
	p.again()
	if got := p.says(0, 18888, 18, nil, "x"); got != "" {
		t.Errorf("in contact again: sent %q", got)
	}
}

// A name that comes and goes within one change of the table releases nothing, and a
// message it was for keeps the time it had.
func TestParkedNameGoneAgain(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	p.says(0, 18888, 17, nil, "hi")
	began := p.now
	p.wait(p.now + 60*time.Millisecond)
	p.publishes(2, true, nameItem(18888, 17, 17, 99)) // ahead of its turn
	p.publishes(1, false, nameItem(18888, 17, 17, 99))
	p.wantParked("gone again", 1, 0, 0, 0, 0)
	p.publishes(3, false, nameItem(18888, 18, 18, 99)) // another's
	p.told()
	p.now = began + DefaultNamePark
	p.HandleTimeout(p.now)
	if got, want := p.told(), "data-low/named 0>77 name=18888:17 error=no name bytes=2"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// A message of a node that is not there any more goes nowhere, should it be left over.
func TestParkedWithoutContact(t *testing.T) {
	p := newScriptedPeer(t)
	defer p.done()
	for _, instance := range []uint32{17, 18} {
		m, err := frame.Parse(data(0, named(18888, instance), "x"))
		if err != nil {
			t.Fatal(err)
		}
		pl, err := frame.ParsePayload(m)
		if err != nil || !p.park(p.now, &node{addr: popAddr}, pl) {
			t.Fatal("not parked", err)
		}
	}
	if port := p.bound(t, PortConfig{}, 18888, 17); port.Pending() != 0 {
		t.Errorf("%d messages", port.Pending())
	}
	p.wantParked("bound", 2, 0, 0, 1, 0)
	p.now += DefaultNamePark
	p.HandleTimeout(p.now)
	p.wantParked("over", 2, 0, 0, 2, 0)
	if got := p.told(); got != "" {
		t.Errorf("sent %q", got)
	}
}

// A multicast is for those who are bound when it comes.
func TestMulticastIsNotParked(t *testing.T) {
	p := newScriptedPeer(t).up()
	defer p.done()
	p.packet(data(0, mcast(17, 18), "hi"))
	p.broadcast(data(0, mcastOnBroadcast(17, 18), "hi"))
	p.wantDrops("nobody bound", "nobody to take it, and not to be returned=2")
	p.wantParked("multicast", 0, 0, 0, 0, 0)
}
