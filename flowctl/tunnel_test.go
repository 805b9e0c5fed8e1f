// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// twoLinks are the two links to a peer: T works, L is the other one, on bearer 1 here
// and 2 at the peer.
func twoLinks(t *testing.T, caps frame.Capabilities, mtu int) (T, L *scriptedPeer) {
	t.Helper()
	T = newScriptedPeer(t, func(c *Config) { c.MTU, c.Capabilities = mtu, allCaps|frame.CapTunnelEnhanced }).up()
	T.SetCapabilities(allCaps | caps)
	L = newScriptedPeer(t, func(c *Config) { c.Bearer, c.Arena = 1, T.arena })
	L.hear(reset(func(f *frame.ResetFields) { f.Bearer = 2 }))
	L.Up(0)
	L.discard()
	return T, L
}

func doneBoth(T, L *scriptedPeer) {
	L.Stop()
	L.discard()
	T.done()
}

// The frames of capture 18 that docs/spec/02-link.md §10 shows.
//
// Proves: link.failover
func TestTunnelBytesAsRecorded(t *testing.T) {
	T, L := twoLinks(t, frame.CapTunnelEnhanced, 1500)
	L.at(176, 1)
	T.SendSynch(0, L.Link)
	L.at(65, 1)
	L.fail(OwnDecision)
	if err := T.SendFailover(0, L.Link); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"55400028 00000000 00000001 01001001 00000000 00000400 01001001 01001002 00000000 00af0000",
		"55400048 20000000 00000002 01001001 00000000 00000400 01001001 01001002 00000000 00010000" +
			"41000020 64000000 00000041 01001001 00000000 00000000 01001001 01001002",
	}
	for i, w := range want {
		b := T.NextFrame()
		if got := hex.EncodeToString(b.Bytes()[frame.EthernetLen:]); got != strings.ReplaceAll(w, " ", "") {
			t.Errorf("frame %d:\n got %s\nwant %s", i, got, w)
		}
		b.Release()
	}
	doneBoth(T, L)
}

// The synchronisation point is the last number that was given out, or will be to what
// waits already; an old peer is sent all of it.
//
// Proves: link.failover
func TestSynchCountsWhatWaits(t *testing.T) {
	T, L := twoLinks(t, frame.CapTunnelEnhanced, 1500)
	L.send(60) // ten wait
	L.discard()
	T.SendSynch(0, L.Link)
	wantLines(t, "synch", T.out(), "tunnel/synch bearer=2 point=60 seq=1 ack=0")
	doneBoth(T, L)

	T, L = twoLinks(t, 0, 1500)
	L.send(52)
	L.discard()
	L.hear(L.stateMsg(func(f *frame.StateFields) { f.Ack = 49 }))
	L.discard()
	T.SendSynch(0, L.Link)
	wantLines(t, "old synch", T.out(),
		"tunnel/synch bearer=2 count=4 [ bytes=4 seq=50 ack=0 ] seq=1 ack=0",
		"tunnel/synch bearer=2 count=4 [ bytes=4 seq=51 ack=0 ] seq=2 ack=0",
		"tunnel/synch bearer=2 count=4 [ bytes=4 seq=52 ack=0 ] seq=3 ack=0",
		"tunnel/synch bearer=2 count=4 [ data-low/direct 0>0 error=no port bytes=0 seq=53 ack=0 ] seq=4 ack=0")
	doneBoth(T, L)
}

// A packet too large for the survivor goes in pieces, which are counted as
// docs/spec/02-link.md §10.2 found it: over 500 bytes 1428 are 4, 920 are 3, the last
// without data.
//
// Proves: link.failover
func TestFailoverInPieces(t *testing.T) {
	T, L := twoLinks(t, frame.CapTunnelEnhanced, 500)
	for _, n := range []int{1428, 920, 460} {
		if err := L.Send(0, L.message(n-frame.BasicLen), frame.Low); err != nil {
			t.Fatal(err)
		}
	}
	L.discard()
	L.fail(OwnDecision)
	if err := T.SendFailover(0, L.Link); err != nil {
		t.Fatal(err)
	}
	var sizes, counts []string
	var pieces Pieces
	var whole []string
	for m := range T.sentMessages {
		x, err := frame.ParseTunnel(m)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, fmt.Sprint(len(m.Bytes())))
		counts = append(counts, fmt.Sprint(x.Count()))
		in, err := x.Inner()
		if _, _, ok := x.Piece(); ok {
			in, err = pieces.Add(x)
		}
		if err != nil {
			t.Fatal(err)
		}
		if in.Bytes() != nil {
			whole = append(whole, fmt.Sprint(in.Seq(), " ", len(in.Bytes())))
		}
	}
	wantLines(t, "sizes", sizes, "500", "500", "500", "88", "500", "500", "40", "500", "72")
	wantLines(t, "joined", whole, "1 1428", "2 920", "3 460", "4 32")
	for _, c := range counts {
		if c != "9" {
			t.Errorf("counts %v, want 9", counts)
		}
	}
	doneBoth(T, L)
}

// Without pieces the survivor has to be given up; nothing leaks.
//
// Proves: link.failover
func TestFailoverThatCannotBe(t *testing.T) {
	T, L := twoLinks(t, 0, 500)
	if err := L.Send(0, L.message(1000), frame.Low); err != nil {
		t.Fatal(err)
	}
	L.discard()
	L.fail(OwnDecision)
	if err := T.SendFailover(0, L.Link); err != ErrTunnel {
		t.Errorf("too large, no pieces: got %v, want %v", err, ErrTunnel)
	}
	doneBoth(T, L)
}

// A packet somebody still holds goes as a copy, another one where it lies.
//
// Proves: link.failover
func TestFailoverCopiesWhatIsShared(t *testing.T) {
	T, L := twoLinks(t, frame.CapTunnelEnhanced, 1500)
	L.send(2)
	first := L.NextFrame()
	was := string(first.Bytes())
	L.discard()
	free := T.arena.Free()
	L.fail(OwnDecision)
	if err := T.SendFailover(0, L.Link); err != nil {
		t.Fatal(err)
	}
	if got := string(first.Bytes()); got != was {
		t.Error("a frame changed that a device has")
	}
	if got, want := free-T.arena.Free(), 2; got != want { // the copy and the dummy
		t.Errorf("%d chunks more, want %d", got, want)
	}
	first.Release()
	if lines := T.out(); len(lines) != 3 {
		t.Errorf("got %q", lines)
	}
	doneBoth(T, L)
}

// Nothing that is sent later may join a packet that waits before the tunnel.
//
// Proves: link.failover
func TestNothingOvertakesTheTunnel(t *testing.T) {
	T := newScriptedPeer(t, func(c *Config) { c.Alone = false }).up()
	T.SetCapabilities(allCaps | frame.CapTunnelEnhanced)
	T.send(51) // one waits, open for more
	_, L := twoLinks(t, frame.CapTunnelEnhanced, 1500)
	L.fail(OwnDecision)
	if err := T.SendFailover(0, L.Link); err != nil {
		t.Fatal(err)
	}
	if room := T.Room(40, frame.Low); room != nil {
		t.Error("a message may join a packet before the tunnel")
	}
	L.Stop()
	L.discard()
	T.done()
}

// Pieces in any order but theirs, or of a packet that is none, are refused, and the
// next packet is not harmed (docs/spec/02-link.md §12.9).
//
// Proves: link.failover
func TestPiecesRefused(t *testing.T) {
	packet := (&frame.PayloadFields{Type: frame.DirectMsg}).Append(nil, make([]byte, 100))
	piece := func(no, of int, data []byte) frame.Tunnel {
		f := frame.TunnelFields{Type: frame.TunnelFailover, Piece: uint16(no), Pieces: uint16(of), Count: 9}
		m, err := frame.Parse(f.Append(nil, data))
		if err != nil {
			t.Fatal(err)
		}
		x, err := frame.ParseTunnel(m)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for name, bad := range map[string][]frame.Tunnel{
		"the second first": {piece(2, 2, packet[60:])},
		"one left out":     {piece(1, 3, packet[:60]), piece(3, 3, packet[90:])},
		"one twice":        {piece(1, 3, packet[:60]), piece(2, 3, packet[60:90]), piece(2, 3, packet[60:90])},
		"no packet":        {piece(1, 2, make([]byte, 60)), piece(2, 2, nil)},
		"too short":        {piece(1, 2, packet[:60]), piece(2, 2, packet[60:100])},
	} {
		var p Pieces
		for i, x := range bad {
			m, err := p.Add(x)
			if last := i == len(bad)-1; (err != nil) != last || m.Bytes() != nil {
				t.Errorf("%s, %d: got %x, %v", name, i, m.Bytes(), err)
			}
		}
		p.Add(piece(1, 2, packet[:60]))
		if m, err := p.Add(piece(2, 2, packet[60:])); err != nil || len(m.Bytes()) != len(packet) {
			t.Errorf("%s: the next packet: %v", name, err)
		}
	}
	var p Pieces
	for i := range 60 {
		if _, err := p.Add(piece(i+1, 60, make([]byte, 1400))); err != nil {
			if i*1400 > frame.MaxMessage {
				t.Errorf("piece %d taken beyond the longest message", i)
			}
			return
		}
	}
	t.Error("pieces without end were taken")
}

// What comes through the tunnel has its turn by the failed link's numbers.
//
// Proves: link.failover
func TestFailoverReceiver(t *testing.T) {
	L := newScriptedPeer(t).up()
	for _, n := range []frame.Seq{1, 2, 5, 7} {
		L.receive(n, 0)
	}
	var h FailoverReceiver
	h.Begin(L.Link)
	var got []string
	for _, n := range []frame.Seq{2, 4, 3, 6, 6, 9, 8, 3 + MaxWindow + 9} {
		m, b := L.packet(n, 0, fmt.Sprint(n))
		v := h.HandlePacket(m, b)
		if v == Deliver {
			got = append(got, string(m.Data()))
			for p, ok := h.Next(); ok; p, ok = h.Next() {
				got = append(got, string(p.Message.Data()))
				p.Release()
			}
		}
		b.Release()
	}
	wantLines(t, "delivered", got, "3", "4", "5", "6", "7", "8", "9")
	if h.Deferring() {
		t.Error("something is left")
	}
	h.Clear()
	L.done()
}
