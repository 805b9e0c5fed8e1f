// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// newTranscript is a bed that writes down everything.
func newTranscript(t *testing.T, late time.Duration) *bed {
	d := newBed(t, netdev.ArenaConfig{Small: 64}, late, func(*Config) {})
	d.transcript = true
	return d
}

// Proves: contact.machines
func TestBringUp(t *testing.T) {
	for _, c := range []struct {
		name string
		late time.Duration
		lose func() func(int, string) bool
		end  time.Duration
		want []string
	}{
		// The orders of spec 02 §2.3: captures 01, 11.
		{"one late", 100 * time.Millisecond, nil, 500 * time.Millisecond, []string{
			"375ms a link/reset session=100 seq=32768 ack=0",
			"475ms b link/activate dest-session=100 session=200 seq=32768 ack=0",
			"475ms a want-up",
			"475ms a link/state next=1 session=100 seq=1 ack=0",
			"475ms b want-up",
			"475ms b link/state next=1 session=200 seq=1 ack=0",
		}},
		{"RESETs cross", 0, nil, 750 * time.Millisecond, []string{
			"375ms a link/reset session=100 seq=32768 ack=0",
			"375ms b link/reset session=200 seq=32768 ack=0",
			"750ms a link/activate dest-session=200 session=100 seq=32768 ack=0",
			"750ms b link/activate dest-session=100 session=200 seq=32768 ack=0",
			"750ms a want-up",
			"750ms b want-up",
			"750ms a link/state next=1 session=100 seq=1 ack=0",
			"750ms b link/state next=1 session=200 seq=1 ack=0",
		}},
		{"ACTIVATE lost", 100 * time.Millisecond, func() func(int, string) bool { return nth("link/activate", 1) }, 900 * time.Millisecond, []string{
			"375ms a link/reset session=100 seq=32768 ack=0",
			"475ms b link/activate dest-session=100 session=200 seq=32768 ack=0 LOST",
			"750ms a link/reset session=100 seq=32768 ack=0",
			"750ms b refuses", // the session is not new
			"850ms b link/activate dest-session=100 session=200 seq=32768 ack=0",
			"850ms a want-up",
			"850ms a link/state next=1 session=100 seq=1 ack=0",
			"850ms b want-up",
			"850ms b link/state next=1 session=200 seq=1 ack=0",
		}},
		{"first STATE lost", 100 * time.Millisecond, func() func(int, string) bool { return nth("link/state", 1) }, 1200 * time.Millisecond, []string{
			"375ms a link/reset session=100 seq=32768 ack=0",
			"475ms b link/activate dest-session=100 session=200 seq=32768 ack=0",
			"475ms a want-up",
			"475ms a link/state next=1 session=100 seq=1 ack=0 LOST",
			// The first tick sends nothing: a link is not idle before its second. A node
			// has sent its broadcast opening by now, which would bring the peer up.
			"850ms b link/activate dest-session=100 session=200 seq=32768 ack=0",
			"1.125s a link/state probe next=1 session=100 seq=2 ack=0",
			"1.125s b want-up",
			"1.125s b link/state next=1 session=200 seq=1 ack=0",
		}},
		{"RESET lost", 200 * time.Millisecond, func() func(int, string) bool { return nth("link/reset", 1) }, 600 * time.Millisecond, []string{
			"375ms a link/reset session=100 seq=32768 ack=0 LOST",
			"575ms b link/reset session=200 seq=32768 ack=0",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newTranscript(t, c.late)
			if c.lose != nil {
				d.lose = c.lose()
			}
			d.run(c.end)
			wantLines(t, "transcript", d.take(), c.want...)
			d.lose = nil
			d.run(4 * time.Second)
			if !d.ends[0].IsUp() || !d.ends[1].IsUp() {
				t.Errorf("links: got %v and %v, want both up", d.ends[0].State(), d.ends[1].State())
			}
			if d.arena.Free() != d.arena.Total() {
				t.Errorf("free chunks: got %v, want %v", d.arena.Free(), d.arena.Total())
			}
		})
	}
}

// nth loses the n-th line with kind in it.
func nth(kind string, n int) func(int, string) bool {
	return func(_ int, line string) bool {
		if strings.Contains(line, kind) {
			n--
			return n == 0
		}
		return false
	}
}

// An endpoint that was taken down by the peer's RESET forgets the peer's session:
// its ACTIVATE names the one before until the RESET is repeated (spec 02 §4.4,
// "Consequence"; tried with 6.1: dest session 0x3c5d after RESET of 0x3c5e).
func TestActivateNamesSessionBeforeUntilResetIsRepeated(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.bc.Open(0)
	r.now = time.Second
	r.hear(reset(func(f *frame.ResetFields) { f.Session = 0x3c5e }))
	if e := r.TakeEvents(); e != WentDown || r.State() != PeerReset {
		t.Fatalf("got %v in %v, want went-down in peer-reset", eventText(e), r.State())
	}
	if r.hear(reset(func(f *frame.ResetFields) { f.Session = 0x3c5f })) {
		t.Error("a blocked link accepts a RESET")
	}
	r.Restart(r.now)
	r.bc.Reset() // after the link, as a node does
	var lines []string
	lines = append(lines, r.out()...)
	tick := func() {
		r.now = r.Deadline()
		r.HandleTimeout(r.now)
		lines = append(lines, r.out()...)
	}
	tick()
	r.hear(reset(func(f *frame.ResetFields) { f.Session = 0x3c5e }))
	tick()
	wantLines(t, "sent", lines,
		fmt.Sprintf("link/activate dest-session=%d session=101 redundant seq=32768 ack=0", 0x3c5d),
		fmt.Sprintf("link/activate dest-session=%d session=101 seq=32768 ack=0", 0x3c5d),
		fmt.Sprintf("link/activate dest-session=%d session=101 seq=32768 ack=0", 0x3c5e))
}

// The whole of it with two ends: one is restarted, the other was up.
func TestContactIsMadeAgainAfterOneEndFails(t *testing.T) {
	d := newTranscript(t, 100*time.Millisecond)
	d.run(time.Second)
	d.take()
	d.ends[0].Fail()
	d.run(1900 * time.Millisecond)
	wantLines(t, "transcript", d.take(),
		"850ms a went-down",
		"850ms a link/reset stopping session=101 seq=32768 ack=0",
		"850ms b went-down", // "peer stopping" fails the link rather than resetting it by the peer
		"850ms b link/reset stopping session=201 seq=32768 ack=0",
		"1.225s a link/reset session=101 seq=32768 ack=0",
		"1.225s b link/reset session=201 seq=32768 ack=0",
		"1.6s a link/activate dest-session=201 session=101 seq=32768 ack=0",
		"1.6s b link/activate dest-session=101 session=201 seq=32768 ack=0",
		"1.6s a want-up",
		"1.6s b want-up",
		"1.6s a link/state next=1 session=101 seq=1 ack=0",
		"1.6s b link/state next=1 session=201 seq=1 ack=0",
	)
}
