// SPDX-License-Identifier: Apache-2.0

//go:build linux

package calls

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
)

// An item is what a socket gives to its reader.
type item struct {
	n      int  // bytes of data
	stream bool // what does not fit is read next
	info   Info
	conn   *stack.Conn
	event  Event
}

// A source is where items come from, one kind for each kind of socket.
type source interface {
	// receive gives the next item, its data in b. It waits for one, until the read deadline,
	// or fails with EAGAIN.
	receive(b []byte, wait bool) (item, error)
	SetReadDeadline(t time.Time) error
}

// messages are those of a socket without connection, or in a group.
type messages struct {
	from interface {
		ReadMsg(b []byte) (int, stack.Message, error)
		TryReadMsg(b []byte) (int, stack.Message, error)
		SetReadDeadline(t time.Time) error
	}
}

func (s messages) SetReadDeadline(t time.Time) error { return s.from.SetReadDeadline(t) }

func (s messages) receive(b []byte, wait bool) (it item, err error) {
	var m stack.Message
	if wait {
		it.n, m, err = s.from.ReadMsg(b)
	} else {
		it.n, m, err = s.from.TryReadMsg(b)
	}
	if err == nil {
		it.info = infoOf(&m)
	}
	return it, err
}

// data is what comes on a connection.
type data struct {
	*stack.Conn
	stream bool
	from   Addr
}

func (s data) receive(b []byte, wait bool) (it item, err error) {
	var size int
	if wait {
		it.n, size, err = s.ReadMsg(b)
	} else {
		it.n, size, err = s.TryReadMsg(b)
	}
	it.stream, it.info.From = s.stream, s.from
	if it.n < size {
		it.info.Flags = truncated
	}
	return it, err
}

// requests are connections to be accepted.
type requests struct{ *stack.Listener }

func (s requests) SetReadDeadline(t time.Time) error { return s.SetDeadline(t) }

func (s requests) receive(_ []byte, wait bool) (it item, err error) {
	if wait {
		it.conn, err = s.AcceptConn()
	} else {
		it.conn, err = s.TryAccept()
	}
	return it, err
}

// changes are events of a subscription.
type changes struct {
	*stack.Subscription
	until time.Time
}

func (s *changes) SetReadDeadline(t time.Time) error {
	s.until = t
	return nil
}

func (s *changes) receive(_ []byte, wait bool) (it item, err error) {
	var ev stack.Event
	switch {
	case !wait:
		ev, err = s.TryNext()
	case s.until.IsZero():
		ev, err = s.Next(context.Background())
	default:
		ctx, cancel := context.WithDeadline(context.Background(), s.until)
		defer cancel()
		ev, err = s.Next(ctx)
	}
	if err == nil {
		it.event = eventOf(ev)
	}
	return it, err
}

// wouldWait reports whether an error is that of a call that does not wait, and has found nothing. An
// attached listener has no such call.
func wouldWait(err error) bool {
	return err == syscall.EAGAIN || errors.Is(err, errors.ErrUnsupported)
}
