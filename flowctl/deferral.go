// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"slices"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

const (
	// maxLent is the number of deferred packets a peer may keep in the arena's
	// chunks, while more than half of those are free; what comes beyond is copied
	// out. Else a few peers would keep all chunks, and the packets that all the
	// others wait for could not be received any more.
	maxLent = 64
	// MaxDeferredBytes is the memory deferred packets of one peer may take.
	MaxDeferredBytes = 16 << 20
	// earlyCost is what a packet that waits takes beside its bytes.
	earlyCost = 128
)

// A deferral keeps packets that came before their turn, in order. It has memory from
// the first of them until forget or clear.
type deferral struct{ *deferredPackets }

type deferredPackets struct {
	packets []early
	memory  []early // what packets lies in, from where it began
	bytes   int
	pool    *Pool
}

type early struct {
	seq frame.Seq
	Packet
}

type deferResult uint8

const (
	deferredNow   deferResult = iota
	deferredTwice             // the packet was there already
	deferredNot               // for want of memory
)

// deferred returns what is kept.
func (d deferral) deferred() []early {
	if d.deferredPackets == nil {
		return nil
	}
	return d.packets
}

// add keeps a packet: in its Buffer, of which it takes a hold, or copied out
// when there are many, or few chunks. The first comes with the pool for all of them.
func (d *deferral) add(m frame.Message, b *netdev.Buffer, pool *Pool) deferResult {
	if d.deferredPackets == nil {
		d.deferredPackets = &deferredPackets{pool: pool}
	}
	i := d.place(m.Seq())
	if i > 0 && d.packets[i-1].seq == m.Seq() {
		return deferredTwice
	}
	p := Packet{Message: m, buf: b}
	n := len(m.Bytes())
	switch {
	case d.bytes+n > MaxDeferredBytes || !d.pool.has(d.bytes+len(d.packets)*earlyCost, n+earlyCost):
		return deferredNot
	case b == nil: // the message lies in memory of its own
	case len(d.packets) >= maxLent || !b.MayKeep():
		p.Message, _ = frame.Parse(slices.Clone(m.Bytes()))
		p.buf = nil
	default:
		b.Hold()
	}
	d.bytes += n
	d.pool.add(n + earlyCost)
	d.grow()
	d.packets = slices.Insert(d.packets, i, early{m.Seq(), p})
	return deferredNow
}

// place returns how many packets do not come behind seq. Mostly it is all.
func (d *deferredPackets) place(seq frame.Seq) int {
	low, high := 0, len(d.packets)
	if high == 0 || !seq.Before(d.packets[high-1].seq) {
		return high
	}
	for low < high {
		if i := (low + high) / 2; seq.Before(d.packets[i].seq) {
			high = i
		} else {
			low = i + 1
		}
	}
	return low
}

// grow makes room for one more, where packets were taken out or in new memory.
func (d *deferredPackets) grow() {
	n := len(d.packets)
	switch {
	case n < cap(d.packets):
	case n <= cap(d.memory)/2: // much room in front: nothing is moved often
		moved := d.memory[:n]
		copy(moved, d.packets)
		clear(d.packets)
		d.packets = moved
	default:
		d.memory = make([]early, n, max(8, 2*n))
		copy(d.memory, d.packets)
		d.packets = d.memory
	}
}

// take removes the packet with number seq if it is there.
func (d *deferral) take(seq frame.Seq) (Packet, bool) {
	for len(d.deferred()) > 0 && d.packets[0].seq.Before(seq) {
		d.pop().Release()
	}
	if len(d.deferred()) == 0 || d.packets[0].seq != seq {
		return Packet{}, false
	}
	return d.pop(), true
}

// pop removes the first packet.
func (d *deferredPackets) pop() Packet {
	p := d.packets[0].Packet
	d.bytes -= len(p.Message.Bytes())
	d.pool.add(-len(p.Message.Bytes()) - earlyCost)
	d.packets[0] = early{}
	d.packets = d.packets[1:]
	if len(d.packets) == 0 {
		d.packets = d.memory[:0]
	}
	return p
}

// clear drops what is kept, and the memory.
func (d *deferral) clear() {
	for len(d.deferred()) > 0 {
		d.pop().Release()
	}
	d.deferredPackets = nil
}

// forget gives back the memory of an empty deferral.
func (d *deferral) forget() {
	if len(d.deferred()) == 0 {
		d.deferredPackets = nil
	}
}

// blocks appends what is there and what is missing behind the first of the packets,
// as far as dst has room. Source: docs/spec/02-link.md §5.
func (d *deferral) blocks(dst []frame.GapBlock) []frame.GapBlock {
	if len(d.deferred()) == 0 || cap(dst) == 0 {
		return dst
	}
	expect := d.packets[0].seq
	for i := range d.packets {
		seq := d.packets[i].seq
		if seq != expect {
			dst = append(dst, frame.GapBlock{Ack: expect - 1, Gap: uint16(expect.Distance(seq))})
			if len(dst) == cap(dst) {
				return dst
			}
		}
		expect = seq + 1
	}
	return append(dst, frame.GapBlock{Ack: expect - 1})
}
