// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// groupTurn is how many times Receive may find enough on the own address and not
// look at the group.
const groupTurn = 8

// Receive fills bufs with the oldest datagrams that wait. With fewer than
// len(bufs), FD is readable if more do, or the arena has no chunk free (then they
// go on waiting). Errors, only with no frame: ErrNotAttached, net.ErrClosed.
func (d *Device) Receive(bufs []*netdev.Buffer) (n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return 0, d.closedLocked()
	case d.arena == nil:
		return 0, ErrNotAttached
	}
	if d.multi < 0 {
		return d.receive(d.uni, bufs), nil
	}
	// One look is a system call, so the group is looked at when the own address
	// has nothing, and when its turn has come.
	if d.in.empty() {
		d.turn++
	}
	if d.turn%groupTurn == 0 {
		n = d.receive(d.multi, bufs)
	}
	n += d.receive(d.uni, bufs[n:])
	if n == 0 {
		n = d.receive(d.multi, bufs)
	}
	return n, nil
}

// Prefetches reports true: what the kernel has put together comes with one call.
func (d *Device) Prefetches() bool { return true }

// receive fills bufs with what was received before, and then from a socket.
func (d *Device) receive(fd int, bufs []*netdev.Buffer) (n int) {
	for more := true; n < len(bufs); {
		if d.in.empty() {
			if !more {
				break
			}
			more = d.in.take(fd)
			if d.in.have == 0 {
				break
			}
			d.stats.RecvCalls++
			d.stats.RecvRuns += uint64(d.in.have)
		}
		k, ok := d.unpack(bufs[n:])
		if n += k; !ok {
			break
		}
	}
	return n
}

// unpack copies datagrams from the inbox into chunks. ok is false when there is
// no chunk.
func (d *Device) unpack(bufs []*netdev.Buffer) (n int, ok bool) {
	x := &d.in
	for n < len(bufs) && !x.empty() {
		if x.done == 0 && !d.open() {
			x.next()
			continue
		}
		data := x.data()
		rest := len(data)
		data = data[:min(rest, x.size)]
		if len(data) > d.cfg.MTU {
			d.stats.TooLong++
		} else {
			b := d.arena.Get(frame.EthernetLen+len(data), netdev.Control)
			if b == nil {
				return n, false
			}
			frame.PutEthernet(b.Extend(frame.EthernetLen), d.table.own.mac, x.src)
			copy(b.Extend(len(data)), data)
			bufs[n] = b
			n++
		}
		d.stats.Received++
		if x.done += len(data); len(data) == rest {
			x.next()
		}
	}
	return n, true
}

// open looks at a message that was received: who it is from and how it is to be
// cut. It is dropped when that says no.
func (d *Device) open() bool {
	x, s := &d.in, &d.stats
	m := &x.messages[x.at]
	addr := x.from[x.at].addrPort()
	switch {
	case addr == d.table.own.addr:
		s.Own++
		return false
	case m.n == 0 || addr.Port() == 0:
		s.Empty++
		s.Received++
		return false
	}
	from, isNew, displaced := d.table.hear(addr, x.from[x.at])
	if from == nil {
		s.TableFull++
		s.Received++
		return false
	}
	if isNew {
		s.Strangers++
	}
	if displaced {
		s.Displaced++
	}
	x.src, x.size = from.mac, x.control[x.at].get(int(m.Controllen))
	if x.size <= 0 {
		x.size = int(m.n)
	}
	return true
}
