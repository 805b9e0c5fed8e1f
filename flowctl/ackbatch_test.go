// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A batch of packets is acknowledged at once when HandleTimeout is called, which is due
// then; less than sixteen packets are not, and what a packet of our own has told is not told
// again. Without AckBatches each sixteenth is.
//
// Mutation it catches: acknowledge in advance whatever ackBatches says; do not ask to be
// looked at; do not acknowledge in recover; acknowledge there what is not due; never end a
// batch that is too long.
//
// Proves: link.windows
func TestAckBatches(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.now = time.Millisecond
	next := frame.Seq(1)
	// acks receives n packets and returns the acknowledgements before HandleTimeout and in it.
	acks := func(n int) (early, late int) {
		t.Helper()
		for range n {
			r.receive(next, 0)
			next++
		}
		early = len(r.users())
		if due := r.Deadline() <= r.now; due {
			r.HandleTimeout(r.now)
		}
		for m := range r.sentMessages {
			if late++; m.User() != frame.UserLink || m.Ack() != next-1 {
				t.Errorf("got a message of %v that acknowledges %v, want STATE, %v", m.User(), m.Ack(), next-1)
			}
		}
		return early, late
	}
	want := func(what string, n, early, late int) {
		t.Helper()
		if a, b := acks(n); a != early || b != late {
			t.Errorf("%s: got %d acknowledgements and %d when the batch was over, want %d and %d", what, a, b, early, late)
		}
	}
	want("48 packets, without", 48, 3, 0)
	r.AckBatches(true)
	want("15 packets", 15, 0, 0)
	want("the sixteenth", 1, 0, 1)
	want("48 packets", 48, 0, 1)
	for range 20 {
		r.receive(next, 0)
		next++
	}
	r.send(1)
	r.users()
	want("told by a packet", 0, 0, 0)
	want("a batch without end", ackBatch+16, 1, 1)
	r.AckBatches(false)
	want("16 packets, without again", 16, 1, 0)
}
