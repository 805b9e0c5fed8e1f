// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
)

// deadlines keeps when each link wants to be served, the earliest first: a heap in
// which every entry has four below it, so that three levels span 64 links and seven
// 16384. Telling that nothing changed costs a comparison, a change a few steps up or
// down; links that wait for nothing are not there. Entries name links by a number, so
// that a change touches no link but its own, whose memory may have been out of the
// caches for long. The order of what is due does not depend on the order of entry.
type deadlines struct {
	heap   []deadline
	links  []*link // by number; nil where free
	places []int32 // in the heap, by number
	free   []int32 // numbers
	served []*link // what due returned, to use its memory again
}

type deadline struct {
	at     time.Duration
	number int32
}

// first is the earliest deadline.
func (d *deadlines) first() time.Duration {
	if len(d.heap) == 0 {
		return flowctl.Never
	}
	return d.heap[0].at
}

// move makes at the deadline of a link; Never takes it out.
func (d *deadlines) move(l *link, at time.Duration) {
	was := l.due
	l.due = at
	switch {
	case at == was:
	case was == flowctl.Never:
		d.enter(l)
	case at == flowctl.Never:
		d.remove(l)
	case at < was:
		d.up(int(d.places[l.number]), deadline{at, l.number})
	default:
		d.down(int(d.places[l.number]), deadline{at, l.number})
	}
}

// enter gives a link a number and a place.
func (d *deadlines) enter(l *link) {
	if k := len(d.free); k > 0 {
		l.number = d.free[k-1]
		d.free = d.free[:k-1]
		d.links[l.number] = l
	} else {
		l.number = int32(len(d.links))
		d.links = append(d.links, l)
		d.places = append(d.places, 0)
	}
	d.heap = append(d.heap, deadline{})
	d.up(len(d.heap)-1, deadline{l.due, l.number})
}

// remove takes a link out and closes the hole with the last entry.
func (d *deadlines) remove(l *link) {
	i, end := int(d.places[l.number]), len(d.heap)-1
	d.links[l.number] = nil
	d.free = append(d.free, l.number)
	last := d.heap[end]
	d.heap = d.heap[:end]
	switch {
	case i == end:
	case i > 0 && last.at < d.heap[(i-1)/4].at:
		d.up(i, last)
	default:
		d.down(i, last)
	}
}

// up moves the hole at i towards the front until x may be there.
func (d *deadlines) up(i int, x deadline) {
	for i > 0 {
		above := (i - 1) / 4
		if d.heap[above].at <= x.at {
			break
		}
		d.put(i, d.heap[above])
		i = above
	}
	d.put(i, x)
}

// down moves the hole at i away from the front until x may be there.
func (d *deadlines) down(i int, x deadline) {
	for {
		below := 4*i + 1
		if below >= len(d.heap) {
			break
		}
		least := below
		for j := below + 1; j < min(below+4, len(d.heap)); j++ {
			if d.heap[j].at < d.heap[least].at {
				least = j
			}
		}
		if d.heap[least].at >= x.at {
			break
		}
		d.put(i, d.heap[least])
		i = least
	}
	d.put(i, x)
}

func (d *deadlines) put(i int, x deadline) {
	d.heap[i] = x
	d.places[x.number] = int32(i)
}

// due returns the links whose deadline has come, by node and bearer; it looks at no
// others but the few next in line. They stay in the heap until they are moved. The
// slice is valid until the next call.
func (d *deadlines) due(now time.Duration) []*link {
	clear(d.served)
	d.served = d.served[:0]
	d.collect(0, now)
	slices.SortFunc(d.served, func(a, b *link) int {
		return cmp.Or(cmp.Compare(a.n.addr, b.n.addr), cmp.Compare(a.bearer.id, b.bearer.id))
	})
	return d.served
}

// collect takes what is due at i and below.
func (d *deadlines) collect(i int, now time.Duration) {
	if i >= len(d.heap) || d.heap[i].at > now {
		return
	}
	d.served = append(d.served, d.links[d.heap[i].number])
	for j := 4*i + 1; j <= 4*i+4; j++ {
		d.collect(j, now)
	}
}
