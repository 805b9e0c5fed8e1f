// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A sendReports is what a socket knows of its sends that failed when they had returned.
type sendReports struct {
	sent    atomic.Uint64 // messages
	returns atomic.Bool   // they come back, as far as they can

	mu  sync.Mutex // guards what follows; it may be taken with the line's lock held
	all []socket.SendReport
}

// maxReports is how many reports wait to be read.
const maxReports = 64

// number gives the next message of the socket a number, which reports name.
func (q *sendReports) number(h *attach.Header) (seq uint64) {
	seq = q.sent.Add(1)
	h.ID = noRequest | uint32(seq&(noRequest-1))
	return seq
}

// unsent takes the number of a message back that was not sent, unless there is a later.
func (q *sendReports) unsent(seq uint64) { q.sent.CompareAndSwap(seq, seq-1) }

// numbered is the message with the number that a report names, or 0.
func (q *sendReports) numbered(id uint32) uint64 {
	if id < noRequest {
		return 0
	}
	last := q.sent.Load()
	if back := (last - uint64(id)) & (noRequest - 1); back < last {
		return last - back
	}
	return 0
}

// add keeps a report.
func (q *sendReports) add(r socket.SendReport) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.all) == maxReports {
		q.all[1].Lost += q.all[0].Lost + 1
		q.all = slices.Delete(q.all, 0, 1)
	}
	q.all = append(q.all, r)
}

func (q *sendReports) waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.all) > 0
}

// take takes the oldest.
func (q *sendReports) take() (r socket.SendReport, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.all) == 0 {
		return r, false
	}
	r = q.all[0]
	q.all[0] = socket.SendReport{}
	if q.all = q.all[1:]; len(q.all) == 0 {
		q.all = nil
	}
	return r, true
}

// sendFailed deals with the daemon's word of a send that failed. It reports whether the
// record is, from now on, a message that came back. The line's lock is held.
func (l *clientConn) sendFailed(r *clientRecord) (message bool) {
	text, data := r.data, []byte(nil)
	if k := int(min(uint64(r.Arg1), uint64(len(r.data)))); k > 0 {
		text, data = r.data[:len(r.data)-k], r.data[len(r.data)-k:]
	}
	err := toldBy(&r.Header, text)
	if err == nil {
		err = syscall.EPROTO // it failed, and there is no reason
	}
	s := l.socket
	if s == nil {
		if l.failed == nil {
			l.failed = err
		}
		l.countPlaced(r)
		return false
	}
	lost := uint64(max(1, r.Arg0)) - 1 // before it
	if lost == 0 && len(data) > 0 && errors.Is(err, engine.ErrUnreachable) && s.reports.returns.Load() && l.comeBack(r) {
		r.data = data
		return true
	}
	report := socket.SendReport{Seq: s.reports.numbered(r.ID), Addr: s.destination(&r.Addr), Data: slices.Clone(data), Len: int(r.Wide), Lost: lost}
	report.Err = backend.OpError("write", s.network, s.own(), report.Addr, err)
	s.reports.add(report)
	l.signalAll()
	return false
}

// comeBack makes the record one of a message that came back, with the sender that a node
// gives that returns its own. A message to a range never does.
func (l *clientConn) comeBack(r *clientRecord) bool {
	code := frame.NoName
	if svc, ok := r.Addr.Service(); ok {
		r.Addr2 = attach.ServiceSockaddr(svc, 0)
		r.Addr = attach.SocketSockaddr(frame.SocketAddr{Node: l.node})
	} else if _, ok := r.Addr.Socket(); ok {
		code = frame.NoNode
	} else {
		return false
	}
	r.Op, r.Arg0, r.Arg1 = attach.OpMessage, 0, uint32(code)
	return true
}

// destination is an address as a write has it.
func (s *Socket) destination(a *attach.Sockaddr) net.Addr {
	if to, _ := a.Addr(); to != nil {
		return to
	}
	return s.all
}

// own is the socket's address, as far as it has one yet.
func (s *Socket) own() net.Addr {
	if cur := s.session.Load(); cur != nil {
		return cur.local
	}
	return nil
}

// nextReport waits for a report, while the daemon is away too.
func (s *Socket) nextReport(ctx context.Context) (r socket.SendReport, err error) {
	_, err = s.onSession(ctx, noLimit, func(cur *session) (err error) {
		r, err = s.reportOn(ctx, cur.line)
		return err
	})
	return r, err
}

// reportOn waits for a report on one line.
func (s *Socket) reportOn(ctx context.Context, l *clientConn) (r socket.SendReport, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := wait{ctx: ctx, over: &l.over, role: &l.reads}
	defer l.leave(&c)
	err = l.await(&c, func() (ok bool) {
		r, ok = s.reports.take()
		return ok
	}, l.read)
	return r, err
}

// tryNextReport is nextReport that does not wait: its error is syscall.EAGAIN then.
func (s *Socket) tryNextReport() (r socket.SendReport, err error) {
	_, err = s.onSession(context.Background(), noWait, func(cur *session) (err error) {
		r, err = s.tryReportOn(cur.line)
		return err
	})
	return r, err
}

func (s *Socket) tryReportOn(l *clientConn) (socket.SendReport, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookAhead()
	if r, ok := s.reports.take(); ok {
		return r, nil
	}
	if l.over != nil {
		return socket.SendReport{}, l.over
	}
	return socket.SendReport{}, backend.ErrAgain
}

// NextReport implements backend.Reporter.
func (s *Socket) NextReport(ctx context.Context) (socket.SendReport, error) {
	r, err := s.nextReport(ctx)
	if err != nil {
		return socket.SendReport{}, s.opError("report", nil, err)
	}
	return r, nil
}

// TryNextReport implements backend.Reporter.
func (s *Socket) TryNextReport() (socket.SendReport, error) {
	r, err := s.tryNextReport()
	if err != nil && err != backend.ErrAgain {
		err = s.opError("report", nil, err)
	}
	return r, err
}
