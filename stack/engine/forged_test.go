// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// What another node sends as if a socket of this one had is dropped and counted, on the link
// and on the broadcast link; what comes back rejected, and what found its name moved here
// and was looked up again on its way, is delivered.
//
// Mutations that it catches: no check in deliverMessage, or in handleConn; a check that
// takes rerouted messages for forgeries, or that asks nothing of unicast ones.
func TestForgedOrigin(t *testing.T) {
	own := func(change func(*frame.PayloadFields)) func(f *frame.PayloadFields) {
		return func(f *frame.PayloadFields) {
			f.Long, f.OrigNode, f.OrigPort = true, ownAddr, 5
			if change != nil {
				change(f)
			}
		}
	}
	for _, c := range []struct {
		name   string
		msg    []byte
		drops  string
		queued int
	}{
		{"to a socket", data(9, own(nil), "x"), DropForged.String() + "=1", 0},
		{"a request", data(9, own(func(f *frame.PayloadFields) { f.Syn = true }), ""), DropForged.String() + "=1", 0},
		{"a returned one", data(9, own(code(frame.NoPort)), "x"), DropForged.String() + "=1", 0},
		{"to a name", data(9, own(func(f *frame.PayloadFields) { f.Type, f.NameType, f.Lower = frame.NamedMsg, 500, 1 }), "x"), DropForged.String() + "=1", 0},
		{"to a range", data(0, own(func(f *frame.PayloadFields) { f.Type, f.NameType, f.Lower, f.Upper = frame.McastMsg, 500, 1, 1 }), "x"), DropForged.String() + "=1", 0},
		{"of a connection", data(9, own(func(f *frame.PayloadFields) { f.Type = frame.ConnMsg }), "x"), DropForged.String() + "=1", 0},
		{"of the connection manager", manager(5, 9, func(f *frame.ConnFields) { f.Orig = ownAddr }), DropForged.String() + "=1", 0},
		{"rejected there", data(9, code(frame.NoPort), "x"), "", 1},
		{"rerouted", data(9, own(func(f *frame.PayloadFields) {
			f.Type, f.NameType, f.Lower, f.Reroute = frame.NamedMsg, 500, 1, 1
		}), "x"), "", 1},
	} {
		b := newConnPeer(t)
		p := b.listenAt(9)
		if err := p.Bind(b.now, frame.Range{Type: 500, Lower: 1, Upper: 1}, frame.ClusterScope); err != nil {
			t.Fatal(err)
		}
		b.drain()
		before := b.Counters().Drops
		b.packet(c.msg)
		now := b.Counters().Drops
		for i := range now {
			now[i] -= before[i]
		}
		if got := now.String(); got != c.drops || p.Pending() != c.queued {
			t.Errorf("%s: dropped %q, %d queued; want %q, %d", c.name, got, p.Pending(), c.drops, c.queued)
		}
		if got := b.drain(); c.queued == 0 && len(got) != 0 {
			t.Errorf("%s: answered %q", c.name, got)
		}
	}
}

// listenAt makes a socket with a number.
func (p *scriptedPeer) listenAt(number uint32) *Port {
	q := &Port{PortConfig: PortConfig{ReceiveLimit: DefaultReceiveLimit}, e: p.Engine, number: number}
	p.Engine.number(q)
	return q
}
