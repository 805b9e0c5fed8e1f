// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"hash/crc32"
	"math/rand/v2"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// minFrame is the shortest frame a station gets to see; shorter ones arrive
// padded, with anything behind the message.
const minFrame = 60

// A device is a network card with limits, after the contract of netdev.Device:
// it takes only the beginning of a batch, lends what it takes until much later,
// receives into chunks it took from the arena, and has rings that fill up.
type device struct {
	DeviceLimits
	w     *world
	l     *life
	net   int
	down  bool // no carrier
	r     *rand.Rand
	fills int // chunks to keep ready for reception
	fill  []*netdev.Buffer
	rx    []arrival
	tx    []taken
	full  time.Duration // takes nothing until then
}

// An arrival is a frame in the receive ring.
type arrival struct {
	buf *netdev.Buffer
	p   *packet
}

// A taken frame belongs to the hardware until done.
type taken struct {
	buf  *netdev.Buffer
	done time.Duration
	sum  uint32
}

func newDevice(l *life, net int, limits DeviceLimits, chunks int) *device {
	d := &device{DeviceLimits: limits, w: l.n.w, l: l, net: net, r: l.n.w.rand(2000 + uint64(l.serial) + 100_000*uint64(net))}
	d.fills = min(limits.RxRing, chunks/8/len(l.n.w.nets))
	d.refill()
	return d
}

func (d *device) mtu() int { return d.l.n.mtu[d.net] }

func (d *device) refill() {
	for len(d.fill) < d.fills {
		b := d.l.arena.Get(d.mtu()+frame.EthernetLen, netdev.Control)
		if b == nil {
			return
		}
		d.fill = append(d.fill, b)
	}
}

// arrive puts a frame into the receive ring, or drops it when there is no place
// or no chunk.
func (d *device) arrive(p *packet) {
	if d.down || len(d.rx) >= d.RxRing || len(d.fill) == 0 || len(p.bytes) > d.mtu()+frame.EthernetLen {
		d.w.report.RingDrops++
		return
	}
	b := d.fill[len(d.fill)-1]
	d.fill = d.fill[:len(d.fill)-1]
	b.Resize(max(minFrame, len(p.bytes)))
	for i := copy(b.Bytes(), p.bytes); i < b.Len(); i++ {
		b.Bytes()[i] = 0xa5
	}
	d.rx = append(d.rx, arrival{b, p})
}

// receive hands over up to n frames, each with the hold the device had.
func (d *device) receive(n int) []arrival {
	d.complete()
	got := d.rx[:min(n, len(d.rx))]
	d.rx = d.rx[len(got):]
	d.refill()
	return got
}

// transmit takes the first frames of a batch and says how many.
func (d *device) transmit(batch []outgoing) (n int) {
	d.complete()
	if d.w.clock.now < d.full {
		return 0
	}
	for ; n < len(batch) && n < d.Batch && len(d.tx) < d.TxRing; n++ {
		b := batch[n].buf
		done := d.w.clock.now + d.Complete/2 + time.Duration(d.r.Int64N(int64(d.Complete)+1))
		if d.r.Float64() < d.Late {
			done += time.Duration(d.r.Int64N(int64(d.LateBy)))
		}
		d.w.take(d.l, d.net, batch[n])
		b.Lend()
		d.tx = append(d.tx, taken{b, done, crc32.Checksum(b.Bytes(), castagnoli)})
		if d.w.mutate(RewriteLent) {
			b.Bytes()[20] ^= 1
		}
	}
	return n
}

// complete lets go of what the hardware is done with, in no special order.
func (d *device) complete() {
	keep := d.tx[:0]
	for _, t := range d.tx {
		if t.done > d.w.clock.now {
			keep = append(keep, t)
			continue
		}
		if !d.w.cfg.Hostile && crc32.Checksum(t.buf.Bytes(), castagnoli) != t.sum {
			d.w.violate(6, "node %d: a frame changed while the device had it", d.l.n.idx)
		}
		t.buf.Complete()
	}
	clear(d.tx[len(keep):])
	d.tx = keep
}

// next is when the device can do something for frames it did not take.
func (d *device) next() time.Duration {
	if d.w.clock.now < d.full {
		return d.full
	}
	next := d.w.clock.now + time.Microsecond
	if len(d.tx) >= d.TxRing {
		next = flowctl.Never
		for _, t := range d.tx {
			next = min(next, t.done)
		}
	}
	return next
}

// carrier is told whether there is a network; without one, what the rings hold is
// lost.
func (d *device) carrier(up bool) {
	if d.down = !up; up {
		return
	}
	for _, a := range d.rx {
		a.buf.Release()
		d.w.report.RingDrops++
	}
	d.rx = nil
}

// buffers yields what the device holds.
func (d *device) buffers(yield func(*netdev.Buffer) bool) {
	for _, b := range d.fill {
		if !yield(b) {
			return
		}
	}
	for _, a := range d.rx {
		if !yield(a.buf) {
			return
		}
	}
	for _, t := range d.tx {
		if !yield(t.buf) {
			return
		}
	}
}

// close gives back everything.
func (d *device) close() {
	for _, b := range d.fill {
		b.Release()
	}
	for _, a := range d.rx {
		a.buf.Release()
	}
	for _, t := range d.tx {
		t.buf.Complete()
	}
	d.fill, d.rx, d.tx = nil, nil, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
