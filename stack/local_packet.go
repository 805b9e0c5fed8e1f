// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A localPacket is a connectionless socket of a node in this process.
type localPacket struct {
	writeHalf
	cfg SocketConfig
	lending

	// Guarded by the node's lock.
	readHalf
	port   *engine.Port
	active *localPort      // whose socket it is, or nil
	from   net.Addr        // of the last message, so that the next from there costs no allocation
	tried  engine.Received // the message that TryReadMsg returned last
}

// ListenPacket implements nodeBackend.
func (n *localNode) ListenPacket(_ context.Context, c SocketConfig, network string, addr net.Addr, r Range) (packetBackend, error) {
	p := &localPacket{writeHalf: writeHalf{n: n, network: network, nameWait: c.spinPolicy(n.cfg)}, cfg: c}
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return nil, err
	}
	p.port = n.eng.OpenPort(engine.PortConfig{
		Importance: c.Importance, Returnable: c.Returnable, SrcDroppable: network == "tipcgram",
		ReceiveLimit: c.ReceiveLimit, Account: c.account.Engine(), Requests: c.Requests, Owner: p,
	})
	if p.port == nil {
		return nil, ErrTooManySockets
	}
	p.port.SetMethod(c.Multicast)
	p.local = p.port.Addr()
	p.local.Net = network
	if addr != nil {
		if err := p.bind(r, c.Scope); err != nil {
			p.port.Close(n.loop.Now())
			return nil, err
		}
	}
	n.sockets[p] = struct{}{}
	return p, nil
}

// connected implements packetBackend.
func (c *localPacket) connected() {}

// bind is called with the node's lock held.
func (c *localPacket) bind(r Range, scope Scope) error {
	now := c.n.loop.Now()
	err := c.port.Bind(now, r, scope)
	c.n.pollOnce(now, false)
	return err
}

// Bind implements packetBackend.
func (c *localPacket) Bind(addr net.Addr) error {
	r, err := bindable(addr)
	if err == nil {
		c.n.loop.Lock()
		defer c.n.loop.Unlock()
		err = c.bind(r, c.cfg.Scope)
	}
	if err != nil {
		return opError("bind", c.network, c.local, addr, err)
	}
	return nil
}

// Unbind implements packetBackend.
func (c *localPacket) Unbind(addr net.Addr) error {
	r, err := bindable(addr)
	if err == nil {
		c.n.loop.Lock()
		defer c.n.loop.Unlock()
		scope := c.cfg.Scope
		if scope != NodeScope {
			scope = ClusterScope
		}
		now := c.n.loop.Now()
		err = c.port.Unbind(now, r, scope)
		c.n.pollOnce(now, false)
	}
	if err != nil {
		return opError("unbind", c.network, c.local, addr, err)
	}
	return nil
}

// Read implements packetBackend.
func (c *localPacket) Read(b []byte) (k int, m envelope, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	err = c.await(n, &c.closed, func() bool {
		var r engine.Received
		var ok bool
		if k, r, ok = c.port.Read(b); ok {
			m = c.message(&r, k)
		}
		return ok
	}, func() bool { return c.port.Pending() > 0 })
	return k, m, err
}

// message tells what is known of a message of which k bytes were read.
func (c *localPacket) message(r *engine.Received, k int) envelope {
	r.From.Net = c.network
	if last, ok := c.from.(SocketAddr); !ok || last != r.From {
		c.from = r.From
	}
	return envelope{
		From: r.From, Name: r.Name, Named: r.Named(), Importance: r.Importance,
		Truncated: k < r.Len, Error: r.Error, addr: c.from,
	}
}

// Write implements packetBackend.
func (c *localPacket) Write(d dest, b []byte, addr net.Addr) (int, error) {
	err := c.n.submit(c, d, b)
	if err != nil {
		if err = c.n.retry(context.Background(), c, d, b, err); err != nil {
			return 0, c.sendError(addr, err)
		}
	}
	return len(b), nil
}

// Close implements socketBackend.
func (c *localPacket) Close() error {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	if c.closed {
		return opError("close", c.network, c.local, nil, net.ErrClosed)
	}
	c.shut()
	c.n.pollOnce(c.n.loop.Now(), false)
	return nil
}

// shut implements socket.
func (c *localPacket) shut() {
	n := c.n
	c.closed = true
	c.went()
	delete(n.sockets, c)
	c.port.Close(n.loop.Now())
	c.wake(n, true)
	n.loop.RouseAll(c.writing)
	if c.active != nil {
		c.active.ended()
	}
}

// put implements sender.
func (c *localPacket) put(now time.Duration, d dest, data []byte) error {
	switch d.kind {
	case toService:
		return c.port.SendService(now, d.service(), data)
	case toRange:
		return c.port.SendRange(now, d.all(), data)
	}
	return c.port.Send(now, d.socket(), data)
}

// waits implements sender.
func (c *localPacket) waits(d dest, err error) bool { return blocks(err) || c.awaits(d, err) }

// SetDeadlines implements socketBackend.
func (c *localPacket) SetDeadlines(read, write *time.Time) error {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	if c.closed {
		return opError("set", c.network, c.local, nil, net.ErrClosed)
	}
	if read != nil {
		c.setReadBy(c.n, *read)
	}
	if write != nil {
		c.setWriteBy(*write)
	}
	return nil
}

// SetImportance implements packetBackend.
func (c *localPacket) SetImportance(i Importance) error {
	return c.set(func() error {
		if i > Critical {
			return fmt.Errorf("%w: importance %d", ErrConfig, i)
		}
		c.port.Importance = i
		return nil
	})
}

// SetReturnable implements packetBackend.
func (c *localPacket) SetReturnable(returnable bool) error {
	return c.set(func() error { c.port.Returnable = returnable; return nil })
}

// SetSrcDroppable implements packetBackend.
func (c *localPacket) SetSrcDroppable(droppable bool) error {
	return c.set(func() error { c.port.SrcDroppable = droppable; return nil })
}

// SetReceiveLimit implements packetBackend.
func (c *localPacket) SetReceiveLimit(bytes int) error {
	return c.set(func() error {
		if bytes < 0 {
			return fmt.Errorf("%w: receive limit of %d bytes", ErrConfig, bytes)
		}
		c.port.SetReceiveLimit(bytes)
		return nil
	})
}

// SetMulticast implements packetBackend.
func (c *localPacket) SetMulticast(m Method) error {
	return c.set(func() error {
		if m > Replicast {
			return fmt.Errorf("%w: multicast method %d", ErrConfig, m)
		}
		c.port.SetMethod(m)
		return nil
	})
}

// set changes an option with the node's lock held.
func (c *localPacket) set(change func() error) error {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	err := error(net.ErrClosed)
	if !c.closed {
		err = change()
	}
	if err != nil {
		return opError("set", c.network, c.local, nil, err)
	}
	return nil
}

// Bindings implements packetBackend.
func (c *localPacket) Bindings(context.Context) ([]Binding, error) {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return slices.Clone(c.port.Bindings()), nil
}

// BindScope implements packetBackend.
func (c *localPacket) BindScope(addr net.Addr, scope Scope) error {
	return c.rebind("bind", addr, scope, (*engine.Port).Bind)
}

// UnbindScope implements packetBackend.
func (c *localPacket) UnbindScope(addr net.Addr, scope Scope) error {
	return c.rebind("unbind", addr, scope, (*engine.Port).Unbind)
}

func (c *localPacket) rebind(op string, addr net.Addr, scope Scope, how func(*engine.Port, time.Duration, Range, Scope) error) error {
	r, err := bindable(addr)
	if err == nil {
		c.n.loop.Lock()
		defer c.n.loop.Unlock()
		if err = net.ErrClosed; !c.closed {
			now := c.n.loop.Now()
			err = how(c.port, now, r, scope)
			c.n.pollOnce(now, false)
		}
	}
	if err != nil {
		return opError(op, c.network, c.local, addr, err)
	}
	return nil
}

// ReadBatch implements packetBackend.
func (c *localPacket) ReadBatch(ms []Message, wait bool) (int, error) {
	k, err := c.readBatch(ms, wait)
	if err != nil {
		return 0, opError("read", c.network, c.local, nil, err)
	}
	return k, nil
}

func (c *localPacket) readBatch(ms []Message, wait bool) (k int, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if !wait && c.port.Pending() == 0 && !c.closed {
		n.pollOnce(n.loop.Now(), true) // what has come and nobody took
		if c.port.Pending() == 0 {
			return 0, syscall.EAGAIN
		}
	}
	err = c.await(n, &c.closed, func() bool {
		for ; k < len(ms) && c.port.Pending() > 0; k++ {
			m := &ms[k]
			got, r, _ := c.port.Read(m.Data)
			e := c.message(&r, got)
			e.fill(m, got)
		}
		return k > 0
	}, func() bool { return c.port.Pending() > 0 })
	return k, err
}

// WriteBatch implements packetBackend.
func (c *localPacket) WriteBatch(ms []Message, wait bool, to *defaultDest) (int, error) {
	k, err := c.writeBatch(ms, wait, to)
	if err != nil {
		return 0, c.sendError(ms[0].To, err)
	}
	return k, nil
}

func (c *localPacket) writeBatch(ms []Message, wait bool, to *defaultDest) (int, error) {
	k, err := c.sendBatch(ms, to)
	if k > 0 || err == nil {
		return k, nil
	}
	d, _ := to.destOf(ms[0].To)
	if !wait && c.waits(d, err) {
		return 0, syscall.EAGAIN
	}
	if err := c.n.retry(context.Background(), c, d, ms[0].Data, err); err != nil {
		return 0, err
	}
	ms[0].N = len(ms[0].Data)
	k, _ = c.sendBatch(ms[1:], to)
	return 1 + k, nil
}

// sendBatch sends what goes at once, and returns why the next message does not.
func (c *localPacket) sendBatch(ms []Message, to *defaultDest) (k int, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	now := n.loop.Now()
	n.latest = now
	n.eng.Hold(len(ms) > 1)
	for k < len(ms) && err == nil {
		m := &ms[k]
		d, _ := to.destOf(m.To) // it was looked at before: nothing is called
		if err = n.send(now, c, d, m.Data); err == nil {
			m.N = len(m.Data)
			k++
		}
	}
	n.poll(now, false, true)
	return k, err
}

// NewBuffer implements packetBackend.
func (c *localPacket) NewBuffer(size int) (*Buffer, error) { return makeBuffer(c.n, c, size) }

// WriteBuffer implements packetBackend.
func (c *localPacket) WriteBuffer(d dest, b *Buffer, addr net.Addr) error {
	if err := sendBuffer(c.n, c, d, b); err != nil {
		return c.sendError(addr, err)
	}
	return nil
}

// lend implements lender.
func (c *localPacket) lend(now time.Duration, m *engine.Lent, n int) error {
	return c.port.Lend(now, m, n)
}

// putLent implements lender.
func (c *localPacket) putLent(now time.Duration, d dest, m *engine.Lent) error {
	switch d.kind {
	case toService:
		return c.port.SendLentService(now, d.service(), m)
	case toRange:
		return c.port.SendLentRange(now, d.all(), m)
	}
	return c.port.SendLent(now, d.socket(), m)
}

// ReadBuffer implements packetBackend.
func (c *localPacket) ReadBuffer() (b *Buffer, m envelope, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	err = c.await(n, &c.closed, func() bool {
		if c.port.Pending() == 0 {
			return false
		}
		b = c.takeBuffer(&m)
		return true
	}, func() bool { return c.port.Pending() > 0 })
	return b, m, err
}

// takeBuffer hands out the first message that waits.
func (c *localPacket) takeBuffer(m *envelope) *Buffer {
	b, counted := newBuffer(&c.lending, c)
	data, hold, r, _ := c.port.Take(b.own)
	b.fill(data, hold, counted)
	*m = c.message(&r, r.Len)
	return b
}

// TryReadMsg implements packetBackend.
func (c *localPacket) TryReadMsg(b []byte) (int, envelope, error) {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	if c.closed {
		return 0, envelope{}, opError("read", c.network, c.local, nil, net.ErrClosed)
	}
	k, r, ok := c.port.Read(b)
	if !ok {
		return 0, envelope{}, errAgain
	}
	c.tried = r
	return k, c.message(&r, k), nil
}

// ReturnMsg implements packetBackend.
func (c *localPacket) ReturnMsg(b []byte, why ErrorCode) error {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return opError("return", c.network, c.local, nil, err)
	}
	if c.closed {
		why = frame.NoPort
	}
	now := n.loop.Now()
	c.port.Return(now, c.tried, b, why)
	n.pollOnce(now, false)
	return nil
}

// TryWrite implements packetBackend.
func (c *localPacket) TryWrite(d dest, b []byte, addr net.Addr) (int, error) {
	err := c.n.submit(c, d, b)
	switch {
	case err == nil:
		return len(b), nil
	case c.waits(d, err):
		return 0, errAgain
	}
	return 0, c.sendError(addr, err)
}

// Stats implements socketBackend.
func (c *localPacket) Stats(context.Context) (SocketStats, error) {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return c.port.Stats(), nil
}

// poll implements socketBackend.
func (c *localPacket) poll(p *Poller, owner any) *Polled { return c.addTo(p, c.n, owner) }

// hold implements socketBackend.
func (c *localPacket) hold(k int) { c.n.hold(c.port, k) }
