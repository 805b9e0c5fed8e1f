// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// A socket is one that the daemon has an end of.
type socket struct {
	all    *Sockets
	owner  Owner
	kind   attach.Kind
	cookie uint64 // of the program's end
	addr   frame.SocketAddr
	d      *end
	ctx    context.Context // done when it has ended
	stop   context.CancelFunc
	left   sync.Once
	over   chan struct{} // closed when nothing is left of it
	watch  chan struct{} // closed when nobody waits for the program to close its end

	mu      sync.Mutex // guards the rest; no call under it waits
	state   int
	options options
	l       *stack.Listener   // of a connected kind, while it is open, idle, or listening
	packets *stack.PacketConn // of a connectionless kind
	mail    mail              // of that
	to      attach.Sockaddr   // of that: where it sends without an address
	pairOf  attach.Sockaddr   // of that: the other one of a pair, or none
	polled  *stack.Polled
	member  *member // while it is in a group
	gate    gate
	names   []binding
	tickets int // that programs have, or may take; see accept
	conn    *stack.Conn
	attempt *attempt // to connect, the last
	orderly bool     // the program has shut the connection down
	handed  bool     // D is being handed over, see handOver
	unread  []record // what the program has left unread in P, which it is closing; of a connection the first message
}

// A binding is a name that a socket is bound to.
type binding struct {
	r     frame.Range
	scope frame.Scope
}

// hangup is what poll returns of a connection that has ended.
const hangup = unix.POLLHUP | readHangup

// open makes a socket.
func (s *Sockets) open(by Caller, kind attach.Kind) (a Answer) {
	switch kind {
	case attach.KindStream, attach.KindSeqPacket:
	case attach.KindRDM, attach.KindDatagram:
		_, a := s.openPackets(by, kind)
		return a
	default:
		return failure(syscall.EPROTOTYPE)
	}
	owner, err := by.Enter()
	if err != nil {
		return failure(err)
	}
	l, err := stack.SocketConfig{}.Listen(hosting.AnyKind(hosting.Idle(hosting.Count(s.ctx, owner.Queued()))), s.node, kind.Network(), nil)
	if err != nil {
		owner.Leave()
		return failure(err)
	}
	addr := l.LocalAddr().(stack.SocketAddr)
	x, p, err := s.make(owner, &attach.PlainName{Kind: kind, Addr: addr}, nil)
	if err != nil {
		l.Close()
		owner.Leave()
		return failure(err)
	}
	x.l = l
	if err := s.enlist(x); err != nil {
		unix.Close(p)
		x.end(ending{})
		return failure(err)
	}
	s.wg.Go(x.watchProgram)
	return Answer{Header: attach.Header{Addr: attach.SocketSockaddr(x.addr)}, FD: p}
}

// make makes a socket with a name, and the program's end; with a peer one that is connected.
// Its owner stays the caller's when that fails.
func (s *Sockets) make(owner Owner, own, peer *attach.PlainName) (x *socket, p int, err error) {
	d, p, err := s.makePair(own, peer)
	if err != nil {
		return nil, -1, err
	}
	x = &socket{all: s, owner: owner, kind: own.Kind, cookie: own.Cookie, addr: own.Addr, d: d, watch: make(chan struct{}), over: make(chan struct{})}
	x.ctx, x.stop = context.WithCancel(s.ctx)
	return x, p, nil
}

// makePair makes the two ends, and names them: own has the cookie then; peer may be nil.
func (s *Sockets) makePair(own, peer *attach.PlainName) (d *end, p int, err error) {
	if d, p, err = newPair(own.Kind); err != nil {
		return nil, -1, err
	}
	if own.Cookie, err = cookieOf(p); err == nil {
		err = os.NewSyscallError("bind", s.secret.bind(p, own))
	}
	if err == nil && peer != nil {
		err = s.namePeer(d, peer)
	}
	if err != nil {
		unix.Close(p)
		d.s.Close()
		return nil, -1, err
	}
	return d, p, nil
}

// namePeer gives D a name. One of TCP has D's own cookie, as several connections may go to one address.
func (s *Sockets) namePeer(d *end, peer *attach.PlainName) error {
	return d.control(func(fd int) (err error) {
		if isTCP(peer.Kind) {
			peer.Cookie, err = cookieOf(fd)
		}
		if err == nil {
			err = s.secret.bind(fd, peer)
		}
		return err
	})
}

// watchProgram ends the socket when the program has closed its end, unless unwatch comes first.
func (x *socket) watchProgram() {
	closed := x.d.waitClosed()
	close(x.watch)
	if closed {
		x.end(ending{})
	}
}

// unwatch ends watchProgram.
func (x *socket) unwatch() {
	x.d.unwatch()
	<-x.watch
	x.d.rewatch()
}

// end ends the socket, whatever it is; again it does nothing.
func (x *socket) end(how ending) {
	x.mu.Lock()
	if x.state == stateEnded || x.handed {
		x.mu.Unlock()
		return
	}
	l, c, p, m, names, orderly, unread := x.l, x.conn, x.packets, x.member, len(x.names), x.orderly, x.unread
	x.l, x.conn, x.packets, x.member, x.names, x.unread, x.state = nil, nil, nil, nil, nil, nil, stateEnded
	if how != (ending{}) && !orderly {
		x.all.ended.put(x.cookie, how)
	}
	if x.kind.Connected() && (how != (ending{}) || orderly) {
		x.all.kept.put(x.cookie, x.optionsNow(c))
	}
	x.mu.Unlock()
	x.stop()
	if m != nil {
		m.close()
	}
	if l != nil {
		l.Close()
	}
	if p != nil {
		returnUnread(p, unread)
		p.Close()
	}
	if c != nil && len(unread) > 0 {
		hosting.Unread(c, unread[0].data)
	}
	switch {
	case c != nil && orderly:
		c.Close()
	case c != nil:
		c.Abort()
	}
	x.d.finish()
	x.leave(names)
}

func (x *socket) hasEnded() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state == stateEnded
}

// leave gives back what was counted for the socket.
func (x *socket) leave(names int) {
	x.left.Do(func() {
		x.owner.Unname(names)
		x.owner.Leave()
		close(x.over)
		x.all.delist(x) // last: who does not find it finds nothing of it, see closedByProgram
	})
}

// report says how the socket stands.
func (x *socket) report() (a Answer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a.FD = -1
	a.Addr, a.Arg0 = attach.SocketSockaddr(x.addr), uint32(x.state)
	if x.orderly { // though what it has written is still on its way
		a.Arg0 = uint32(stateEnded)
	}
	switch {
	case x.conn != nil:
		a.Addr2, _ = attach.SockaddrOf(x.conn.RemoteAddr(), 0)
	default:
		a.Addr2 = x.pairOf
	}
	return a
}

// bind binds the socket to a name, or with a negative scope takes that back, with no address
// all of them. Source: docs/spec/07-sockets.md §8.2.
func (x *socket) bind(a attach.Sockaddr) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch x.state {
	case stateConnecting: // a kernel binds it; who would send to the name is refused all the same
		return nil
	case stateConnected, stateEnded:
		if a.IsZero() || a.Scope < 0 {
			return nil
		}
		return syscall.EINVAL
	}
	if !x.pairOf.IsZero() {
		return syscall.EINVAL
	}
	if x.member != nil && !a.IsZero() {
		return syscall.EACCES
	}
	if a.IsZero() {
		for len(x.names) > 0 {
			if err := x.unbind(len(x.names) - 1); err != nil {
				return err
			}
		}
		return nil
	}
	var b binding
	if s, ok := a.Service(); ok {
		b.r = frame.Range{Type: s.Type, Lower: s.Instance, Upper: s.Instance}
	} else if b.r, ok = a.Range(); !ok {
		if _, ok = a.Socket(); ok {
			return syscall.EAFNOSUPPORT
		}
		return syscall.EINVAL
	}
	if b.r.Lower > b.r.Upper {
		return syscall.EINVAL
	}
	b.scope = stack.ClusterScope
	if a.Scope == int8(stack.NodeScope) || a.Scope == -int8(stack.NodeScope) {
		b.scope = stack.NodeScope
	}
	if b.r.Type < 64 { // also of what is taken back
		return syscall.EACCES
	}
	if a.Scope < 0 {
		return x.takeBack(b)
	}
	if err := x.all.Reserved(b.r.Type); err != nil {
		return err
	}
	if err := x.owner.Name(1); err != nil {
		return err
	}
	if err := x.bound().BindScope(b.r, b.scope); err != nil {
		x.owner.Unname(1)
		return err
	}
	x.names = append(x.names, b)
	return nil
}

// takeBack takes a name back as a kernel does, which looks for the newest of that beginning. The socket
// is locked.
func (x *socket) takeBack(b binding) error {
	if len(x.names) == 0 {
		return nil
	}
	for i := len(x.names) - 1; i >= 0; i-- {
		n := x.names[i]
		if n == b {
			return x.unbind(i)
		}
		if n.scope == b.scope && n.r.Type == b.r.Type && n.r.Lower == b.r.Lower { // a kernel looks no further
			break
		}
	}
	return syscall.EINVAL
}

// bound is what has the names. The socket is locked.
func (x *socket) bound() interface {
	BindScope(net.Addr, stack.Scope) error
	UnbindScope(net.Addr, stack.Scope) error
} {
	if x.packets != nil {
		return x.packets
	}
	return x.l
}

// unbind takes a name back. The socket is locked.
func (x *socket) unbind(i int) error {
	b := x.names[i]
	if err := x.bound().UnbindScope(b.r, b.scope); err != nil {
		return err
	}
	x.names = append(x.names[:i], x.names[i+1:]...)
	x.owner.Unname(1)
	return nil
}

// listen makes the socket take connections.
func (x *socket) listen() error {
	x.mu.Lock()
	if !x.kind.Connected() {
		x.mu.Unlock()
		return syscall.EOPNOTSUPP
	}
	if x.state != stateOpen {
		x.mu.Unlock()
		return syscall.EINVAL
	}
	x.state = stateListening
	hosting.Start(x.l)
	x.polled = x.all.poller.Add(x.l, x)
	x.mu.Unlock()
	return nil
}

// shutdown ends a connection in order: the program's own end is shut down by itself after the
// answer, and what it has written before goes first. Of a socket that listens it fails, and the
// requests that wait are refused. fd is P. Source: docs/spec/07-sockets.md §8.2.
func (x *socket) shutdown(fd int) error {
	x.mu.Lock()
	if l := x.l; x.state == stateListening {
		x.mu.Unlock()
		x.all.refuse(l)
		return syscall.ENOTCONN
	}
	defer x.mu.Unlock()
	switch x.state {
	case stateConnected:
		x.orderly = true
		x.keepUnread(fd)
	case stateConnecting:
	default:
		return syscall.ENOTCONN
	}
	x.all.ended.put(x.cookie, ending{})
	return nil
}
