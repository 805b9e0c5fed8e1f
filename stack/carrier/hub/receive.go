// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"net"

	"github.com/utipc/utipc/netdev"
)

// Receive fills bufs with the oldest frames of the ring, each in a chunk of its
// own. With fewer than len(bufs) the ring is empty or the arena is, and the next
// frame to arrive calls wake. Frames the arena had no chunk for stay in the
// ring. Errors: net.ErrClosed, ErrNotAttached.
func (p *Port) Receive(bufs []*netdev.Buffer) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.ring
	switch {
	case p.closed:
		return 0, net.ErrClosed
	case r == nil:
		return 0, ErrNotAttached
	}
	for n < len(bufs) && r.length > 0 {
		want := bufs[n:min(len(bufs), n+r.length)]
		head := r.head
		// Senders go on while the frames are copied. If the port is closed
		// meanwhile r is nobody's but ours.
		p.mu.Unlock()
		got := p.copyOut(r, head, want)
		p.mu.Lock()
		r.drop(got)
		n += got
		if got < len(want) {
			break
		}
	}
	p.armed = n < len(bufs) || r.length == 0
	return n, nil
}

// copyOut copies the frames from head on into chunks, one for each of bufs, and
// says for how many the arena had chunks.
func (p *Port) copyOut(r *ring, head int, bufs []*netdev.Buffer) int {
	for i := range bufs {
		f := r.at(head, i)
		b := p.arena.Get(len(f), netdev.Control)
		if b == nil {
			return i
		}
		copy(b.Extend(len(f)), f)
		bufs[i] = b
	}
	return len(bufs)
}
