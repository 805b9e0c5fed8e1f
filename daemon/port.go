// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"net"
	"sync"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// A port is a program's TIPC socket. What it is, is one of those of package stack:
//
//	rdm, datagram:      packet ◄──(leave)── group
//	                       └───(join)─────────▲
//	stream, seqpacket:  nothing ──(bind, listen)──► listener
//	                       └──(connect)──► conn
type port struct {
	x    *session
	kind attach.Kind

	// Of the goroutine that reads.
	cfg          stack.SocketConfig
	scope        frame.Scope // of what is bound without one
	srcDroppable tristate
	to           attach.Sockaddr // of the last message
	toAddr       net.Addr        // the same, so that the next costs no allocation
	took         attach.Sockaddr // the socket that the last answered send to a service went to
	unsent       int             // bytes for a connection, of sends that failed and were not answered

	deliverer
	lost     *stack.NameTakenError // that the program was told last; of who serves
	naming   sync.Mutex            // held while the names are changed, and while it is looked which was lost
	renames  uint32                // changes of the names that were done; naming guards it
	failures failures
	request  uint64 // bytes that made the connection; they are no send. It does not change then

	mu               sync.Mutex // guards the rest; no call under it waits
	now              end
	polled           *stack.Polled    // of now
	inheritedOptions inheritedOptions // what it was set to, for who is accepted
	connecting       bool
	names            int      // charged
	accepts          []uint32 // requests that wait for a connection
	closed           bool
}

// A inheritedOptions is what an accepted socket has of its listener.
type inheritedOptions struct {
	cfg   stack.SocketConfig
	scope frame.Scope
}

// An end is what a port is now: one of these, or none.
type end struct {
	packet   *stack.PacketConn
	group    *stack.Group
	conn     *stack.Conn
	listener *stack.Listener
}

// is returns what the port is now.
func (p *port) is() end {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// become makes the port something, and has it delivered from. Errors: net.ErrClosed, when
// the session has ended; the socket is closed then.
func (p *port) become(e end) error {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.now, p.connecting = e, false
	}
	p.mu.Unlock()
	if closed {
		e.close(false)
		return net.ErrClosed
	}
	return nil
}

// pollable is the socket as it is polled, or nil.
func (e end) pollable() stack.Pollable {
	switch {
	case e.packet != nil:
		return e.packet
	case e.group != nil:
		return e.group
	case e.conn != nil:
		return e.conn
	case e.listener != nil:
		return e.listener
	}
	return nil
}

// hold counts bytes that the daemon keeps for the socket.
func (e end) hold(bytes int) {
	if s := e.pollable(); s != nil && bytes != 0 {
		hosting.Hold(s, bytes)
	}
}

// watch has what comes delivered from now on.
func (p *port) watch(e end) {
	s := e.pollable()
	if s == nil {
		return
	}
	polled := p.x.srv.poller.Add(s, p)
	p.mu.Lock()
	p.polled = polled
	p.mu.Unlock()
}

// close ends the socket; its names are withdrawn, and calls that wait for it end.
func (p *port) close(orderly bool) {
	p.mu.Lock()
	e, bound := p.now, p.names
	p.now, p.names, p.closed, p.accepts = end{}, 0, true, nil
	p.mu.Unlock()
	e.close(orderly)
	p.x.client.release(names, bound)
}

func (e end) close(orderly bool) {
	switch {
	case e.packet != nil:
		e.packet.Close()
	case e.group != nil:
		e.group.Close()
	case e.listener != nil:
		e.listener.Close()
	case e.conn != nil && orderly:
		e.conn.Close()
	case e.conn != nil:
		e.conn.Abort()
	}
}

// socket is the address in the port's own.
func (e end) socket() attach.Sockaddr {
	var a net.Addr
	switch {
	case e.packet != nil:
		a = e.packet.LocalAddr()
	case e.group != nil:
		a = e.group.LocalAddr()
	case e.listener != nil:
		a = e.listener.LocalAddr()
	case e.conn != nil:
		a = e.conn.LocalAddr()
	}
	own, _ := a.(stack.SocketAddr)
	return attach.SocketSockaddr(own)
}

// open makes a session a TIPC socket.
func (x *session) open(h *attach.Header, data []byte) (t told) {
	if x.taken() {
		return told{err: syscall.EISCONN}
	}
	kind := attach.Kind(h.Arg0)
	if kind.Network() == "" {
		return told{err: syscall.ESOCKTNOSUPPORT}
	}
	p := &port{x: x, kind: kind, scope: stack.ClusterScope}
	if t.err = p.set(data); t.err != nil {
		return t
	}
	if !kind.Connected() {
		if t.err = p.openPacket(); t.err != nil {
			return t
		}
	}
	if t.err = x.adopt(p); t.err != nil {
		p.close(false)
		return t
	}
	e := p.is()
	t.Addr = e.socket()
	if t.err = x.answerWith(h, t); t.err != nil { // before any message
		return t
	}
	h.ID = 0 // it is answered
	p.watch(e)
	return t
}

// taken reports whether the connection has become something.
func (x *session) taken() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.port != nil || x.other
}

// adopt makes p the session's. Errors: net.ErrClosed.
func (x *session) adopt(p *port) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return net.ErrClosed
	}
	x.port = p
	return nil
}

func (p *port) openPacket() error {
	c, err := p.cfg.ListenPacket(hosting.Unsettled(hosting.Count(p.x.ctx, p.x.client.queued)), p.x.srv.node, p.kind.Network(), nil)
	if err != nil {
		return err
	}
	if p.srcDroppable.set {
		c.SetSrcDroppable(p.srcDroppable.on)
	}
	return p.become(end{packet: c})
}

// handle does what a record asks of the socket.
func (p *port) handle(h *attach.Header, data []byte) error {
	x := p.x
	switch h.Op {
	case attach.OpBind:
		return x.answerWith(h, p.rename(p.bind, h))
	case attach.OpUnbind:
		return x.answerWith(h, p.rename(p.unbind, h))
	case attach.OpListen:
		return x.answerWith(h, p.rename(p.listen, h))
	case attach.OpAccept:
		return p.accept(h)
	case attach.OpConnect:
		return p.connect(h, data)
	case attach.OpShutdown:
		return p.shutdown(h)
	case attach.OpSetOption:
		return x.answer(h, p.set(data))
	case attach.OpGetOption:
		return x.answerWith(h, p.get(data))
	case attach.OpLeave:
		return x.answer(h, p.leaveGroup())
	}
	return x.answer(h, syscall.EOPNOTSUPP)
}

// any is the socket, whatever it is.
func (e end) any() any {
	switch {
	case e.packet != nil:
		return e.packet
	case e.group != nil:
		return e.group
	case e.listener != nil:
		return e.listener
	case e.conn != nil:
		return e.conn
	}
	return nil
}
