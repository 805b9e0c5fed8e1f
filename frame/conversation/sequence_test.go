// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// TestSequenceTranscripts: s is a packet, a an acknowledgement, m a report of what is
// missing, l a packet that is lost. Packets count from 1.
//
// Proves: tools.decode
func TestSequenceTranscripts(t *testing.T) {
	for _, c := range []struct{ name, calls, want string }{
		{"in order", "s1 s2 s3 a3", "new new new +3"},
		{"gap", "s1 s4 a1", "new new/2 +1"},
		{"late", "s1 s3 s2 s2", "new new/1 late duplicate=3"},
		{"duplicate", "s1 s1 a1 s1", "new duplicate=1 +1 duplicate=2"},
		{"missed", "s1 s2 s3 a1 m2-2 s2 a3", "new new new +1 1 retransmitted=2 +2"},
		{"missed before the capture", "s1 s3 m2-2 s2", "new new/1 1 retransmitted"},
		{"missed, all of it unseen", "s1 m2-4 s3 s4 s2 s5", "new 3 retransmitted retransmitted retransmitted new"},
		{"missed twice, sent twice", "s1 s2 m1-1 m1-1 s1 s1 s1", "new new 1 0 retransmitted=1 retransmitted=5 duplicate=6"},
		{"lost for certain", "l1 s1", "new retransmitted=1"},
		{"acknowledged and not seen", "s1 a5 s6 s3", "new +5?4 new late"},
		{"old acknowledgement", "s1 s2 a2 a1 a2", "new new +2 0 0"},
		{"wraps", "s65535 s0 s1 a65535 m0-0 s0 a1", "new new new +1 1 retransmitted=2 +2"},
		{"far away begins anew", "s1 s20000 s20000 s1 s1", "new new duplicate=2 new duplicate=4"},
		{"begun by an acknowledgement", "a7 s8 s10", "0 new new/1"},
		{"begun by a report", "m5-6 s5 s7", "2 retransmitted new"},
	} {
		var q sequence
		room, n := 1000, 0
		var got []string
		for _, call := range strings.Fields(c.calls) {
			n++
			now := time.Duration(n)
			var a, b int
			fmt.Sscanf(call[1:], "%d-%d", &a, &b)
			switch call[0] {
			case 's', 'l':
				k, repeats, skipped := q.sent(frame.Seq(a), Packet{Number: n, Time: now, Lost: call[0] == 'l'}, &room)
				x := k.String()
				if repeats != 0 {
					x += fmt.Sprint("=", repeats)
				}
				if skipped != 0 {
					x += fmt.Sprint("/", skipped)
				}
				got = append(got, x)
			case 'a':
				news, unseen, _, _ := q.acknowledged(frame.Seq(a), now, &room)
				x := fmt.Sprint(news)
				if news > 0 {
					x = "+" + x
				}
				if unseen > 0 {
					x += fmt.Sprint("?", unseen)
				}
				got = append(got, x)
			case 'm':
				got = append(got, fmt.Sprint(q.missing(frame.Seq(a), frame.Seq(b), &room)))
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %s: got %q, want %q", c.name, c.calls, got, c.want)
		}
	}
}

// TestAckTime: no time is taken of a packet that was sent twice.
//
// Proves: tools.decode
func TestAckTime(t *testing.T) {
	var q sequence
	room := 0
	for s := range frame.Seq(4) {
		q.sent(s+1, Packet{Time: time.Duration(s)}, &room)
	}
	if _, _, took, ok := q.acknowledged(2, 11, &room); !ok || took != 10 {
		t.Errorf("got %v, %v, want 10ns, true", took, ok)
	}
	q.missing(3, 3, &room)
	q.sent(3, Packet{Time: 12}, &room)
	if _, _, took, ok := q.acknowledged(3, 13, &room); ok {
		t.Errorf("of a repeated packet: got %v, want none", took)
	}
	if _, _, _, ok := q.acknowledged(4, 1, &room); ok {
		t.Error("time went back: got a time, want none")
	}
}

// TestSequenceMemory: the memory grows with what is in flight and no further than room
// goes; without room it stays at its least.
//
// Proves: tools.decode
func TestSequenceMemory(t *testing.T) {
	for _, c := range []struct{ room, want, left int }{{1 << 20, mostSlots, 1<<20 - mostSlots + leastSlots}, {100, 128, 36}, {0, leastSlots, 0}} {
		var q sequence
		room := c.room
		for s := range 30000 {
			q.sent(frame.Seq(s), Packet{Number: s + 1}, &room)
		}
		if len(q.slots) != c.want || room != c.left {
			t.Errorf("room %d: got %d places, %d left, want %d, %d", c.room, len(q.slots), room, c.want, c.left)
		}
		if x, _, _ := q.sent(29999-10, Packet{}, &room); x != Duplicate {
			t.Errorf("room %d: got %v, want duplicate", c.room, x)
		}
	}
}
