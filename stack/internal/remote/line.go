// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/feed"
	"github.com/utipc/utipc/stack/socket"
)

// A clientConn is a connection to the daemon, and the calls that wait for something on it.
// One of them, the leader, reads; what it reads for others it hands to them, and when it
// has what it wanted itself it leaves the lead to another. So there is no goroutine
// between the socket and a call.
//
//	waits ──(nobody leads)──► leads ──(its record is there)──► done, the next leads
//	  ▲                         │
//	  └──(a record of another)──┘ ── the end: all are told
type clientConn struct {
	conn *attach.Conn
	fds  bool            // answers may bring descriptors
	gone chan<- struct{} // told of the end of the daemon, or nil

	out clientWriter

	socket *Socket        // that reports go to, and messages that came back; nil: of a connection, or no socket
	node   frame.NodeAddr // the daemon's

	mu       sync.Mutex // guards everything below, but h while somebody leads
	h        attach.Header
	waits    []*clientWait
	leader   *clientWait
	idle     []*clientWait
	id       uint32 // of the last request
	inbox    []clientRecord
	room     []clientRecord // that the inbox begins with
	kept     int            // bytes in the inbox
	strays   []response     // accepted connections that nobody waits for any more
	failed   error          // of a send of a connection, for the next call; that it has ended, for all
	over     error          // why nothing comes any more
	nameLost error          // that the socket has lost a name, for calls that read
	offers   uint64         // features that the daemon has granted
	// readEnd says that the peer of a connection writes no more: what is in the inbox is the last.
	readEnd bool
	counts  bool    // the daemon counts what a connection has sent; it does not change
	placed  *uint64 // of a connection that has ended: bytes that its node has put on the link
	// goneReason is why the daemon is about to close; what it has delivered before is read first.
	goneReason *socket.GoneError
	readBy     time.Time
	// answerBy is when a send that is answered waits no longer: a little after the write
	// deadline, which the daemon keeps.
	answerBy time.Time
	grace    time.Duration // how long it waits then; it does not change
	conned   time.Time     // the conn's read deadline
	seen     reportedState // what was told, as far as the end of the daemon takes it back; or nil
}

// A clientRecord is a record for whoever reads.
type clientRecord struct {
	attach.Header
	data []byte
	buf  *attach.Buffer // that data is in, or nil
}

func (r *clientRecord) release() {
	if r.buf != nil {
		r.buf.Release()
	}
	*r = clientRecord{}
}

// A response is the answer to a request. Its data is the caller's.
type response struct {
	attach.Header
	data []byte
	fd   int // or -1
}

// A clientWait is a call that waits: for the answer to a request, or for messages.
type clientWait struct {
	id       uint32 // of the request; 0: messages
	ctx      context.Context
	wake     chan struct{} // of one place
	timer    *time.Timer
	answer   response
	answered bool
	failed   error // the answer was none
	gathered attach.Join
}

// maxInbox is how much a call that waits for something else reads ahead, in bytes.
const maxInbox = 4 << 20

var (
	longAgo = time.Unix(1, 0) // a deadline that ends a call
	never   time.Time         // one that does not; it is not changed
)

func newClientConn(c *attach.Conn) *clientConn {
	return &clientConn{conn: c, out: newClientWriter(), grace: answerGrace}
}

// enter makes a call wait on the line. The lock is held in this and all others that take
// a clientWait.
func (l *clientConn) enter(id uint32) *clientWait {
	var w *clientWait
	if k := len(l.idle); k > 0 {
		w = l.idle[k-1]
		l.idle = l.idle[:k-1]
		select {
		case <-w.wake:
		default:
		}
	} else {
		w = &clientWait{wake: make(chan struct{}, 1)}
	}
	w.id = id
	l.waits = append(l.waits, w)
	return w
}

// leave ends that, and hands the lead on.
func (l *clientConn) leave(w *clientWait) {
	i := slices.Index(l.waits, w)
	l.waits = slices.Delete(l.waits, i, i+1)
	if l.leader == w {
		l.leader = nil
	}
	*w = clientWait{wake: w.wake, timer: w.timer}
	if len(l.idle) < 8 {
		l.idle = append(l.idle, w)
	}
	l.wakeNext()
}

// wakeNext lets a call look that may go on, or lead.
func (l *clientConn) wakeNext() {
	if len(l.inbox) > 0 {
		for _, w := range l.waits {
			if w.id == 0 {
				feed.Signal(w.wake)
				break
			}
		}
	}
	if l.leader == nil && len(l.waits) > 0 {
		feed.Signal(l.waits[0].wake)
	}
}

// await waits until ready, or until what ends the call: the end of the line, ctx, the
// deadline. Errors: why the line ended; the context's; os.ErrDeadlineExceeded.
func (l *clientConn) await(w *clientWait, by *time.Time, ready func() bool) error {
	for {
		switch {
		case l.over == net.ErrClosed:
			return l.over
		case backend.Past(*by):
			return os.ErrDeadlineExceeded
		case ready():
			return nil
		case l.over != nil:
			return l.over
		case w.ctx != nil && w.ctx.Err() != nil:
			return w.ctx.Err()
		case l.leader != nil && l.leader != w || w.id != 0 && l.kept > maxInbox:
			if l.leader == w {
				l.leader = nil
				l.wakeNext()
			}
			l.sleep(w, *by)
		default:
			l.leader = w
			l.lead(w, *by)
		}
	}
}

// sleep waits until somebody has something for the call, or it may lead.
func (l *clientConn) sleep(w *clientWait, by time.Time) {
	l.mu.Unlock()
	defer l.mu.Lock()
	if by.IsZero() {
		<-w.wake
		return
	}
	if w.timer == nil {
		w.timer = time.NewTimer(time.Hour)
	}
	w.timer.Reset(time.Until(by))
	select {
	case <-w.wake:
	case <-w.timer.C:
	}
	w.timer.Stop()
}

// lead reads one record and deals with it.
func (l *clientConn) lead(w *clientWait, by time.Time) {
	if l.conned != by {
		l.conned = by
		l.conn.SetReadDeadline(by)
	}
	l.mu.Unlock()
	r, fd, err := l.receive()
	l.mu.Lock()
	switch {
	case err == nil:
		l.take(r, fd, w.id == 0)
	case !errors.Is(err, os.ErrDeadlineExceeded):
		l.end(lineError(err))
	}
}

// receive reads one record, without the lock.
func (l *clientConn) receive() (r clientRecord, fd int, err error) {
	if !l.fds {
		r.buf, err = l.conn.ReadPooled(&l.h)
		if err != nil {
			return clientRecord{}, -1, err
		}
		r.Header, r.data = l.h, r.buf.Data
		return r, -1, nil
	}
	room := recordRooms.Get().(*recordRoom)
	defer recordRooms.Put(room)
	k, fd, err := l.conn.ReadFD(&l.h, room[:])
	if err != nil {
		return clientRecord{}, -1, err
	}
	r.Header, r.data = l.h, slices.Clone(room[:k])
	return r, fd, nil
}

type recordRoom [attach.MaxData]byte

var recordRooms = sync.Pool{New: func() any { return new(recordRoom) }}

// take deals with a record; forReader says that who has read it reads messages.
func (l *clientConn) take(r clientRecord, fd int, forReader bool) {
	switch {
	case r.IsReply():
		l.reply(&r, fd)
		fd = -1
		r.release()
	case r.Op == attach.OpFailed && !l.sendFailed(&r):
		r.release()
	case r.Op == attach.OpMessage, r.Op == attach.OpEvent, r.Op == attach.OpItem:
		if !forReader || len(l.inbox) > 0 {
			r.keep()
		}
		if l.seen != nil {
			l.see(r)
		}
		l.add(r)
		if !forReader {
			l.wakeNext()
		}
	case r.Op == attach.OpReadEnd:
		l.readEnd = true
		for _, w := range l.waits {
			feed.Signal(w.wake)
		}
		r.release()
	case r.Op == attach.OpLost:
		l.nameLost = toldBy(&r.Header, r.data)
		for _, w := range l.waits {
			feed.Signal(w.wake)
		}
		r.release()
	case r.Op == attach.OpEnd:
		err := toldBy(&r.Header, r.data)
		if err == nil {
			err = io.EOF
		}
		l.countPlaced(&r)
		l.end(err)
		r.release()
	case r.Op == attach.OpGone:
		l.goneReason = &socket.GoneError{Reason: printable.Prefix(string(r.data), maxReason), Errno: r.Errno}
		r.release()
	default: // of a later version
		r.release()
	}
	closeFD(fd)
}

// add adds a record to the inbox.
func (l *clientConn) add(r clientRecord) {
	l.kept += len(r.data) + attach.HeaderLen
	if l.inbox = append(l.inbox, r); len(l.inbox) == 1 {
		l.room = l.inbox
	}
}

// see notes what a record says. It has the record by value, so that one of a line that notes
// nothing does not escape.
func (l *clientConn) see(r clientRecord) { l.seen.note(&r) }

// keep makes the record hold no more memory than its data needs.
func (r *clientRecord) keep() {
	if r.buf != nil && len(r.data) < attach.MaxData/4 {
		r.data = slices.Clone(r.data)
		r.buf.Release()
		r.buf = nil
	}
}

// reply hands an answer to the call that waits for it.
func (l *clientConn) reply(r *clientRecord, fd int) {
	for _, w := range l.waits {
		if w.id != r.ID || r.ID == 0 || w.answered {
			continue
		}
		all, done, err := w.gathered.Add(&r.Header, r.data, attach.MaxAnswer)
		if !done {
			closeFD(fd)
			return
		}
		w.failed = err
		w.answer = response{r.Header, slices.Clone(all), fd}
		w.answered = true
		if l.leader != w {
			feed.Signal(w.wake)
		}
		return
	}
	if r.Op == attach.OpAccept && fd >= 0 { // somebody else will take it
		l.strays = append(l.strays, response{r.Header, nil, fd})
		return
	}
	closeFD(fd)
}

// end notes why nothing comes any more, and tells everybody.
func (l *clientConn) end(err error) {
	if l.over == nil {
		if l.goneReason != nil && isGone(err) {
			err = l.goneReason
		}
		l.over = err
		if isGone(err) {
			if l.seen != nil {
				l.seen.takeBack(l.add)
			}
			feed.Signal(l.gone)
		}
	}
	for _, w := range l.waits {
		feed.Signal(w.wake)
	}
}

// kick makes all calls look, the one that leads too.
func (l *clientConn) kick() {
	for _, w := range l.waits {
		feed.Signal(w.wake)
	}
	if l.leader != nil && l.conned != longAgo {
		l.conned = longAgo
		l.conn.SetReadDeadline(longAgo)
	}
}

// when makes the call of w look when ctx is done. The returned function ends that.
func (l *clientConn) when(ctx context.Context, w *clientWait) (stop func() bool) {
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	w.ctx = ctx
	return context.AfterFunc(ctx, func() {
		l.mu.Lock()
		l.kick()
		l.mu.Unlock()
	})
}

// close ends the line; calls that wait end with net.ErrClosed.
func (l *clientConn) close() {
	l.stopLocal()
	l.conn.Close()
}

// stopLocal ends the line for everybody here, with net.ErrClosed that goes before every other
// error. The connection stays.
func (l *clientConn) stopLocal() {
	l.endWrites()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = net.ErrClosed
	for i := range l.inbox {
		l.inbox[i].release()
	}
	l.inbox, l.room, l.kept = nil, nil, 0
	for _, a := range l.strays {
		closeFD(a.fd)
	}
	l.strays = nil
	l.kick()
}

// setReadBy sets the time at which reads end.
func (l *clientConn) setReadBy(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readBy = t
	l.kick()
}

// maxReason is how many bytes of what the daemon says of an end are kept.
const maxReason = 1024
