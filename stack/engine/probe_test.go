// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// ask probes a socket until there is an answer.
func (b *bed) ask(to frame.SocketAddr) (alive bool, took time.Duration) {
	b.t.Helper()
	q, err := b.x.Probe(b.now, to, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	defer q.Close(b.now)
	if !b.until(longTime, func() bool { _, _, ok, _ := q.Result(); return ok }) {
		b.t.Fatalf("no answer of %v", to)
	}
	alive, took, _, err = q.Result()
	if err != nil {
		b.t.Error(err)
	}
	return alive, took
}

// A probe tells sockets that are there from those that are not, whatever they are, and
// leaves them as they were.
//
// Proves: socket.seen
func TestProbeTellsWhoIsThere(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		client, server, l := b.pair(ConnConfig{})
		port, gone := b.y.OpenPort(PortConfig{}), b.y.OpenPort(PortConfig{})
		gone.Close(b.now)
		before := b.x.Ports()
		for _, c := range []struct {
			name string
			to   frame.SocketAddr
			want bool
		}{
			{"a datagram socket", port.Addr(), true},
			{"a listener", l.Addr(), true},
			{"a connection", server.Addr(), true},
			{"one that is closed", gone.Addr(), false},
			{"one that never was", frame.SocketAddr{Port: 4711, Node: b.y.addr}, false},
			{"no number", frame.SocketAddr{Node: b.y.addr}, false},
		} {
			if got, _ := b.ask(c.to); got != c.want {
				t.Errorf("%s: got %v, want %v", c.name, got, c.want)
			}
		}
		if port.Pending() != 0 || l.Pending() != 0 || server.Pending() != 0 || server.State() != Established || server.asked {
			t.Error("a socket has noticed")
		}
		if err := client.Write(b.now, []byte("hi")); err != nil {
			t.Fatal(err)
		}
		if got := b.readAll(server, 10); string(got) != "hi" {
			t.Errorf("got %q", got)
		}
		if got := b.x.Ports(); got != before {
			t.Errorf("%d sockets, were %d", got, before)
		}
		if len(b.x.probes.asking)+len(b.x.probes.ended) != 0 {
			t.Error("a probe is left")
		}
		client.Close(b.now)
		b.settle()
		server.Close(b.now)
	})
}

// With two links, one slow, the answers keep their order: they go on one of them,
// whichever number the socket has.
//
// Proves: socket.seen
func TestProbeOnTwoLinks(t *testing.T) {
	b := newConnBed(t, false)
	for _, n := range b.nodes {
		b.attach(n, BearerConfig{MTU: 1500})
	}
	if !b.until(longTime, func() bool {
		n := b.x.reach(0x1001002)
		return n != nil && n.slots[0] != n.slots[1] && n.slots[0].IsUp() && n.slots[1].IsUp()
	}) {
		t.Fatal("no two links")
	}
	b.pass(longTime) // nothing is synchronised any more
	b.delay = func(_, bearer int) time.Duration { return time.Duration(1+40*bearer) * time.Millisecond }
	for number := uint32(1000); number < 1016; number++ {
		to := frame.SocketAddr{Port: number, Node: b.y.addr}
		if alive, took := b.ask(to); alive || took < 2*time.Millisecond {
			t.Errorf("port %d, which is not there: got %v after %v", number, alive, took)
		}
		p := &Port{e: b.y.Engine, number: number}
		b.y.number(p)
		if alive, _ := b.ask(to); !alive {
			t.Errorf("port %d: is there, and was not found", number)
		}
		p.Close(b.now)
	}
}

func bounced(from, to uint32, change func(*frame.ConnFields)) []byte {
	return manager(from, to, func(f *frame.ConnFields) {
		f.Error = frame.NoPort
		if change != nil {
			change(f)
		}
	})
}

// What is no answer ends no probe; a marker that a socket has is changed.
//
// Proves: socket.seen, hostile.docs
func TestHostileProbe(t *testing.T) {
	const own, marker, second = 5, 44, 46
	p := newScriptedPeer(t, ports(own, marker, second)).up()
	to := frame.SocketAddr{Port: 90, Node: popAddr}
	q, err := p.Probe(p.now, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "conn/probe 5>90; conn/probe 5>44"
	if got := short(p.drain()); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	for _, c := range []struct {
		name, drop, sent string
		msg              []byte
	}{
		{"a probe of the peer", "not of the connection it names=1", "", manager(90, own, nil)},
		{"an answer of a connection", "not of the connection it names=1", "", manager(90, own, func(f *frame.ConnFields) { f.Type = frame.ConnProbeReply })},
		{"of a socket that was not asked", "not of the connection it names=1", "", bounced(91, own, nil)},
		{"in another node's name", "not of the connection it names=1", "", bounced(90, own, func(f *frame.ConnFields) { f.Orig = 0x1001009 })},
		{"to a socket that is not there", "nobody to take it, and not to be returned=1", "", bounced(90, 6, nil)},
		{"data", "", "data-low/direct 5>77 error=no port", data(own, nil, "hi")},
		{"data of a connection", "", "data-low/conn 5>90 error=no port", conn(90, own, nil, "hi")},
	} {
		p.packet(c.msg)
		p.wantDrops(c.name, c.drop)
		if got := short(p.drain()); !strings.HasPrefix(got, c.sent) || c.sent == "" && got != "" {
			t.Errorf("%s: sent %q, want %q", c.name, got, c.sent)
		}
		if _, _, ok, _ := q.Result(); ok {
			t.Errorf("%s: it was taken for an answer", c.name)
		}
	}
	q.Again(p.now)
	if got, want := short(p.drain()), "conn/probe 5>90; conn/probe 5>46"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	p.packet(bounced(marker, own, nil)) // of the first, too late
	if _, _, ok, _ := q.Result(); ok {
		t.Error("the old marker was taken for the new one")
	}
	p.count.Drops = Drops{}
	p.now += time.Millisecond
	p.packet(bounced(second, own, nil))
	if alive, took, ok, err := q.Result(); !alive || took != time.Millisecond || !ok || err != nil {
		t.Errorf("got %v, %v, %v, %v", alive, took, ok, err)
	}
	p.packet(bounced(90, own, nil)) // behind it
	if alive, _, _, _ := q.Result(); !alive {
		t.Error("changed its mind")
	}
	if got := p.TakeProbes(nil); len(got) != 1 || got[0] != q {
		t.Errorf("%d probes have ended", len(got))
	}
	q.Close(p.now)
	q.Close(p.now)
	p.count.Drops = Drops{}
	p.packet(bounced(90, own, nil))
	p.wantDrops("after Close", "nobody to take it, and not to be returned=1")
	if p.Ports() != 0 {
		t.Errorf("%d sockets left", p.Ports())
	}
	p.done()
}

// short is what was sent, up to the link's numbers.
func short(lines []string) string {
	for i, l := range lines {
		lines[i], _, _ = strings.Cut(l, " seq=")
	}
	return strings.Join(lines, "; ")
}

// Contact that is lost, and an engine that ends, end probes; without contact there is none.
// Mutation it catches: noRoute that always returns ErrNoNode.
//
// Proves: socket.seen
func TestProbeEndsWithContact(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(p *scriptedPeer)
		want error
	}{
		{"contact lost", func(p *scriptedPeer) { p.lose(p.now, p.byAddr[popAddr]) }, ErrNoLink},
		{"ended", func(p *scriptedPeer) { p.EndProbes() }, ErrClosed},
	} {
		p := newScriptedPeer(t).up()
		q, err := p.Probe(p.now, frame.SocketAddr{Port: 90, Node: popAddr}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.end(p)
		if c.want == ErrNoLink {
			if _, err := p.Probe(p.now, frame.SocketAddr{Port: 90, Node: popAddr}, nil); err != ErrNoLink {
				t.Errorf("%s: another probe: got %v, want %v", c.name, err, ErrNoLink)
			}
		}
		if _, _, ok, err := q.Result(); !ok || err != c.want {
			t.Errorf("%s: got %v, %v", c.name, ok, err)
		}
		if got := p.TakeProbes(nil); len(got) != 1 {
			t.Errorf("%s: %d probes have ended", c.name, len(got))
		}
		q.Close(p.now)
		if len(p.probes.asking)+len(p.probes.ended) != 0 {
			t.Errorf("%s: a probe is left", c.name)
		}
	}
	p := newScriptedPeer(t)
	if _, err := p.Probe(p.now, frame.SocketAddr{Port: 90, Node: popAddr}, nil); err != ErrNoNode {
		t.Errorf("without contact: got %v", err)
	}
}
