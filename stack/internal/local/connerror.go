// SPDX-License-Identifier: Apache-2.0

package local

import (
	"io"
	"os"
	"syscall"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/socket"
)

// connError is what a program sees of an engine's error: io.EOF for a Read when the peer
// has closed, a *ConnError for another end, everything else as it is.
func connError(err error, write bool) error {
	end, ok := err.(*engine.ConnError)
	if !ok {
		return err
	}
	e := &socket.ConnError{Peer: end.Peer, Reason: end.Why.String(), Code: end.Code}
	e.Err = meaning(end.Why)
	if e.Err == io.EOF {
		if !write {
			return io.EOF
		}
		e.Code, e.Err = frame.OK, syscall.EPIPE
	}
	if end.Unsent > 0 {
		e.Err = &socket.UnsentError{Bytes: end.Unsent, Err: e.Err}
	}
	return e
}

// meaning is what the end of a connection means to whoever reads from it.
func meaning(why engine.ConnEnd) error {
	switch why {
	case engine.EndShutdown:
		return io.EOF
	case engine.EndRefused:
		return syscall.ECONNREFUSED
	case engine.EndStreams:
		return &engine.WrongNetworkError{Listener: "tipc"}
	case engine.EndMessages:
		return &engine.WrongNetworkError{Listener: "tipcpacket"}
	case engine.EndTimeout:
		return os.ErrDeadlineExceeded
	case engine.EndLost:
		return engine.ErrNoLink
	case engine.EndSilent:
		return engine.ErrUnreachable
	}
	return syscall.ECONNRESET
}
