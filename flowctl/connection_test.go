// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A message counts a block more than its whole KiB, its header included: spec 07 §5.1.
//
// Proves: socket.flow
func TestConnectionBlocks(t *testing.T) {
	for _, c := range []struct{ size, blocks, messages int }{
		{24 + 0, 1, 1}, {24 + 999, 1, 1}, {24 + 1000, 2, 1}, {40 + 984, 2, 1}, {24 + 984, 1, 1}, {24 + 60000, 59, 1}, {24 + 66000, 65, 1},
	} {
		blocks, messages := NewConnection(true, 2<<20), NewConnection(false, 2<<20)
		blocks.Sent(c.size)
		messages.Sent(c.size)
		if blocks.Unacked() != c.blocks || messages.Unacked() != c.messages {
			t.Errorf("%d bytes: got %d blocks, %d messages, want %d, %d", c.size, blocks.Unacked(), messages.Unacked(), c.blocks, c.messages)
		}
	}
}

// What a sender may send, and when a receiver acknowledges: spec 07 §5.1, §5.2, with
// captures 08 (sent one way in blocks) and 09, frame 102.
func TestConnectionTranscript(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks bool
		limit  int
		want   string
	}{
		{"blocks", true, 2 << 20, "129 sent; 32 read: 32/512; 128 read: 128/512; window 512; 513 sent"},
		{"blocks, little memory", true, 512 << 10, "129 sent; 32 read: 32/128; 32 read: 32/128; window 128; 129 sent"},
		{"blocks, less memory than a message", true, 1, "129 sent; 32 read: 32/65; 16 read: 16/65; window 65; 66 sent"},
		{"blocks, more than can be told", true, 1 << 30, "129 sent; 32 read: 32/65535; 16383 read: 16383/65535; window 65535; 65536 sent"},
		{"messages", false, 2 << 20, "513 sent; 128 read: 128/0; 128 read: 128/0; window 512; 513 sent"},
	} {
		out, in := NewConnection(c.blocks, c.limit), NewConnection(c.blocks, c.limit)
		fill := func() (n int) {
			for ; out.Open(); n++ {
				out.Sent(24 + 100)
			}
			return n
		}
		got := fmt.Sprintf("%d sent", fill())
		ack := func() {
			n := 1
			for ; !in.Read(24 + 100); n++ {
			}
			acked, window := in.Credit()
			got += fmt.Sprintf("; %d read: %d/%d", n, acked, window)
			if n <= out.Unacked() && !out.HandleAck(acked, window) {
				t.Errorf("%s: ack of %d refused, %d unacked", c.name, acked, out.Unacked())
			}
		}
		ack()
		ack()
		got += fmt.Sprintf("; window %d", out.Window())
		for out.Unacked() > 0 {
			out.HandleAck(1, uint16(out.Window()))
		}
		got += fmt.Sprintf("; %d sent", fill())
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestConnectionAckOfMoreThanWasSent(t *testing.T) {
	c := NewConnection(true, 2<<20)
	c.Sent(24 + 2000)
	for _, acked := range []uint16{3, 4, 65535} {
		if c.HandleAck(acked, 7) || c.Unacked() != 2 || c.Window() != 128 {
			t.Errorf("ack of %d: taken, or unacked %d, window %d, want 2 and 128", acked, c.Unacked(), c.Window())
		}
	}
	if !c.HandleAck(2, 7) || c.Unacked() != 0 || c.Window() != 7 {
		t.Errorf("ack of 2: not taken, or unacked %d, window %d, want 0 and 7", c.Unacked(), c.Window())
	}
	if !c.HandleAck(0, 0) || c.Window() != 1 {
		t.Errorf("window 0: got %d, want 1", c.Window())
	}
}

func TestConnectionUncredited(t *testing.T) {
	c := NewConnection(true, 2<<20)
	c.Read(24 + 2000)
	acked, _ := c.Credit()
	c.Uncredited(acked)
	c.Read(24)
	if again, _ := c.Credit(); acked != 2 || again != 3 {
		t.Errorf("got %d and then %d, want 2 and 3", acked, again)
	}
	for range 70000 {
		c.Read(24)
	}
	first, _ := c.Credit()
	rest, _ := c.Credit()
	if first != 65535 || rest != 70000-65535 {
		t.Errorf("got %d and %d, want all in two", first, rest)
	}
}

// Two ends that count alike never stall, whatever the messages, and never drift.
//
// Proves: socket.flow
func TestConnectionTwoEnds(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		blocks := seed%4 != 0
		a, b := NewConnection(blocks, 2<<20), NewConnection(blocks, 512<<10+r.IntN(4<<20))
		var queue []int
		for i := range 3000 {
			if a.Open() && (len(queue) == 0 || r.IntN(3) > 0) {
				size := 24 + 1 + r.IntN(1+r.IntN(66000))
				a.Sent(size)
				queue = append(queue, size)
				continue
			}
			if len(queue) == 0 {
				t.Fatalf("seed %d: stalled after %d: %d unacked, window %d, all read", seed, i, a.Unacked(), a.Window())
			}
			due := b.Read(queue[0])
			queue = queue[1:]
			if due {
				if !a.HandleAck(b.Credit()) {
					t.Fatalf("seed %d: more acknowledged than sent", seed)
				}
			}
		}
		for _, size := range queue {
			b.Read(size)
		}
		if !a.HandleAck(b.Credit()) || a.Unacked() != 0 {
			t.Errorf("seed %d: %d unacked when all is read, want 0", seed, a.Unacked())
		}
	}
}
