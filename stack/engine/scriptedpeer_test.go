// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

const (
	ownAddr frame.NodeAddr = 0x1001001
	popAddr frame.NodeAddr = 0x1001002

	popCaps = Capabilities &^ frame.CapGapAckBlock // its reports are plain
)

var (
	ownMAC = bearerMAC(0)
	popMAC = peerMAC(0, 0)
)

func bearerMAC(bearer int) frame.MAC  { return frame.MAC{2, 0, 0, 0, byte(bearer), 1} }
func peerMAC(i, bearer int) frame.MAC { return frame.MAC{2, 2, 0, 0, byte(bearer), byte(i + 1)} }

// A peers is an engine, 1001001, with some bearers, and scripted peers, 1001002 and on.
type peers struct {
	*Engine
	t        testing.TB
	arena    *netdev.Arena
	now      time.Duration
	peerList []*scriptedPeer
	sent     []sentFrame // frames of the engine, not looked at yet
}

// A scriptedPeer is a peer of the engine whose every frame is made by the test. Without
// another one named, it speaks on its link over the first bearer.
type scriptedPeer struct {
	*peerLink
	addr  frame.NodeAddr
	caps  frame.Capabilities
	links [MaxBearers]*peerLink
	bcast frame.Seq // its next broadcast packet
	heard frame.Seq // the engine's last broadcast packet that it acknowledges
}

// A peerLink is a scripted peer's end of the link over one bearer.
type peerLink struct {
	*peers
	peer    *scriptedPeer
	bearer  int
	mac     frame.MAC
	mtu     int
	session frame.Seq
	dest    frame.Seq // of the engine's endpoint, as heard
	seq     frame.Seq // its next packet
	ack     frame.Seq // the engine's last packet heard in order
	state   frame.Seq // its next STATE
}

// newScriptedPeer makes an engine with one bearer, and a peer that has said nothing yet.
func newScriptedPeer(t testing.TB, change ...func(*Config)) *scriptedPeer {
	t.Helper()
	return scriptedPeerOn(t, newArena(t, netdev.ArenaConfig{Small: 1024}), change...)
}

func scriptedPeerOn(t testing.TB, a *netdev.Arena, change ...func(*Config)) *scriptedPeer {
	t.Helper()
	p := peersOn(t, a, 1, 0, change...).on(0, 0).peer
	p.drain()
	return p
}

// newTwoLinks makes an engine with two bearers, and a peer that is in contact over both.
func newTwoLinks(t testing.TB, change ...func(*Config)) *scriptedPeer {
	t.Helper()
	c := newPeers(t, 2, 0, change...)
	for i := range 2 {
		c.on(0, i).join()
	}
	p := c.peerList[0]
	if !p.bothUp() {
		t.Fatalf("no two links: %v, %v, %v", p.node().contact, p.link(0).State(), p.link(1).State())
	}
	return p
}

// newPeers makes an engine with some bearers and so many peers, all on the first.
func newPeers(t testing.TB, bearers, n int, change ...func(*Config)) *peers {
	t.Helper()
	return peersOn(t, newArena(t, netdev.ArenaConfig{Small: 1024}), bearers, n, change...)
}

func peersOn(t testing.TB, a *netdev.Arena, bearers, n int, change ...func(*Config)) *peers {
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
		if _, err := c.AddBearer(0, BearerConfig{Name: fmt.Sprint("eth", i), MAC: bearerMAC(i), MTU: 1500}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		c.on(i, 0).join()
	}
	return c
}

// add makes one more peer, on no bearer yet.
func (c *peers) add(caps frame.Capabilities) int {
	i := len(c.peerList)
	c.peerList = append(c.peerList, &scriptedPeer{addr: popAddr + frame.NodeAddr(i), caps: caps, bcast: c.first()})
	return i
}

// on is the link of peer i over a bearer. The next peer there is none of yet is made.
func (c *peers) on(i, bearer int) *peerLink {
	if i == len(c.peerList) {
		c.add(popCaps)
	}
	p := c.peerList[i]
	if p.links[bearer] == nil {
		p.links[bearer] = &peerLink{peers: c, peer: p, bearer: bearer, mac: peerMAC(i, bearer), mtu: 1500, session: frame.Seq(700 + 100*bearer)}
		p.links[bearer].begin()
		p.peerLink = cmp.Or(p.peerLink, p.links[bearer])
	}
	return p.links[bearer]
}

// begin begins the numbers of a session.
func (x *peerLink) begin() { x.seq, x.ack, x.state = x.first(), x.first()-1, 1 }

// own is the engine's address, also while it is on trial.
func (c *peers) own() frame.NodeAddr { return cmp.Or(c.Address(), ownAddr) }

func (c *peers) node(i int) *node        { return c.byAddr[c.peerList[i].addr] }
func (x *peerLink) node() *node          { return x.byAddr[x.peer.addr] }
func (p *scriptedPeer) link(i int) *link { return p.node().links[i] }

// bothUp reports whether the first two links are in use.
func (p *scriptedPeer) bothUp() bool {
	n := p.node()
	return n != nil && n.contact == UpUp && n.links[0].State() == flowctl.Established && n.links[1].State() == flowctl.Established
}

// other is a link of the peer that is up, besides x, or nil.
func (p *scriptedPeer) other(x *peerLink) *peerLink {
	if n := p.node(); n != nil {
		for id, l := range n.links {
			if l != nil && l.IsUp() && p.links[id] != x {
				return p.links[id]
			}
		}
	}
	return nil
}

// up makes contact over the first bearer and forgets what was said for it.
func (p *scriptedPeer) up() *scriptedPeer {
	p.t.Helper()
	p.join()
	return p
}

// join brings the link up, as the peer's first or one more.
func (x *peerLink) join() {
	x.t.Helper()
	x.disc(frame.Request, nil)
	x.again()
}

// joinMTU is join with packets of at most mtu bytes.
func (x *peerLink) joinMTU(mtu int) {
	x.t.Helper()
	x.mtu = mtu
	x.join()
}

// again brings the link up from RESET.
func (x *peerLink) again() {
	x.t.Helper()
	x.meet()
	if other := x.peer.other(x); other != nil {
		x.packet(x.peer.tunnel(func(f *frame.TunnelFields) { f.Type, f.Count = frame.TunnelSynch, uint16(other.seq-1) }, nil))
		other.report(nil)
	} else {
		x.bcastInit()
		x.packet(x.peer.names(func(f *frame.NamesFields) { f.Bulk, f.LastBulk, f.UpdateSeq = true, true, 1 }, stateItem(x.peer.addr)))
	}
	if n := x.node(); n == nil || n.contact != UpUp || !n.links[x.bearer].IsUp() {
		x.t.Fatalf("no contact over bearer %d: %+v", x.bearer, n)
	}
	x.report(nil) // after this its acknowledgements of broadcasts are believed
	x.forget()
}

// meet brings the link from RESET as far as its first STATE.
func (x *peerLink) meet() {
	x.t.Helper()
	x.collect()
	x.begin()
	if x.peer.other(x) == nil {
		x.peer.heard = x.cast.sender.Last()
	}
	for at := x.node().links[x.bearer].Deadline(); x.now < at; { // RESET
		x.now = min(x.Deadline(), at)
		x.HandleTimeout(x.now)
		x.collect()
		x.live()
	}
	x.reset(true)
	x.report(func(f *frame.StateFields) { f.Ack, f.BcastAckInvalid, f.RedundantLink = x.first()-1, true, false })
}

// leave takes the link down: the peer begins a new session. What it still had goes over
// another link, which is nothing.
func (x *peerLink) leave() {
	x.t.Helper()
	last := x.seq
	x.session++
	x.reset(false)
	if other := x.peer.other(x); other != nil {
		nothing := data(0, func(f *frame.PayloadFields) {
			f.Prev, f.OrigNode, f.Error = x.peer.addr, x.peer.addr, frame.NoPort
			f.DestNode = x.own()
		}, "")
		other.packet(x.peer.tunnel(func(f *frame.TunnelFields) { f.Bearer = uint8(x.bearer) }, inside(last, nothing)))
		other.report(nil)
		other.report(nil)
		if n := x.node(); n.contact != UpUp {
			x.t.Fatalf("%v: %v after the failover", x.peer.addr, n.contact)
		}
	}
}

// live lets every peer be heard on every link.
func (c *peers) live() {
	for _, p := range c.peerList {
		for bearer, x := range p.links {
			if x == nil {
				continue
			}
			if n := x.node(); n != nil && n.up() && n.links[bearer] != nil && n.links[bearer].IsUp() {
				x.report(nil)
			}
		}
	}
}

// disc gives the engine a discovery message of the peer, changed.
func (x *peerLink) disc(t frame.DiscoveryType, change func(*frame.DiscoveryFields)) {
	x.t.Helper()
	f := frame.DiscoveryFields{
		Type: t, Capabilities: x.peer.caps, Signature: 0x1111, Prev: x.peer.addr, NetID: frame.DefaultNetID,
		MAC: x.mac, NetHash: 9, Identity: frame.AddrIdentity(x.peer.addr),
	}
	if change != nil {
		change(&f)
	}
	x.raw(ether(frame.BroadcastMAC, f.MAC, f.Append(nil)))
}

func (x *peerLink) info() frame.LinkInfo {
	return frame.LinkInfo{NextSent: x.seq, Session: x.session, Bearer: uint8(x.bearer), Orig: x.peer.addr, Dest: x.own(), RedundantLink: true}
}

// reset says RESET, or ACTIVATE of the session heard, changed.
func (x *peerLink) reset(activate bool, change ...func(*frame.ResetFields)) {
	x.t.Helper()
	f := frame.ResetFields{
		Common: frame.Common{Seq: 0x8000, Prev: x.peer.addr}, LinkInfo: x.info(), Activate: activate,
		DestSession: x.dest, DestSessionValid: activate, MaxPacket: x.mtu,
	}
	n := x.node()
	f.NextSent, f.RedundantLink, f.BcastAckInvalid = x.first(), n != nil && n.up(), true
	copy(f.IfName[:], fmt.Sprint("eth", x.bearer))
	for _, c := range change {
		c(&f)
	}
	x.hear(f.Append(nil))
}

// report says STATE, changed. It acknowledges everything on the link, and what the peer has
// heard of the broadcast link.
func (x *peerLink) report(change func(*frame.StateFields)) {
	x.t.Helper()
	x.reportBlocks(nil, change)
}

// reportBlocks is report with what the peer has of the broadcast link behind a gap.
func (x *peerLink) reportBlocks(blocks []frame.GapBlock, change func(*frame.StateFields)) {
	x.t.Helper()
	var record []byte
	if x.peer.caps.Has(frame.CapGapAckBlock) {
		record = (&frame.GapAckFields{Bcast: blocks}).Append(nil)
	}
	f := frame.StateFields{Common: frame.Common{Seq: x.state, Ack: x.ack, BcastAck: x.peer.heard, Prev: x.peer.addr}, LinkInfo: x.info()}
	f.LastBcast = x.peer.bcast - 1
	x.state++
	if change != nil {
		change(&f)
	}
	x.hear(f.Append(nil, record))
}

// bcastInit tells the engine where the peer's broadcast link begins.
func (x *peerLink) bcastInit() {
	x.t.Helper()
	f := frame.BcastInitFields{Common: frame.Common{Prev: x.peer.addr}, LastBcast: x.peer.bcast - 1, BcastAckInvalid: true, Orig: x.peer.addr, Dest: x.own()}
	x.packet(f.Append(nil))
}

// next stamps a message as the next packet of the link.
func (x *peerLink) next(msg []byte) []byte {
	frame.StampSeq(msg, x.seq)
	frame.StampAcks(msg, x.ack, x.peer.heard)
	x.seq++
	return msg
}

// packet gives the engine a message as the next packet of the link.
func (x *peerLink) packet(msg []byte) {
	x.t.Helper()
	x.hear(x.next(msg))
}

// broadcast gives the engine a message as the next packet of the peer's broadcast link.
func (x *peerLink) broadcast(msg []byte) {
	x.t.Helper()
	frame.StampBroadcast(msg, x.peer.bcast, frame.DefaultNetID)
	x.peer.bcast++
	x.raw(ether(frame.BroadcastMAC, x.mac, msg))
}

// hear gives the engine a message of the peer.
func (x *peerLink) hear(msg []byte) {
	x.t.Helper()
	x.raw(ether(bearerMAC(x.bearer), x.mac, msg))
}

// raw gives the engine a frame as it is.
func (x *peerLink) raw(b []byte) {
	x.t.Helper()
	x.peers.raw(x.bearer, b)
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
			c.sent = append(c.sent, sentFrame{bearer, bytes.Clone(f.Bytes())})
			eth, payload, _ := frame.ParseEthernet(f.Bytes())
			m, err := frame.Parse(payload)
			if err != nil {
				c.t.Errorf("sent an unsound message: %v", err)
			}
			for _, p := range c.peerList {
				if x := p.links[bearer]; x != nil && x.mac == eth.Dst() {
					x.took(m)
				}
			}
			f.Release()
		}
	}
}

func (x *peerLink) took(m frame.Message) {
	switch {
	case m.User() == frame.UserLink:
		if l, err := frame.ParseLink(m); err == nil {
			x.dest = l.Session()
		}
	case !m.NonSeq() && m.Seq() == x.ack+1:
		x.ack++
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

// wait lets time pass, deadline by deadline, and returns what was sent when.
func (x *peerLink) wait(end time.Duration) (lines []string) {
	for x.Deadline() <= end {
		x.peers.wait(x.Deadline())
		for _, l := range x.drain() {
			lines = append(lines, fmt.Sprint(x.now, " ", l))
		}
	}
	x.now = end
	return lines
}

// held is the number of chunks that the links do not account for.
func (c *peers) held() int {
	held := map[*netdev.Buffer]bool{}
	for b := range c.Buffers {
		held[b] = true
	}
	return c.arena.Total() - c.arena.Free() - len(held)
}

// settle lets the peer acknowledge everything on both links, so that nothing may be left.
func (p *scriptedPeer) settle(what string) {
	p.t.Helper()
	p.links[0].report(nil)
	p.links[1].report(nil)
	if free, total := p.arena.Free(), p.arena.Total(); free != total {
		p.t.Errorf("%s: %d of %d chunks free", what, free, total)
	}
}

// done ends contact and checks that every chunk comes back.
func (c *peers) done(what ...string) {
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
