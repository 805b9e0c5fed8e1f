// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"cmp"
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A Socket is a socket of an attached node: a connection to the daemon, and where it is
// kept another to each daemon that comes next.
//
//	there ──(the daemon ends)──► away: calls wait ──(the next one makes it)──► there
//	  │                            │
//	  │                            └──(it refuses for good)──► refused
//	  └──(of what is not kept, as connections)──► over: calls fail
type Socket struct {
	f         *Node
	network   string
	sync      bool     // sends wait for their answer
	remote    bool     // it has a default destination: reads tell of sends that failed
	all       net.Addr // that a message without a destination goes to: the members of a group
	reports   sendReports
	kept      bool         // it is made again when the daemon is lost
	exclusive bool         // what it binds is its own
	aside     bool         // it is a subscription or a stream: it has no ring, and ends at once
	ends      time.Time    // of a subscription: when its time is over; zero: never
	make      sessionMaker // makes it, on a new connection
	peer      frame.SocketAddr
	session   atomic.Pointer[session]
	refused   atomic.Pointer[socket.ReattachError] // it is not made again

	mu      sync.Mutex // guards what follows, and changes of session
	names   []boundName
	options []attach.Option
	changes int    // of names and options
	opened  uint16 // sessions
	closed  bool
	why     error // it is not there yet

	gone closeResult // how its end went; of a connection
}

// A session is a socket as long as the daemon lives.
type session struct {
	line   *clientConn
	local  frame.SocketAddr
	number uint16   // of the socket's sessions, modulo 2^16
	from   net.Addr // of the last message; guarded by the line's lock
}

// A sessionMaker says what a new connection is to become, and returns the socket's address.
type sessionMaker func(ctx context.Context, network string, want wantedState, l *clientConn) (frame.SocketAddr, error)

// wantedState are what a socket has beside its kind.
type wantedState struct {
	names   []boundName
	options []attach.Option
	changes int
	// together says that others have the names settled, of many sockets at once; see renewSole.
	together bool
}

// A boundName is what a socket is bound to.
type boundName struct {
	addr    attach.Sockaddr
	renames uint32 // changes of the names up to this one, in the session; 0: it was bound when that began
}

// open makes the socket and makes it known to its node. It waits for a daemon.
func (s *Socket) open(ctx context.Context, fds bool) error { return s.openWithin(ctx, ctx, fds) }

// openWithin is open that waits for a daemon until within is done.
func (s *Socket) openWithin(within, ctx context.Context, fds bool) error {
	s.kept = s.kept && !s.f.cfg.NoReattach
	if err := s.f.whenThere(within, func() error {
		cur, _, err := s.openSession(ctx, fds, false)
		if err == nil {
			s.session.Store(cur)
		}
		return err
	}); err != nil {
		return err
	}
	return s.enroll()
}

// enroll makes the socket known to its node. Errors: net.ErrClosed.
func (s *Socket) enroll() error {
	s.f.mu.Lock()
	closed := s.f.closed
	if !closed {
		s.f.sockets[s] = struct{}{}
	}
	s.f.mu.Unlock()
	if closed {
		s.line().close()
		return net.ErrClosed
	}
	return nil
}

// openSession makes the socket on a new connection.
func (s *Socket) openSession(ctx context.Context, fds, together bool) (*session, wantedState, error) {
	s.mu.Lock()
	want := wantedState{slices.Clone(s.names), slices.Clone(s.options), s.changes, together}
	s.mu.Unlock()
	l, w, err := s.f.dial(ctx, fds)
	if err != nil {
		return nil, want, err
	}
	if !s.f.current(l) {
		l.close()
		return nil, want, &socket.GoneError{Reason: "another daemon is there"}
	}
	if l.node = w.Node; !isConnected(s.network) {
		l.socket = s
	}
	local, err := s.make(ctx, s.network, want, l)
	if err == nil && !fds && !s.aside {
		err = l.useRing(ctx, s.f.cfg)
	}
	if err != nil {
		l.close()
		return nil, want, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	return &session{line: l, local: local, number: s.opened}, want, nil
}

// line is the socket's connection.
func (s *Socket) line() *clientConn { return s.session.Load().line }

// Network implements backend.Socket.
func (s *Socket) Network() string { return s.network }

// Addr implements backend.Socket.
func (s *Socket) Addr() frame.SocketAddr { return s.session.Load().local }

func (s *Socket) opError(op string, addr net.Addr, err error) error {
	return backend.OpError(op, s.network, s.Addr(), addr, err)
}

// makeSocket is the sessionMaker of sockets that are no groups.
func makeSocket(ctx context.Context, network string, want wantedState, l *clientConn) (frame.SocketAddr, error) {
	kind, _ := attach.KindOf(network)
	var b []byte
	for _, o := range want.options {
		b = attach.AppendOption(b, o.Name, o.Value)
	}
	a, err := l.ask(ctx, attach.Header{Op: attach.OpSocket, Arg0: uint32(kind)}, b)
	if err != nil {
		return frame.SocketAddr{}, err
	}
	local, _ := a.Addr.Socket()
	return local, nil
}

// makePacket is makeSocket that binds it to its names.
func makePacket(ctx context.Context, network string, want wantedState, l *clientConn) (frame.SocketAddr, error) {
	local, err := makeSocket(ctx, network, want, l)
	if err != nil {
		return local, err
	}
	return local, l.bound(ctx, want, func() error {
		for _, n := range want.names {
			if _, err := l.ask(ctx, attach.Header{Op: attach.OpBind, Addr: n.addr}, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// optionsOf are the options of a socket that are not the daemon's defaults.
func (f *Node) optionsOf(c backend.SocketOptions) (all []attach.Option) {
	put := func(name attach.OptionName, v int64, always bool) {
		if v != 0 || always {
			all = append(all, attach.Option{Name: name, Value: v})
		}
	}
	put(attach.OptDestDroppable, truth(!c.Returnable), true)
	put(attach.OptImportance, int64(c.Importance), false)
	put(attach.OptReceiveLimit, int64(c.ReceiveLimit), false)
	put(attach.OptMulticast, int64(c.Multicast), false)
	put(attach.OptScope, int64(c.Scope), false)
	put(attach.OptBacklog, int64(c.Backlog), false)
	put(attach.OptAcceptAhead, truth(c.AcceptAhead), false)
	put(attach.OptNoDelay, truth(c.NoDelay), false)
	put(attach.OptRequests, truth(c.Requests && f.welcomed().Features&attach.FeatureRequests != 0), false)
	put(attach.OptExclusive, truth(c.Exclusive), false)
	put(attach.OptPreferIdle, truth(c.PreferIdle), false)
	put(attach.OptManualAck, truth(c.ManualAck), false)
	put(attach.OptNameWait, int64(cmp.Or(c.NameWait, f.cfg.NameWait)), false)
	return all
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// set sets an option.
func (s *Socket) set(name attach.OptionName, v int64) error {
	err := s.change(attach.Header{Op: attach.OpSetOption}, attach.AppendOption(nil, name, v), func(uint32) {
		s.options = slices.DeleteFunc(s.options, func(o attach.Option) bool { return o.Name == name })
		s.options = append(s.options, attach.Option{Name: name, Value: v})
	})
	if err != nil {
		return s.opError("set", nil, err)
	}
	return nil
}

// bind binds the socket to one more range, or with OpUnbind takes that back.
func (s *Socket) bind(op attach.Op, addr net.Addr, scope frame.Scope) error {
	r, err := backend.Bindable(addr)
	if err == nil && op == attach.OpBind && s.exclusive {
		err = s.bindExclusive(r, scope)
	} else if err == nil {
		h := attach.Header{Op: op, Addr: attach.RangeSockaddr(r, scope)}
		err = s.change(h, nil, func(renames uint32) { s.note(op, h.Addr, renames) })
	}
	if err == nil {
		return nil
	}
	return s.opError(op.String(), addr, err)
}

// change has the daemon change the socket, and notes that for the daemons that come after it,
// with the lock held; note is given the number of changes of the names in this session. It waits
// for a daemon.
func (s *Socket) change(h attach.Header, data []byte, note func(renames uint32)) error {
	for done := false; !done; {
		if _, err := s.onSession(context.Background(), noLimit, func(cur *session) error {
			a, err := cur.line.ask(context.Background(), h, data)
			if err != nil {
				return err
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if done = s.session.Load() == cur; done { // else the next session was made without it
				s.changes++
				note(a.renames)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// note keeps what the socket is bound to. The lock is held.
func (s *Socket) note(op attach.Op, addr attach.Sockaddr, renames uint32) {
	if op == attach.OpBind {
		s.names = append(s.names, boundName{addr, renames})
	} else if i := slices.IndexFunc(s.names, func(n boundName) bool { return n.addr == addr }); i >= 0 {
		s.names = slices.Delete(s.names, i, i+1)
	}
}

// SetDeadline implements backend.Socket.
func (s *Socket) SetDeadline(of backend.Calls, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.opError("set", nil, net.ErrClosed)
	}
	if of&backend.Reads != 0 {
		s.line().setReadBy(t)
	}
	if of&backend.Writes != 0 {
		s.line().setWriteBy(t)
	}
	return nil
}

// Stats implements backend.Socket.
func (s *Socket) Stats(ctx context.Context) (engine.PortStats, error) {
	return querySocket[engine.PortStats](ctx, s, "socket.stats")
}

// Poll implements backend.Socket.
func (s *Socket) Poll(backend.Poller, any) *socket.Polled { panic(backend.OtherNode) }

// Hold implements backend.Socket. The daemon counts.
func (s *Socket) Hold(int) {}

// How long what was written to a socket without connection waits for room once it is closed,
// and Close for that.
const (
	gracefulCloseWait = 30 * time.Second
	closeWait         = 100 * time.Millisecond
)

// blockedWait is how long the daemon has to say what a send waits for.
const blockedWait = time.Second

func (s *Socket) IsClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}
