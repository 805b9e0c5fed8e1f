// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
)

// listenFar makes a connectionless socket at the daemon, and binds it to addr if that is
// not nil.
func (c SocketConfig) listenFar(ctx context.Context, n *Node, network string, addr net.Addr) (*PacketConn, error) {
	return c.openFar(ctx, n, network, addr, true)
}

// openFar is listenFar; kept says that the socket outlives the daemon.
func (c SocketConfig) openFar(ctx context.Context, n *Node, network string, addr net.Addr, kept bool) (*PacketConn, error) {
	s := &remoteSocket{f: n.far, network: network, sync: c.SyncErrors || n.far.cfg.SyncErrors, make: makePacket, kept: kept, options: c.optionsOf(n.far)}
	if addr != nil {
		r, err := bindable(addr)
		if err != nil {
			return nil, err
		}
		s.names = []boundName{{attach.RangeSockaddr(r, c.Scope)}}
	}
	s.reports.returns.Store(c.Returnable)
	if err := s.open(ctx, false); err != nil {
		return nil, err
	}
	return &PacketConn{writeHalf: writeHalf{n: n, network: network, far: s}, cfg: c}, nil
}

// readFar is read for an attached socket: with room nil the message is handed to keep.
func (c *PacketConn) readFar(ctx context.Context, b []byte, keep func(data []byte)) (k int, m Message, err error) {
	for again := true; again; {
		cur := c.far.session.Load()
		err = cur.line.next(ctx, c.far.remote, func(r *clientRecord) bool {
			k = cur.message(c.network, r, b, keep, &m)
			return true
		})
		again, err = c.far.follow(ctx, cur, readEnd, err)
	}
	return k, m, err
}

// message copies a record's message, and tells what is known of it.
func (cur *session) message(network string, r *clientRecord, b []byte, keep func([]byte), m *Message) (k int) {
	if keep != nil {
		keep(r.data)
		k = len(r.data)
	} else {
		k = copy(b, r.data)
	}
	from, _ := r.Addr.Socket()
	from.Net = network
	if last, ok := cur.from.(SocketAddr); !ok || last != from {
		cur.from = from
	}
	*m = Message{From: from, Importance: Importance(r.Arg0 & 0xff), Truncated: k < len(r.data), Error: ErrorCode(r.Arg1), addr: cur.from}
	if name, ok := r.Addr2.Range(); ok {
		m.Name, m.Named = name, true
	} else if svc, ok := r.Addr2.Service(); ok {
		m.Name, m.Named = svc.Range(), true
	}
	return k
}

// writeFar is write for an attached socket.
func (c *PacketConn) writeFar(ctx context.Context, d dest, b []byte, addr net.Addr) (int, error) {
	h, err := d.record()
	var waited time.Duration
	if err == nil {
		waited, err = c.far.send(ctx, &h, b)
	}
	if err != nil {
		return 0, c.far.notSent(addr, waited, err)
	}
	return len(b), nil
}

// record is the header of a message to d. Errors: ErrRange.
func (d *dest) record() (attach.Header, error) {
	h := attach.Header{Op: attach.OpSend}
	switch d.kind {
	case toService:
		h.Addr = attach.ServiceSockaddr(d.service(), 0)
	case toRange:
		if d.all().Lower > d.all().Upper {
			return h, ErrRange
		}
		h.Addr = attach.RangeSockaddr(d.all(), 0)
	case toSocket:
		h.Addr = attach.SocketSockaddr(d.socket())
	}
	return h, nil
}

// tryReadFar is TryReadMsg for an attached socket.
func (c *PacketConn) tryReadFar(b []byte) (k int, m Message, err error) {
	for again := true; again; {
		cur := c.far.session.Load()
		err = cur.line.try(func(r *clientRecord) bool {
			k = cur.message(c.network, r, b, nil, &m)
			return true
		})
		again, err = c.far.tryFollow(cur, err)
	}
	if err != nil && err != errAgain {
		err = c.far.opError("read", nil, err)
	}
	return k, m, err
}

// tryWriteFar is TryWriteTo for an attached socket: the error of the message itself is
// reported even with SyncErrors.
func (c *PacketConn) tryWriteFar(b []byte, addr net.Addr) (int, error) {
	d, err := c.destOr(addr)
	var h attach.Header
	if err == nil {
		h, err = d.record()
	}
	if err == nil {
		err = c.far.trySend(&h, b)
	}
	switch {
	case err == errAgain:
		return 0, err
	case err != nil:
		return 0, c.far.opError("write", addr, err)
	}
	return len(b), nil
}

// trySend is send that does not wait: its error is syscall.EAGAIN then.
func (s *remoteSocket) trySend(h *attach.Header, b []byte) error {
	if len(b) > frame.MaxPayload {
		return ErrTooLong
	}
	for {
		cur := s.session.Load()
		again, err := s.tryFollow(cur, s.trySendOn(cur.line, h, b))
		if !again {
			return err
		}
	}
}

// trySendOn is trySend on one line.
func (s *remoteSocket) trySendOn(l *clientConn, h *attach.Header, b []byte) error {
	if err := l.trouble(); err != nil {
		return err
	}
	seq := s.reports.number(h)
	err := l.tryWrite(h, b)
	if err == nil {
		return nil
	}
	if s.reports.unsent(seq); err == syscall.EAGAIN {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.explained(err)
}

// readBatchFar is readBatch for an attached socket.
func (c *PacketConn) readBatchFar(ms []MessageBuffer, flags int) (k int, err error) {
	m := &ms[0]
	if flags&DontWait != 0 {
		if m.N, m.Message, err = c.tryReadFar(m.Data); err == errAgain {
			return 0, c.far.opError("read", nil, syscall.EAGAIN)
		}
	} else if m.N, m.Message, err = c.readFar(context.Background(), m.Data, nil); err != nil {
		err = c.far.opError("read", nil, err)
	}
	if err != nil {
		return 0, err
	}
	m.Addr = m.addr
	for k = 1; k < len(ms); k++ {
		m := &ms[k]
		if m.N, m.Message, err = c.tryReadFar(m.Data); err != nil {
			break
		}
		m.Addr = m.addr
	}
	return k, nil
}

// writeBatchFar is writeBatch for an attached socket.
func (c *PacketConn) writeBatchFar(ms []MessageBuffer, flags int) (k int, err error) {
	for k = range ms {
		m := &ms[k]
		d, _ := c.destOr(m.Addr)
		if k == 0 && flags&DontWait == 0 {
			_, err = c.writeFar(context.Background(), d, m.Data, m.Addr)
		} else if _, err = c.tryWriteFar(m.Data, m.Addr); err == errAgain && k == 0 {
			err = c.far.opError("write", m.Addr, err)
		}
		if err != nil {
			if k == 0 {
				return 0, err
			}
			return k, nil
		}
		m.N = len(m.Data)
	}
	return len(ms), nil
}

// newBufferFar is NewBuffer for an attached socket: memory of this program.
func newBufferFar(c lender, size int) (*Buffer, error) {
	b, ok := newBuffer(c)
	switch {
	case c.writes().far.isClosed():
		b.Release()
		return nil, net.ErrClosed
	case size < 0 || size > frame.MaxPayload:
		b.Release()
		return nil, ErrTooLong
	case !ok:
		b.Release()
		return nil, ErrNoRoom
	}
	b.size, b.fresh = size, true
	if cap(b.own) < size {
		b.own = make([]byte, size)
	}
	b.pieces = append(b.pieces[:0], b.own[:size])
	return b, nil
}

// writeBufferFar is WriteBuffer for an attached socket, by a copy.
func (c *PacketConn) writeBufferFar(d dest, b *Buffer, addr net.Addr) error {
	data, err := b.data()
	if err != nil {
		return c.far.opError("write", addr, err)
	}
	if _, err := c.writeFar(context.Background(), d, data, addr); err != nil {
		return err
	}
	b.void()
	return nil
}

// data is what a Buffer that is sent has in it. Errors: ErrVoid.
func (b *Buffer) data() ([]byte, error) {
	if b.c == nil {
		return nil, ErrVoid
	}
	if b.fresh {
		b.finish()
	}
	return b.Bytes(), nil
}

// readBufferFar is what ReadBuffer of attached sockets hands out: a copy.
func readBufferFar(c lender, read func(keep func([]byte)) error) (b *Buffer, err error) {
	err = read(func(data []byte) {
		b, _ = newBuffer(c)
		b.own = append(b.own[:0], data...)
		b.size = len(data)
		b.pieces = append(b.pieces[:0], b.own)
	})
	return b, err
}
