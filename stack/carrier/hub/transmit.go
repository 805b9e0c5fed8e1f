// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"net"
	"slices"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Transmit copies each frame to its receivers, so it takes all of them and no
// hold outlives the call. A receiver that had seen the end of its ring is woken,
// once, after the last frame. Errors: *SizeError for a frame shorter than an
// Ethernet header or longer than the segment allows, net.ErrClosed.
func (p *Port) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	stations := p.hub.stations.Load()
	for _, b := range bufs {
		f := b.Bytes()
		if len(f) < frame.EthernetLen || len(f) > p.longest() {
			p.lostOut.Add(1)
			err = &SizeError{Len: len(f), Max: p.longest()}
			break
		}
		n++
		p.deliver(stations, f)
	}
	for i, q := range p.due {
		p.due[i] = nil
		q.wake()
	}
	p.due = p.due[:0]
	return n, err
}

// deliver hands f to every station that takes it. A frame for a station nobody
// is would be flooded and taken by none, so it ends here.
func (p *Port) deliver(stations *table, f []byte) {
	dst := frame.MAC(f[:6])
	if !dst.IsGroup() {
		if q := stations.by[dst]; q != nil && q != p {
			p.give(q, f)
		}
		return
	}
	for _, q := range stations.all {
		if q != p {
			p.give(q, f)
		}
	}
}

// give puts f into q's ring and notes whether q is to be woken. Only the one who
// disarms a port wakes it; q may arm itself again before that, hence the look
// for it among those already due.
func (p *Port) give(q *Port, f []byte) {
	q.mu.Lock()
	if q.ring == nil {
		q.mu.Unlock()
		return
	}
	if !q.ring.put(f) {
		q.mu.Unlock()
		q.lostIn.Add(1)
		return
	}
	wake := q.armed
	q.armed = false
	q.mu.Unlock()
	if wake && !slices.Contains(p.due, q) {
		p.due = append(p.due, q)
	}
}
