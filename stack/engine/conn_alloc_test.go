// SPDX-License-Identifier: Apache-2.0

//go:build !race

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// hotConn is a scripted peer with a connection, and what its peer sends there: the link's
// acknowledgement, the connection's, and 64 bytes of data.
type hotConn struct {
	*scriptedPeer
	c          *Conn
	ack        *netdev.Buffer
	credit, in *netdev.Buffer
	buf        [64]byte
	ready      []*Conn
}

func newHotConn(t testing.TB, stream bool) *hotConn {
	h := &hotConn{scriptedPeer: newScriptedPeer(t, ports(6)).up()}
	c, err := h.Dial(h.now, ConnConfig{Stream: stream}, frame.SocketAddr{Port: 80, Node: popAddr}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.packet(conn(90, 6, nil, ""))
	h.drain()
	h.c = c
	s := frame.StateFields{Common: frame.Common{Prev: popAddr}, LinkInfo: h.info()}
	h.ack = h.kept(s.Append(nil, nil))
	h.credit = h.kept(manager(90, 6, func(f *frame.ConnFields) { f.Type, f.Acked, f.Window = frame.ConnAck, 1, 128 }))
	h.in = h.kept(conn(90, 6, nil, string(h.buf[:])))
	return h
}

// take takes what was sent and acknowledges it on the link.
func (h *hotConn) take() {
	for f := h.NextFrame(0); f != nil; f = h.NextFrame(0) {
		if m, _ := frame.Parse(f.Bytes()[frame.EthernetLen:]); m.User() != frame.UserLink {
			frame.StampAcks(h.ack.Bytes()[frame.EthernetLen:], m.Seq(), 0)
			h.scriptedPeer.ack = m.Seq()
		}
		f.Release()
	}
	frame.StampSeq(h.ack.Bytes()[frame.EthernetLen:], h.state)
	h.state++
	h.HandleFrame(h.now, 0, h.ack)
}

// packet gives the engine one of the peer's messages in its turn.
func (h *hotConn) give(b *netdev.Buffer) {
	msg := b.Bytes()[frame.EthernetLen:]
	frame.StampSeq(msg, h.seq)
	frame.StampAcks(msg, h.scriptedPeer.ack, 0)
	h.seq++
	h.HandleFrame(h.now, 0, b)
	h.ready = h.TakeReadyConns(h.ready[:0])
}

func (h *hotConn) writeOne() {
	if err := h.c.Write(h.now, h.buf[:]); err != nil {
		h.t.Fatal(err)
	}
	h.take()
	h.give(h.credit)
	h.take()
}

func (h *hotConn) readOne() {
	h.give(h.in)
	if n, _, ok := h.c.Read(h.now, h.buf[:]); !ok || n != len(h.buf) {
		h.t.Fatalf("read %d, %v", n, ok)
	}
	h.take()
}

// Steady writing and reading allocate nothing, acknowledgements included; nor does a
// write that finds the window full.
//
// Proves: poll.allocations
func TestConnAllocatesNothing(t *testing.T) {
	for _, stream := range []bool{false, true} {
		h := newHotConn(t, stream)
		full := func() {
			if _, ok := h.c.Write(h.now, h.buf[:]).(*WindowFull); !ok {
				t.Fatal("there is room")
			}
		}
		for _, c := range []struct {
			name string
			f    func()
		}{{"write", h.writeOne}, {"read", h.readOne}, {"full", full}} {
			if c.name == "full" {
				for h.c.flow.Open() {
					h.c.flow.Sent(1)
				}
			}
			for range 300 {
				c.f()
			}
			if got := testing.AllocsPerRun(1000, c.f); got != 0 {
				t.Errorf("stream %v, %s: got %v allocations, want 0", stream, c.name, got)
			}
		}
	}
}

// So does a stream whose messages are collected, with the answers that let them go, and
// with those that never come; the same in one that sends all at once.
//
// Proves: poll.allocations
func TestNagleAllocatesNothing(t *testing.T) {
	h := newHotConn(t, true)
	answer := h.kept(manager(90, 6, func(f *frame.ConnFields) { f.Type, f.Window, f.NagleAck = frame.ConnAck, 512, true }))
	written := uint64(0)
	answered := func() {
		for range 10 {
			h.writeOne()
			written++
		}
		h.give(answer)
		h.take()
	}
	alone := func() {
		for range 10 {
			h.writeOne()
			written++
		}
	}
	for i, f := range []func(){answered, alone, alone} {
		h.c.SetNoDelay(h.now, i == 2)
		for range 300 {
			f()
		}
		before, from := h.Counters().MessagesOut, written
		if got := testing.AllocsPerRun(300, f); got != 0 {
			t.Errorf("%d: got %v allocations, want 0", i, got)
		}
		if sent := h.Counters().MessagesOut - before; (sent < (written-from)/2) != (i < 2) {
			t.Errorf("%d: %d messages of %d", i, sent, written-from)
		}
	}
}

func BenchmarkConnWrite(b *testing.B) { benchmarkConnWrite(b, newHotConn(b, false)) }

// BenchmarkConnWriteCollected is a Write of a stream most of whose messages are held.
func BenchmarkConnWriteCollected(b *testing.B) { benchmarkConnWrite(b, newHotConn(b, true)) }

func benchmarkConnWrite(b *testing.B, h *hotConn) {
	for b.Loop() {
		h.writeOne()
	}
}

func BenchmarkConnRead(b *testing.B) {
	h := newHotConn(b, false)
	for b.Loop() {
		h.readOne()
	}
}
