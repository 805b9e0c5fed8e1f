// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

// Each message between two nodes, after the first, is data and then a byte that says what comes after it.
//
//	program ── close, or shutdown(SHUT_WR) ──► tcpwire.Close, tcpwire.Half ──► program
//
// A program that has closed its end reads nothing any more: the connection of TIPC ends with tcpwire.Close, and what the
// other one writes then is answered with a reset there. A reset is an end of the connection without tcpwire.Close.

// relay makes c the socket's connection, and copies between the program and it.
func (x *tcpSocket) relay(c *stack.Conn, barrier int) {
	x.mu.Lock()
	ended := x.state == stateEnded
	if !ended {
		x.state, x.conn = stateConnected, c
		x.d.drain(barrier) // the program may ask for the state as soon as it can write
	}
	x.mu.Unlock()
	if ended {
		c.Abort()
		return
	}
	x.all.tcpCounters.connections.Add(1)
	x.all.wg.Go(func() { x.toPeer(c) })
	x.all.wg.Go(func() { x.toProgram(c) })
}

// toPeer copies what the program writes, and then says how it ended that.
func (x *tcpSocket) toPeer(c *stack.Conn) {
	for {
		buf, n, err := x.d.read(attach.MaxData - 1)
		if err != nil { // the socket has ended
			return
		}
		if n == 0 {
			scratches.Put(buf)
			x.finished(c)
			return
		}
		buf[n] = tcpwire.More
		x.all.tcpCounters.bytesOut.Add(uint64(n))
		err = sendAll(c, buf[:n+1], x.d.hungUp)
		scratches.Put(buf)
		if err != nil { // the other program has closed its end, or is lost
			x.end(syscall.ECONNRESET)
			return
		}
	}
}

// finished tells the peer how the program has ended what it writes, and in the end that it has closed its end.
func (x *tcpSocket) finished(c *stack.Conn) {
	if !x.d.hungUp() {
		_ = sendAll(c, []byte{tcpwire.Half}, x.d.hungUp) // fails if the peer has ended: it wants to know nothing
		if !x.d.waitClosed() {
			return // the socket has ended
		}
	}
	if !x.d.leftUnread() {
		_ = sendAll(c, []byte{tcpwire.Close}, x.d.hungUp)
		x.mu.Lock()
		if x.conn != nil {
			x.conn = nil
			defer c.Close()
		}
		x.mu.Unlock()
	}
	x.end(0)
}

// leftUnread reports whether the program has closed its end with something unread in it.
func (e *end) leftUnread() bool {
	_ = e.control(func(fd int) error {
		if errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR); err == nil && errno == int(unix.ECONNRESET) {
			e.unread.Store(true)
		}
		return nil
	})
	return e.unread.Load()
}

// toProgram copies what comes, and ends the socket when the connection is reset.
func (x *tcpSocket) toProgram(c *stack.Conn) {
	var pieces [][]byte
	closed, deaf := false, false
	for {
		b, err := c.ReadBuffer()
		if err != nil {
			if !closed {
				x.end(syscall.ECONNRESET)
			}
			return
		}
		pieces = append(pieces[:0], b.Pieces()...)
		kind := cutKind(pieces)
		x.all.tcpCounters.bytesIn.Add(uint64(b.Len() - 1))
		deaf = deaf || x.d.writeAll(pieces) != nil // it reads nothing any more: toPeer sees it if it has closed its end
		clear(pieces)
		b.Release()
		if deaf && x.d.hungUp() {
			x.d.unread.Store(true) // what came is lost
		}
		switch kind {
		case tcpwire.More:
		case tcpwire.Half, tcpwire.Close:
			closed = kind == tcpwire.Close
			_ = x.d.control(func(fd int) error { return unix.Shutdown(fd, unix.SHUT_WR) })
		default:
			x.end(syscall.ECONNRESET)
			return
		}
	}
}

// cutKind takes the last byte of a message out of its pieces.
func cutKind(pieces [][]byte) byte {
	last := &pieces[len(pieces)-1]
	kind := (*last)[len(*last)-1]
	*last = (*last)[:len(*last)-1]
	return kind
}

// writeAll waits for room and writes all pieces, which it changes.
func (e *end) writeAll(pieces [][]byte) error {
	var failed error
	err := e.s.Write(func(fd uintptr) bool {
		for {
			for len(pieces) > 0 && len(pieces[0]) == 0 {
				pieces = pieces[1:]
			}
			if len(pieces) == 0 {
				return true
			}
			n, err := unix.SendmsgBuffers(int(fd), pieces, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
			switch err {
			case nil:
			case unix.EINTR:
				continue
			case unix.EAGAIN:
				return false
			default:
				failed = err
				return true
			}
			for n > 0 {
				k := min(n, len(pieces[0]))
				n -= k
				if pieces[0] = pieces[0][k:]; len(pieces[0]) == 0 {
					pieces = pieces[1:]
				}
			}
		}
	})
	if err == nil {
		err = failed
	}
	return err
}
