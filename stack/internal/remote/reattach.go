// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/socket"
)

const (
	// Pauses between two attempts to reach a daemon, or to make a socket: the first, and the
	// longest, which with the time to make the sockets stays below a second.
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
	// connectWait is how long a daemon has to answer when a program attaches again.
	connectWait = 5 * time.Second
	// accessWait is how long the socket's file may be without the right to connect: a service
	// manager makes folders first and gives them away then.
	accessWait = 5 * time.Second
	// settling is how many more times sockets are looked at after a daemon was found: the end of
	// the one before may reach some of them late.
	settling = 5
)

// A backoff makes the pauses between attempts.
type backoff struct{ last time.Duration }

// pause returns the next pause: twice the last, up to lastPause, and a random part of half of
// it less, so that many programs do not come at once. chance is in [0, 1).
func (b *backoff) pause(chance float64) time.Duration {
	b.last = min(max(2*b.last, firstPause), lastPause)
	return b.last - time.Duration(chance*float64(b.last/2))
}

// repair attaches the node and its sockets again, whenever a daemon is lost, until the node is
// closed, or refused.
func (f *Node) repair() {
	for f.untilGone() {
		var b backoff
		var denied time.Time // since when the system does not let us connect
		for left := settling; left > 0; {
			found, whole, err := f.reattach()
			switch {
			case found:
				b, left = backoff{}, settling
			case whole:
				left--
			}
			if !errors.Is(err, syscall.EACCES) {
				denied = time.Time{}
			} else if denied.IsZero() {
				denied = time.Now()
			}
			if isRefusal(err) || !denied.IsZero() && time.Since(denied) > accessWait {
				f.refuse(err)
				return
			}
			if !f.rest(b.pause(rand.Float64())) {
				return
			}
		}
	}
}

// rest waits so long, or until the node is over, which it reports with false.
func (f *Node) rest(d time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := wait{by: deadlineIn(d), over: &f.over}
	defer f.leave(&c)
	return f.await(&c, func() bool { return false }, nil) == os.ErrDeadlineExceeded
}

// untilGone waits until a daemon is lost, or a socket of one; false: the node is over.
func (f *Node) untilGone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := wait{over: &f.over}
	defer f.leave(&c)
	err := f.await(&c, func() bool { return f.gone }, nil)
	f.gone = false
	return err == nil
}

// noteGone has repair look.
func (f *Node) noteGone() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
	f.signalAll()
}

// reattach is one attempt. found says that a daemon is there that was not before, whole that
// all sockets are there. The error is why there is no daemon.
func (f *Node) reattach() (found, whole bool, err error) {
	ctx, cancel := context.WithTimeout(f.ctx, connectWait)
	defer cancel()
	f.mu.Lock()
	found = !f.met
	server := f.server
	f.mu.Unlock()
	if !found && server.conn.PeerClosed() {
		return false, false, nil // watch is about to see it: the node comes before its sockets
	}
	if found {
		f.sweep()
		if err = f.connect(ctx); err != nil {
			f.mu.Lock()
			f.away = err
			f.mu.Unlock()
			return false, false, err
		}
	}
	return found, f.reopen(), nil
}

// sweep ends the lines whose daemon has closed and that nobody reads, so that nothing is sent
// there: memory that is shared with it takes messages still.
func (f *Node) sweep() {
	f.mu.Lock()
	var sockets []*Socket
	for s := range f.sockets {
		sockets = append(sockets, s)
	}
	f.mu.Unlock()
	for _, s := range sockets {
		l := s.session.Load().line
		l.mu.Lock()
		if l.over == nil && l.conn.PeerClosed() {
			l.drain()
		}
		l.mu.Unlock()
	}
}

// reopen makes the sockets again that the daemon does not have, all of them before a call on one
// goes on: it may send to another. It reports whether they are all there.
func (f *Node) reopen() (whole bool) {
	f.mu.Lock()
	pid := f.pid
	var sockets []*Socket
	for s := range f.sockets {
		if s.kept && s.refused.Load() == nil {
			sockets = append(sockets, s)
		}
	}
	f.mu.Unlock()
	sockets = slices.DeleteFunc(sockets, func(s *Socket) bool { return !s.session.Load().line.lost(pid) })
	made, whole := f.renew(slices.DeleteFunc(slices.Clone(sockets), (*Socket).isSole), false)
	sole, all := f.renewSole(slices.DeleteFunc(sockets, func(s *Socket) bool { return !s.isSole() }))
	whole = whole && all
	for _, r := range append(made, sole...) {
		whole = r.s.succeed(r.old, r.cur, r.want) && whole
	}
	f.announce()
	return whole
}

// refuse ends the node, which a daemon does not want for a reason that does not pass.
func (f *Node) refuse(err error) {
	f.mu.Lock()
	e := &socket.ReattachError{Path: f.path, Err: err}
	f.away = e
	var sockets []*Socket
	for s := range f.sockets {
		sockets = append(sockets, s)
	}
	f.mu.Unlock()
	f.end(e)
	for _, s := range sockets {
		s.refuse(e)
	}
}

// presence reports whether a daemon is there, and why none is.
func (f *Node) presence() (there bool, away error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.there, f.away
}

// whenThere calls try, which makes something at the daemon, until it fails for another reason
// than that none is there; not before the sockets that there were are made again, as it may be for
// one of them. Errors: try's; net.ErrClosed; *ReattachError; the context's, with why
// no daemon is there.
func (f *Node) whenThere(ctx context.Context, try func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := wait{ctx: ctx, over: &f.over}
	defer f.leave(&c)
	var b backoff
	for away := f.away; ; {
		err := f.await(&c, func() bool { return f.over == nil && (f.there || f.cfg.NoReattach) }, nil)
		if err == nil {
			f.mu.Unlock()
			err = try()
			f.mu.Lock()
			if err == nil || f.cfg.NoReattach || !isAway(err) && (!isRefusal(err) || f.there) {
				return err // not where it is the whole node that will be refused
			}
			if away = err; !f.there {
				continue
			}
			c.by = deadlineIn(b.pause(rand.Float64())) // it was believed to be there
			err = f.await(&c, func() bool { return false }, nil)
			c.by = nil
		}
		switch {
		case err == os.ErrDeadlineExceeded:
		case err == ctx.Err():
			if !f.there {
				away = cmp.Or(f.away, away)
			}
			return fmt.Errorf("%w; no daemon: %w", err, away)
		default:
			return err
		}
	}
}

// isGone reports whether the error is that the daemon is gone.
func isGone(err error) bool {
	var gone *socket.GoneError
	return errors.As(err, &gone)
}

// isAway reports whether an attempt to reach the daemon failed because none is there, or not
// any more.
func isAway(err error) bool {
	var sys *os.SyscallError // of connect(2) to the daemon: what the daemon answers is none
	if errors.As(err, &sys) {
		return slices.Contains([]error{syscall.ENOENT, syscall.ENOTDIR, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EAGAIN}, sys.Err)
	}
	return isGone(err)
}

// isRefusal reports whether a daemon's refusal of a program is for good. Limits are not: others
// leave.
func isRefusal(err error) bool {
	return errors.Is(err, attach.ErrVersion) || errors.Is(err, syscall.EPERM)
}

// isFinal reports whether a daemon's refusal of a socket is for good.
func isFinal(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.ENOPROTOOPT} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return isRefusal(err) || errors.Is(err, engine.ErrNameTaken)
}

// succeed makes a session that was made as want says the socket's, instead of old. What the daemon
// said before it ended, and nobody has read, is read before what the next one says. It reports
// whether that is all: not where something else is wanted meanwhile.
func (s *Socket) succeed(old, cur *session, want wantedState) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		cur.line.close()
		return true
	}
	if s.changes != want.changes {
		cur.line.close()
		return false
	}
	o, l := old.line, cur.line
	l.setWriteBy(o.writeDeadline())
	o.mu.Lock()
	defer o.mu.Unlock()
	l.readBy = o.readBy
	if slices.ContainsFunc(want.options, func(o attach.Option) bool { return o.Name == attach.OptManualAck && o.Value != 0 }) {
		for i := range o.inbox {
			o.inbox[i].Wide = 0 // the daemon that kept it is gone: its receipt means another message now
		}
	}
	l.inbox = append(o.inbox, l.inbox...)
	l.room = l.inbox
	l.kept += o.kept
	o.inbox, o.room, o.kept = nil, nil, 0
	for _, a := range o.strays {
		closeFD(a.fd)
	}
	o.strays = nil
	s.why = nil
	for i := range s.names {
		s.names[i].renames = 0
	}
	s.session.Store(cur)
	o.rouseAll()
	return true
}

// refuse ends the socket: the daemon does not make it again.
func (s *Socket) refuse(e *socket.ReattachError) {
	s.refused.CompareAndSwap(nil, e)
	l := s.line()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rouseAll()
}

// current reports whether the line leads to the daemon that the node is attached to, and not to the
// next one, which does not know the other sockets yet.
func (f *Node) current(l *clientConn) bool {
	who, err := l.conn.Credentials()
	if err != nil {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pid == 0 || who.PID == f.pid
}

// missing keeps why the socket is not there.
func (s *Socket) missing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = err
}

// absence is why the socket is not there.
func (s *Socket) absence() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != nil {
		return s.why
	}
	_, err := s.f.presence()
	return err
}

// lost reports whether the line is over, or its daemon is: it has closed, or is another process
// than that which is there now.
func (l *clientConn) lost(pid int) bool {
	l.mu.Lock()
	over := l.over
	l.mu.Unlock()
	if over != nil {
		return isGone(over)
	}
	if l.conn.PeerClosed() {
		return true
	}
	who, err := l.conn.Credentials()
	return err == nil && who.PID != pid
}

// isGoneLine reports whether the line has ended with its daemon.
func isGoneLine(l *clientConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return isGone(l.over)
}

// drainWait is how long the end of a daemon may take to come after another one is there.
const drainWait = 100 * time.Millisecond

// drain takes in what the daemon said before it ended.
func (l *clientConn) drain() {
	if l.over != nil {
		return
	}
	c := wait{by: deadlineIn(drainWait), over: &l.over, role: &l.reads, messages: true}
	l.await(&c, func() bool { return false }, l.read)
	l.leave(&c)
	l.end(&socket.GoneError{Reason: "another daemon is there"})
}
