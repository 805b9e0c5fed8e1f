// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"log/slog"
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/goroutine"
	"github.com/utipc/utipc/stack/socket"
)

// A activePort is the socket of an active port, of a node in this process.
type activePort struct {
	*Packet
	a       *backend.ActivePort
	faulted bool // it is among those of Node.faulted; guarded by the node's lock
}

// Serve implements backend.Packet.
func (c *Packet) Serve(ctx context.Context, a *backend.ActivePort, r frame.Range, bound bool) error {
	p := &activePort{Packet: c, a: a}
	if err := p.attend(r, bound && !c.cfg.Exclusive); err != nil || !bound || !c.cfg.Exclusive {
		return err
	}
	err := c.n.bindExclusive(ctx, c.port, r, !c.unsettled)
	if err != nil {
		c.Close()
	}
	return err
}

// attend has the handler called, and binds the socket to r if it is to be bound.
func (p *activePort) attend(r frame.Range, bind bool) error {
	c, n := p.Packet, p.n
	p.a.B = p
	n.loop.Lock()
	defer n.loop.Unlock()
	if c.closed { // with the node, meanwhile
		return net.ErrClosed
	}
	c.active = p
	n.loop.Attend(1)
	c.port.SetHandler(p.handle)
	if bind {
		if err := c.bind(r, c.cfg.Scope); err != nil {
			c.shut()
			return err
		}
	}
	return nil
}

func (p *activePort) Lock()   { p.n.loop.Lock() }
func (p *activePort) Unlock() { p.n.loop.Unlock() }

// IsClosed implements backend.PortSocket.
func (p *activePort) IsClosed() bool { return p.closed }

// Pending implements backend.PortSocket.
func (p *activePort) Pending() int { return p.port.Pending() }

// OwnHandler implements backend.PortSocket.
func (p *activePort) OwnHandler() bool { return p.n.loop.InOwnHandler() }

// CloseLater implements backend.PortSocket.
func (p *activePort) CloseLater() { p.ail(net.ErrClosed) }

// Reply implements backend.PortSocket.
func (p *activePort) Reply(to frame.SocketAddr, b []byte) error {
	var err error
	if p.a.Apart {
		err = p.n.submit(p.Packet, backend.SocketDest(to), b)
	} else {
		err = p.port.Send(p.n.latest, to, b)
	}
	switch {
	case blocks(err):
		return socket.ErrNoRoom
	case err == engine.ErrClosed:
		return net.ErrClosed
	}
	return err
}

// Log implements backend.PortSocket.
func (p *activePort) Log(level slog.Level, message string, attrs ...slog.Attr) {
	p.n.logs.add(level, message, append([]slog.Attr{p.who()}, attrs...)...)
}

// who names the port in the log: by a service, if it is bound to one.
func (p *activePort) who() slog.Attr {
	if all := p.port.Bindings(); len(all) > 0 {
		return slog.String("service", all[0].Range.String())
	}
	return slog.String("port", p.local.String())
}

// handle implements engine.Handler: it runs the handler within a poll.
func (p *activePort) handle(r *engine.Received, data []byte) {
	a, n := p.a, p.n
	began := n.loop.Now()
	a.In.Data, a.In.From, a.In.Name, a.In.Named, a.In.Importance = data, r.From, r.Name, r.Named(), r.Importance
	a.To, a.Open = r.From, true
	n.loop.Did(engine.WorkFrames, 1)
	n.loop.EnterHandler()
	err := a.Call()
	n.loop.LeaveHandler()
	a.Open, a.In.Data = false, nil
	a.NoteCall(n.loop.Now(), began)
	switch {
	case err != nil:
		p.ail(err)
	case a.Strikes >= backend.MostStrikes:
		p.ail(nil)
	}
}

// ail takes the port out of the polls: messages wait in its queue from now on. When the
// engine has done what it is doing the port is closed for that reason, or, without one,
// moved to a goroutine.
func (p *activePort) ail(why error) {
	if p.a.Err == nil {
		p.a.Err = why
	}
	if !p.faulted && !p.a.Apart {
		p.faulted = true
		p.port.SetHandler(nil)
		p.n.faulted = append(p.n.faulted, p)
	}
}

// reapFaulted ends what ails the active ports. The node's lock is held, and the engine at rest.
func (n *Node) reapFaulted() {
	for i, p := range n.faulted {
		a := p.a
		n.faulted[i] = nil
		p.faulted = false
		switch {
		case p.closed:
		case a.Err != nil:
			a.TellPanic()
			p.shut()
		default:
			p.Log(slog.LevelWarn, "handler moved to a goroutine", slog.Duration("longest", a.Stats.Longest), slog.Uint64("late", a.Stats.Late))
			a.Apart = true
			n.loop.Attend(-1)
			n.apart.Go(p.run)
		}
	}
	n.faulted = n.faulted[:0]
}

// ended notes that the port's socket is closed. The node's lock is held.
func (p *activePort) ended() {
	if !p.a.Apart {
		p.n.loop.Attend(-1)
		close(p.a.Done)
	}
}

// run takes the messages one by one, in a goroutine of its own.
func (p *activePort) run() {
	a := p.a
	defer close(a.Done)
	a.Runner.Store(goroutine.ID())
	defer a.Runner.Store(0) // before Close is answered: another goroutine may get its record
	n := p.n
	buf := make([]byte, frame.MaxPayload)
	for {
		k, m, err := p.Read(buf)
		if err != nil {
			return
		}
		a.Take(buf[:k], &m)
		began := n.loop.Now()
		err = a.Call()
		a.Open = false
		n.loop.Lock()
		a.NoteCall(n.loop.Now(), began)
		if err != nil && !p.closed {
			a.Err = err
			a.TellPanic()
			p.shut()
			n.pollOnce(n.loop.Now(), false)
		}
		n.loop.Unlock()
	}
}
