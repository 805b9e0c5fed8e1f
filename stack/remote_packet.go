// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
)

// A remotePacket is a connectionless socket at the daemon.
type remotePacket struct {
	*remoteSocket
	lending
	scope Scope // of its bindings
}

// ListenPacket implements nodeBackend. The socket outlives the daemon.
func (f *remoteNode) ListenPacket(ctx context.Context, c SocketConfig, network string, addr net.Addr, r Range) (packetBackend, error) {
	var names []boundName
	if addr != nil {
		names = []boundName{{attach.RangeSockaddr(r, c.Scope)}}
	}
	return c.openPacket(ctx, f, network, names, true)
}

// openPacket makes a connectionless socket at the daemon; kept says that it outlives that.
func (c SocketConfig) openPacket(ctx context.Context, f *remoteNode, network string, names []boundName, kept bool) (*remotePacket, error) {
	s := &remoteSocket{f: f, network: network, sync: c.SyncErrors || f.cfg.SyncErrors, make: makePacket, kept: kept, names: names, options: c.optionsOf(f)}
	s.reports.returns.Store(c.Returnable)
	if err := s.open(ctx, false); err != nil {
		return nil, err
	}
	return &remotePacket{remoteSocket: s, scope: c.Scope}, nil
}

// connected implements packetBackend.
func (c *remotePacket) connected() { c.remote = true }

// Bind implements packetBackend.
func (c *remotePacket) Bind(addr net.Addr) error { return c.BindScope(addr, c.scope) }

// Unbind implements packetBackend.
func (c *remotePacket) Unbind(addr net.Addr) error { return c.UnbindScope(addr, c.scope) }

// BindScope implements packetBackend.
func (c *remotePacket) BindScope(addr net.Addr, scope Scope) error {
	return c.bind(attach.OpBind, addr, scope)
}

// UnbindScope implements packetBackend.
func (c *remotePacket) UnbindScope(addr net.Addr, scope Scope) error {
	return c.bind(attach.OpUnbind, addr, scope)
}

// Read implements packetBackend.
func (c *remotePacket) Read(b []byte) (k int, m envelope, err error) {
	return c.read(context.Background(), b, nil)
}

// read is Read that ctx ends, too: with keep the message is handed to that.
func (c *remotePacket) read(ctx context.Context, b []byte, keep func(data []byte)) (k int, m envelope, err error) {
	for again := true; again; {
		cur := c.session.Load()
		err = cur.line.next(ctx, c.remote, func(r *clientRecord) bool {
			k = cur.message(c.network, r, b, keep, &m)
			return true
		})
		again, err = c.follow(ctx, cur, readEnd, err)
	}
	return k, m, err
}

// message copies a record's message, and tells what is known of it.
func (cur *session) message(network string, r *clientRecord, b []byte, keep func([]byte), m *envelope) (k int) {
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
	*m = envelope{From: from, Importance: Importance(r.Arg0 & 0xff), Truncated: k < len(r.data), Error: ErrorCode(r.Arg1), addr: cur.from}
	if name, ok := r.Addr2.Range(); ok {
		m.Name, m.Named = name, true
	} else if svc, ok := r.Addr2.Service(); ok {
		m.Name, m.Named = svc.Range(), true
	}
	return k
}

// write is Write that ctx ends, too.
func (c *remotePacket) write(ctx context.Context, d dest, b []byte, addr net.Addr) (int, error) {
	h, err := d.record()
	var waited time.Duration
	if err == nil {
		waited, err = c.send(ctx, &h, b)
	}
	if err != nil {
		return 0, c.notSent(addr, waited, err)
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

// TryReadMsg implements packetBackend.
func (c *remotePacket) TryReadMsg(b []byte) (k int, m envelope, err error) {
	for again := true; again; {
		cur := c.session.Load()
		err = cur.line.try(func(r *clientRecord) bool {
			k = cur.message(c.network, r, b, nil, &m)
			return true
		})
		again, err = c.tryFollow(cur, err)
	}
	if err != nil && err != errAgain {
		err = c.opError("read", nil, err)
	}
	return k, m, err
}

// Write implements packetBackend.
func (c *remotePacket) Write(d dest, b []byte, addr net.Addr) (int, error) {
	return c.write(context.Background(), d, b, addr)
}

// TryWrite implements packetBackend: the error of the message itself is reported even with
// SyncErrors.
func (c *remotePacket) TryWrite(d dest, b []byte, addr net.Addr) (int, error) {
	h, err := d.record()
	if err == nil {
		err = c.trySend(&h, b)
	}
	switch {
	case err == errAgain:
		return 0, err
	case err != nil:
		return 0, c.opError("write", addr, err)
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

// ReadBatch implements packetBackend.
func (c *remotePacket) ReadBatch(ms []Message, wait bool) (k int, err error) {
	var n int
	var m envelope
	if !wait {
		if n, m, err = c.TryReadMsg(ms[0].Data); err == errAgain {
			return 0, c.opError("read", nil, syscall.EAGAIN)
		}
	} else if n, m, err = c.read(context.Background(), ms[0].Data, nil); err != nil {
		err = c.opError("read", nil, err)
	}
	if err != nil {
		return 0, err
	}
	m.fill(&ms[0], n)
	for k = 1; k < len(ms); k++ {
		if n, m, err = c.TryReadMsg(ms[k].Data); err != nil {
			break
		}
		m.fill(&ms[k], n)
	}
	return k, nil
}

// WriteBatch implements packetBackend.
func (c *remotePacket) WriteBatch(ms []Message, wait bool, to *defaultDest) (k int, err error) {
	for k = range ms {
		m := &ms[k]
		d, _ := to.destOf(m.To)
		if k == 0 && wait {
			_, err = c.Write(d, m.Data, m.To)
		} else if _, err = c.TryWrite(d, m.Data, m.To); err == errAgain && k == 0 {
			err = c.opError("write", m.To, err)
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

// NewBuffer implements packetBackend.
func (c *remotePacket) NewBuffer(size int) (*Buffer, error) { return c.newBuffer(&c.lending, size) }

// WriteBuffer implements packetBackend, by a copy.
func (c *remotePacket) WriteBuffer(d dest, b *Buffer, addr net.Addr) error {
	data, err := b.data()
	if err != nil {
		return c.opError("write", addr, err)
	}
	if _, err := c.Write(d, data, addr); err != nil {
		return err
	}
	b.void()
	return nil
}

// ReadBuffer implements packetBackend.
func (c *remotePacket) ReadBuffer() (b *Buffer, m envelope, err error) {
	_, m, err = c.read(context.Background(), nil, func(data []byte) { b = c.lending.copied(data) })
	return b, m, err
}

// SetImportance implements packetBackend.
func (c *remotePacket) SetImportance(i Importance) error {
	return c.set(attach.OptImportance, int64(i))
}

// SetReturnable implements packetBackend.
func (c *remotePacket) SetReturnable(returnable bool) error {
	err := c.set(attach.OptDestDroppable, truth(!returnable))
	if err == nil {
		c.reports.returns.Store(returnable)
	}
	return err
}

// SetSrcDroppable implements packetBackend.
func (c *remotePacket) SetSrcDroppable(droppable bool) error {
	return c.set(attach.OptSrcDroppable, truth(droppable))
}

// SetReceiveLimit implements packetBackend.
func (c *remotePacket) SetReceiveLimit(bytes int) error {
	return c.set(attach.OptReceiveLimit, int64(bytes))
}

// SetMulticast implements packetBackend.
func (c *remotePacket) SetMulticast(m Method) error { return c.set(attach.OptMulticast, int64(m)) }

// Bindings implements packetBackend.
func (c *remotePacket) Bindings(ctx context.Context) ([]Binding, error) {
	return querySocket[[]Binding](ctx, c.remoteSocket, "socket.bindings")
}

// ReturnMsg implements packetBackend.
func (c *remotePacket) ReturnMsg([]byte, ErrorCode) error {
	return c.opError("return", nil, errors.ErrUnsupported)
}
