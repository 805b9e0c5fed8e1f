// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/netdev"
)

// A duo is an engine with two bearers and a peer, as a scripted peer, with a link on each,
// whose every frame is made by the test.
type duo struct {
	*Engine
	t     testing.TB
	arena *netdev.Arena
	now   time.Duration
	lines [2]duoLine
	bcast frame.Seq // the peer's next broadcast packet
}

// A duoLine is the peer's end of one of the links.
type duoLine struct {
	own, pop frame.MAC
	session  frame.Seq // of the peer
	dest     frame.Seq // of the engine's endpoint, as heard
	seq      frame.Seq // the peer's next packet
	ack      frame.Seq // the engine's last packet heard in order
	state    frame.Seq // the peer's next STATE
	sent     [][]byte  // frames of the engine, not looked at yet
}

// newDuo makes contact over both lines.
func newDuo(t testing.TB, change ...func(*Config)) *duo {
	t.Helper()
	d := &duo{t: t, arena: newArena(t, netdev.ArenaConfig{Small: 1024})}
	c := Config{Address: ownAddr, Arena: d.arena, Chance: NewSeeded(1, 2)}
	for _, f := range change {
		f(&c)
	}
	var err error
	if d.Engine, err = New(c); err != nil {
		t.Fatal(err)
	}
	for i := range d.lines {
		x := &d.lines[i]
		x.own, x.pop = frame.MAC{2, 0, 0, 0, byte(i), 1}, frame.MAC{2, 0, 0, 0, byte(i), 2}
		x.session = frame.Seq(700 + 100*i)
		if _, err := d.AddBearer(0, BearerConfig{Name: fmt.Sprint("eth", i), MAC: x.own, MTU: 1500}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range d.lines {
		d.disc(i)
		d.meet(i)
	}
	if !d.bothUp() {
		t.Fatalf("no two links: %v, %v, %v", d.node().contact, d.link(0).State(), d.link(1).State())
	}
	d.forget()
	return d
}

// forget forgets what was said and counted so far.
func (d *duo) forget() {
	for i := range d.lines {
		d.lines[i].sent = nil
	}
	for _, ok := d.NextEvent(); ok; _, ok = d.NextEvent() {
	}
	d.TakeNameEvents(nil)
	d.count.Drops = Drops{}
}

func (d *duo) node() *node      { return d.byAddr[popAddr] }
func (d *duo) link(i int) *link { return d.node().links[i] }

// bothUp reports whether both links are in use.
func (d *duo) bothUp() bool {
	n := d.node()
	return n != nil && n.contact == UpUp && n.links[0].State() == flowctl.Established && n.links[1].State() == flowctl.Established
}

// disc gives the engine a request of the peer on a line.
func (d *duo) disc(i int) {
	d.t.Helper()
	x := &d.lines[i]
	f := frame.DiscoveryFields{
		Type: frame.Request, Capabilities: popCaps, Signature: 0x1111, Prev: popAddr, NetID: frame.DefaultNetID,
		MAC: x.pop, NetHash: 9, Identity: frame.AddrIdentity(popAddr),
	}
	d.raw(i, ether(frame.BroadcastMAC, x.pop, f.Append(nil)))
}

// meet brings a line's link up from RESET, as the first or the second.
func (d *duo) meet(i int) {
	d.t.Helper()
	x := &d.lines[i]
	x.seq, x.ack, x.state = 1, 0, 1
	x.sent = nil
	for at := d.link(i).Deadline(); d.now < at; {
		d.now = min(d.Deadline(), at)
		d.HandleTimeout(d.now)
		d.collect()
	}
	first := !d.node().up()
	d.reset(i, true)
	d.report(i, func(f *frame.StateFields) { f.Ack = 0 })
	if !first {
		d.packet(i, d.tunnel(func(f *frame.TunnelFields) { f.Type, f.Count = frame.TunnelSynch, uint16(d.lines[1-i].seq-1) }, nil))
		d.report(1-i, nil)
		return
	}
	d.bcast = 1
	d.packet(i, (&frame.BcastInitFields{Common: frame.Common{Prev: popAddr}, BcastAckInvalid: true, Orig: popAddr, Dest: ownAddr}).Append(nil))
	names := frame.NamesFields{Common: frame.Common{Prev: popAddr}, NonLegacy: true, Bulk: true, LastBulk: true, UpdateSeq: 1, Orig: popAddr, Dest: ownAddr}
	d.packet(i, names.Append(nil, stateItem(popAddr)))
}

// raw gives the engine a frame on a bearer.
func (d *duo) raw(i int, b []byte) {
	d.t.Helper()
	f := d.arena.Get(len(b), netdev.Control)
	if f == nil {
		d.t.Fatal("no chunk")
	}
	f.Resize(len(b))
	copy(f.Bytes(), b)
	d.HandleFrame(d.now, i, f)
	f.Release()
	d.collect()
}

// collect takes what the engine sends and keeps the peer's numbers up to date.
func (d *duo) collect() {
	d.t.Helper()
	for i := range d.lines {
		x := &d.lines[i]
		for f := d.NextFrame(i); f != nil; f = d.NextFrame(i) {
			x.sent = append(x.sent, bytes.Clone(f.Bytes()))
			m, err := frame.Parse(f.Bytes()[frame.EthernetLen:])
			if err != nil {
				d.t.Errorf("sent an unsound message: %v", err)
			}
			switch {
			case m.User() == frame.UserLink:
				if l, err := frame.ParseLink(m); err == nil {
					x.dest = l.Session()
				}
			case !m.NonSeq() && m.Seq() == x.ack+1:
				x.ack++
			}
			f.Release()
		}
	}
}

// drain takes what the engine has sent on a line, described.
func (d *duo) drain(i int) (lines []string) {
	d.collect()
	for _, b := range d.lines[i].sent {
		line, err := describe.Message(b[frame.EthernetLen:])
		if err != nil {
			line = "UNSOUND " + line
		}
		_, line, _ = strings.Cut(line, " ")
		lines = append(lines, line)
	}
	d.lines[i].sent = nil
	return lines
}

// hear gives the engine a message of the peer on a line.
func (d *duo) hear(i int, msg []byte) {
	d.t.Helper()
	d.raw(i, ether(d.lines[i].own, d.lines[i].pop, msg))
}

// packet gives the engine a message as the next packet of a line.
func (d *duo) packet(i int, msg []byte) {
	d.t.Helper()
	x := &d.lines[i]
	frame.StampSeq(msg, x.seq)
	frame.StampAcks(msg, x.ack, 0)
	x.seq++
	d.hear(i, msg)
}

func (d *duo) info(i int) frame.LinkInfo {
	return frame.LinkInfo{NextSent: d.lines[i].seq, Session: d.lines[i].session, Bearer: uint8(i), Orig: popAddr, Dest: ownAddr, RedundantLink: true}
}

// reset says RESET, or ACTIVATE of the session heard.
func (d *duo) reset(i int, activate bool, change ...func(*frame.ResetFields)) {
	d.t.Helper()
	f := frame.ResetFields{
		Common: frame.Common{Seq: 0x8000, Prev: popAddr}, LinkInfo: d.info(i), Activate: activate,
		DestSession: d.lines[i].dest, DestSessionValid: activate, MaxPacket: 1500,
	}
	f.NextSent, f.RedundantLink = 1, d.node().up()
	copy(f.IfName[:], fmt.Sprint("eth", i))
	for _, c := range change {
		c(&f)
	}
	d.hear(i, f.Append(nil))
}

// report says STATE, acknowledging everything, changed.
func (d *duo) report(i int, change func(*frame.StateFields)) {
	d.t.Helper()
	x := &d.lines[i]
	f := frame.StateFields{Common: frame.Common{Seq: x.state, Ack: x.ack, Prev: popAddr}, LinkInfo: d.info(i)}
	f.LastBcast = d.bcast - 1
	x.state++
	if change != nil {
		change(&f)
	}
	d.hear(i, f.Append(nil, nil))
}

// tunnel is a FAILOVER of one packet, changed.
func (d *duo) tunnel(change func(*frame.TunnelFields), inner []byte) []byte {
	f := frame.TunnelFields{Common: frame.Common{Prev: popAddr}, Type: frame.TunnelFailover, Count: 1, Orig: popAddr, Dest: ownAddr}
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

// bound makes a socket that data reach.
func (d *duo) bound() *Port {
	port := d.OpenPort(PortConfig{ReceiveLimit: 1 << 20})
	d.collect()
	return port
}

// drops returns the reasons counted since the last call, "reason=n".
func (d *duo) drops() string {
	s := d.count.Drops.String()
	d.count.Drops = Drops{}
	return s
}

// held is the number of chunks that the links do not account for.
func (d *duo) held() int {
	held := map[*netdev.Buffer]bool{}
	for b := range d.Buffers {
		held[b] = true
	}
	return d.arena.Total() - d.arena.Free() - len(held)
}

// settle lets the peer acknowledge everything, so that nothing may be left.
func (d *duo) settle(what string) {
	d.t.Helper()
	d.report(0, nil)
	d.report(1, nil)
	if free, total := d.arena.Free(), d.arena.Total(); free != total {
		d.t.Errorf("%s: %d of %d chunks free", what, free, total)
	}
}

// done checks that every chunk comes back.
func (d *duo) done(what string) {
	d.t.Helper()
	d.Leave(d.now)
	d.collect()
	if got, want := d.arena.Free(), d.arena.Total(); got != want {
		d.t.Errorf("%s: free chunks: got %v, want %v", what, got, want)
	}
	if got := d.Kept(); got != 0 {
		d.t.Errorf("%s: %d bytes are kept for others", what, got)
	}
}
