// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
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

// A rig is one link whose peer is played by the test. The link's session is 100,
// the peer's 700.
type rig struct {
	t testing.TB
	*Link
	bc    *BroadcastReceiver
	arena *netdev.Arena
	now   time.Duration
	state frame.Seq // the peer's next STATE
	got   []string  // data delivered
}

func newRig(t testing.TB, change ...func(*Config)) *rig {
	r := &rig{t: t, bc: NewBroadcastReceiver(self)}
	c := Config{
		Local: &Local{Self: self, IfName: "eth0", Alone: true}, Peer: peer, MTU: 1500, Tolerance: DefaultTolerance, Priority: 10,
		MinWindow: DefaultWindow, MaxWindow: DefaultWindow, Session: 100, Broadcast: r.bc,
	}
	for _, f := range change {
		f(&c)
	}
	if c.Arena == nil {
		c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 1024})
	}
	r.arena = c.Arena
	r.Link = NewLink(0, c, allCaps)
	return r
}

// up brings the link up and forgets what was sent for it.
func (r *rig) up() *rig {
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
func (r *rig) done() {
	r.t.Helper()
	r.Stop()
	r.out()
	r.bc.Reset()
	if got, want := r.arena.Free(), r.arena.Total(); got != want {
		r.t.Errorf("free chunks: got %v, want %v", got, want)
	}
}

// out drains the frames and returns them described, shortened.
func (r *rig) out() (lines []string) {
	for b := r.NextFrame(); b != nil; b = r.NextFrame() {
		lines = append(lines, summary(b))
		b.Release()
	}
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
func (r *rig) stateMsg(change func(*frame.StateFields)) []byte {
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
func (r *rig) hear(b []byte) bool {
	r.t.Helper()
	m := parseLink(r.t, b)
	if !r.Accept(m) {
		return false
	}
	r.HandleLink(r.now, m)
	return true
}

// packet puts a packet of the peer into a Buffer.
func (r *rig) packet(seq, ack frame.Seq, data string) (frame.Message, *netdev.Buffer) {
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
func (r *rig) receive(seq, ack frame.Seq) Verdict {
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

// message is one for Send, with n bytes of data.
func (r *rig) message(n int) *netdev.Buffer {
	b := r.arena.Get(frame.EthernetLen+frame.BasicLen+n, netdev.Data)
	if b == nil {
		r.t.Fatal("no chunk")
	}
	f := frame.PayloadFields{
		Common: frame.Common{Prev: self}, Type: frame.DirectMsg,
		OrigPort: 1, DestPort: 2, OrigNode: self, DestNode: peer,
	}
	b.Extend(frame.EthernetLen)
	f.Append(b.Extend(frame.BasicLen + n)[:0], make([]byte, n))
	return b
}

// send sends n messages of 4 bytes.
func (r *rig) send(n int) *rig {
	r.t.Helper()
	for range n {
		if err := r.Send(r.now, r.message(4), frame.Low); err != nil {
			r.t.Fatal(err)
		}
	}
	return r
}

// ack lets the peer report.
func (r *rig) ack(ack frame.Seq, gap int) {
	r.t.Helper()
	if !r.hear(r.stateMsg(func(f *frame.StateFields) { f.Ack, f.Gap = ack, gap })) {
		r.t.Fatal("STATE not accepted")
	}
}

// at moves the numbers of both directions, as if much had been exchanged.
func (r *rig) at(snd, rcv frame.Seq) *rig {
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

func (r *rig) discard() {
	for b := r.NextFrame(); b != nil; b = r.NextFrame() {
		b.Release()
	}
}
