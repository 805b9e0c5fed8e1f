// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"bytes"
	"sync"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// A mail is what comes to a connectionless socket.
type mail struct {
	from    *stack.PacketConn
	polled  *stack.Polled
	waiting sync.Mutex // held by a sender that waits for room
	stalled bool       // P has no room for what was read; guarded by Sockets.delivering, as is closing
	closing bool       // the program closes P, with something unread: that goes back before what comes still
}

const (
	mostMail   = 32 // messages of a socket, then others have their turn
	mostRounds = 64 // of a sender, who delivers for others
)

// deliverAll delivers what comes from other nodes.
func (s *Sockets) deliverAll() {
	for hosting.Await(s.poller) == nil {
		s.deliver()
	}
}

// deliver delivers what is ready. When it returns, what was ready before is delivered, whoever
// did that.
func (s *Sockets) deliver() {
	s.delivering.Lock()
	defer s.delivering.Unlock()
	hosting.Settle(s.poller)
	var ready [16]*stack.Polled
	for range mostRounds {
		k := s.poller.Take(ready[:])
		if k == 0 {
			return
		}
		buf := scratches.Get().(*scratch)
		for _, r := range ready[:k] {
			more := false
			switch o := r.Owner.(type) {
			case *member:
				o.mayWrite()
				more = o.x.pass(o, buf)
			case *socket:
				if o.kind.Connected() {
					o.offer()
				} else {
					more = o.pass(&o.mail, buf)
				}
			case half:
				o.look()
			}
			if more {
				r.Again()
			}
		}
		scratches.Put(buf)
	}
}

// A source is where messages for a program come from.
type source interface {
	// read takes the next message and says in h what is known of it.
	read(h *attach.Header, buf []byte) (int, bool)
	// giveBack returns a message to its sender that was read last, and that P does not take.
	giveBack(h *attach.Header, data []byte, err error)
	socket() any // that it is read from
}

// pass delivers messages until there are no more, or no room, and reports whether there may be more.
func (x *socket) pass(from source, buf *scratch) (more bool) {
	m := &x.mail
	if m.stalled || m.closing {
		return false
	}
	for range mostMail {
		var h attach.Header
		k, ok := from.read(&h, buf[attach.HeaderLen:])
		if !ok {
			return false
		}
		h.Len = uint32(k)
		h.Put(buf[:attach.HeaderLen])
		switch _, err := x.d.tryWrite(buf[:attach.HeaderLen+k]); err {
		case nil:
		case syscall.EAGAIN:
			m.stalled = true
			record := bytes.Clone(buf[:attach.HeaderLen+k])
			hosting.Hold(from.socket(), len(record))
			x.all.wg.Go(func() { x.unstall(from, record) })
			return false
		default:
			from.giveBack(&h, buf[attach.HeaderLen:][:k], err)
		}
	}
	return true
}

// read implements source.
func (m *mail) read(h *attach.Header, buf []byte) (int, bool) {
	k, r, err := m.from.TryReadMsg(buf)
	if err != nil {
		return 0, false
	}
	h.Op, h.Addr = attach.OpMessage, attach.SocketSockaddr(r.From)
	h.Arg0, h.Arg1 = uint32(r.Importance), uint32(r.Error)
	h.Wide = uint64(hosting.Marks(m.from)) // the program has no use for it, see returnUnread
	if r.Named {
		h.Addr2 = attach.RangeSockaddr(r.Name, 0)
	}
	return k, true
}

// giveBack implements source.
func (m *mail) giveBack(h *attach.Header, data []byte, err error) {
	if h.Arg1 != 0 { // it came back itself
		return
	}
	why := frame.NoPort
	if err == syscall.EMSGSIZE {
		why = frame.Overload
	}
	_ = hosting.Return(m.from, data, why) // fails when the node is closed
}

// socket implements source.
func (m *mail) socket() any { return m.from }

// unstall waits for room in P for a record, and has the socket served again.
func (x *socket) unstall(from source, record []byte) {
	err := x.d.write(record)
	hosting.Hold(from.socket(), -len(record))
	x.all.delivering.Lock()
	x.mail.stalled = false
	if err != nil {
		h, data, _ := attach.ParseRecord(record)
		from.giveBack(&h, data, err)
	}
	x.all.delivering.Unlock()
	x.resume()
}

// resume has the socket served again.
func (x *socket) resume() {
	x.mail.polled.Again()
	x.mu.Lock()
	m := x.member
	x.mu.Unlock()
	if m != nil {
		m.polled.Again()
	}
}

// setClosing sets mail.closing. When it returns nothing is being delivered.
func (x *socket) setClosing(closing bool) {
	x.all.delivering.Lock()
	defer x.all.delivering.Unlock()
	x.mail.closing = closing
}
