// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A Packet is a connectionless socket at the daemon.
type Packet struct {
	*Socket
	backend.Lending
	scope frame.Scope // of its bindings
}

// ListenPacket implements backend.Node. The socket outlives the daemon.
func (f *Node) ListenPacket(ctx context.Context, c backend.SocketOptions, network string, addr net.Addr, r frame.Range) (backend.Packet, error) {
	var names []boundName
	if addr != nil {
		names = []boundName{{addr: attach.RangeSockaddr(r, c.Scope)}}
	}
	return f.openPacket(ctx, c, network, names, true)
}

// openPacket makes a connectionless socket at the daemon; kept says that it outlives that.
func (f *Node) openPacket(ctx context.Context, c backend.SocketOptions, network string, names []boundName, kept bool) (*Packet, error) {
	s := &Socket{f: f, network: network, sync: c.SyncErrors || f.cfg.SyncErrors, make: makePacket, kept: kept, names: names, options: f.optionsOf(c), exclusive: c.Exclusive}
	s.reports.returns.Store(c.Returnable)
	if err := f.mayBeExclusive(c); err != nil {
		return nil, err
	}
	if err := s.open(ctx, false); err != nil {
		return nil, err
	}
	return &Packet{Socket: s, scope: c.Scope}, nil
}

// Connected implements backend.Packet.
func (c *Packet) Connected() { c.remote = true }

// Bind implements backend.Packet.
func (c *Packet) Bind(addr net.Addr) error { return c.BindScope(addr, c.scope) }

// Unbind implements backend.Packet.
func (c *Packet) Unbind(addr net.Addr) error { return c.UnbindScope(addr, c.scope) }

// BindScope implements backend.Packet.
func (c *Packet) BindScope(addr net.Addr, scope frame.Scope) error {
	return c.bind(attach.OpBind, addr, scope)
}

// UnbindScope implements backend.Packet.
func (c *Packet) UnbindScope(addr net.Addr, scope frame.Scope) error {
	return c.bind(attach.OpUnbind, addr, scope)
}

// Read implements backend.Packet.
func (c *Packet) Read(b []byte) (k int, m backend.Envelope, err error) {
	return c.read(context.Background(), b, nil)
}

// read is Read that ctx ends, too: with keep the message is handed to that.
func (c *Packet) read(ctx context.Context, b []byte, keep func(data []byte)) (k int, m backend.Envelope, err error) {
	_, err = c.onSession(ctx, byRead, func(cur *session) error {
		return cur.line.next(ctx, c.remote, func(r *clientRecord) bool {
			k = cur.message(r, b, keep, &m)
			return true
		})
	})
	c.heedLost(err)
	return k, m, err
}

// message copies a record's message, and tells what is known of it.
func (cur *session) message(r *clientRecord, b []byte, keep func([]byte), m *backend.Envelope) (k int) {
	if keep != nil {
		keep(r.data)
		k = len(r.data)
	} else {
		k = copy(b, r.data)
	}
	from, _ := r.Addr.Socket()
	if last, ok := cur.from.(frame.SocketAddr); !ok || last != from {
		cur.from = from
	}
	*m = backend.Envelope{From: from, Importance: frame.Importance(r.Arg0 & 0xff), Truncated: k < len(r.data), Error: frame.ErrorCode(r.Arg1), Receipt: cur.receipt(r.Wide), Addr: cur.from}
	if name, ok := r.Addr2.Range(); ok {
		m.Name, m.Named = name, true
	} else if svc, ok := r.Addr2.Service(); ok {
		m.Name, m.Named = svc.Range(), true
	}
	return k
}

// write is Write that ctx ends, too.
func (c *Packet) write(ctx context.Context, d backend.Dest, b []byte, addr net.Addr) (int, error) {
	h, err := recordTo(&d)
	var waited time.Duration
	if err == nil {
		waited, err = c.send(ctx, &h, b)
	}
	if err != nil {
		return 0, c.notSent(addr, waited, err)
	}
	return len(b), nil
}

// recordTo is the header of a message to d. Errors: ErrRange.
func recordTo(d *backend.Dest) (attach.Header, error) {
	h := attach.Header{Op: attach.OpSend}
	switch d.Kind {
	case backend.ToService:
		h.Addr = attach.ServiceSockaddr(d.Service(), 0)
	case backend.ToRange:
		if d.All().Lower > d.All().Upper {
			return h, engine.ErrRange
		}
		h.Addr = attach.RangeSockaddr(d.All(), 0)
	case backend.ToSocket:
		h.Addr = attach.SocketSockaddr(d.Socket())
	}
	return h, nil
}

// TryReadMsg implements backend.Packet.
func (c *Packet) TryReadMsg(b []byte) (k int, m backend.Envelope, err error) {
	_, err = c.onSession(context.Background(), noWait, func(cur *session) error {
		return cur.line.try(func(r *clientRecord) bool {
			k = cur.message(r, b, nil, &m)
			return true
		})
	})
	if err != nil && err != backend.ErrAgain {
		c.heedLost(err)
		err = c.opError("read", nil, err)
	}
	return k, m, err
}

// Write implements backend.Packet.
func (c *Packet) Write(d backend.Dest, b []byte, addr net.Addr) (int, error) {
	return c.write(context.Background(), d, b, addr)
}

// TryWrite implements backend.Packet: the error of the message itself is reported even with
// SyncErrors.
func (c *Packet) TryWrite(d backend.Dest, b []byte, addr net.Addr) (int, error) {
	h, err := recordTo(&d)
	if err == nil {
		err = c.trySend(&h, b)
	}
	switch {
	case err == backend.ErrAgain:
		return 0, err
	case err != nil:
		return 0, c.opError("write", addr, err)
	}
	return len(b), nil
}

// trySend is send that does not wait: its error is syscall.EAGAIN then.
func (s *Socket) trySend(h *attach.Header, b []byte) error {
	if len(b) > frame.MaxPayload {
		return &engine.LengthError{Size: len(b), Most: frame.MaxPayload}
	}
	_, err := s.onSession(context.Background(), noWait, func(cur *session) error { return s.trySendOn(cur.line, h, b) })
	return err
}

// trySendOn is trySend on one line.
func (s *Socket) trySendOn(l *clientConn, h *attach.Header, b []byte) error {
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

// ReadBatch implements backend.Packet.
func (c *Packet) ReadBatch(ms []socket.Message, wait bool) (k int, err error) {
	var n int
	var m backend.Envelope
	if !wait {
		if n, m, err = c.TryReadMsg(ms[0].Data); err == backend.ErrAgain {
			return 0, c.opError("read", nil, syscall.EAGAIN)
		}
	} else if n, m, err = c.read(context.Background(), ms[0].Data, nil); err != nil {
		err = c.opError("read", nil, err)
	}
	if err != nil {
		return 0, err
	}
	m.Fill(&ms[0], n)
	for k = 1; k < len(ms); k++ {
		if n, m, err = c.TryReadMsg(ms[k].Data); err != nil {
			break
		}
		m.Fill(&ms[k], n)
	}
	return k, nil
}

// WriteBatch implements backend.Packet.
func (c *Packet) WriteBatch(ms []socket.Message, wait bool, to *backend.DefaultDest) (k int, err error) {
	for k = range ms {
		m := &ms[k]
		d, _ := to.DestOf(m.To)
		if k == 0 && wait {
			_, err = c.Write(d, m.Data, m.To)
		} else if _, err = c.TryWrite(d, m.Data, m.To); err == backend.ErrAgain && k == 0 {
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

// NewBuffer implements backend.Packet.
func (c *Packet) NewBuffer(b *backend.Buffer, size int) error {
	return c.newBuffer(&c.Lending, b, size)
}

// WriteBuffer implements backend.Packet, by a copy.
func (c *Packet) WriteBuffer(d backend.Dest, b *backend.Buffer, addr net.Addr) error {
	data, err := dataOf(b)
	if err != nil {
		return c.opError("write", addr, err)
	}
	if _, err := c.Write(d, data, addr); err != nil {
		return err
	}
	b.Void()
	return nil
}

// ReadBuffer implements backend.Packet.
func (c *Packet) ReadBuffer(b *backend.Buffer) (m backend.Envelope, err error) {
	_, m, err = c.read(context.Background(), nil, func(data []byte) { copyTo(b, &c.Lending, data) })
	return m, err
}

// SetImportance implements backend.Packet.
func (c *Packet) SetImportance(i frame.Importance) error {
	return c.set(attach.OptImportance, int64(i))
}

// SetReturnable implements backend.Packet.
func (c *Packet) SetReturnable(returnable bool) error {
	err := c.set(attach.OptDestDroppable, truth(!returnable))
	if err == nil {
		c.reports.returns.Store(returnable)
	}
	return err
}

// SetSrcDroppable implements backend.Packet.
func (c *Packet) SetSrcDroppable(droppable bool) error {
	return c.set(attach.OptSrcDroppable, truth(droppable))
}

// SetReceiveLimit implements backend.Packet.
func (c *Packet) SetReceiveLimit(bytes int) error {
	return c.set(attach.OptReceiveLimit, int64(bytes))
}

// SetMulticast implements backend.Packet.
func (c *Packet) SetMulticast(m engine.Method) error { return c.set(attach.OptMulticast, int64(m)) }

// Bindings implements backend.Packet.
func (c *Packet) Bindings(ctx context.Context) ([]naming.Binding, error) {
	return querySocket[[]naming.Binding](ctx, c.Socket, "socket.bindings")
}

// LastMsg implements backend.Packet.
func (c *Packet) LastMsg() engine.Received { return engine.Received{} }

// ReturnUnread implements backend.Packet.
func (c *Packet) ReturnUnread(engine.Received, []byte) error {
	return c.opError("return", nil, errors.ErrUnsupported)
}

// ReturnMsg implements backend.Packet.
func (c *Packet) ReturnMsg([]byte, frame.ErrorCode) error {
	return c.opError("return", nil, errors.ErrUnsupported)
}
