// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A Conn is one end of a connection, of a socket at the daemon.
type Conn struct {
	*Socket
	backend.Lending
	stream     bool
	turn       role // of the Write of a stream that goes on: writes are not mixed; the line's lock guards it
	service    frame.Service
	named      bool // it was dialed by service
	importance frame.Importance
	half       bool // the peer's node knows what CloseWrite does
}

// newConn makes one of the answer to OpConnect or OpAccept.
func newConn(s *Socket, stream bool, h *attach.Header) *Conn {
	return &Conn{
		Socket: s, stream: stream, turn: role{turns: true},
		importance: frame.Importance(h.Arg0), half: h.Arg1&attach.CanCloseWrite != 0,
	}
}

// Dial implements backend.Node.
func (f *Node) Dial(ctx context.Context, c backend.SocketOptions, network string, stream bool, addr net.Addr, _ backend.Dest, first []byte) (backend.Conn, error) {
	if len(first) > frame.MaxPayload {
		return nil, &engine.LengthError{Size: len(first), Most: frame.MaxPayload}
	}
	to, _ := attach.SockaddrOf(addr, 0)
	began := time.Now()
	var told response
	s := &Socket{f: f, network: network, sync: c.SyncErrors || f.cfg.SyncErrors, options: f.optionsOf(c)}
	peer, _ := addr.(frame.SocketAddr)
	limit := cmp.Or(c.DialTimeout, engine.DefaultConnTimeout)
	within, cancel := context.WithTimeout(ctx, limit) // for a daemon
	defer cancel()
	s.make = func(ctx context.Context, network string, want wantedState, l *clientConn) (frame.SocketAddr, error) {
		local, err := makeSocket(ctx, network, want, l)
		if err == nil {
			left := max(limit-time.Since(began), 1)
			told, err = l.ask(ctx, attach.Header{Op: attach.OpConnect, Addr: to, Wide: uint64(left)}, first)
			local = attach.UnpackSocket(told.Wide)
			s.peer, _ = told.Addr.Socket()
		}
		if gone := (*socket.GoneError)(nil); errors.As(err, &gone) && gone.Unanswered { // it is not asked for twice
			err = &socket.ConnError{Peer: peer, Reason: gone.Error(), Err: syscall.ECONNRESET}
		}
		return local, err
	}
	if err := s.openWithin(within, ctx, false); err != nil {
		switch {
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			err = ctx.Err()
		case within.Err() != nil && errors.Is(err, within.Err()):
			err = os.ErrDeadlineExceeded
		default:
			return nil, err
		}
		reason := "no answer for " + time.Since(began).Round(time.Microsecond).String()
		if there, away := f.presence(); !there {
			reason = fmt.Sprintf("no daemon for %v: %v", time.Since(began).Round(time.Microsecond), away)
		}
		return nil, &socket.ConnError{Peer: peer, Reason: reason, Err: err}
	}
	conn := newConn(s, stream, &told.Header)
	conn.service, conn.named = addr.(frame.Service)
	return conn, nil
}

// RemoteAddr implements backend.Conn.
func (c *Conn) RemoteAddr() frame.SocketAddr { return c.peer }

// Service implements backend.Conn.
func (c *Conn) Service() (a frame.Service, ok bool) { return c.service, c.named }

// Importance implements backend.Conn.
func (c *Conn) Importance() frame.Importance { return c.importance }

// SetNoDelay implements backend.Conn.
func (c *Conn) SetNoDelay(on bool) error { return c.set(attach.OptNoDelay, truth(on)) }

// SetReceiveLimit implements backend.Conn.
func (c *Conn) SetReceiveLimit(bytes int) error {
	return c.set(attach.OptReceiveLimit, int64(bytes))
}

// CloseWait implements backend.Conn.
func (c *Conn) CloseWait(ctx context.Context) error { return c.closeWait(ctx) }

// Abort implements backend.Conn.
func (c *Conn) Abort() error { return c.close("abort", false) }

// Read implements backend.Conn.
func (c *Conn) Read(ctx context.Context, b []byte) (k, size int, err error) {
	err = c.line().next(ctx, false, func(r *clientRecord) (done bool) {
		k, size, done = c.took(r, b)
		return done
	})
	return k, size, c.ended(err)
}

// took reads from a record; of a stream what is left stays.
func (c *Conn) took(r *clientRecord, b []byte) (k, size int, done bool) {
	k = copy(b, r.data)
	if !c.stream {
		return k, len(r.data), true
	}
	r.data = r.data[k:]
	return k, k, len(r.data) == 0
}

// Write implements backend.Conn. What of a stream is longer than a record
// goes piece by piece, and nothing in between.
func (c *Conn) Write(b []byte) (done int, err error) { return c.writeAll(b, nil) }

// writeAll is Write of several buffers.
func (c *Conn) writeAll(b []byte, v [][]byte) (done int, err error) {
	l := c.line()
	if err := l.enterData(); err != nil {
		return 0, c.notWritten(0, err)
	}
	done, waited, err := c.writeParts(b, v)
	l.leaveData(done)
	if err != nil {
		return done, c.notWritten(waited, err)
	}
	return done, nil
}

// WriteBuffers implements backend.Conn.
func (c *Conn) WriteBuffers(v [][]byte) (int64, error) {
	done, err := c.writeAll(nil, v)
	return int64(done), err
}

// writeParts is Write, which says how long the last part has waited.
func (c *Conn) writeParts(b []byte, v [][]byte) (done int, waited time.Duration, err error) {
	if c.stream {
		if waited, err = c.takeTurn(); err != nil {
			return 0, waited, err
		}
		defer c.endTurn()
	} else if len(b)+backend.SizeOf(v) > frame.MaxPayload {
		return 0, 0, engine.ErrTooLong
	}
	g := backend.NewGather(b, v, c.stream)
	defer g.Close()
	part := g.Next()
	for first := true; first || len(part) > 0; first = false {
		h := attach.Header{Op: attach.OpSend}
		if waited, err = c.sendPart(&h, part); err != nil {
			return done, waited, err
		}
		done += len(part)
		part = g.Next()
	}
	return done, 0, nil
}

// takeTurn waits until no other Write of the stream goes on, and says for how long. Errors:
// os.ErrDeadlineExceeded at the write deadline, net.ErrClosed.
func (c *Conn) takeTurn() (waited time.Duration, err error) {
	if c.tryTurn() {
		return 0, nil
	}
	began := time.Now()
	l := c.line()
	l.mu.Lock()
	defer l.mu.Unlock()
	w := wait{by: &l.out.by, over: &l.over, outlives: true, role: &c.turn}
	err = l.await(&w, func() bool {
		mine := c.turn.take(w.w)
		if mine {
			c.turn.holder = &elsewhere
		}
		return mine
	}, nil)
	l.leave(&w)
	return time.Since(began), err
}

// tryTurn is takeTurn that does not wait.
func (c *Conn) tryTurn() bool {
	l := c.line()
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.turn.holder != nil {
		return false
	}
	c.turn.holder = &elsewhere
	return true
}

func (c *Conn) endTurn() {
	l := c.line()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(&c.turn)
}

// notWritten is the error of a Write that has waited so long.
func (c *Conn) notWritten(waited time.Duration, err error) error {
	if err == os.ErrDeadlineExceeded {
		err = c.blocked(waited, err)
	}
	return backend.OpError("write", c.network, c.Addr(), c.peer, c.ended(err))
}

// sendPart is send; what is empty is no message, but there may be trouble.
func (s *Socket) sendPart(h *attach.Header, part []byte) (time.Duration, error) {
	if len(part) == 0 {
		return 0, s.line().trouble()
	}
	return s.send(context.Background(), h, part)
}

// TryReadMsg implements backend.Conn.
func (c *Conn) TryReadMsg(b []byte) (k, size int, err error) {
	err = c.line().try(func(r *clientRecord) (done bool) {
		k, size, done = c.took(r, b)
		return done
	})
	if err != nil && err != backend.ErrAgain && err != io.EOF {
		err = backend.OpError("read", c.network, c.Addr(), c.peer, c.ended(err))
	}
	return k, size, err
}

// TryWrite implements backend.Conn.
func (c *Conn) TryWrite(b []byte) (int, error) {
	if c.stream {
		b = b[:min(len(b), frame.MaxPayload)]
		if !c.tryTurn() {
			return 0, backend.ErrAgain
		}
		defer c.endTurn()
	}
	l := c.line()
	if err := l.enterData(); err != nil {
		return 0, c.notWritten(0, err)
	}
	h := attach.Header{Op: attach.OpSend}
	err := c.trySend(&h, b)
	if err != nil {
		b = nil
	}
	l.leaveData(len(b))
	if err != nil && err != backend.ErrAgain {
		err = c.notWritten(0, err)
	}
	return len(b), err
}

// ReadBuffer implements backend.Conn.
func (c *Conn) ReadBuffer(b *backend.Buffer) error {
	return c.ended(c.line().next(context.Background(), false, func(r *clientRecord) bool {
		copyTo(b, &c.Lending, r.data)
		return true
	}))
}

// ReadNext implements backend.Conn, by a copy.
func (c *Conn) ReadNext(b []byte, _ *backend.Buffer) (k int, err error) {
	k, _, err = c.Read(context.Background(), b)
	return k, err
}

// NewBuffer implements backend.Conn.
func (c *Conn) NewBuffer(b *backend.Buffer, size int) error {
	if err := c.newBuffer(&c.Lending, b, size); err != nil {
		return backend.OpError("write", c.network, c.Addr(), c.peer, err)
	}
	return nil
}

// WriteBuffer implements backend.Conn, by a copy.
func (c *Conn) WriteBuffer(b *backend.Buffer) error {
	data, err := dataOf(b)
	if err != nil {
		return backend.OpError("write", c.network, c.Addr(), c.peer, err)
	}
	if _, err := c.Write(data); err != nil {
		return err
	}
	b.Void()
	return nil
}
