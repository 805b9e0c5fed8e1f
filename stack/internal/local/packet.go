// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A Packet is a connectionless socket of a node in this process.
type Packet struct {
	writeHalf
	cfg       backend.SocketOptions
	unsettled bool // it does not wait when it binds exclusively
	backend.Lending

	// Guarded by the node's lock.
	readHalf
	port   *engine.Port
	active *activePort     // whose socket it is, or nil
	from   net.Addr        // of the last message, so that the next from there costs no allocation
	tried  engine.Received // the message that TryReadMsg returned last
}

// ListenPacket implements backend.Node.
func (n *Node) ListenPacket(ctx context.Context, c backend.SocketOptions, network string, addr net.Addr, r frame.Range) (backend.Packet, error) {
	p := &Packet{writeHalf: writeHalf{n: n, network: network, nameWait: n.nameWait(c.NameWait)}, cfg: c, unsettled: hosting.IsUnsettled(ctx)}
	if err := p.open(ctx, addr != nil && !c.Exclusive, r); err != nil {
		return nil, err
	}
	if addr != nil && c.Exclusive {
		if err := n.bindExclusive(ctx, p.port, r, !p.unsettled); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// open makes the socket, and binds it to r if it is to be bound.
func (p *Packet) open(ctx context.Context, bind bool, r frame.Range) error {
	n, c := p.n, &p.cfg
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return err
	}
	p.port = n.eng.OpenPort(engine.PortConfig{
		Importance: c.Importance, Returnable: c.Returnable, SrcDroppable: p.network == "tipcgram",
		ReceiveLimit: c.ReceiveLimit, Account: hosting.AccountOf(ctx).Engine(), Requests: c.Requests, PreferIdle: c.PreferIdle, ManualAck: c.ManualAck, Owner: p,
	})
	if p.port == nil {
		return engine.ErrSockets
	}
	p.port.SetMethod(c.Multicast)
	p.local = p.port.Addr()
	if bind {
		if err := p.bind(r, c.Scope); err != nil {
			p.port.Close(n.loop.Now())
			return err
		}
	}
	n.addSocket(p, "socket")
	return nil
}

// Connected implements backend.Packet.
func (c *Packet) Connected() {}

// bind is called with the node's lock held.
func (c *Packet) bind(r frame.Range, scope frame.Scope) error {
	now := c.n.loop.Now()
	err := c.port.Bind(now, r, scope)
	c.n.pollOnce(now, false)
	return err
}

// Bind implements backend.Packet.
func (c *Packet) Bind(addr net.Addr) error {
	if c.cfg.Exclusive {
		return c.n.rebindExclusive(&c.writeHalf, c.port, addr, c.cfg.Scope, !c.unsettled)
	}
	r, err := backend.Bindable(addr)
	if err == nil {
		c.n.loop.Lock()
		defer c.n.loop.Unlock()
		err = c.bind(r, c.cfg.Scope)
	}
	if err != nil {
		return backend.OpError("bind", c.network, c.local, addr, err)
	}
	return nil
}

// Unbind implements backend.Packet.
func (c *Packet) Unbind(addr net.Addr) error {
	r, err := backend.Bindable(addr)
	if err == nil {
		c.n.loop.Lock()
		defer c.n.loop.Unlock()
		scope := c.cfg.Scope
		if scope != frame.NodeScope {
			scope = frame.ClusterScope
		}
		now := c.n.loop.Now()
		err = c.port.Unbind(now, r, scope)
		c.n.pollOnce(now, false)
	}
	if err != nil {
		return backend.OpError("unbind", c.network, c.local, addr, err)
	}
	return nil
}

// Write implements backend.Packet.
func (c *Packet) Write(d backend.Dest, b []byte, addr net.Addr) (int, error) {
	err := c.n.submit(c, d, b)
	if err != nil {
		if err = c.n.retry(context.Background(), c, d, b, err); err != nil {
			return 0, c.SendError(addr, err)
		}
	}
	return len(b), nil
}

// Close implements backend.Socket.
func (c *Packet) Close() error {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	if c.closed {
		return backend.OpError("close", c.network, c.local, nil, net.ErrClosed)
	}
	c.shut()
	c.n.pollOnce(c.n.loop.Now(), false)
	return nil
}

// shut implements openSocket.
func (c *Packet) shut() {
	n := c.n
	c.closed = true
	c.went()
	n.removeSocket(c)
	c.port.Close(n.loop.Now())
	c.wake(n, true)
	n.loop.RouseAll(c.writing)
	if c.active != nil {
		c.active.ended()
	}
}

// put implements sender.
func (c *Packet) put(now time.Duration, d backend.Dest, data []byte) error {
	switch d.Kind {
	case backend.ToService:
		return c.port.SendService(now, d.Service(), data)
	case backend.ToRange:
		return c.port.SendRange(now, d.All(), data)
	}
	return c.port.Send(now, d.Socket(), data)
}

// waits implements sender.
func (c *Packet) waits(d backend.Dest, err error) bool { return blocks(err) || c.awaits(d, err) }

// SetDeadline implements backend.Socket.
func (c *Packet) SetDeadline(of backend.Calls, t time.Time) error {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	if c.closed {
		return backend.OpError("set", c.network, c.local, nil, net.ErrClosed)
	}
	if of&backend.Reads != 0 {
		c.setReadBy(c.n, t)
	}
	if of&backend.Writes != 0 {
		c.setWriteBy(t)
	}
	return nil
}

// SetImportance implements backend.Packet.
func (c *Packet) SetImportance(i frame.Importance) error {
	return c.set(func() error {
		if i > frame.Critical {
			return fmt.Errorf("%w: importance %d", engine.ErrConfig, i)
		}
		c.port.Importance = i
		return nil
	})
}

// SetReturnable implements backend.Packet.
func (c *Packet) SetReturnable(returnable bool) error {
	return c.set(func() error { c.port.Returnable = returnable; return nil })
}

// SetSrcDroppable implements backend.Packet.
func (c *Packet) SetSrcDroppable(droppable bool) error {
	return c.set(func() error { c.port.SrcDroppable = droppable; return nil })
}

// SetReceiveLimit implements backend.Packet.
func (c *Packet) SetReceiveLimit(bytes int) error {
	return c.set(func() error {
		if bytes < 0 {
			return fmt.Errorf("%w: receive limit of %d bytes", engine.ErrConfig, bytes)
		}
		c.port.SetReceiveLimit(bytes)
		return nil
	})
}

// SetMulticast implements backend.Packet.
func (c *Packet) SetMulticast(m engine.Method) error {
	return c.set(func() error {
		if m > engine.Replicast {
			return fmt.Errorf("%w: multicast method %d", engine.ErrConfig, m)
		}
		c.port.SetMethod(m)
		return nil
	})
}

// set changes an option with the node's lock held.
func (c *Packet) set(change func() error) error {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	err := error(net.ErrClosed)
	if !c.closed {
		err = change()
	}
	if err != nil {
		return backend.OpError("set", c.network, c.local, nil, err)
	}
	return nil
}

// Bindings implements backend.Packet.
func (c *Packet) Bindings(context.Context) ([]naming.Binding, error) {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return slices.Clone(c.port.Bindings()), nil
}

// BindScope implements backend.Packet.
func (c *Packet) BindScope(addr net.Addr, scope frame.Scope) error {
	if c.cfg.Exclusive {
		return c.n.rebindExclusive(&c.writeHalf, c.port, addr, scope, !c.unsettled)
	}
	return c.rebind("bind", addr, scope, (*engine.Port).Bind)
}

// UnbindScope implements backend.Packet.
func (c *Packet) UnbindScope(addr net.Addr, scope frame.Scope) error {
	return c.rebind("unbind", addr, scope, (*engine.Port).Unbind)
}

func (c *Packet) rebind(op string, addr net.Addr, scope frame.Scope, how func(*engine.Port, time.Duration, frame.Range, frame.Scope) error) error {
	r, err := backend.Bindable(addr)
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
		return backend.OpError(op, c.network, c.local, addr, err)
	}
	return nil
}

// WriteBatch implements backend.Packet.
func (c *Packet) WriteBatch(ms []socket.Message, wait bool, to *backend.DefaultDest) (int, error) {
	k, err := c.writeBatch(ms, wait, to)
	if err != nil {
		return 0, c.SendError(ms[0].To, err)
	}
	return k, nil
}

func (c *Packet) writeBatch(ms []socket.Message, wait bool, to *backend.DefaultDest) (int, error) {
	k, err := c.sendBatch(ms, to)
	if k > 0 || err == nil {
		return k, nil
	}
	d, _ := to.DestOf(ms[0].To)
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
func (c *Packet) sendBatch(ms []socket.Message, to *backend.DefaultDest) (k int, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	now := n.loop.Now()
	n.latest = now
	n.eng.Hold(len(ms) > 1)
	for k < len(ms) && err == nil {
		m := &ms[k]
		d, _ := to.DestOf(m.To) // it was looked at before: nothing is called
		if err = n.send(now, c, d, m.Data); err == nil {
			m.N = len(m.Data)
			k++
		}
	}
	n.poll(now, false, true)
	return k, err
}

// NewBuffer implements backend.Packet.
func (c *Packet) NewBuffer(b *backend.Buffer, size int) error { return makeBuffer(c.n, c, b, size) }

// WriteBuffer implements backend.Packet.
func (c *Packet) WriteBuffer(d backend.Dest, b *backend.Buffer, addr net.Addr) error {
	if err := sendBuffer(c.n, c, d, b); err != nil {
		return c.SendError(addr, err)
	}
	return nil
}

// lend implements lender.
func (c *Packet) lend(now time.Duration, m *engine.Lent, n int) error {
	return c.port.Lend(now, m, n)
}

// putLent implements lender.
func (c *Packet) putLent(now time.Duration, d backend.Dest, m *engine.Lent) error {
	switch d.Kind {
	case backend.ToService:
		return c.port.SendLentService(now, d.Service(), m)
	case backend.ToRange:
		return c.port.SendLentRange(now, d.All(), m)
	}
	return c.port.SendLent(now, d.Socket(), m)
}

// ReturnMsg implements backend.Packet.
func (c *Packet) ReturnMsg(b []byte, why frame.ErrorCode) error {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return backend.OpError("return", c.network, c.local, nil, err)
	}
	if c.closed {
		why = frame.NoPort
	}
	now := n.loop.Now()
	c.port.Return(now, c.tried, b, why)
	n.pollOnce(now, false)
	return nil
}

// LastMsg implements backend.Packet.
func (c *Packet) LastMsg() engine.Received { return c.tried }

// ReturnUnread implements backend.Packet.
func (c *Packet) ReturnUnread(r engine.Received, b []byte) error {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return backend.OpError("return", c.network, c.local, nil, err)
	}
	now := n.loop.Now()
	c.port.ReturnUnread(now, r, b)
	n.pollOnce(now, false)
	return nil
}

// TryWrite implements backend.Packet.
func (c *Packet) TryWrite(d backend.Dest, b []byte, addr net.Addr) (int, error) {
	err := c.n.submit(c, d, b)
	switch {
	case err == nil:
		return len(b), nil
	case c.waits(d, err):
		return 0, backend.ErrAgain
	}
	return 0, c.SendError(addr, err)
}

// Stats implements backend.Socket.
func (c *Packet) Stats(context.Context) (engine.PortStats, error) {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return c.port.Stats(), nil
}

// Poll implements backend.Socket.
func (c *Packet) Poll(p backend.Poller, owner any) *socket.Polled { return c.addTo(p, c.n, owner) }

// Hold implements backend.Socket.
func (c *Packet) Hold(k int) { c.n.hold(c.port, k) }

// member is the port that a member of a group is made of, see hosting.JoinAs. The node's lock is
// held.
func (c *Packet) member() *engine.Port { return c.port }
