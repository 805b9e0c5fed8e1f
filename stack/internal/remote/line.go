// SPDX-License-Identifier: Apache-2.0

package remote

import (
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
	fds  bool   // answers may bring descriptors
	gone func() // called at the end of the daemon, with the lock held; or nil

	out clientWriter

	socket *Socket        // that reports go to, and messages that came back; nil: of a connection, or no socket
	node   frame.NodeAddr // the daemon's

	waitLock // guards everything below, but h while somebody reads
	h        attach.Header
	reads    role   // of the leader
	id       uint32 // of the last request
	inbox    []clientRecord
	room     []clientRecord // that the inbox begins with
	kept     int            // bytes in the inbox
	strays   []response     // accepted connections that nobody waits for any more
	failed   error          // of a send of a connection, for the next call; that it has ended, for all
	over     error          // why nothing comes any more
	renames  uint32         // OpBind, OpUnbind and OpListen that the daemon has done
	nameLost error          // that the socket has lost a name, for calls that read
	lostAt   uint32         // how many renames there were when the last name was lost
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
	data    []byte
	fd      int    // or -1
	renames uint32 // the line's, then
}

// maxInbox is how much a call that waits for something else reads ahead, in bytes.
const maxInbox = 4 << 20

func newClientConn(c *attach.Conn) *clientConn {
	l := &clientConn{conn: c, grace: answerGrace}
	l.reads.setDeadline = c.SetReadDeadline
	l.reads.full = func(w *waiter) bool { return !w.messages && l.kept > maxInbox }
	l.out.room = role{setDeadline: c.SetWriteDeadline, turns: true}
	return l
}

// leave is that of the lock; a message that the call was woken for wakes another.
func (l *clientConn) leave(c *wait) {
	l.waitLock.leave(c)
	l.wakeReader()
}

// wakeReader lets a call look that waits for messages, if there are any.
func (l *clientConn) wakeReader() {
	if len(l.inbox) == 0 {
		return
	}
	for _, w := range l.waits {
		if w.messages {
			feed.Signal(w.wake)
			return
		}
	}
}

// read is how a call waits that reads for all: it reads one record and deals with it.
func (l *clientConn) read(w *waiter) {
	l.mu.Unlock()
	r, fd, err := l.receive()
	l.mu.Lock()
	switch {
	case err == nil:
		l.take(r, fd, w.messages)
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
			l.wakeReader()
		}
	case r.Op == attach.OpReadEnd:
		l.readEnd = true
		l.signalAll()
		r.release()
	case r.Op == attach.OpLost:
		if l.isNews(&r.Header) {
			l.nameLost = toldBy(&r.Header, r.data)
			l.signalAll()
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
	l.renamed(&r.Header)
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
		w.answer = response{r.Header, slices.Clone(all), fd, l.renames}
		w.answered = true
		if l.reads.holder != w {
			feed.Signal(w.wake)
		}
		return
	}
	if r.Op == attach.OpAccept && fd >= 0 { // somebody else will take it
		l.strays = append(l.strays, response{Header: r.Header, fd: fd})
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
			if l.gone != nil {
				l.gone()
			}
		}
	}
	l.signalAll()
}

// close ends the line; calls that wait end with net.ErrClosed.
func (l *clientConn) close() {
	l.stopLocal()
	l.conn.Close()
}

// stopLocal ends the line for everybody here, with net.ErrClosed that goes before every other
// error. The connection stays.
func (l *clientConn) stopLocal() {
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
	l.rouseAll()
}

// setReadBy sets the time at which reads end.
func (l *clientConn) setReadBy(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readBy = t
	l.rouseAll()
}

// maxReason is how many bytes of what the daemon says of an end are kept.
const maxReason = 1024
