// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/netdev"
)

const (
	ownAddr frame.NodeAddr = 0x1001001
	popAddr frame.NodeAddr = 0x1001002

	popCaps = Capabilities &^ frame.CapGapAckBlock // its reports are plain
)

var (
	ownMAC = frame.MAC{2, 0, 0, 0, 0, 1}
	popMAC = frame.MAC{2, 0, 0, 0, 0, 2}
)

// A scriptedPeer is an engine, 1001001, and a peer, 1001002, whose every frame is made
// by the test.
type scriptedPeer struct {
	t testing.TB
	*Engine
	arena *netdev.Arena
	now   time.Duration
	sent  [][]byte // frames of the engine, not looked at yet

	session frame.Seq // of the peer
	dest    frame.Seq // of the engine's endpoint, as heard
	seq     frame.Seq // the peer's next packet
	ack     frame.Seq // the engine's last packet heard in order
	state   frame.Seq // the peer's next STATE
	bcast   frame.Seq // the peer's next broadcast packet
}

func newScriptedPeer(t testing.TB, change ...func(*Config)) *scriptedPeer {
	t.Helper()
	return scriptedPeerOn(t, newArena(t, netdev.ArenaConfig{Small: 1024}), change...)
}

func scriptedPeerOn(t testing.TB, a *netdev.Arena, change ...func(*Config)) *scriptedPeer {
	t.Helper()
	p := &scriptedPeer{t: t, arena: a, session: 700}
	c := Config{Address: ownAddr, Arena: a, Chance: NewSeeded(1, 2)}
	for _, f := range change {
		f(&c)
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Engine = e
	if _, err := e.AddBearer(0, BearerConfig{Name: "eth0", MAC: ownMAC, MTU: 1500}); err != nil {
		t.Fatal(err)
	}
	p.drain()
	return p
}

// raw gives the engine a frame as it is.
func (p *scriptedPeer) raw(b []byte) {
	p.t.Helper()
	f := p.arena.Get(len(b), netdev.Control)
	if f == nil {
		p.t.Fatal("no chunk")
	}
	f.Resize(len(b))
	copy(f.Bytes(), b)
	p.HandleFrame(p.now, 0, f)
	f.Release()
	p.collect()
}

// collect takes what the engine sends and keeps the peer's numbers up to date.
func (p *scriptedPeer) collect() {
	for f := p.NextFrame(0); f != nil; f = p.NextFrame(0) {
		p.sent = append(p.sent, bytes.Clone(f.Bytes()))
		m, err := frame.Parse(f.Bytes()[frame.EthernetLen:])
		if err != nil {
			p.t.Errorf("sent an unsound message: %v", err)
		}
		switch {
		case m.User() == frame.UserLink:
			if l, err := frame.ParseLink(m); err == nil && frame.MAC(f.Bytes()[:6]) == popMAC {
				p.dest = l.Session()
			}
		case !m.NonSeq() && m.Seq() == p.ack+1:
			p.ack++
		}
		f.Release()
	}
}

// drain takes what the engine has sent, described.
func (p *scriptedPeer) drain() (lines []string) {
	p.collect()
	for _, b := range p.sent {
		line, err := describe.Message(b[frame.EthernetLen:])
		if err != nil {
			line = "UNSOUND " + line
		}
		if err == nil {
			_, line, _ = strings.Cut(line, " ") // from whom to whom
		}
		for _, s := range []string{" if=eth0", " max=1500", " bcast-ack=0"} {
			line = strings.ReplaceAll(line, s, "")
		}
		lines = append(lines, line)
	}
	p.sent = nil
	return lines
}

// hear gives the engine a message of the peer.
func (p *scriptedPeer) hear(msg []byte) {
	p.t.Helper()
	p.raw(ether(ownMAC, popMAC, msg))
}

func ether(dst, src frame.MAC, msg []byte) []byte {
	b := make([]byte, frame.EthernetLen, frame.EthernetLen+len(msg))
	frame.PutEthernet(b, dst, src)
	return append(b, msg...)
}

// disc gives the engine a discovery message of the peer, changed.
func (p *scriptedPeer) disc(t frame.DiscoveryType, change func(*frame.DiscoveryFields)) {
	p.t.Helper()
	f := frame.DiscoveryFields{
		Type: t, Capabilities: popCaps, Signature: 0x1111, Prev: popAddr, NetID: frame.DefaultNetID,
		MAC: popMAC, NetHash: 9, Identity: frame.AddrIdentity(popAddr),
	}
	if change != nil {
		change(&f)
	}
	p.raw(ether(frame.BroadcastMAC, f.MAC, f.Append(nil)))
}

func (p *scriptedPeer) info() frame.LinkInfo {
	return frame.LinkInfo{NextSent: p.seq, Session: p.session, Orig: popAddr, Dest: ownAddr, RedundantLink: true}
}

// reset says RESET, or ACTIVATE of the session heard.
func (p *scriptedPeer) reset(activate bool) {
	p.t.Helper()
	f := frame.ResetFields{
		Common: frame.Common{Seq: 0x8000, Prev: popAddr}, LinkInfo: p.info(), Activate: activate,
		DestSession: p.dest, DestSessionValid: true, MaxPacket: 1500,
	}
	f.NextSent, f.RedundantLink, f.BcastAckInvalid = 1, false, true
	copy(f.IfName[:], "eth0")
	p.hear(f.Append(nil))
}

// report says STATE, acknowledging everything, changed.
func (p *scriptedPeer) report(change func(*frame.StateFields)) {
	p.t.Helper()
	f := frame.StateFields{Common: frame.Common{Seq: p.state, Ack: p.ack, Prev: popAddr}, LinkInfo: p.info()}
	f.LastBcast = p.bcast - 1
	p.state++
	if change != nil {
		change(&f)
	}
	p.hear(f.Append(nil, nil))
}

// next stamps a message as the next packet of the peer's link.
func (p *scriptedPeer) next(msg []byte) []byte {
	frame.StampSeq(msg, p.seq)
	frame.StampAcks(msg, p.ack, 0)
	p.seq++
	return msg
}

func (p *scriptedPeer) packet(msg []byte) {
	p.t.Helper()
	p.hear(p.next(msg))
}

// broadcast sends a message as the next packet of the peer's broadcast link.
func (p *scriptedPeer) broadcast(msg []byte) {
	p.t.Helper()
	frame.StampSeq(msg, p.bcast)
	p.bcast++
	p.raw(ether(frame.BroadcastMAC, popMAC, msg))
}

// up makes contact and forgets what was said for it.
func (p *scriptedPeer) up() *scriptedPeer {
	p.t.Helper()
	p.disc(frame.Request, nil)
	p.again()
	return p
}

// again brings the link up from RESET.
func (p *scriptedPeer) again() {
	p.t.Helper()
	p.seq, p.ack, p.state, p.bcast = 1, 0, 1, 1
	p.collect()
	for at := p.byAddr[popAddr].links[0].Deadline(); p.now < at; { // RESET
		p.now = min(p.Deadline(), at)
		p.HandleTimeout(p.now)
		p.collect()
	}
	p.reset(true)
	p.report(func(f *frame.StateFields) { f.Ack = 0 })
	p.packet((&frame.BcastInitFields{Common: frame.Common{Prev: popAddr}, BcastAckInvalid: true, Orig: popAddr, Dest: ownAddr}).Append(nil))
	p.packet(p.names(func(f *frame.NamesFields) { f.Bulk, f.LastBulk, f.UpdateSeq = true, true, 1 }, stateItem(popAddr)))
	if n := p.byAddr[popAddr]; n == nil || n.contact != UpUp {
		p.t.Fatalf("no contact: %+v", n)
	}
	p.sent = nil
	for _, ok := p.NextEvent(); ok; _, ok = p.NextEvent() {
	}
	p.TakeNameEvents(nil)
	p.count.Drops = Drops{}
}

func stateItem(a frame.NodeAddr) frame.NameItem {
	return frame.NameItem{Range: frame.Range{Lower: uint32(a), Upper: uint32(a)}, Key: uint32(a)}
}

// names is a name message of the peer, an update unless changed.
func (p *scriptedPeer) names(change func(*frame.NamesFields), items ...frame.NameItem) []byte {
	f := frame.NamesFields{Common: frame.Common{Prev: popAddr}, NonLegacy: true, Orig: popAddr, Dest: ownAddr}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, items...)
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

// drops returns the reasons counted since the last call, "reason=n".
func (p *scriptedPeer) drops() string {
	var s []string
	for d, n := range p.Counters().Drops {
		if n > 0 {
			s = append(s, fmt.Sprintf("%v=%d", Drop(d), n))
		}
	}
	p.count.Drops = Drops{}
	return strings.Join(s, ", ")
}

// events returns the events since the last call.
func (p *scriptedPeer) eventList() (s []string) {
	for ev, ok := p.NextEvent(); ok; ev, ok = p.NextEvent() {
		s = append(s, fmt.Sprint(ev.Kind, " ", ev.Node))
	}
	return s
}

func (p *scriptedPeer) wantDrops(what, want string) {
	p.t.Helper()
	if got := p.drops(); got != want {
		p.t.Errorf("%s: dropped %q, want %q", what, got, want)
	}
}

// wait lets time pass, deadline by deadline, and returns what was sent when.
func (p *scriptedPeer) wait(end time.Duration) (lines []string) {
	for p.Deadline() <= end {
		p.now = p.Deadline()
		p.HandleTimeout(p.now)
		for _, l := range p.drain() {
			lines = append(lines, fmt.Sprint(p.now, " ", l))
		}
	}
	p.now = end
	return lines
}

// done checks that every chunk comes back.
func (p *scriptedPeer) done() {
	p.t.Helper()
	p.Leave(p.now)
	p.collect()
	if got, want := p.arena.Free(), p.arena.Total(); got != want {
		p.t.Errorf("free chunks: got %v, want %v", got, want)
	}
	if got := p.Kept(); got != 0 {
		p.t.Errorf("%d bytes are kept for others", got)
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

// unparked makes a node that rejects at once what is for a name it does not know.
func unparked(c *Config) { c.NamePark = -1 }

// alone makes a node that builds no bundles.
func alone(c *Config) { c.NoBundles = true }

// behind makes one whose names go on the broadcast link alone.
func behind(c *Config) { c.NoNamesAhead = true }
