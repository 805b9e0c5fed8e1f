// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"log/slog"
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/goroutine"
)

// A localPort is the socket of an active port, of a node in this process.
type localPort struct {
	*localPacket
	a       *ActivePort
	faulted bool // it is among those of Node.faulted; guarded by the node's lock
}

// serve implements packetBackend.
func (c *localPacket) serve(a *ActivePort, r Range, bound bool) error {
	p := &localPort{localPacket: c, a: a}
	a.b = p
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if c.closed { // with the node, meanwhile
		return net.ErrClosed
	}
	c.active = p
	n.loop.Attend(1)
	c.port.SetHandler(p.handle)
	if bound {
		if err := c.bind(r, c.cfg.Scope); err != nil {
			c.shut()
			return err
		}
	}
	return nil
}

func (p *localPort) lock()   { p.n.loop.Lock() }
func (p *localPort) unlock() { p.n.loop.Unlock() }

// isClosed implements portBackend.
func (p *localPort) isClosed() bool { return p.closed }

// pending implements portBackend.
func (p *localPort) pending() int { return p.port.Pending() }

// ownHandler implements portBackend.
func (p *localPort) ownHandler() bool { return p.n.loop.InOwnHandler() }

// closeLater implements portBackend.
func (p *localPort) closeLater() { p.ail(net.ErrClosed) }

// reply implements portBackend.
func (p *localPort) reply(to SocketAddr, b []byte) error {
	if p.a.apart {
		return p.n.submit(p.localPacket, socketDest(to), b)
	}
	return p.port.Send(p.n.latest, to, b)
}

// log implements portBackend.
func (p *localPort) log(level slog.Level, message string, attrs ...slog.Attr) {
	p.n.logs.add(level, message, append([]slog.Attr{p.who()}, attrs...)...)
}

// who names the port in the log: by a service, if it is bound to one.
func (p *localPort) who() slog.Attr {
	if all := p.port.Bindings(); len(all) > 0 {
		return slog.String("service", all[0].Range.String())
	}
	return slog.String("port", p.local.String())
}

// handle implements engine.Handler: it runs the handler within a poll.
func (p *localPort) handle(r *engine.Received, data []byte) {
	a, n := p.a, p.n
	began := n.loop.Now()
	a.in.Data, a.in.From, a.in.Name, a.in.Named, a.in.Importance = data, r.From, r.Name, r.Named(), r.Importance
	a.in.From.Net = p.network
	a.reply.to, a.reply.open = r.From, true
	n.loop.Did(engine.WorkFrames, 1)
	n.loop.EnterHandler()
	err := a.call()
	n.loop.LeaveHandler()
	a.reply.open, a.in.Data = false, nil
	a.judge(n.loop.Now(), began)
	switch {
	case err != nil:
		p.ail(err)
	case a.strikes >= mostStrikes:
		p.ail(nil)
	}
}

// ail takes the port out of the polls: messages wait in its queue from now on. When the
// engine has done what it is doing the port is closed for that reason, or, without one,
// moved to a goroutine.
func (p *localPort) ail(why error) {
	if p.a.err == nil {
		p.a.err = why
	}
	if !p.faulted && !p.a.apart {
		p.faulted = true
		p.port.SetHandler(nil)
		p.n.faulted = append(p.n.faulted, p)
	}
}

// reapFaulted ends what ails the active ports. The node's lock is held, and the engine at rest.
func (n *localNode) reapFaulted() {
	for i, p := range n.faulted {
		a := p.a
		n.faulted[i] = nil
		p.faulted = false
		switch {
		case p.closed:
		case a.err != nil:
			a.tellPanic()
			p.shut()
		default:
			p.log(slog.LevelWarn, "handler moved to a goroutine", slog.Duration("longest", a.stats.Longest), slog.Uint64("late", a.stats.Late))
			a.apart = true
			n.loop.Attend(-1)
			n.apart.Go(p.run)
		}
	}
	n.faulted = n.faulted[:0]
}

// ended notes that the port's socket is closed. The node's lock is held.
func (p *localPort) ended() {
	if !p.a.apart {
		p.n.loop.Attend(-1)
		close(p.a.done)
	}
}

// run takes the messages one by one, in a goroutine of its own.
func (p *localPort) run() {
	a := p.a
	defer close(a.done)
	a.runner.Store(goroutine.ID())
	defer a.runner.Store(0) // before Close is answered: another goroutine may get its record
	n := p.n
	buf := make([]byte, frame.MaxPayload)
	for {
		k, m, err := p.Read(buf)
		if err != nil {
			return
		}
		a.take(buf[:k], &m)
		began := n.loop.Now()
		err = a.call()
		a.reply.open = false
		n.loop.Lock()
		a.judge(n.loop.Now(), began)
		if err != nil && !p.closed {
			a.err = err
			a.tellPanic()
			p.shut()
			n.pollOnce(n.loop.Now(), false)
		}
		n.loop.Unlock()
	}
}
