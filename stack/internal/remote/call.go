// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// Call implements backend.Node. As there, each call has a socket to itself, which is
// kept for the next unless something may come for this one still.
func (f *Node) Call(ctx context.Context, o backend.CallOptions, d backend.Dest, addr net.Addr, req, resp []byte) (int, frame.SocketAddr, error) {
	if err := ctx.Err(); err != nil {
		return 0, frame.SocketAddr{}, &socket.CallError{To: addr, Waited: 0, Err: err}
	}
	began := time.Now()
	var c *Packet
	for c == nil {
		var err error
		if c, err = f.takeCaller(ctx, o); err != nil {
			if why := ctx.Err(); why != nil && errors.Is(err, why) {
				err = &socket.CallError{To: addr, Waited: time.Since(began), Err: why}
			}
			return 0, frame.SocketAddr{}, err
		}
		_, err = c.write(ctx, d, req, addr)
		var gone *socket.GoneError
		switch {
		case err == nil:
		case errors.As(err, &gone) && !gone.Unanswered && !f.cfg.NoReattach: // nothing was sent
			c.Close()
			c = nil
		default:
			f.giveCaller(c, o, true)
			return 0, frame.SocketAddr{}, inner(err)
		}
	}
	spent := true // unless the one answer comes
	defer func() { f.giveCaller(c, o, spent) }()
	for {
		k, m, err := c.read(ctx, resp, nil)
		switch {
		case err != nil && (err == ctx.Err() || errors.Is(err, net.ErrClosed)):
			return 0, frame.SocketAddr{}, &socket.CallError{To: addr, Waited: time.Since(began), Err: err}
		case err != nil:
			return 0, frame.SocketAddr{}, inner(err)
		case m.Error != frame.OK:
			if err = m.Unanswered(k); err == backend.ErrNoCallee {
				err = &socket.CallError{To: addr, Callee: m.From, Waited: time.Since(began), Err: engine.ErrUnreachable}
			}
			return k, m.From, err
		case d.Kind == backend.ToSocket && !backend.IsFrom(m.From, d.Socket(), c.Addr()):
			continue
		}
		spent = d.Kind == backend.ToRange
		if m.Truncated {
			return k, m.From, io.ErrShortBuffer
		}
		return k, m.From, nil
	}
}

// takeCaller returns a socket for a call.
func (f *Node) takeCaller(ctx context.Context, o backend.CallOptions) (*Packet, error) {
	for {
		f.mu.Lock()
		idle := f.callers[o]
		last := len(idle) - 1
		if last < 0 {
			f.mu.Unlock()
			break
		}
		c := idle[last]
		f.callers[o] = idle[:last]
		f.mu.Unlock()
		if c.still() {
			return c, nil
		}
		c.Close() // somebody answered twice, or the daemon is another
	}
	c, err := f.openPacket(ctx, backend.SocketOptions{Returnable: true, Requests: true, PreferIdle: o.PreferIdle}, "tipcrdm", nil, false)
	if err != nil {
		return nil, err
	}
	c.remote = true // a send that failed ends the read
	c.reports.returns.Store(false)
	return c, nil
}

// still reports whether the line lives, and nothing has come that nobody has read.
func (s *Socket) still() bool {
	l := s.line()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reads.holder == nil {
		l.look()
	}
	if l.over == nil && l.conn.HasRing() && l.conn.PeerClosed() { // which the ring does not show
		return false
	}
	return l.over == nil && len(l.inbox) == 0 && !s.reports.waiting()
}

// giveCaller keeps the socket of a call that is over for another.
func (f *Node) giveCaller(c *Packet, o backend.CallOptions, spent bool) {
	f.mu.Lock()
	keep := !spent && !f.closed && len(f.callers[o]) < backend.MaxIdleCallers
	if keep {
		f.callers[o] = append(f.callers[o], c)
	}
	f.mu.Unlock()
	if !keep {
		c.Close()
	}
}
