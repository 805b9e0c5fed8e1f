// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/netdev"
)

// Capture 15: a kernel's broadcasts with losses. What it sent for the first time is sent here at
// the same time, the reports of both members are taken when they came, and every
// repetition must be the kernel's: the same packet, in the same words, in the same order,
// and no other.
//
// Proves: multicast.link
func TestBroadcastCapture15(t *testing.T) {
	const sender = 0x1001001
	frames, err := layers.ReadFile("../test/testdata/captures/15-broadcast-loss.pcap")
	if err != nil {
		t.Fatal(err)
	}
	r := newMembers(t, 2, func(c *BroadcastConfig) { c.Self, c.AsKernel = sender, true })
	members := map[frame.NodeAddr]int{0x1001002: 0, 0x1001003: 1}
	// The kernel's clock ticks every 4 ms: frames 85 (packet 21) and 218 tell where, to
	// within 0.2 ms.
	const phase = 2250 * time.Microsecond
	var seen frame.Seq
	var due [][]byte // sent here and not there yet
	again := 0
	for i, f := range frames {
		w, b, err := layers.Unwrap(f.Data)
		if err != nil {
			t.Fatal(err)
		}
		m, err := frame.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		r.now = f.Time.Sub(frames[0].Time) + kernelTick - phase
		switch {
		case m.NonSeq() && m.User() != frame.UserDiscovery && m.Prev() == sender:
			if m.Seq().After(seen) {
				seen = m.Seq()
				own := slices.Clone(m.Bytes())
				frame.StampBroadcast(own, 0, 0) // as a socket builds it
				own[1] &^= 1 << 4
				buf := r.arena.Get(frame.EthernetLen+len(own), netdev.Data)
				copy(buf.Extend(frame.EthernetLen + len(own))[frame.EthernetLen:], own)
				if err := r.s.Send(r.now, buf, frame.Low); err != nil {
					t.Fatal(err)
				}
			} else {
				again++
			}
		case !m.NonSeq() && w.Dst == stationOf(t, frames, sender):
			r.hearMember(members[m.Prev()], m)
		}
		for m := range r.sentMessages {
			due = append(due, slices.Clone(m.Bytes()))
		}
		if m.NonSeq() && m.User() != frame.UserDiscovery && m.Prev() == sender {
			at := slices.IndexFunc(due, func(d []byte) bool { return bytes.Equal(d, m.Bytes()) })
			if at < 0 {
				t.Fatalf("frame %d: the kernel sent %d, we did not; waiting %d", i+1, m.Seq(), len(due))
			}
			due = slices.Delete(due, at, at+1)
		}
	}
	if len(due) > 0 || again != int(r.s.Retransmits) {
		t.Errorf("%d packets the kernel did not send, %d repeated, want %d", len(due), r.s.Retransmits, again)
	}
	if again != 31 || !r.s.Idle() || r.s.Last() != seen {
		t.Errorf("got %d repeated by the kernel, want 31; idle %v, last %d of %d", again, r.s.Idle(), r.s.Last(), seen)
	}
	r.done()
}

// stationOf is the station of a node in a capture.
func stationOf(t *testing.T, frames []layers.Frame, a frame.NodeAddr) frame.MAC {
	t.Helper()
	for _, f := range frames {
		if w, b, err := layers.Unwrap(f.Data); err == nil {
			if m, err := frame.Parse(b); err == nil && m.Prev() == a {
				return w.Src
			}
		}
	}
	t.Fatal("no frame of the node")
	return frame.MAC{}
}

// hearMember gives the link what a member says in a packet of its unicast link.
func (r *scriptedPeer) hearMember(i int, m frame.Message) {
	l, err := frame.ParseLink(m)
	if err != nil {
		r.memberAck(i, m.BcastAck())
		return
	}
	if s, ok := l.State(); ok && !s.BcastAckInvalid() {
		record, _, err := s.GapAcks(true)
		if err != nil {
			r.t.Fatal(err)
		}
		r.s.HandleReport(r.now, r.m[i], s.BcastAck(), s.BcastGap(), record.Bcast())
	}
}
