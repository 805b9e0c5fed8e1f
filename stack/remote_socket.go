// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
)

// A remoteSocket is a socket of an attached node: a connection to the daemon, and where it is
// kept another to each daemon that comes next.
//
//	there ──(the daemon ends)──► away: calls wait ──(the next one makes it)──► there
//	  │                            │
//	  │                            └──(it refuses for good)──► refused
//	  └──(of what is not kept, as connections)──► over: calls fail
type remoteSocket struct {
	f       *remoteNode
	network string
	sync    bool     // sends wait for their answer
	remote  bool     // it has a default destination: reads tell of sends that failed
	all     net.Addr // that a message without a destination goes to: the members of a group
	reports sendReports
	kept    bool         // it is made again when the daemon is lost
	aside   bool         // it is a subscription or a stream: it has no ring, and ends at once
	make    sessionMaker // makes it, on a new connection
	turn    sync.Mutex   // of writes of a stream, which are not mixed
	session atomic.Pointer[session]
	refused atomic.Pointer[ReattachError] // it is not made again

	mu      sync.Mutex // guards what follows, and changes of session
	names   []boundName
	options []attach.Option
	changes int // of names and options
	closed  bool
	why     error // it is not there yet

	gone closeResult // how its end went; of a connection
}

// A session is a socket as long as the daemon lives.
type session struct {
	line  *clientConn
	local SocketAddr
	from  net.Addr // of the last message; guarded by the line's lock
}

// A sessionMaker says what a new connection is to become, and returns the socket's address.
type sessionMaker func(ctx context.Context, network string, want wantedState, l *clientConn) (SocketAddr, error)

// wantedState are what a socket has beside its kind.
type wantedState struct {
	names   []boundName
	options []attach.Option
	changes int
}

// A boundName is what a socket is bound to.
type boundName struct{ addr attach.Sockaddr }

// open makes the socket and makes it known to its node. It waits for a daemon.
func (s *remoteSocket) open(ctx context.Context, fds bool) error { return s.openWithin(ctx, ctx, fds) }

// openWithin is open that waits for a daemon until within is done.
func (s *remoteSocket) openWithin(within, ctx context.Context, fds bool) error {
	s.kept = s.kept && !s.f.cfg.NoReattach
	if err := s.f.whenThere(within, func() error {
		cur, _, err := s.openSession(ctx, fds)
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
func (s *remoteSocket) enroll() error {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	if s.f.closed {
		s.session.Load().line.close()
		return net.ErrClosed
	}
	s.f.sockets[s] = struct{}{}
	return nil
}

// openSession makes the socket on a new connection.
func (s *remoteSocket) openSession(ctx context.Context, fds bool) (*session, wantedState, error) {
	s.mu.Lock()
	want := wantedState{slices.Clone(s.names), slices.Clone(s.options), s.changes}
	s.mu.Unlock()
	l, w, err := s.f.dial(ctx, fds)
	if err != nil {
		return nil, want, err
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
	local.Net = s.network
	return &session{line: l, local: local}, want, nil
}

// line is the socket's connection.
func (s *remoteSocket) line() *clientConn { return s.session.Load().line }

// Network implements socketBackend.
func (s *remoteSocket) Network() string { return s.network }

// Addr implements socketBackend.
func (s *remoteSocket) Addr() SocketAddr { return s.session.Load().local }

func (s *remoteSocket) opError(op string, addr net.Addr, err error) error {
	return opError(op, s.network, s.Addr(), addr, err)
}

// makeSocket is the sessionMaker of sockets that are no groups.
func makeSocket(ctx context.Context, network string, want wantedState, l *clientConn) (SocketAddr, error) {
	kind, _ := attach.KindOf(network)
	var b []byte
	for _, o := range want.options {
		b = attach.AppendOption(b, o.Name, o.Value)
	}
	a, err := l.ask(ctx, attach.Header{Op: attach.OpSocket, Arg0: uint32(kind)}, b)
	if err != nil {
		return SocketAddr{}, err
	}
	local, _ := a.Addr.Socket()
	return local, nil
}

// makePacket is makeSocket that binds it to its names.
func makePacket(ctx context.Context, network string, want wantedState, l *clientConn) (SocketAddr, error) {
	local, err := makeSocket(ctx, network, want, l)
	for _, n := range want.names {
		if err == nil {
			_, err = l.ask(ctx, attach.Header{Op: attach.OpBind, Addr: n.addr}, nil)
		}
	}
	return local, err
}

// optionsOf are the options of a SocketConfig that are not the daemon's defaults.
func (c SocketConfig) optionsOf(f *remoteNode) (all []attach.Option) {
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
	put(attach.OptNoDelay, truth(c.NoDelay), false)
	put(attach.OptRequests, truth(c.Requests && f.welcomed().Features&attach.FeatureRequests != 0), false)
	put(attach.OptNameWait, int64(c.waitsForNames(f)), false)
	return all
}

func (c SocketConfig) waitsForNames(f *remoteNode) time.Duration {
	if c.NameWait != 0 {
		return c.NameWait
	}
	return f.cfg.NameWait
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// set sets an option.
func (s *remoteSocket) set(name attach.OptionName, v int64) error {
	err := s.change(attach.Header{Op: attach.OpSetOption}, attach.AppendOption(nil, name, v), func() {
		s.options = slices.DeleteFunc(s.options, func(o attach.Option) bool { return o.Name == name })
		s.options = append(s.options, attach.Option{Name: name, Value: v})
	})
	if err != nil {
		return s.opError("set", nil, err)
	}
	return nil
}

// bind binds the socket to one more range, or with OpUnbind takes that back.
func (s *remoteSocket) bind(op attach.Op, addr net.Addr, scope Scope) error {
	r, err := bindable(addr)
	if err == nil {
		h := attach.Header{Op: op, Addr: attach.RangeSockaddr(r, scope)}
		if err = s.change(h, nil, func() { s.note(op, boundName{addr: h.Addr}) }); err == nil {
			return nil
		}
	}
	return s.opError(op.String(), addr, err)
}

// change has the daemon change the socket, and notes that for the daemons that come after it,
// with the lock held. It waits for a daemon.
func (s *remoteSocket) change(h attach.Header, data []byte, note func()) error {
	for {
		cur := s.session.Load()
		_, err := cur.line.ask(context.Background(), h, data)
		if err == nil {
			s.mu.Lock()
			still := s.session.Load() == cur // else the next session was made without it
			if still {
				s.changes++
				note()
			}
			s.mu.Unlock()
			if still {
				return nil
			}
			continue
		}
		if again, err := s.follow(context.Background(), cur, noEnd, err); !again {
			return err
		}
	}
}

// note keeps what the socket is bound to. The lock is held.
func (s *remoteSocket) note(op attach.Op, name boundName) {
	if op == attach.OpBind {
		s.names = append(s.names, name)
	} else if i := slices.Index(s.names, name); i >= 0 {
		s.names = slices.Delete(s.names, i, i+1)
	}
}

// SetDeadlines implements socketBackend.
func (s *remoteSocket) SetDeadlines(read, write *time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.opError("set", nil, net.ErrClosed)
	}
	if read != nil {
		s.line().setReadBy(*read)
	}
	if write != nil {
		s.line().setWriteBy(*write)
	}
	return nil
}

// Close implements socketBackend.
func (s *remoteSocket) Close() error { return s.close("close", true) }

// Stats implements socketBackend.
func (s *remoteSocket) Stats(ctx context.Context) (SocketStats, error) {
	return querySocket[SocketStats](ctx, s, "socket.stats")
}

// poll implements socketBackend.
func (s *remoteSocket) poll(*Poller, any) *Polled { panic(errOtherNode) }

// hold implements socketBackend. The daemon counts.
func (s *remoteSocket) hold(int) {}

// close ends the socket: of a connection in order, or not.
func (s *remoteSocket) close(op string, orderly bool) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return s.opError(op, nil, net.ErrClosed)
	}
	s.closed = true
	l, names := s.line(), s.names
	if !s.aside {
		s.f.ends.Add(1) // whoever finds it closed may wait for that
	}
	s.mu.Unlock()
	s.f.mu.Lock()
	delete(s.f.sockets, s)
	s.f.mu.Unlock()
	if s.aside {
		l.close()
		return nil
	}
	return s.gracefulClose(op, l, names, orderly)
}

// gracefulClose closes the connection when the daemon has taken what was written, and withdrawn
// the names; orderly is for a connection, whose peer is told so. For a socket without
// connections that is waited for, a little; what takes longer is left to a goroutine. Errors:
// *UnsentError of a connection that is known to have ended with bytes that were not sent.
func (s *remoteSocket) gracefulClose(op string, l *clientConn, names []boundName, orderly bool) error {
	known, over := l.endedUnsent()
	l.stopLocal()
	done := make(chan struct{})
	s.gone.begin(l, s.f)
	go func() {
		defer s.f.ends.Done()
		defer close(done)
		l.mu.Lock()
		w := l.enter(closeRequest)
		for l.leader != nil { // it leaves, and there is no other
			l.sleep(w, time.Time{})
		}
		l.leader = w
		l.conned = longAgo // a kick that comes late leaves the deadline alone
		l.mu.Unlock()
		<-l.out.unsent
		connected := isConnected(s.network)
		by := time.Now().Add(gracefulCloseWait)
		if connected { // its bytes wait for the peer
			by = time.Time{}
		}
		l.conn.SetDeadline(by)
		err := l.last(names, orderly && connected)
		if !connected || !orderly {
			err = nil
		}
		s.gone.end(l, s.f, err, over)
	}()
	if isConnected(s.network) && !l.fds {
		if known != nil {
			return s.opError(op, nil, known)
		}
		return nil
	}
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	return nil
}

// How long what was written to a socket without connection waits for room once it is closed,
// and Close for that.
const (
	gracefulCloseWait = 30 * time.Second
	closeWait         = 100 * time.Millisecond
)

// last says the last words, and waits until the daemon has dealt with them, and so with
// everything before. It reads meanwhile: the daemon may not take them before it is rid of
// what it has to say, and where both ends of a connection close neither would go on. The
// error is the answer's, or says that there was none.
func (l *clientConn) last(names []boundName, connected bool) (err error) {
	var said sync.WaitGroup
	said.Go(func() {
		if l.say(names, connected) != nil {
			l.conn.SetReadDeadline(longAgo) // no answer comes
		}
	})
	var h attach.Header
	for {
		buf, readErr := l.conn.ReadPooled(&h)
		if readErr != nil {
			err = lineError(readErr)
			break
		}
		last := h.IsReply() && h.ID == closeRequest
		if last {
			err = toldBy(&h, buf.Data)
		}
		buf.Release()
		if last {
			break
		}
	}
	l.conn.Close() // ends what is still being said
	said.Wait()
	return err
}

// say writes the last words, and waits for room.
func (l *clientConn) say(names []boundName, connected bool) error {
	for _, n := range names {
		if err := l.conn.Write(&attach.Header{Op: attach.OpUnbind, Addr: n.addr}, nil); err != nil {
			return err
		}
	}
	h := attach.Header{Op: attach.OpPing, ID: closeRequest}
	if connected {
		h.Op = attach.OpShutdown
	}
	return l.conn.Write(&h, nil)
}

func isConnected(network string) bool {
	_, err := connected(network)
	return err == nil
}

// send sends data, and says for how long that waited. It waits for a daemon. Errors: of a
// connection of a send before; of this one with SyncErrors; os.ErrDeadlineExceeded, the
// context's, where it was not sent; *BlockedError where that is not known, and a *GoneError
// where the daemon has ended without an answer.
func (s *remoteSocket) send(ctx context.Context, h *attach.Header, data []byte) (waited time.Duration, err error) {
	if len(data) > frame.MaxPayload {
		return 0, ErrTooLong
	}
	for {
		cur := s.session.Load()
		again := false
		took, err := s.sendOn(ctx, cur.line, h, data)
		waited += took
		if err != nil && notTaken(err) {
			began := time.Now()
			again, err = s.follow(ctx, cur, writeEnd, err)
			waited += time.Since(began)
		}
		if !again {
			return waited, err
		}
	}
}

// notTaken reports whether the daemon went before it had a message. It is a function so that a
// send without an error allocates nothing.
func notTaken(err error) bool {
	var gone *GoneError
	return errors.As(err, &gone) && !gone.Unanswered
}

// sendOn is send on one line.
func (s *remoteSocket) sendOn(ctx context.Context, l *clientConn, h *attach.Header, data []byte) (waited time.Duration, err error) {
	if err := l.trouble(); err != nil {
		return 0, err
	}
	if s.sync {
		return s.sendAndWait(ctx, l, h, data)
	}
	seq := s.reports.number(h)
	waited, err = l.write(ctx, h, data)
	if err == nil {
		return waited, nil
	}
	s.reports.unsent(seq)
	if !errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		err = l.explained(err)
	}
	return waited, err
}

// answerGrace is how much longer than its deadline a send that is answered waits for the
// daemon, which keeps the deadline, to say why; and, when it was ended, to say whether the
// message has gone.
const answerGrace = 100 * time.Millisecond

// sendAndWait sends data that the daemon answers. Errors as of send.
func (s *remoteSocket) sendAndWait(ctx context.Context, l *clientConn, h *attach.Header, data []byte) (waited time.Duration, err error) {
	began := time.Now()
	own := *h // for a send that is not answered it need not be on the heap
	own.Flags |= attach.FlagAnswer
	by := l.writeDeadline()
	if past(by) {
		return 0, os.ErrDeadlineExceeded
	}
	if d, ok := ctx.Deadline(); ok && (by.IsZero() || d.Before(by)) {
		by = d
	}
	if !by.IsZero() {
		own.Wide = uint64(max(1, time.Until(by)))
	}
	a, unanswered, err := l.converse(ctx, &l.answerBy, l.grace, &own, func() error {
		_, err := l.write(ctx, &own, data)
		return err
	})
	waited = time.Since(began)
	if err == nil {
		err = toldBy(&a.Header, a.data)
	}
	var blocked *BlockedError
	switch {
	case err == nil:
		s.reports.sent.Add(1)
	case unanswered && (err == os.ErrDeadlineExceeded || err == ctx.Err()):
		blocked = s.blocked(waited, err)
		blocked.Unanswered = true
		return waited, blocked
	case ctx.Err() != nil && errors.As(err, &blocked):
		blocked.Cause = ctx.Err()
	case err == io.EOF: // the peer closed meanwhile, in order
		err = syscall.EPIPE
	}
	return waited, err
}

// sendError implements reportBackend. The daemon counts it.
func (s *remoteSocket) sendError(addr net.Addr, err error) error {
	return s.opError("write", addr, err)
}

// notSent is the error of a send to addr: at its deadline *BlockedError.
func (s *remoteSocket) notSent(addr net.Addr, waited time.Duration, err error) error {
	if err == os.ErrDeadlineExceeded || err == context.Canceled || err == context.DeadlineExceeded {
		err = s.blocked(waited, err)
	}
	return s.opError("write", addr, err)
}

// blocked asks the daemon what the socket's sends wait for.
func (s *remoteSocket) blocked(waited time.Duration, cause error) *BlockedError {
	e := &BlockedError{Daemon: true, Blocked: waited}
	if away := s.absence(); away != nil && isGoneLine(s.line()) {
		e.Away = away.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), blockedWait)
	defer cancel()
	if waited > 0 && e.Away == "" {
		waits, _ := waitsCall.Do(ctx, s.f, control.Nothing{}) // without them the daemon is all that is known
		own := s.Addr()
		for i := range waits {
			if w := &waits[i]; w.Socket.Port == own.Port && w.Socket.Node == own.Node {
				*e = w.BlockedError
				e.Blocked = max(e.Blocked, waited)
				break
			}
		}
	}
	if e.Cause = nil; cause != os.ErrDeadlineExceeded {
		e.Cause = cause
	}
	return e
}

// blockedWait is how long the daemon has to say what a send waits for.
const blockedWait = time.Second

func (s *remoteSocket) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// next waits for a record that is to be read; heed says that a report ends it, as its error.
// use is called with it, and reports whether it is done with. Errors: the end of the
// socket, os.ErrDeadlineExceeded, the context's.
func (l *clientConn) next(ctx context.Context, heed bool, use func(r *clientRecord) (done bool)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.inbox) == 0 || past(l.readBy) {
		w := l.enter(0)
		stop := l.when(ctx, w)
		defer l.leave(w)
		defer stop()
		for {
			err := l.await(w, &l.readBy, func() bool { return len(l.inbox) > 0 || heed && l.socket.reports.waiting() })
			if err != nil {
				return err
			}
			if len(l.inbox) > 0 {
				break
			}
			if r, ok := l.socket.reports.take(); ok { // else another call has it
				return r.Err
			}
		}
	}
	l.use(use)
	return nil
}

// use hands out the first record of the inbox.
func (l *clientConn) use(use func(r *clientRecord) (done bool)) {
	r := &l.inbox[0]
	before := len(r.data)
	if !use(r) {
		l.kept -= before - len(r.data)
		return
	}
	l.kept -= before + attach.HeaderLen
	r.release()
	if l.inbox = l.inbox[1:]; len(l.inbox) == 0 {
		l.inbox = l.room[:0]
	}
	if l.kept <= maxInbox && l.leader == nil {
		l.wakeNext()
	}
}

// try is next that does not wait: its error is syscall.EAGAIN then.
func (l *clientConn) try(use func(r *clientRecord) (done bool)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.inbox) == 0 {
		switch {
		case l.over != nil:
			return l.over
		case l.leader != nil || !l.look():
			if l.over != nil {
				return l.over
			}
			return errAgain
		}
	}
	l.use(use)
	return nil
}
