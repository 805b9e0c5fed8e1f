// SPDX-License-Identifier: Apache-2.0

package stack

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
)

// A remoteConn is one end of a connection, of a socket at the daemon.
type remoteConn struct {
	*remoteSocket
	lending
	stream     bool
	peer       SocketAddr
	service    Service
	named      bool // it was dialed by service
	importance Importance
}

// Dial implements nodeBackend.
func (f *remoteNode) Dial(ctx context.Context, c SocketConfig, network string, stream bool, addr net.Addr, _ dest, first []byte) (connBackend, error) {
	if len(first) > frame.MaxPayload {
		return nil, ErrTooLong
	}
	to, _ := attach.SockaddrOf(addr, 0)
	began := time.Now()
	var told response
	s := &remoteSocket{f: f, network: network, sync: c.SyncErrors || f.cfg.SyncErrors, options: c.optionsOf(f)}
	peer, _ := addr.(SocketAddr)
	limit := cmp.Or(c.DialTimeout, engine.DefaultConnTimeout)
	within, cancel := context.WithTimeout(ctx, limit) // for a daemon
	defer cancel()
	s.make = func(ctx context.Context, network string, want wantedState, l *clientConn) (SocketAddr, error) {
		local, err := makeSocket(ctx, network, want, l)
		if err == nil {
			left := max(limit-time.Since(began), 1)
			told, err = l.ask(ctx, attach.Header{Op: attach.OpConnect, Addr: to, Wide: uint64(left)}, first)
			local = attach.UnpackSocket(told.Wide)
		}
		if gone := (*GoneError)(nil); errors.As(err, &gone) && gone.Unanswered { // it is not asked for twice
			err = &ConnError{Peer: peer, Reason: gone.Error(), Err: syscall.ECONNRESET}
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
		if there, away := f.presence(); !isDone(there) {
			reason = fmt.Sprintf("no daemon for %v: %v", time.Since(began).Round(time.Microsecond), away)
		}
		return nil, &ConnError{Peer: peer, Reason: reason, Err: err}
	}
	conn := &remoteConn{remoteSocket: s, stream: stream, importance: Importance(told.Arg0)}
	conn.peer, _ = told.Addr.Socket()
	conn.peer.Net = network
	conn.service, conn.named = addr.(Service)
	return conn, nil
}

// RemoteAddr implements connBackend.
func (c *remoteConn) RemoteAddr() SocketAddr { return c.peer }

// Service implements connBackend.
func (c *remoteConn) Service() (a Service, ok bool) { return c.service, c.named }

// Importance implements connBackend.
func (c *remoteConn) Importance() Importance { return c.importance }

// SetNoDelay implements connBackend.
func (c *remoteConn) SetNoDelay(on bool) error { return c.set(attach.OptNoDelay, truth(on)) }

// CloseWait implements connBackend.
func (c *remoteConn) CloseWait(ctx context.Context) error { return c.closeWait(ctx) }

// Abort implements connBackend.
func (c *remoteConn) Abort() error { return c.close("abort", false) }

// Read implements connBackend.
func (c *remoteConn) Read(b []byte) (k, size int, err error) {
	err = c.line().next(context.Background(), false, func(r *clientRecord) (done bool) {
		k, size, done = c.took(r, b)
		return done
	})
	return k, size, err
}

// took reads from a record; of a stream what is left stays.
func (c *remoteConn) took(r *clientRecord, b []byte) (k, size int, done bool) {
	k = copy(b, r.data)
	if !c.stream {
		return k, len(r.data), true
	}
	r.data = r.data[k:]
	return k, k, len(r.data) == 0
}

// Write implements connBackend. What of a stream is longer than a record
// goes piece by piece, and nothing in between.
func (c *remoteConn) Write(b []byte) (done int, err error) {
	s := c.remoteSocket
	if c.stream {
		s.turn.Lock()
		defer s.turn.Unlock()
	}
	for first := true; first || done < len(b); first = false {
		part := b[done:]
		if c.stream {
			part = part[:min(len(part), frame.MaxPayload)]
		}
		h := attach.Header{Op: attach.OpSend}
		waited, err := s.sendPart(&h, part)
		if err != nil {
			switch err {
			case os.ErrDeadlineExceeded:
				err = s.blocked(waited, err)
			case syscall.EPIPE:
				err = &ConnError{Peer: c.peer, Reason: engine.EndShutdown.String(), Err: err}
			}
			return done, opError("write", c.network, s.Addr(), c.peer, err)
		}
		done += len(part)
	}
	return done, nil
}

// sendPart is send; what is empty is no message, but there may be trouble.
func (s *remoteSocket) sendPart(h *attach.Header, part []byte) (time.Duration, error) {
	if len(part) == 0 {
		return 0, s.line().trouble()
	}
	return s.send(context.Background(), h, part)
}

// TryReadMsg implements connBackend.
func (c *remoteConn) TryReadMsg(b []byte) (k, size int, err error) {
	err = c.line().try(func(r *clientRecord) (done bool) {
		k, size, done = c.took(r, b)
		return done
	})
	if err != nil && err != errAgain && err != io.EOF {
		err = opError("read", c.network, c.Addr(), c.peer, err)
	}
	return k, size, err
}

// TryWrite implements connBackend.
func (c *remoteConn) TryWrite(b []byte) (int, error) {
	if c.stream {
		b = b[:min(len(b), frame.MaxPayload)]
		if !c.turn.TryLock() {
			return 0, errAgain
		}
		defer c.turn.Unlock()
	}
	h := attach.Header{Op: attach.OpSend}
	switch err := c.trySend(&h, b); {
	case err == errAgain:
		return 0, err
	case err != nil:
		return 0, opError("write", c.network, c.Addr(), c.peer, err)
	}
	return len(b), nil
}

// ReadBuffer implements connBackend.
func (c *remoteConn) ReadBuffer() (b *Buffer, err error) {
	err = c.line().next(context.Background(), false, func(r *clientRecord) bool {
		b = c.lending.copied(r.data)
		return true
	})
	return b, err
}

// NewBuffer implements connBackend.
func (c *remoteConn) NewBuffer(size int) (*Buffer, error) {
	b, err := c.newBuffer(&c.lending, size)
	if err != nil {
		return nil, opError("write", c.network, c.Addr(), c.peer, connError(c.network, err, true))
	}
	return b, nil
}

// WriteBuffer implements connBackend, by a copy.
func (c *remoteConn) WriteBuffer(b *Buffer) error {
	data, err := b.data()
	if err != nil {
		return opError("write", c.network, c.Addr(), c.peer, err)
	}
	if _, err := c.Write(data); err != nil {
		return err
	}
	b.void()
	return nil
}
