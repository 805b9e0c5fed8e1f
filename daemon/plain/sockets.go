// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"crypto/rand"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon/genetlink"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// An Owner is the process that what a socket has is counted for.
type Owner interface {
	Queued() *hosting.Account // of bytes that wait
	Name(k int) error         // k more names are bound
	Unname(k int)             // or fewer
	Another() (Owner, error)  // a socket more of the same process
	Leave()                   // the socket has ended
}

// A Caller is who makes a request.
type Caller struct {
	// Context is done when the request's connection has ended.
	Context context.Context
	// Enter counts a socket more for the caller's process.
	Enter func() (Owner, error)
	// Closed waits until the program has closed the descriptor that it has passed, or is gone.
	Closed func()
	// Release closes the descriptor that came.
	Release func()
	// Manages is the node's management, as far as the caller may use it.
	Manages genetlink.Node
	// Answered is called when a request that was made of Manages is answered.
	Answered func()
}

// An Answer is what came of a request.
type Answer struct {
	attach.Header // of which Addr, Addr2 and the arguments count
	Data          []byte
	FD            int // that goes with it, which the caller closes; -1: none
	Err           error
}

func failure(err error) Answer { return Answer{FD: -1, Err: err} }

// Sockets are the plain sockets of a node.
type Sockets struct {
	node   *stack.Node
	poller *stack.Poller // of listeners and connectionless sockets
	tcp    *tcpNet       // nil: there is none

	tcpCounters tcpCounters
	tcpUnproven atomic.Int32 // connections that wait for the names of their nodes
	giving      sync.RWMutex // held for reading while a program is given a descriptor, until the daemon's own is closed
	secret      secret
	ended       memory[ending]
	kept        memory[options] // of direct connections, and of those that have ended
	ctx         context.Context
	stop        context.CancelFunc
	wg          sync.WaitGroup

	delivering sync.Mutex // held by who takes of poller, until what was taken is delivered

	mu      sync.Mutex // guards the rest; it is taken before a socket's
	of      map[uint64]*socket
	netlink map[uint64]*netlinkSocket
	dialing map[uint32]*socket // by the port, while they connect
	tcpOf   map[uint64]*tcpSocket
	closed  bool
}

// New makes Sockets of a node, with TCP if there is a prefix. Errors: net.ErrClosed.
func New(n *stack.Node, tcp TCP) (*Sockets, error) {
	s, err := newSockets(n)
	if err != nil {
		return nil, err
	}
	if tcp != (TCP{}) {
		if s.tcp, err = newTCPNet(s.ctx, n, tcp); err != nil {
			s.poller.Close()
			return nil, err
		}
		s.wg.Go(func() { s.tcp.nodes.learn(s.ctx, s.tcp.sub) })
		s.wg.Go(s.tcp.answer)
	}
	s.wg.Go(s.deliverAll)
	return s, nil
}

// newSockets is New, without what comes from other nodes.
func newSockets(n *stack.Node) (*Sockets, error) {
	p, err := n.NewPoller()
	if err != nil {
		return nil, err
	}
	s := &Sockets{node: n, poller: p, of: map[uint64]*socket{}, netlink: map[uint64]*netlinkSocket{}, dialing: map[uint32]*socket{}, tcpOf: map[uint64]*tcpSocket{}}
	rand.Read(s.secret[:])
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Close ends all sockets and waits until nothing of them is left.
func (s *Sockets) Close() {
	s.mu.Lock()
	s.closed = true
	all := make([]*socket, 0, len(s.of))
	for _, x := range s.of {
		all = append(all, x)
	}
	netlink, tcp := slices.Collect(maps.Values(s.netlink)), slices.Collect(maps.Values(s.tcpOf))
	s.mu.Unlock()
	s.stop()
	for _, x := range netlink {
		x.end()
	}
	for _, x := range all {
		x.end(ending{errno: syscall.ENETDOWN})
	}
	for _, x := range tcp {
		x.end(syscall.ECONNRESET)
	}
	if s.tcp != nil {
		s.tcp.close()
	}
	s.poller.Close()
	s.wg.Wait()
}

// Serve does what a request asks of the socket fd, which stays the caller's own.
func (s *Sockets) Serve(by Caller, h *attach.Header, data []byte, fd int) Answer {
	if h.Op == attach.OpPlainSocket {
		return s.open(by, attach.Kind(h.Arg0))
	}
	if h.Op == attach.OpPlainNetlink {
		return s.openNetlink(by, fd)
	}
	if h.Op == attach.OpPlainTCP {
		return s.tcpPrefix()
	}
	if h.Op == attach.OpPlainTCPSocket {
		return s.openTCP(by, h, fd)
	}
	if h.Op == attach.OpPlainClosed {
		if fd >= 0 {
			s.closedUnread(by, fd)
		} else {
			s.closedByProgram(h.Wide)
		}
		return failure(nil)
	}
	own, ok := s.secret.own(fd)
	if !ok {
		return failure(syscall.ENOTSOCK)
	}
	if own.Kind == kindNetlink {
		return s.serveNetlink(&own, h.Op)
	}
	if isTCP(own.Kind) {
		return s.serveTCP(by, &own, h, fd)
	}
	s.mu.Lock()
	x := s.of[own.Cookie]
	s.mu.Unlock()
	if x == nil || x.hasEnded() {
		return s.passed(&own, h, data, fd)
	}
	switch h.Op {
	case attach.OpPlainBind:
		return failure(x.bind(h.Addr))
	case attach.OpPlainListen:
		return failure(x.listen())
	case attach.OpPlainConnect:
		return x.connect(by.Context, h, data)
	case attach.OpPlainSend:
		return failure(x.sendTo(by.Context, h, data, fd))
	case attach.OpPlainJoin:
		return failure(x.joinGroup(h, fd))
	case attach.OpPlainLeave:
		return failure(x.leaveGroup())
	case attach.OpPlainPair:
		return x.pair(by)
	case attach.OpPlainInfo:
		return s.info(by.Context, h)
	case attach.OpPlainState:
		return x.report()
	case attach.OpPlainShutdown:
		a := failure(x.shutdown(fd))
		s.deliver() // who was refused knows it when the answer comes
		return a
	case attach.OpPlainSetOption:
		return failure(x.setOptions(data))
	case attach.OpPlainGetOption:
		return x.getOptions(data)
	}
	return failure(syscall.EOPNOTSUPP)
}

// closedByProgram ends a socket whose program says that it has closed P, if there is no other
// descriptor of that. So its names are gone, and the members of its group know, when close returns.
func (s *Sockets) closedByProgram(cookie uint64) {
	s.mu.Lock()
	x, t := s.of[cookie], s.tcpOf[cookie]
	s.mu.Unlock()
	if t != nil {
		t.closedTCP()
		return
	}
	if x == nil { // who noticed first may not have delivered what came of it
		s.deliver()
		return
	}
	x.mu.Lock()
	connected := x.conn != nil || x.orderly // what it has written goes first
	x.mu.Unlock()
	if !connected && x.d.hungUp() {
		x.end(ending{})
		<-x.over // somebody else may have noticed first
		s.deliver()
	}
}

// States of a socket, as OpPlainState reports them.
const (
	stateOpen = iota
	stateListening
	stateConnecting
	stateConnected
	stateEnded
)

// What OpPlainState is asked for by, in Arg0: a read takes the end of a connection, of a reset
// only with room for control data.
const (
	readPlain   = 1
	readControl = 2
)

// endTaken stands in Wide of the answer when the end was taken.
const endTaken = 1 << 32

// passed does what a request asks of a socket that the daemon has no end of: it is connected
// to one of another program here, or it has ended.
func (s *Sockets) passed(own *attach.PlainName, h *attach.Header, data []byte, fd int) (a Answer) {
	a.FD = -1
	peer, connected := s.secret.peer(fd)
	connected = connected && poll(fd)&hangup == 0
	how, known := s.ended.get(own.Cookie)
	if how.errno != 0 { // once
		later := how
		later.errno = 0
		s.ended.put(own.Cookie, later)
	}
	if known {
		connected = false
	}
	switch h.Op {
	case attach.OpPlainState:
		if connected {
			a.Addr, a.Addr2, a.Arg0 = attach.SocketSockaddr(own.Addr), attach.SocketSockaddr(peer.Addr), stateConnected
			break
		}
		if !known {
			how.code = frame.NoPort
		}
		if a = s.reportEnd(own, how, h.Arg0); !known {
			a.Arg1 = uint32(syscall.ECONNRESET)
		}
	case attach.OpPlainShutdown:
		if connected {
			s.ended.put(peer.Cookie, ending{code: frame.ConnShutdown, refused: unreadOf(own, &peer, fd)})
		}
		s.ended.put(own.Cookie, ending{}) // what there is to read goes
	case attach.OpPlainSetOption:
		o, _ := s.kept.get(own.Cookie)
		a.Err = o.set(own.Kind, data)
		s.kept.put(own.Cookie, o)
	case attach.OpPlainGetOption:
		o, _ := s.kept.get(own.Cookie)
		a.Data, a.Err = o.get(data)
	case attach.OpPlainBind:
		if connected && !h.Addr.IsZero() && h.Addr.Scope >= 0 {
			a.Err = syscall.EINVAL
		}
	case attach.OpPlainListen:
		a.Err = syscall.EINVAL
	case attach.OpPlainInfo:
		return s.info(context.Background(), h)
	case attach.OpPlainSend:
		a.Err = syscall.ENETDOWN
	case attach.OpPlainConnect:
		a.Err = syscall.EINVAL
		if connected {
			a.Err = syscall.EISCONN
		}
	default:
		a.Err = syscall.EOPNOTSUPP
	}
	return a
}

// reportEnd answers OpPlainState of a socket that has ended, for a read of the given kind or none.
func (s *Sockets) reportEnd(own *attach.PlainName, how ending, read uint32) (a Answer) {
	a.FD = -1
	a.Addr, a.Arg0 = attach.SocketSockaddr(own.Addr), stateEnded
	a.Arg1, a.Wide = uint32(how.errno), uint64(how.code)
	if how.errno != 0 || how.code == 0 {
		return a
	}
	if how.taken {
		a.Wide |= endTaken
	} else if read == readControl || read == readPlain && how.code == frame.ConnShutdown {
		if how.refused != nil {
			a.Addr2, a.Data = attach.SocketSockaddr(how.refused.peer), how.refused.data
		}
		how.taken, how.refused = true, nil
		s.ended.put(own.Cookie, how)
	}
	return a
}

// enlist makes a socket known. Errors: net.ErrClosed.
func (s *Sockets) enlist(x *socket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.of[x.cookie] = x
	return nil
}

// delist undoes enlist, once.
func (s *Sockets) delist(x *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, x.cookie)
	if s.dialing[x.addr.Port] == x {
		delete(s.dialing, x.addr.Port)
	}
}
