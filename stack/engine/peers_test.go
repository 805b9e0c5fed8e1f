// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/netdev"
)

// A peers is an engine with some bearers, and peers, 1001002 and on, whose
// every frame is made by the test: who is on which bearer changes as the test goes on.
type peers struct {
	*Engine
	t        testing.TB
	arena    *netdev.Arena
	now      time.Duration
	peerList []*peer
	sent     []peersFrame // frames of the engine, not looked at yet
}

// A peer is one of the peers.
type peer struct {
	addr  frame.NodeAddr
	caps  frame.Capabilities
	lines [MaxBearers]*peerLine
	bcast frame.Seq // its next broadcast packet
	heard frame.Seq // the engine's last broadcast packet that it tells to have
}

// A peerLine is its end of one link.
type peerLine struct {
	mac     frame.MAC
	mtu     int
	session frame.Seq
	dest    frame.Seq // of the engine's endpoint, as heard
	seq     frame.Seq // its next packet
	ack     frame.Seq // the engine's last packet heard in order
	state   frame.Seq // its next STATE
}

// A peersFrame is a frame and the bearer that it was sent on.
type peersFrame struct {
	bearer int
	bytes  []byte
}

func peersMAC(bearer int) frame.MAC { return frame.MAC{2, 0, 0, 0, byte(bearer), 1} }

// newPeers makes an engine with some bearers and so many peers, all on the first.
func newPeers(t testing.TB, bearers, peerList int, change ...func(*Config)) *peers {
	t.Helper()
	return peersOn(t, newArena(t, netdev.ArenaConfig{Small: 1024}), bearers, peerList, change...)
}

func peersOn(t testing.TB, a *netdev.Arena, bearers, peerList int, change ...func(*Config)) *peers {
	t.Helper()
	c := &peers{t: t, arena: a}
	cfg := Config{Address: ownAddr, Arena: a, Chance: NewSeeded(1, 2)}
	for _, f := range change {
		f(&cfg)
	}
	var err error
	if c.Engine, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	for i := range bearers {
		if _, err := c.AddBearer(0, BearerConfig{Name: fmt.Sprint("eth", i), MAC: peersMAC(i), MTU: 1500}); err != nil {
			t.Fatal(err)
		}
	}
	for range peerList {
		c.join(c.peer(popCaps), 0)
	}
	return c
}

// peer makes one more peer, on no bearer yet.
func (c *peers) peer(caps frame.Capabilities) int {
	i := len(c.peerList)
	c.peerList = append(c.peerList, &peer{addr: popAddr + frame.NodeAddr(i), caps: caps, bcast: c.first()})
	return i
}

func (c *peers) node(i int) *node { return c.byAddr[c.peerList[i].addr] }

// join brings the link to peer i over a bearer up, as its first or its second.
func (c *peers) join(i, bearer int) { c.joinMTU(i, bearer, 1500) }

func (c *peers) joinMTU(i, bearer, mtu int) {
	c.t.Helper()
	c.meet(i, bearer, mtu)
	m, x := c.peerList[i], c.peerList[i].lines[bearer]
	if other := c.otherLine(i, bearer); other >= 0 {
		f := frame.TunnelFields{Common: frame.Common{Prev: m.addr}, Type: frame.TunnelSynch, Count: uint16(m.lines[other].seq - 1), Orig: m.addr, Dest: c.Address()}
		c.packet(i, bearer, f.Append(nil, nil))
		c.report(i, other, nil)
	} else {
		c.packet(i, bearer, (&frame.BcastInitFields{Common: frame.Common{Prev: m.addr}, LastBcast: m.bcast - 1, BcastAckInvalid: true, Orig: m.addr, Dest: c.Address()}).Append(nil))
		c.packet(i, bearer, c.names(i, func(f *frame.NamesFields) { f.Bulk, f.LastBulk, f.UpdateSeq = true, true, 1 }, stateItem(m.addr)))
	}
	if n := c.node(i); n == nil || n.contact != UpUp || !n.links[bearer].IsUp() {
		c.t.Fatalf("peer %d: no contact over %d: %+v %+v", i, bearer, n, x)
	}
	c.report(i, bearer, nil) // after this its acknowledgements are believed
	c.forget()
}

// meet brings a link as far as its first STATE.
func (c *peers) meet(i, bearer, mtu int) {
	c.t.Helper()
	m := c.peerList[i]
	x := m.lines[bearer]
	if x == nil {
		x = &peerLine{mac: frame.MAC{2, 2, 0, 0, byte(bearer), byte(i + 1)}, session: 700}
		m.lines[bearer] = x
	}
	x.session++
	x.mtu, x.seq, x.ack, x.state = mtu, c.first(), c.first()-1, 1
	f := frame.DiscoveryFields{
		Type: frame.Request, Capabilities: m.caps, Signature: 0x1111, Prev: m.addr, NetID: frame.DefaultNetID,
		MAC: x.mac, NetHash: 9, Identity: frame.AddrIdentity(m.addr),
	}
	c.raw(bearer, ether(frame.BroadcastMAC, x.mac, f.Append(nil)))
	l := c.node(i).links[bearer]
	if other := c.otherLine(i, bearer); other < 0 {
		m.heard = c.cast.sender.Last()
	}
	for at := l.Deadline(); c.now < at; {
		c.now = min(c.Deadline(), at)
		c.HandleTimeout(c.now)
		c.collect()
		c.live()
	}
	c.reset(i, bearer, true)
	c.report(i, bearer, func(f *frame.StateFields) { f.Ack, f.BcastAckInvalid, f.RedundantLink = c.first()-1, true, false })
}

// live lets every peer be heard on every link.
func (c *peers) live() {
	for i := range c.peerList {
		for bearer := range c.peerList[i].lines {
			if n := c.node(i); n != nil && n.up() && n.links[bearer] != nil && n.links[bearer].IsUp() {
				c.report(i, bearer, nil)
			}
		}
	}
}

// otherLine is the bearer of the link to peer i that is up, besides one, or -1.
func (c *peers) otherLine(i, bearer int) int {
	if n := c.node(i); n != nil {
		for id, l := range n.links {
			if id != bearer && l != nil && l.IsUp() {
				return id
			}
		}
	}
	return -1
}

// reset says RESET, or ACTIVATE of the session heard.
func (c *peers) reset(i, bearer int, activate bool) {
	c.t.Helper()
	m := c.peerList[i]
	x := m.lines[bearer]
	f := frame.ResetFields{
		Common: frame.Common{Seq: 0x8000, Prev: m.addr}, LinkInfo: c.info(i, bearer), Activate: activate,
		DestSession: x.dest, DestSessionValid: activate, MaxPacket: x.mtu,
	}
	f.NextSent, f.RedundantLink, f.BcastAckInvalid = c.first(), c.node(i).up(), true
	copy(f.IfName[:], fmt.Sprint("eth", bearer))
	c.hear(i, bearer, f.Append(nil))
}

// leave takes the link of peer i over a bearer down: the peer begins a new session. What
// it still had goes over the other, which is nothing.
func (c *peers) leave(i, bearer int) {
	c.t.Helper()
	m := c.peerList[i]
	last := m.lines[bearer].seq
	m.lines[bearer].session++
	c.reset(i, bearer, false)
	if other := c.otherLine(i, bearer); other >= 0 {
		nothing := data(0, func(f *frame.PayloadFields) {
			f.Prev, f.OrigNode, f.Error, f.DestNode = m.addr, m.addr, frame.NoPort, c.Address()
		}, "")
		f := frame.TunnelFields{Common: frame.Common{Prev: m.addr}, Type: frame.TunnelFailover, Count: 1, Bearer: uint8(bearer), Orig: m.addr, Dest: c.Address()}
		c.packet(i, other, f.Append(nil, inside(last, nothing)))
		c.report(i, other, nil)
		c.report(i, other, nil)
		if n := c.node(i); n.contact != UpUp {
			c.t.Fatalf("peer %d: %v after the failover", i, n.contact)
		}
	}
}

func (c *peers) info(i, bearer int) frame.LinkInfo {
	x := c.peerList[i].lines[bearer]
	return frame.LinkInfo{NextSent: x.seq, Session: x.session, Bearer: uint8(bearer), Orig: c.peerList[i].addr, Dest: c.Address(), RedundantLink: true}
}

// report says a STATE of peer i that acknowledges everything on the link, and of the
// broadcast link what it has heard.
func (c *peers) report(i, bearer int, change func(*frame.StateFields)) {
	c.t.Helper()
	c.reportBlocks(i, bearer, nil, change)
}

// reportBlocks is report with what the peer has of the broadcast link behind a gap.
func (c *peers) reportBlocks(i, bearer int, blocks []frame.GapBlock, change func(*frame.StateFields)) {
	c.t.Helper()
	m := c.peerList[i]
	var record []byte
	if m.caps.Has(frame.CapGapAckBlock) {
		record = (&frame.GapAckFields{Bcast: blocks}).Append(nil)
	}
	x := m.lines[bearer]
	f := frame.StateFields{Common: frame.Common{Seq: x.state, Ack: x.ack, BcastAck: m.heard, Prev: m.addr}, LinkInfo: c.info(i, bearer)}
	f.LastBcast = m.bcast - 1
	x.state++
	if change != nil {
		change(&f)
	}
	c.hear(i, bearer, f.Append(nil, record))
}

// acks lets peer i acknowledge all broadcasts up to one.
func (c *peers) acks(i int, last frame.Seq) {
	c.t.Helper()
	c.peerList[i].heard = last
	c.report(i, c.anyLine(i), nil)
}

// allAck lets all peers acknowledge every broadcast.
func (c *peers) allAck() {
	c.t.Helper()
	for i := range c.peerList {
		if c.node(i) != nil && c.node(i).up() {
			c.acks(i, c.cast.sender.Last())
		}
	}
}

func (c *peers) anyLine(i int) int { return c.otherLine(i, -1) }

// packet gives the engine a message as the next packet of a link.
func (c *peers) packet(i, bearer int, msg []byte) {
	c.t.Helper()
	x := c.peerList[i].lines[bearer]
	frame.StampSeq(msg, x.seq)
	frame.StampAcks(msg, x.ack, c.peerList[i].heard)
	x.seq++
	c.hear(i, bearer, msg)
}

// broadcast gives the engine a message as the next packet of peer i's broadcast link.
func (c *peers) broadcast(i, bearer int, msg []byte) {
	c.t.Helper()
	m := c.peerList[i]
	frame.StampBroadcast(msg, m.bcast, frame.DefaultNetID)
	m.bcast++
	c.raw(bearer, ether(frame.BroadcastMAC, m.lines[bearer].mac, msg))
}

func (c *peers) hear(i, bearer int, msg []byte) {
	c.t.Helper()
	c.raw(bearer, ether(peersMAC(bearer), c.peerList[i].lines[bearer].mac, msg))
}

func (c *peers) raw(bearer int, b []byte) {
	c.t.Helper()
	f := c.arena.Get(len(b), netdev.Control)
	if f == nil {
		c.t.Fatal("no chunk")
	}
	f.Resize(len(b))
	copy(f.Bytes(), b)
	c.HandleFrame(c.now, bearer, f)
	f.Release()
	c.collect()
}

// collect takes what the engine sends and keeps the peers' numbers up to date.
func (c *peers) collect() {
	c.t.Helper()
	for bearer := range c.bearers {
		for f := c.NextFrame(bearer); f != nil; f = c.NextFrame(bearer) {
			c.sent = append(c.sent, peersFrame{bearer, bytes.Clone(f.Bytes())})
			eth, payload, _ := frame.ParseEthernet(f.Bytes())
			m, err := frame.Parse(payload)
			if err != nil {
				c.t.Errorf("sent an unsound message: %v", err)
			}
			for _, p := range c.peerList {
				if x := p.lines[bearer]; x != nil && x.mac == eth.Dst() {
					x.took(m)
				}
			}
			f.Release()
		}
	}
}

func (x *peerLine) took(m frame.Message) {
	switch {
	case m.User() == frame.UserLink:
		if l, err := frame.ParseLink(m); err == nil {
			x.dest = l.Session()
		}
	case !m.NonSeq() && m.Seq() == x.ack+1:
		x.ack++
	}
}

// drain takes what was sent, "bearer>who message": "all" is the broadcast address.
func (c *peers) drain() (lines []string) {
	c.t.Helper()
	c.collect()
	for _, f := range c.sent {
		eth, payload, _ := frame.ParseEthernet(f.bytes)
		line, err := describe.Message(payload)
		if err != nil {
			line = "UNSOUND " + line
		} else {
			_, line, _ = strings.Cut(line, " ") // from whom to whom
		}
		line = strings.ReplaceAll(line, " bcast-ack=0", "")
		who := "all"
		if eth.Dst() != frame.BroadcastMAC {
			who = fmt.Sprint(eth.Dst()[5])
		}
		lines = append(lines, fmt.Sprintf("%d>%s %s", f.bearer, who, line))
	}
	c.sent = nil
	return lines
}

// casts takes what was sent and returns the packets of the broadcast link, "bearer:number".
func (c *peers) casts() (s []string) {
	c.t.Helper()
	c.collect()
	for _, f := range c.sent {
		eth, payload, _ := frame.ParseEthernet(f.bytes)
		if m, err := frame.Parse(payload); err == nil && eth.Dst() == frame.BroadcastMAC && m.User() != frame.UserDiscovery {
			if eth.Src() != peersMAC(f.bearer) {
				c.t.Errorf("packet %d on bearer %d is from %v", m.Seq(), f.bearer, eth.Src())
			}
			s = append(s, fmt.Sprintf("%d:%d", f.bearer, m.Seq()))
		}
	}
	c.sent = nil
	return s
}

// forget forgets what was said and counted so far.
func (c *peers) forget() {
	c.collect()
	c.sent = nil
	c.eventList()
	c.TakeNameEvents(nil)
	c.count.Drops = Drops{}
}

// eventList takes the events.
func (c *peers) eventList() (s []string) {
	for ev, ok := c.NextEvent(); ok; ev, ok = c.NextEvent() {
		line := fmt.Sprint(ev.Kind, " ", ev.Node)
		if ev.Count > 0 {
			line += fmt.Sprint(" times ", ev.Count)
		}
		s = append(s, line)
	}
	return s
}

// drops returns the reasons counted since the last call.
func (c *peers) drops() string {
	s := c.count.Drops.String()
	c.count.Drops = Drops{}
	return s
}

func (c *peers) wantDrops(what, want string) {
	c.t.Helper()
	if got := c.drops(); got != want {
		c.t.Errorf("%s: dropped %q, want %q", what, got, want)
	}
}

// wait lets time pass, deadline by deadline; what is sent stays for drain.
func (c *peers) wait(end time.Duration) {
	for c.Deadline() <= end {
		c.now = c.Deadline()
		c.HandleTimeout(c.now)
		c.collect()
	}
	c.now = end
}

// listen makes peer i have a socket, port 5, bound to a range, by its next update.
func (c *peers) listen(i int, seq frame.Seq, typ, lower, upper uint32) {
	c.t.Helper()
	c.packet(i, c.anyLine(i), c.names(i, func(f *frame.NamesFields) { f.UpdateSeq = seq }, nameItem(typ, lower, upper, 5)))
}

// names is a name message of peer i, an update unless changed.
func (c *peers) names(i int, change func(*frame.NamesFields), items ...frame.NameItem) []byte {
	f := frame.NamesFields{Common: frame.Common{Prev: c.peerList[i].addr}, NonLegacy: true, Orig: c.peerList[i].addr, Dest: c.Address()}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, items...)
}

// mcast is a message of peer i's port 77 to a range.
func (c *peers) mcast(i int, r frame.Range, change func(*frame.PayloadFields), text string) []byte {
	f := frame.PayloadFields{
		Common: frame.Common{Prev: c.peerList[i].addr}, Type: frame.McastMsg, Scope: frame.ClusterScope,
		OrigPort: 77, OrigNode: c.peerList[i].addr, NameType: r.Type, Lower: r.Lower, Upper: r.Upper,
	}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, []byte(text))
}

// replica is one to allRange that goes to the engine alone, by unicast.
func (c *peers) replica(i int, text string) []byte {
	return c.mcast(i, allRange, func(f *frame.PayloadFields) { f.SrcDroppable, f.DestNode = true, c.Address() }, text)
}

// done ends contact and checks that every chunk comes back.
func (c *peers) done(what string) {
	c.t.Helper()
	c.Leave(c.now)
	c.collect()
	if got, want := c.arena.Free(), c.arena.Total(); got != want {
		c.t.Errorf("%s: free chunks: got %v, want %v", what, got, want)
	}
	if got := c.Kept(); got != 0 {
		c.t.Errorf("%s: %d bytes are kept for others", what, got)
	}
}

// allRange is a range that the tests send to.
var allRange = frame.Range{Type: 1000, Lower: 0, Upper: 100}
