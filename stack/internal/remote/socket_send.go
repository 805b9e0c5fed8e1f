// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// send sends data, and says for how long that waited. It waits for a daemon. Errors: of a
// connection of a send before; of this one with SyncErrors; os.ErrDeadlineExceeded, the
// context's, where it was not sent; *BlockedError where that is not known, and a *GoneError
// where the daemon has ended without an answer.
func (s *Socket) send(ctx context.Context, h *attach.Header, data []byte) (waited time.Duration, err error) {
	if len(data) > frame.MaxPayload {
		return 0, &engine.LengthError{Size: len(data), Most: frame.MaxPayload}
	}
	var unanswered error // a daemon that has ended may have sent it: it is not sent twice
	away, err := s.onSession(ctx, byWrite, func(cur *session) error {
		took, err := s.sendOn(ctx, cur.line, h, data)
		if waited += took; err != nil && isUnanswered(err) {
			unanswered = err
			return nil
		}
		return err
	})
	if unanswered != nil {
		err = unanswered
	}
	return waited + away, err
}

// isUnanswered reports whether the daemon went when it had a message. It is a function so that a
// send without an error allocates nothing.
func isUnanswered(err error) bool {
	var gone *socket.GoneError
	return errors.As(err, &gone) && gone.Unanswered
}

// sendOn is send on one line.
func (s *Socket) sendOn(ctx context.Context, l *clientConn, h *attach.Header, data []byte) (waited time.Duration, err error) {
	if err := l.trouble(); err != nil {
		return 0, err
	}
	if s.sync || h.Flags&attach.FlagAnswer != 0 {
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
func (s *Socket) sendAndWait(ctx context.Context, l *clientConn, h *attach.Header, data []byte) (waited time.Duration, err error) {
	began := time.Now()
	own := *h // for a send that is not answered it need not be on the heap
	own.Flags |= attach.FlagAnswer
	by := l.writeDeadline()
	if backend.Past(by) {
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
	var blocked *socket.BlockedError
	switch {
	case err == nil:
		s.reports.sent.Add(1)
		h.Addr2 = a.Addr // that it went to
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

// SendError implements backend.Reporter. The daemon counts it.
func (s *Socket) SendError(addr net.Addr, err error) error {
	return s.opError("write", addr, err)
}

// notSent is the error of a send to addr: at its deadline *BlockedError.
func (s *Socket) notSent(addr net.Addr, waited time.Duration, err error) error {
	if err == os.ErrDeadlineExceeded || err == context.Canceled || err == context.DeadlineExceeded {
		err = s.blocked(waited, err)
	}
	return s.opError("write", addr, err)
}

// blocked asks the daemon what the socket's sends wait for.
func (s *Socket) blocked(waited time.Duration, cause error) *socket.BlockedError {
	e := &socket.BlockedError{Daemon: true, Blocked: waited}
	if away := s.absence(); away != nil && isGoneLine(s.line()) {
		e.Away = away.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), blockedWait)
	defer cancel()
	if waited > 0 && e.Away == "" {
		waits, _ := backend.WaitsCall.Do(ctx, s.f, control.Nothing{}) // without them the daemon is all that is known
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
