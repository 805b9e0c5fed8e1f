// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"encoding/hex"
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
	self frame.NodeAddr = 0x1001001
	peer frame.NodeAddr = 0x1001002

	allCaps = frame.CapSynBit | frame.CapBcastSynch | frame.CapBcastStateNack | frame.CapNodeID128 | frame.CapLinkProtoSeqno
)

// A scriptedPeer is the machine under test and its peer, which is played by the test: one
// link with the receiver of the peer's broadcast link, or the sender of a broadcast link with
// its members. The session of a link is 100, its peer's 700.
type scriptedPeer struct {
	t     testing.TB
	*Link // a broadcast link's is its sender's
	bc    *BroadcastReceiver
	s     *BroadcastSender
	m     []*Member
	arena *netdev.Arena
	now   time.Duration
	state frame.Seq // the peer's next STATE
	got   []string  // data delivered
}

func newScriptedPeer(t testing.TB, change ...func(*Config)) *scriptedPeer {
	r := &scriptedPeer{t: t}
	c := Config{
		Local: &Local{Self: self, IfName: "eth0", Alone: true}, Peer: peer, MTU: 1500, Tolerance: DefaultTolerance, Priority: 10,
		MinWindow: DefaultWindow, MaxWindow: DefaultWindow, Session: 100,
	}
	for _, f := range change {
		f(&c)
	}
	if c.Arena == nil {
		c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 1024})
	}
	if c.Broadcast == nil {
		c.Broadcast = NewBroadcastReceiver(c.Self)
	}
	r.bc, r.arena = c.Broadcast, c.Arena
	r.Link = NewLink(0, c, allCaps)
	return r
}

// newGapAckPeer is up, and both ends announce gap-ack blocks.
func newGapAckPeer(t testing.TB, change ...func(*Config)) *scriptedPeer {
	r := newScriptedPeer(t, append([]func(*Config){func(c *Config) { c.Capabilities = allCaps | frame.CapGapAckBlock }}, change...)...)
	r.SetCapabilities(allCaps | frame.CapGapAckBlock)
	return r.up()
}

// newBroadcastReceiving is up, and has heard that the peer's last broadcast packet is last.
func newBroadcastReceiving(t testing.TB, addr frame.NodeAddr, last frame.Seq) *scriptedPeer {
	r := newScriptedPeer(t, func(c *Config) { c.Self = addr }).up()
	r.bc.Open(last)
	return r
}

// up brings the link up and forgets what was sent for it.
func (r *scriptedPeer) up() *scriptedPeer {
	r.t.Helper()
	r.hear(reset(nil))
	if !r.Up(r.now) {
		r.t.Fatalf("link does not come up from %v", r.State())
	}
	r.TakeEvents()
	r.out()
	return r
}

// done checks that every chunk comes back.
func (r *scriptedPeer) done() {
	r.t.Helper()
	r.Stop()
	r.out()
	r.bc.Reset()
	if got, want := r.arena.Free(), r.arena.Total(); got != want {
		r.t.Errorf("free chunks: got %v, want %v", got, want)
	}
}

// sentMessages drains the frames and yields the message in each.
func (r *scriptedPeer) sentMessages(yield func(frame.Message) bool) {
	r.t.Helper()
	for b, more := r.NextFrame(), true; more && b != nil; {
		m, err := frame.Parse(b.Bytes()[frame.EthernetLen:])
		if err != nil {
			r.t.Fatal(err)
		}
		more = yield(m)
		b.Release()
		if more {
			b = r.NextFrame()
		}
	}
}

// out drains the frames and returns them described, shortened.
func (r *scriptedPeer) out() (lines []string) {
	for b := r.NextFrame(); b != nil; b = r.NextFrame() {
		lines = append(lines, summary(b))
		b.Release()
	}
	return lines
}

// seqs drains the frames and returns the data packets' numbers.
func (r *scriptedPeer) seqs() (s []int) {
	r.t.Helper()
	for m := range r.sentMessages {
		if m.User().IsPayload() {
			s = append(s, int(m.Seq()))
		}
	}
	return s
}

// users drains the frames and returns the packets' users.
func (r *scriptedPeer) users() (all []frame.User) {
	for m := range r.sentMessages {
		all = append(all, m.User())
	}
	return all
}

// records drains the frames and returns the records of the STATE messages.
func (r *scriptedPeer) records() (all []string) {
	for m := range r.sentMessages {
		if m.User() == frame.UserLink {
			all = append(all, hex.EncodeToString(parseLink(r.t, m.Bytes()).Data()))
		}
	}
	return all
}

// until serves every deadline before end and returns what was sent, with the time.
func (r *scriptedPeer) until(end time.Duration) (lines []string) {
	for r.Deadline() < end {
		r.now = max(r.now, r.Deadline())
		r.HandleTimeout(r.now)
		for _, l := range r.out() {
			lines = append(lines, fmt.Sprint(r.now, " ", l))
		}
	}
	r.now = end
	return lines
}

// summary is the frame in a line, without what most have.
func summary(b *netdev.Buffer) string {
	line, err := describe.Message(b.Bytes()[frame.EthernetLen:])
	if err != nil {
		return "UNSOUND " + line
	}
	_, line, _ = strings.Cut(line, " ")
	for _, s := range []string{" if=eth0", " max=1500", " bcast-invalid", " bcast-ack=0", "data-low/direct 1>2 "} {
		line = strings.ReplaceAll(line, s, "")
	}
	return line
}

func eventText(e Event) string {
	var s []string
	for i, n := range []string{"want-up", "went-down", "room", "stuck", "ask"} {
		if e&(1<<i) != 0 {
			s = append(s, n)
		}
	}
	return strings.Join(s, " ")
}

func reset(change func(*frame.ResetFields)) []byte {
	f := frame.ResetFields{
		Common:   frame.Common{Seq: 0x8000, Prev: peer},
		LinkInfo: frame.LinkInfo{NextSent: 1, Session: 700, BcastAckInvalid: true, Orig: peer, Dest: self}, MaxPacket: 1500,
	}
	copy(f.IfName[:], "eth1")
	if change != nil {
		change(&f)
	}
	return f.Append(nil)
}

func activate(change func(*frame.ResetFields)) []byte {
	return reset(func(f *frame.ResetFields) {
		f.Activate, f.DestSession, f.DestSessionValid = true, 100, true
		if change != nil {
			change(f)
		}
	})
}

// stateMsg is the peer's next STATE.
func (r *scriptedPeer) stateMsg(change func(*frame.StateFields)) []byte {
	r.state++
	f := frame.StateFields{
		Common:   frame.Common{Seq: r.state, Prev: peer},
		LinkInfo: frame.LinkInfo{NextSent: r.rcvNxt, Session: 700, Orig: peer, Dest: self},
	}
	if r.IsUp() {
		f.Ack = r.sndNxt - 1 - frame.Seq(r.transmit.Len())
	}
	if change != nil {
		change(&f)
	}
	return f.Append(nil, nil)
}

func parseLink(t testing.TB, b []byte) frame.LinkMessage {
	t.Helper()
	m, err := frame.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	l, err := frame.ParseLink(m)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// hear gives the link a message of the link protocol and reports whether it was
// accepted.
func (r *scriptedPeer) hear(b []byte) bool {
	r.t.Helper()
	m := parseLink(r.t, b)
	if !r.Accept(m) {
		return false
	}
	r.HandleLink(r.now, m)
	return true
}

// packet puts a packet of the peer into a Buffer.
func (r *scriptedPeer) packet(seq, ack frame.Seq, data string) (frame.Message, *netdev.Buffer) {
	b := r.arena.Get(frame.EthernetLen+frame.BasicLen+len(data), netdev.Control)
	if b == nil {
		r.t.Fatal("no chunk")
	}
	f := frame.PayloadFields{
		Common: frame.Common{Seq: seq, Ack: ack, Prev: peer}, Type: frame.DirectMsg,
		OrigPort: 2, DestPort: 1, OrigNode: peer, DestNode: self,
	}
	b.Extend(frame.EthernetLen)
	f.Append(b.Extend(frame.BasicLen + len(data))[:0], []byte(data))
	m, err := frame.Parse(b.Bytes()[frame.EthernetLen:])
	if err != nil {
		r.t.Fatal(err)
	}
	return m, b
}

// receive gives the link a data packet and takes out everything that has its
// turn then.
func (r *scriptedPeer) receive(seq, ack frame.Seq) Verdict {
	r.t.Helper()
	m, b := r.packet(seq, ack, fmt.Sprint(seq))
	defer b.Release()
	v := r.HandlePacket(r.now, m, b)
	if v == Deliver {
		r.got = append(r.got, string(m.Data()))
		for p, ok := r.Next(r.now); ok; p, ok = r.Next(r.now) {
			r.got = append(r.got, string(p.Message.Data()))
			p.Release()
		}
	}
	return v
}

// broadcast gives the node a packet of the peer's broadcast link and takes out everything that
// has its turn then; report as the receiver asks for one.
func (r *scriptedPeer) broadcast(seq frame.Seq) (v Verdict, report bool) {
	r.t.Helper()
	m, b := r.packet(seq, 0, fmt.Sprint(seq))
	defer b.Release()
	v, report = r.bc.HandlePacket(m, b)
	if v == Deliver {
		r.got = append(r.got, string(m.Data()))
		for p, due, ok := r.bc.Next(); ok; p, due, ok = r.bc.Next() {
			r.got = append(r.got, string(p.Message.Data()))
			report = report || due
			p.Release()
		}
	}
	return v, report
}

// message is one for Send, with n bytes of data.
func (r *scriptedPeer) message(n int) *netdev.Buffer {
	f := frame.PayloadFields{
		Common: frame.Common{Prev: self}, Type: frame.DirectMsg,
		OrigPort: 1, DestPort: 2, OrigNode: self, DestNode: peer,
	}
	header := frame.BasicLen
	if r.s != nil {
		f, header = mcast, frame.McastLen
	}
	b := r.arena.Get(frame.EthernetLen+header+n, netdev.Data)
	if b == nil {
		r.t.Fatal("no chunk")
	}
	msg := b.Extend(frame.EthernetLen + header + n)[frame.EthernetLen:]
	f.Put(msg, n)
	clear(msg[header:])
	return b
}

// send sends n messages of 4 bytes.
func (r *scriptedPeer) send(n int) *scriptedPeer {
	r.t.Helper()
	send := r.Send
	if r.s != nil {
		send = r.s.Send
	}
	for range n {
		if err := send(r.now, r.message(4), frame.Low); err != nil {
			r.t.Fatal(err)
		}
	}
	return r
}

// ack lets the peer report.
func (r *scriptedPeer) ack(ack frame.Seq, gap int) {
	r.t.Helper()
	if !r.hear(r.stateMsg(func(f *frame.StateFields) { f.Ack, f.Gap = ack, gap })) {
		r.t.Fatal("STATE not accepted")
	}
}

// report lets the peer report with the blocks given.
func (r *scriptedPeer) report(ack frame.Seq, gap int, blocks ...frame.GapBlock) {
	r.t.Helper()
	f := frame.GapAckFields{Unicast: blocks}
	r.reportRecord(ack, gap, f.Append(nil))
}

func (r *scriptedPeer) reportRecord(ack frame.Seq, gap int, record []byte) {
	r.t.Helper()
	b := r.stateMsg(func(f *frame.StateFields) { f.Ack, f.Gap = ack, gap })
	s, _ := parseLink(r.t, b).State()
	f := s.Fields()
	if !r.hear(f.Append(nil, record)) {
		r.t.Fatal("STATE not accepted")
	}
}

// at moves the numbers of both directions, as if much had been exchanged.
func (r *scriptedPeer) at(snd, rcv frame.Seq) *scriptedPeer {
	r.sndNxt, r.rcvNxt, r.checkpoint = snd, rcv, snd-1
	return r
}

func wantLines(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// stamp writes numbers into a built message of the peer.
func stamp(b *netdev.Buffer, seq, ack frame.Seq) {
	frame.StampSeq(b.Bytes()[frame.EthernetLen:], seq)
	frame.StampAcks(b.Bytes()[frame.EthernetLen:], ack, 0)
}

func (r *scriptedPeer) discard() {
	for b := r.NextFrame(); b != nil; b = r.NextFrame() {
		b.Release()
	}
}
