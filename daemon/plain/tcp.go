// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

// A TCP is what programs' TCP sockets have of the node: those with an address of Prefix are sockets of the
// daemon. Its zero value is none.
type TCP struct {
	Prefix  netip.Prefix // of IPv4
	Address netip.Addr   // of this node, in Prefix
}

// ErrReserved means a service type that carries addresses of TCP: who binds one would take another program's.
var ErrReserved = fmt.Errorf("daemon: the service type carries addresses of TCP: %w", syscall.EACCES)

// Reserved is ErrReserved of a type that programs may not bind: tcpwire.NodeType, and the node's address, which is the type of
// its listeners.
func (s *Sockets) Reserved(serviceType uint32) error {
	if s.tcp != nil && (serviceType == tcpwire.NodeType || serviceType == s.tcp.ip) {
		return ErrReserved
	}
	return nil
}

// TCPCounters are what there was of connections of TCP.
type TCPCounters struct {
	Connections       uint64 // with other nodes
	Direct            uint64 // within this node: their bytes do not count
	BytesIn, BytesOut uint64 // from other nodes, and to them
	Refused           uint64 // of other nodes, that said to be from an address that these have not
	Waiting           int    // that wait for room at their listener, or for their turn to
}

type tcpCounters struct {
	connections, direct, bytesIn, bytesOut, refused atomic.Uint64

	waiting atomic.Int64
}

// TCPCounters returns a snapshot.
func (s *Sockets) TCPCounters() TCPCounters {
	c := &s.tcpCounters
	return TCPCounters{c.connections.Load(), c.direct.Load(), c.bytesIn.Load(), c.bytesOut.Load(), c.refused.Load(), int(c.waiting.Load())}
}

// A program's TCP socket is the kernel's until it is bound to the prefix, connects to it, or listens on any address. Then
// a plain socket takes its place, P, a UNIX stream, whose name has addresses of IPv4: a port and, where names of
// TIPC have a node, the address. A listener is bound to {its address, its port}, and connections go over
// messages of TIPC, see tcp_relay.go.

// Kinds of such sockets, which are no types of sockets. A program sees the addresses of the second as IPv6's.
const (
	kindTCP  attach.Kind = 6
	kindTCP6 attach.Kind = 7
)

func isTCP(k attach.Kind) bool { return k == kindTCP || k == kindTCP6 }

// What Arg0 of OpPlainTCPSocket has beside the kind.
const (
	tcpReuseAddr = 1 << (8 + iota)
	tcpReusePort
	tcpListens // with the kernel's listener as the descriptor; Arg1 is the backlog
)

// A tcpSocket is one that the daemon has an end of.
type tcpSocket struct {
	all    *Sockets
	owner  Owner
	kind   attach.Kind
	cookie uint64 // of the program's end
	local  tcpwire.Addr
	reuse  uint32 // tcpReuseAddr, tcpReusePort
	d      *end
	ctx    context.Context // done when it has ended
	stop   context.CancelFunc
	over   chan struct{} // closed when nothing is left of it
	watch  chan struct{} // closed when nobody waits for the program to close its end

	mu      sync.Mutex // guards the rest; no call under it waits
	state   int
	claimed bool            // of its port
	handed  bool            // D is another program's, or to be
	l       *stack.Listener // while it listens
	turn    chan struct{}   // of a listener, does not change then: has one while somebody gives it a descriptor
	kernel  *end            // the kernel's listener, or nil
	conn    *stack.Conn
	attempt *tcpAttempt      // to connect, the last
	at      frame.SocketAddr // of a program that has a node of its own: its socket there
}

func tcpAddrOf(a attach.Sockaddr) (t tcpwire.Addr, ok bool) {
	s, ok := a.Service()
	return tcpwire.Addr{IP: s.Type, Port: uint16(s.Instance)}, ok && s.Instance <= 1<<16-1
}

func tcpSockaddr(a tcpwire.Addr) attach.Sockaddr { return attach.ServiceSockaddr(a.Service(), 0) }

// tcpName is the address as names have it.
func tcpName(a tcpwire.Addr) frame.SocketAddr {
	return frame.SocketAddr{Port: uint32(a.Port), Node: frame.NodeAddr(a.IP)}
}

func ipv4(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

// tcpPrefix answers what the prefix is: Arg0 its address, Arg1 its bits, Addr the address of this node.
func (s *Sockets) tcpPrefix() Answer {
	if s.tcp == nil {
		return failure(syscall.EOPNOTSUPP)
	}
	a := failure(nil)
	a.Arg0, a.Arg1 = ipv4(s.tcp.prefix.Addr()), uint32(s.tcp.prefix.Bits())
	a.Addr = tcpSockaddr(tcpwire.Addr{IP: s.tcp.ip})
	return a
}

// openTCP makes a socket with an address, port 0: with one that is free. With tcpListens fd is the kernel's
// listener of that port, and the socket listens beside it.
func (s *Sockets) openTCP(by Caller, h *attach.Header, fd int) (a Answer) {
	kind, reuse := attach.Kind(h.Arg0&0xff), h.Arg0&(tcpReuseAddr|tcpReusePort)
	local, ok := tcpAddrOf(h.Addr)
	switch {
	case s.tcp == nil:
		return failure(syscall.EOPNOTSUPP)
	case !ok || !isTCP(kind):
		return failure(syscall.EINVAL)
	case local.IP != 0 && local.IP != s.tcp.ip:
		return failure(syscall.EADDRNOTAVAIL)
	}
	owner, err := by.Enter()
	if err != nil {
		return failure(err)
	}
	x := &tcpSocket{all: s, owner: owner, kind: kind, reuse: reuse, watch: make(chan struct{})}
	if x.local, err = s.tcp.claim(x, local); err != nil {
		owner.Leave()
		return failure(err)
	}
	x.claimed = true
	p, err := x.begin(nil)
	if err != nil {
		s.tcp.release(x)
		owner.Leave()
		return failure(err)
	}
	s.wg.Go(x.watchProgram)
	if h.Arg0&tcpListens != 0 {
		if err = x.listenBeside(fd); err == nil {
			err = x.listen(h.Arg1)
		}
	}
	if err != nil {
		unix.Close(p)
		x.end(0)
		return failure(err)
	}
	a = failure(nil)
	a.FD, a.Addr = p, tcpSockaddr(x.local)
	return a
}

// begin makes the descriptors, with a peer of a connection, and makes the socket known. What it returns with an
// error is nothing.
func (x *tcpSocket) begin(peer *tcpwire.Addr) (p int, err error) {
	own := attach.PlainName{Kind: x.kind, Addr: tcpName(x.local)}
	var other *attach.PlainName
	if peer != nil {
		other = &attach.PlainName{Kind: x.kind, Addr: tcpName(*peer)}
	}
	s := x.all
	if x.d, p, err = s.makePair(&own, other); err != nil {
		return -1, err
	}
	x.cookie, x.over = own.Cookie, make(chan struct{})
	x.ctx, x.stop = context.WithCancel(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		unix.Close(p)
		x.d.s.Close()
		return -1, net.ErrClosed
	}
	s.tcpOf[x.cookie] = x
	return p, nil
}

// watchProgram ends the socket when the program has closed its end, unless unwatch comes first.
func (x *tcpSocket) watchProgram() {
	closed := x.d.waitClosed()
	close(x.watch)
	if closed {
		x.end(0)
	}
}

// unwatch ends watchProgram.
func (x *tcpSocket) unwatch() {
	x.d.unwatch()
	<-x.watch
	x.d.rewatch()
}

// end ends the socket, whatever it is; again it does nothing. errno is what the program is told once, 0: nothing.
// With an errno what lies before the daemon stays, so that poll of the program reports an error.
func (x *tcpSocket) end(errno syscall.Errno) {
	x.mu.Lock()
	if x.state == stateEnded || x.handed {
		x.mu.Unlock()
		return
	}
	l, kernel, c := x.l, x.kernel, x.conn
	x.l, x.kernel, x.conn, x.state = nil, nil, nil, stateEnded
	if errno != 0 {
		x.all.ended.put(x.cookie, ending{errno: errno})
	}
	x.mu.Unlock()
	x.stop()
	if l != nil {
		l.Close()
		x.owner.Unname(1)
	}
	if kernel != nil {
		_ = kernel.control(func(fd int) error { return unix.Shutdown(fd, unix.SHUT_RDWR) }) // its port is free, whoever has a descriptor
		kernel.s.Close()
	}
	if c != nil {
		c.Abort()
	}
	if errno == 0 {
		x.d.finish()
	} else {
		x.d.s.Close()
	}
	x.leave()
}

// leave gives back what the socket has of others.
func (x *tcpSocket) leave() {
	s := x.all
	s.tcp.release(x)
	x.owner.Leave()
	close(x.over)
	s.mu.Lock()
	delete(s.tcpOf, x.cookie)
	s.mu.Unlock()
}

// serveTCP does what a request asks of such a socket.
func (s *Sockets) serveTCP(by Caller, own *attach.PlainName, h *attach.Header, fd int) Answer {
	s.mu.Lock()
	x := s.tcpOf[own.Cookie]
	s.mu.Unlock()
	if x == nil || x.hasEnded() {
		return s.passedTCP(own, h, fd)
	}
	switch h.Op {
	case attach.OpPlainListen:
		return failure(x.listen(h.Arg0))
	case attach.OpPlainConnect:
		return failure(x.connect(by.Context, h))
	case attach.OpPlainState:
		return x.report()
	case attach.OpPlainTCPAt:
		return x.locate(by.Context, h)
	}
	return failure(syscall.EOPNOTSUPP)
}

func (x *tcpSocket) hasEnded() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state == stateEnded
}

func (x *tcpSocket) report() (a Answer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a.FD, a.Arg0 = -1, uint32(x.state)
	return a
}

// passedTCP does what a request asks of a socket that the daemon has no end of: it is connected to one of
// another program here, or it has ended.
func (s *Sockets) passedTCP(own *attach.PlainName, h *attach.Header, fd int) (a Answer) {
	a.FD = -1
	_, connected := s.secret.peer(fd)
	connected = connected && poll(fd)&hangup == 0
	switch h.Op {
	case attach.OpPlainState:
		if a.Arg0 = stateEnded; connected {
			a.Arg0 = stateConnected
		}
		if how, known := s.ended.get(own.Cookie); known && how.errno != 0 { // once
			a.Arg1 = uint32(how.errno)
			s.ended.put(own.Cookie, ending{})
		}
	case attach.OpPlainConnect:
		if a.Err = syscall.EINVAL; connected {
			a.Err = syscall.EISCONN
		}
	case attach.OpPlainListen:
		a.Err = syscall.EINVAL
	default:
		a.Err = syscall.EOPNOTSUPP
	}
	return a
}

// resetByProgram is closedUnread of a socket of TCP whose program has set SO_LINGER to 0: the peer reads a reset, unless
// another descriptor of P is left.
func (s *Sockets) resetByProgram(by Caller, own *attach.PlainName, fd int) {
	s.giving.Lock() // the descriptor that the program was given is its own alone then
	defer s.giving.Unlock()
	s.mu.Lock()
	x := s.tcpOf[own.Cookie]
	s.mu.Unlock()
	if x != nil {
		x.d.unread.Store(true)
		by.Release()
		if !x.d.hungUp() {
			x.d.unread.Store(false)
		}
		return
	}
	peer, ok := s.secret.peer(fd)
	if !ok || poll(fd)&hangup != 0 {
		return
	}
	before, known := s.ended.get(peer.Cookie)
	s.ended.put(peer.Cookie, ending{errno: syscall.ECONNRESET})
	by.Release()
	if s.secret.bound(own) {
		s.ended.takeBack(peer.Cookie, before, known)
	}
}

// closedTCP is closedByProgram of such a socket.
func (x *tcpSocket) closedTCP() {
	x.mu.Lock()
	connected := x.conn != nil // what it has written goes first
	x.mu.Unlock()
	if !connected && x.d.hungUp() {
		x.end(0)
		<-x.over // somebody else may have noticed first
	}
}
