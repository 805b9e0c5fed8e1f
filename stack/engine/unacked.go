// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// An unacked is what a socket with PortConfig.ManualAck has read and not acknowledged: the
// beginning of each message, as much as a returned one has.
//
//	queued ──(read)──► kept ──(Ack)──► gone
//	   └──────(Close)────┴──► returned, those read first
//
// What is kept counts against the socket's limit as what is queued does.
type unacked struct {
	list  []unackedMessage // by receipt
	acked int              // of them, which are acknowledged and stay until they are more than half
	last  uint64           // the receipt given last
	spare []byte           // memory of the last that was acknowledged, or nil
}

type unackedMessage struct {
	r    Received
	data []byte // nil: acknowledged
}

// keep keeps the message r, which is about to be read, if its sender wants it back, and gives
// it a receipt.
func (p *Port) keep(r *Received) {
	if !r.returnable {
		return
	}
	u := p.unacked
	if u == nil {
		u = new(unacked)
		p.unacked = u
	}
	n := min(r.Len, frame.MaxReturned)
	data := u.spare
	if u.spare = nil; cap(data) < n || cap(data) > 2*n+recordCost { // it is charged n
		data = make([]byte, n)
	}
	data = data[:n]
	if r.data == nil {
		p.data.peek(data)
	} else {
		copy(data, r.data)
	}
	u.last++
	r.Receipt = u.last
	k := *r
	k.data, k.lent = nil, nil
	u.list = append(u.list, unackedMessage{k, data})
	p.queued += n + recordCost
}

// Ack ends that the message with a receipt is kept, and reports whether it was.
func (p *Port) Ack(receipt uint64) bool {
	u := p.unacked
	if u == nil {
		return false
	}
	i, ok := slices.BinarySearchFunc(u.list, receipt, func(m unackedMessage, receipt uint64) int {
		return cmp.Compare(m.r.Receipt, receipt)
	})
	if !ok || u.list[i].data == nil {
		return false
	}
	m := &u.list[i]
	p.queued -= len(m.data) + recordCost
	p.recount()
	u.spare, m.data = m.data, nil
	if u.acked++; 2*u.acked > len(u.list) {
		u.list = slices.DeleteFunc(u.list, func(m unackedMessage) bool { return m.data == nil })
		u.acked = 0
	}
	return true
}

// returnUnacked gives what is kept back to its senders, at the end of the socket.
func (p *Port) returnUnacked(now time.Duration) {
	u := p.unacked
	if u == nil {
		return
	}
	p.unacked = nil
	for _, m := range u.list {
		if m.data == nil {
			continue
		}
		p.queued -= len(m.data) + recordCost
		p.recount()
		p.e.returnUnread(now, p, m.r, m.data, frame.NoPort)
	}
}
