// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// asked is what a node with Names is asked by the probes in what was sent: the updates before which.
func (p *scriptedPeer) asked() (all []frame.ConnFields) {
	for _, s := range p.sent {
		if _, b, err := frame.ParseEthernet(s.bytes); err == nil {
			if m, err := frame.Parse(b); err == nil && m.User() == frame.UserConn {
				if c, err := frame.ParseConn(m); err == nil {
					all = append(all, c.Fields())
				}
			}
		}
	}
	p.forget()
	return all
}

// back gives the engine the answer to a probe, changed.
func (p *scriptedPeer) back(f frame.ConnFields, change func(*frame.ConnFields)) {
	f.Common = frame.Common{Prev: p.addr}
	f.Error = frame.NoPort
	f.OrigPort, f.DestPort, f.Orig, f.Dest = f.DestPort, f.OrigPort, p.addr, p.own()
	if change != nil {
		change(&f)
	}
	p.packet(f.Append(nil))
}

// A Publication has ended when the node says that it has applied the names, and this node has
// those that it had bound by then.
//
// Mutations it catches: an answer counts that is of another question; the node's own names are not
// waited for; namesTaken is not called.
func TestPublicationOfOurs(t *testing.T) {
	p := newScriptedPeer(t)
	p.joinAs(uint8(Names))
	p.OpenPort(PortConfig{}).Bind(p.now, frame.Range{Type: 100}, frame.ClusterScope)
	p.forget()
	w, err := p.AskNames(p.now, nil)
	if err != nil {
		t.Fatal(err)
	}
	over := func(want bool) {
		t.Helper()
		if _, _, over, err := w.Probe().Result(); over != want || err != nil {
			t.Fatalf("over %v, %v, want %v", over, err, want)
		}
	}
	p.collect()
	q := p.asked()
	if len(q) != 1 || q[0].Acked != uint16(p.pub.Next()) || q[0].Window != asksNames {
		t.Fatalf("asked %+v", q)
	}
	over(false)
	p.back(q[0], func(f *frame.ConnFields) { f.Acked--; f.Window = 1 })
	over(false)
	w.Again(p.now)
	p.collect()
	if q = p.asked(); len(q) != 1 {
		t.Fatalf("asked again %+v", q)
	}
	p.back(q[0], func(f *frame.ConnFields) { f.Window = 2 }) // of the names update 1 is not here
	over(false)
	if w.Left() != p.addr {
		t.Errorf("waits for %v", w.Left())
	}
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, frame.NameItem{Range: frame.Range{Type: 200}, Port: 5, Key: 6}))
	over(true)
	if len(p.TakeProbes(nil)) != 1 || w.Left() != 0 {
		t.Error("it was not told")
	}
	w.Close(p.now)
	p.done()
}

// A node is not answered that asks for names which are not applied yet; then it is, with the own
// next update. A kernel, and whoever does not say that it has Names, is answered as ever.
//
// Mutations it catches: it is answered at once; the answer does not have the own next update; a
// kernel's probe is changed.
func TestPublicationIsAnswered(t *testing.T) {
	for _, version := range []uint8{uint8(Names), 0} {
		p := newScriptedPeer(t)
		p.joinAs(version)
		probe := func() []frame.ConnFields {
			f := frame.ConnFields{Common: frame.Common{Prev: p.addr}, Type: frame.ConnProbe, OrigPort: 77, DestPort: 4711, Orig: p.addr, Dest: p.own(), Acked: 3, Window: asksNames}
			p.packet(f.Append(nil))
			return p.asked()
		}
		update := func(seq frame.Seq) {
			p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = seq }, frame.NameItem{Range: frame.Range{Type: 200, Lower: uint32(seq), Upper: uint32(seq)}, Port: 5, Key: 6}))
		}
		if version == 0 {
			if q := probe(); len(q) != 1 || q[0].Error != frame.NoPort || q[0].Window != asksNames || q[0].Acked != 3 {
				t.Errorf("a kernel is answered %+v", q)
			}
			continue
		}
		update(2) // update 1 is not here: it waits
		if q := probe(); len(q) != 0 {
			t.Errorf("answered %+v before it knows them", q)
		}
		update(1)
		if q := probe(); len(q) != 1 || q[0].Error != frame.NoPort || q[0].Window != uint16(p.pub.Next()) || q[0].Acked != 3 {
			t.Errorf("answered %+v", q)
		}
		p.done()
	}
}

// A kernel is asked once it has acknowledged the broadcast link, over each link that it has; its
// answers, of all of them, end the Publication.
//
// Mutations it catches: it is asked before it has acknowledged; one of two links is asked; the first
// answer is enough.
func TestPublicationOfAKernel(t *testing.T) {
	p := newTwoLinks(t)
	p.OpenPort(PortConfig{}).Bind(p.now, frame.Range{Type: 100}, frame.ClusterScope)
	w, err := p.AskNames(p.now, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.collect()
	if q := p.asked(); len(q) != 0 {
		t.Fatalf("asked %+v before it has acknowledged", q)
	}
	p.heard = p.cast.sender.Last()
	p.links[0].report(nil)
	p.links[1].report(nil)
	w.Again(p.now)
	p.collect()
	q := p.asked()
	if len(q) != 2 || q[0].Window != 0 || q[0].Acked != 0 || q[0].DestPort == q[1].DestPort {
		t.Fatalf("asked %+v", q)
	}
	p.back(q[1], nil)
	if _, _, over, _ := w.Probe().Result(); over {
		t.Error("one answer is enough")
	}
	p.back(q[0], nil)
	if _, _, over, err := w.Probe().Result(); !over || err != nil {
		t.Errorf("over %v, %v", over, err)
	}
	w.Close(p.now)
}

// Without contact there is nobody to ask, and no socket's number is taken; with the end of
// contact, and of the engine, it is over.
//
// Mutation it catches: loseNames is not called.
func TestPublicationEnds(t *testing.T) {
	p := newScriptedPeer(t)
	if w, err := p.AskNames(p.now, nil); err != nil || !w.Probe().ended || p.Ports() != 0 {
		t.Errorf("alone: %v, %d sockets", err, p.Ports())
	}
	for _, c := range []struct {
		what string
		end  func()
		want error
	}{
		{"closed", func() { p.EndProbes() }, ErrClosed},
		{"contact lost", func() { p.leave() }, nil},
	} {
		if p.node() == nil || !p.node().up() {
			p.joinAs(uint8(Names))
		}
		w, err := p.AskNames(p.now, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.end()
		if _, _, over, err := w.Probe().Result(); !over || err != c.want {
			t.Errorf("%s: over %v, %v", c.what, over, err)
		}
		w.Close(p.now)
		if len(p.probes.names) != 0 || p.Ports() != 0 {
			t.Errorf("%s: something is left", c.what)
		}
	}
}

// Between two engines the whole of it, in one round trip.
//
// Mutation it catches: Version is not Names.
func TestPublicationInARoundTrip(t *testing.T) {
	b := newBed(t, 2)
	b.waitFor(func() bool { return b.x.ups == 1 && b.y.ups == 1 })
	b.pass(longTime / 10)
	b.x.OpenPort(PortConfig{}).Bind(b.now, frame.Range{Type: 100}, frame.ClusterScope)
	b.lines = nil
	w, err := b.x.AskNames(b.now, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.settle()
	if _, _, over, err := w.Probe().Result(); !over || err != nil || !b.y.knows(frame.Range{Type: 100}) {
		t.Errorf("over %v, %v:\n%s", over, err, strings.Join(b.lines, "\n"))
	}
	w.Close(b.now)
}
