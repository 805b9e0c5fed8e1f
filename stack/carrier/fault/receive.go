// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"net"

	"github.com/utipc/utipc/netdev"
)

// Receive fills bufs with frames from the device, faults applied. A frame lost
// goes back to the arena; the second of a frame that arrives twice is a copy in
// a chunk of its own, and does not arrive when the arena has none. It returns
// fewer than len(bufs) only when the device did. Errors are the device's, each
// with no frame; one that came behind frames is returned by the next call.
func (j *Injector) Receive(bufs []*netdev.Buffer) (n int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return 0, net.ErrClosed
	}
	j.out.counts.Changed += j.linger.tick()
	j.flush()
	j.overtaken()
	for more := j.late == nil; ; {
		n += j.takeQueued(bufs[n:])
		if n == len(bufs) || !more {
			break
		}
		fresh := j.fresh[:min(len(bufs)-n, len(j.fresh))]
		got, err := j.dev.Receive(fresh)
		for i, b := range fresh[:got] {
			fresh[i] = nil
			j.arrive(b)
		}
		j.late = err
		more = err == nil && got == len(fresh)
	}
	if n == 0 {
		err, j.late = j.late, nil
	}
	return n, err
}

// arrive queues b as its fate has it.
func (j *Injector) arrive(b *netdev.Buffer) {
	in := &j.in
	f := in.decide(b.Bytes())
	in.went(1)
	switch {
	case f == lose:
		in.counts.Lost++
		b.Release()
	case f > pass && in.held == nil:
		in.hold(b, f)
		return
	default:
		j.queue = append(j.queue, b)
		if f == repeat {
			j.again(b)
		}
	}
	j.overtaken()
}

// again queues a copy of b.
func (j *Injector) again(b *netdev.Buffer) {
	c := j.arena.Get(b.Len(), netdev.Control)
	if c == nil {
		return
	}
	copy(c.Extend(b.Len()), b.Bytes())
	j.queue = append(j.queue, c)
	j.in.counts.Duplicated++
}

// overtaken queues the frame held back if enough have overtaken it.
func (j *Injector) overtaken() {
	if b := j.in.held; b != nil && j.in.before == 0 {
		j.in.held = nil
		j.queue = append(j.queue, b)
	}
}

// takeQueued moves queued frames to bufs and says how many.
func (j *Injector) takeQueued(bufs []*netdev.Buffer) int {
	n := copy(bufs, j.queue)
	left := copy(j.queue, j.queue[n:])
	clear(j.queue[left:])
	j.queue = j.queue[:left]
	return n
}
