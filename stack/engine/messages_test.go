// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// allRange is a range that the tests send to.
var allRange = frame.Range{Type: 1000, Lower: 0, Upper: 100}

func ether(dst, src frame.MAC, msg []byte) []byte {
	b := make([]byte, frame.EthernetLen, frame.EthernetLen+len(msg))
	frame.PutEthernet(b, dst, src)
	return append(b, msg...)
}

func stateItem(a frame.NodeAddr) frame.NameItem {
	return frame.NameItem{Range: frame.Range{Lower: uint32(a), Upper: uint32(a)}, Key: uint32(a)}
}

// names is a name message of the peer, an update unless changed.
func (p *scriptedPeer) names(change func(*frame.NamesFields), items ...frame.NameItem) []byte {
	f := frame.NamesFields{Common: frame.Common{Prev: p.addr}, NonLegacy: true, Orig: p.addr, Dest: p.own()}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, items...)
}

// listen makes the peer have a socket, port 5, bound to a range, by its next update.
func (p *scriptedPeer) listen(seq frame.Seq, typ, lower, upper uint32) {
	p.t.Helper()
	p.other(nil).packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = seq }, nameItem(typ, lower, upper, 5)))
}

// tunnel is a FAILOVER of one packet, changed.
func (p *scriptedPeer) tunnel(change func(*frame.TunnelFields), inner []byte) []byte {
	f := frame.TunnelFields{Common: frame.Common{Prev: p.addr}, Type: frame.TunnelFailover, Count: 1, Orig: p.addr, Dest: p.own()}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, inner)
}

// inside stamps a message as packet s of another link.
func inside(s frame.Seq, msg []byte) []byte {
	frame.StampSeq(msg, s)
	return msg
}

// data is a message to a port of the engine, to be returned when that fails.
func data(to uint32, change func(*frame.PayloadFields), text string) []byte {
	f := frame.PayloadFields{
		Common: frame.Common{Prev: popAddr}, Type: frame.DirectMsg,
		OrigPort: 77, DestPort: to, OrigNode: popAddr, DestNode: ownAddr,
	}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, []byte(text))
}

func named(typ, instance uint32) func(*frame.PayloadFields) {
	return func(f *frame.PayloadFields) {
		f.Type, f.NameType, f.Lower, f.Scope = frame.NamedMsg, typ, instance, frame.ClusterScope
	}
}

// mcast is a message of the peer's port 77 to a range.
func (p *scriptedPeer) mcast(r frame.Range, change func(*frame.PayloadFields), text string) []byte {
	f := frame.PayloadFields{
		Common: frame.Common{Prev: p.addr}, Type: frame.McastMsg, Scope: frame.ClusterScope,
		OrigPort: 77, OrigNode: p.addr, NameType: r.Type, Lower: r.Lower, Upper: r.Upper,
	}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, []byte(text))
}

// replica is a message to allRange that goes to the engine alone, by unicast.
func (p *scriptedPeer) replica(text string) []byte {
	return p.mcast(allRange, func(f *frame.PayloadFields) { f.SrcDroppable, f.DestNode = true, p.own() }, text)
}

// acks lets the peer acknowledge all broadcasts up to one.
func (p *scriptedPeer) acks(last frame.Seq) {
	p.t.Helper()
	p.heard = last
	p.other(nil).report(nil)
}

// allAck lets all peers acknowledge every broadcast.
func (c *peers) allAck() {
	c.t.Helper()
	for _, p := range c.peerList {
		if n := p.node(); n != nil && n.up() {
			p.acks(c.cast.sender.Last())
		}
	}
}

func wantLines(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func (p *scriptedPeer) bound(t *testing.T, c PortConfig, typ, instance uint32) *Port {
	t.Helper()
	port := p.OpenPort(c)
	if err := port.Bind(p.now, frame.Range{Type: typ, Lower: instance, Upper: instance}, frame.ClusterScope); err != nil {
		t.Fatal(err)
	}
	p.collect()
	p.sent = nil
	return port
}

// read takes all messages out of a port.
func read(port *Port) (s []string) {
	var b [frame.MaxPayload]byte
	for n, r, ok := port.Read(b[:]); ok; n, r, ok = port.Read(b[:]) {
		line := fmt.Sprintf("%v %s", r.From, b[:n])
		if n > 40 {
			line = fmt.Sprintf("%v %d bytes", r.From, n)
		}
		if r.Error != frame.OK {
			line += " error=" + r.Error.String()
		}
		s = append(s, line)
	}
	return s
}

// all makes a node of a whole configuration.
func (c Config) all(k *Config) {
	c.Arena, c.Chance = k.Arena, k.Chance
	*k = c
}

// unparked makes a node that rejects at once what is for a name it does not know.
func unparked(c *Config) { c.NamePark = -1 }

// sealed makes a node that takes nothing in the clear.
func sealed(c *Config) { c.Sealed = true }

// alone makes a node that builds no bundles.
func alone(c *Config) { c.NoBundles = true }

// behind makes one whose names go on the broadcast link alone.
func behind(c *Config) { c.NoNamesAhead = true }
