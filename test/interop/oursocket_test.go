// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/play"
)

// dialTime is how long a socket of scripts waits for a connection where they do not say: a
// guest on a busy machine may be slow to accept.
const dialTime = 2 * time.Minute

// openOurPart makes a part that sockets of ours play.
func openOurPart(ctx context.Context, n *stack.Node) part {
	return ourPart{play.NewPlayer(func(kind string) (play.Socket, error) {
		s := &ourSocket{ctx: ctx, node: n, kind: kind}
		s.cfg.DialTimeout = dialTime
		switch kind {
		case "rdm":
			s.network = "tipcrdm"
		case "dgram":
			s.network = "tipcgram"
		case "stream":
			s.network = "tipc"
		case "seqpacket":
			s.network = "tipcpacket"
		case "group":
			return &ourGroup{ctx: ctx, node: n}, nil
		default:
			return nil, play.ErrInvalid
		}
		return s, nil
	}, func(a frame.Service) error { return n.WaitFor(ctx, a) })}
}

// An ourSocket is one of our sockets for scripts, which know them by the kernel's calls:
// what it is to be comes out only after some of them.
type ourSocket struct {
	ctx           context.Context
	node          *stack.Node
	kind, network string
	cfg           stack.SocketConfig
	names         []net.Addr // to listen at
	packets       *stack.PacketConn
	listener      *stack.Listener
	conn          *stack.Conn
}

func (s *ourSocket) connects() bool { return s.kind == "stream" || s.kind == "seqpacket" }

// named names an error as scripts do.
func named(err error) error {
	if err == nil {
		return nil
	}
	for _, is := range []struct{ what, name error }{
		{io.EOF, play.ErrEnd},
		{net.ErrClosed, play.ErrClosed},
		{syscall.ECONNRESET, play.ErrReset},
		{syscall.EPIPE, play.ErrPipe},
		{syscall.ECONNREFUSED, play.ErrRefused},
		{os.ErrDeadlineExceeded, play.ErrTime},
		{stack.ErrUnreachable, play.ErrUnreachable},
		{stack.ErrTooLong, play.ErrTooLong},
	} {
		if errors.Is(err, is.what) {
			return is.name
		}
	}
	return err
}

// requestBytes is what a kernel counts for a connection request that waits.
// Source: docs/spec/07-sockets.md §7.
const requestBytes = 1280

func (s *ourSocket) Set(option string, value int) error {
	switch option {
	case "importance":
		s.cfg.Importance = stack.Importance(value)
	case "droppable":
		s.cfg.Returnable = value == 0
	case "timeout":
		s.cfg.DialTimeout = time.Duration(value) * time.Millisecond
	case "broadcast":
		s.cfg.Multicast = stack.Broadcast
	case "replicast":
		s.cfg.Multicast = stack.Replicast
	case "limit":
		s.cfg.ReceiveLimit, s.cfg.Backlog = 2*value, 2*value/requestBytes
	case "nodelay":
		if s.conn == nil {
			return play.ErrInvalid
		}
		return named(s.conn.SetNoDelay(value != 0))
	default:
		return play.ErrInvalid
	}
	return nil
}

func (s *ourSocket) Get(option string) (int, error) {
	if option == "importance" && s.conn != nil {
		return int(s.conn.Importance()), nil
	}
	return 0, play.ErrInvalid
}

// open makes a socket without connections, if it is not there yet.
func (s *ourSocket) open() (err error) {
	if s.packets == nil {
		s.packets, err = s.cfg.ListenPacket(s.ctx, s.node, s.network, nil)
	}
	return err
}

func (s *ourSocket) Bind(a net.Addr, scope frame.Scope) error {
	s.cfg.Scope = scope
	if s.connects() {
		s.names = append(s.names, a)
		return nil
	}
	if err := s.open(); err != nil {
		return named(err)
	}
	return named(s.packets.Bind(a))
}

func (s *ourSocket) Listen() (err error) {
	if s.listener, err = s.cfg.Listen(s.ctx, s.node, s.network, nil); err != nil {
		return named(err)
	}
	for _, a := range s.names {
		err = errors.Join(err, s.listener.Bind(a))
	}
	return named(err)
}

func (s *ourSocket) Accept() (play.Socket, error) {
	c, err := s.listener.AcceptConn()
	if err != nil {
		return nil, named(err)
	}
	return &ourSocket{ctx: s.ctx, node: s.node, kind: s.kind, network: s.network, conn: c}, nil
}

func (s *ourSocket) Connect(to net.Addr, data []byte) (err error) {
	s.conn, err = s.cfg.DialWith(s.ctx, s.node, s.network, to, data)
	return named(err)
}

func (s *ourSocket) Send(b []byte, to net.Addr) (err error) {
	switch {
	case s.conn != nil && to == nil:
		_, err = s.conn.Write(b)
	case s.connects() || to == nil:
		return play.ErrInvalid
	default:
		if err = s.open(); err == nil {
			err = reported(s.packets)
		}
		if err == nil {
			_, err = s.packets.WriteTo(b, to)
		}
	}
	return named(err)
}

// A reporter is a socket of ours whose sends may be reported as failed later.
type reporter interface {
	TryNextReport() (stack.SendReport, error)
	NextReport(ctx context.Context) (stack.SendReport, error)
}

// reported is the error of a message before that an attached program's send took: as
// docs/reference/attach.md says, it is reported. Scripts know errors of sends alone.
func reported(s reporter) error {
	r, err := s.TryNextReport()
	if err != nil {
		return nil
	}
	return r.Err
}

// nextReport waits for such an error.
func nextReport(ctx context.Context, s reporter) error {
	r, err := s.NextReport(ctx)
	if err != nil {
		return err
	}
	return named(r.Err)
}

func (s *ourSocket) Report() error {
	if s.packets == nil {
		return play.ErrInvalid
	}
	return nextReport(s.ctx, s.packets)
}

func (s *ourSocket) Receive(b []byte, wait time.Duration) (r play.Received, err error) {
	var until time.Time
	if wait >= 0 { // not in the past: what is there already is to be received
		until = time.Now().Add(max(wait, time.Millisecond))
	}
	if s.conn != nil {
		s.conn.SetReadDeadline(until)
		size := 0
		r.Len, size, err = s.conn.ReadMsg(b)
		r.Cut = size > r.Len
		return r, named(err)
	}
	if s.connects() {
		return r, play.ErrClosed
	}
	if err = s.open(); err != nil {
		return r, named(err)
	}
	s.packets.SetReadDeadline(until)
	n, m, err := s.packets.ReadMsg(b)
	r = play.Received{Len: n, Code: m.Error, Cut: m.Truncated}
	if m.Named {
		r.Name = play.Name(m.Name)
	}
	return r, named(err)
}

func (s *ourSocket) ID() (net.Addr, error) {
	switch {
	case s.conn != nil:
		return s.conn.LocalAddr(), nil
	case s.listener != nil:
		return s.listener.LocalAddr(), nil
	case s.connects():
		return nil, play.ErrInvalid
	}
	if err := s.open(); err != nil {
		return nil, named(err)
	}
	return s.packets.LocalAddr(), nil
}

func (s *ourSocket) Peer() (net.Addr, error) {
	if s.conn == nil {
		return nil, play.ErrInvalid
	}
	return s.conn.RemoteAddr(), nil
}

func (s *ourSocket) Shutdown() error {
	if s.conn == nil {
		return play.ErrInvalid
	}
	return named(s.conn.Close())
}

// Close is a kernel's, which a shutdown before does not make an error.
func (s *ourSocket) Close() (err error) {
	switch {
	case s.conn != nil:
		err = s.conn.Abort()
	case s.listener != nil:
		err = s.listener.Close()
	case s.packets != nil:
		err = s.packets.Close()
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return named(err)
}

// writeBytes writes so much of the content of scripts in such pieces.
func writeBytes(t *testing.T, w io.Writer, total, piece int) {
	t.Helper()
	b := make([]byte, piece)
	for at := 0; at < total; at += piece {
		play.Fill(b, 0, at)
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
}
