// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// lingerTime is for how long what a program has written before it closed its end waits for room.
const lingerTime = 30 * time.Second

// join makes c the socket's connection. The socket is locked, or nobody else has it.
func (x *socket) join(c *stack.Conn) {
	x.state, x.conn = stateConnected, c
	if x.kind == attach.KindStream {
		x.d.cuts = new(cuts)
	}
}

// relay copies between the program and a connection, both ways, in goroutines of its own.
func (x *socket) relay(c *stack.Conn) {
	rest, err := x.prime(c)
	x.all.wg.Go(func() { x.toPeer(c) })
	if err != nil {
		x.readEnded(c, err)
		return
	}
	x.all.wg.Go(func() { x.toProgram(c, rest) })
}

// prime copies what came with the request, so that the program finds it at once, and the end if
// that came as well: err is why. rest had no room.
func (x *socket) prime(c *stack.Conn) (rest []byte, err error) {
	buf := scratches.Get().(*scratch)
	defer scratches.Put(buf)
	for range 2 {
		k, _, err := c.TryReadMsg(buf[:attach.MaxData])
		if err == syscall.EAGAIN {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		x.d.begin()
		if n, _ := x.d.tryWrite(buf[:k]); n < k { // toProgram finds out why
			return bytes.Clone(buf[n:k]), nil
		}
	}
	return nil, nil
}

// toPeer copies what the program writes. When it has closed or shut down its end, the
// connection ends.
func (x *socket) toPeer(c *stack.Conn) {
	for {
		buf, n, err := x.d.read(len(scratch{}))
		if err != nil || n == 0 {
			if buf != nil {
				scratches.Put(buf)
			}
			if !errors.Is(err, os.ErrClosed) {
				x.end(ending{})
			}
			return
		}
		err = x.send(c, buf[:n])
		scratches.Put(buf)
		if err != nil { // the connection has ended: toProgram says how
			return
		}
	}
}

// send writes to a connection, which ends when the program has closed its end and there is no room.
func (x *socket) send(c *stack.Conn, b []byte) error {
	err := sendAll(c, b, x.d.hungUp)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		x.end(ending{})
	}
	return err
}

// sendAll writes to a connection, of a stream a part at a time, and waits for room, after the program
// has closed its end for lingerTime. Errors: os.ErrDeadlineExceeded, others of the connection.
func sendAll(c *stack.Conn, b []byte, closed func() bool) error {
	for len(b) > 0 {
		n, err := c.TryWrite(b)
		if err == syscall.EAGAIN {
			c.SetWriteDeadline(time.Now().Add(lingerTime))
			n, err = c.Write(b)
		}
		b = b[n:]
		if err != nil && (!errors.Is(err, os.ErrDeadlineExceeded) || closed()) {
			return err
		}
	}
	return nil
}

// toProgram copies what comes, and ends the socket when the connection has.
func (x *socket) toProgram(c *stack.Conn, rest []byte) {
	if len(rest) > 0 && x.d.write(rest) != nil {
		return
	}
	for {
		b, err := c.ReadBuffer()
		if err == nil {
			x.d.begin()
			for _, p := range b.Pieces() {
				if err = x.d.write(p); err != nil {
					break
				}
			}
			b.Release()
			if err != nil { // toPeer sees that as well, when it has sent the rest
				return
			}
			continue
		}
		x.readEnded(c, err)
		return
	}
}

// A half is a connection of a socket whose peer sends no more and reads on, as no kernel's does.
type half struct {
	x *socket
	c *stack.Conn
}

// look ends the socket when the connection has ended.
func (h half) look() {
	if err := hosting.Ended(h.c); err != nil {
		h.x.endedBy(h.c, err)
	}
}

// readEnded ends what the program reads, and the socket as well unless the peer reads on.
func (x *socket) readEnded(c *stack.Conn, err error) {
	if err != io.EOF || hosting.Ended(c) != nil {
		x.endedBy(c, err)
		return
	}
	_ = x.d.control(func(fd int) error { return unix.Shutdown(fd, unix.SHUT_WR) })
	x.all.poller.Add(c, half{x, c})
}

// endedBy ends the socket as its connection has.
func (x *socket) endedBy(c *stack.Conn, err error) {
	how := ending{}
	var e *stack.ConnError
	switch {
	case err == io.EOF:
		how.code = frame.ConnShutdown
	case errors.As(err, &e):
		how.code = e.Code
	}
	if back := hosting.Returned(c); back != "" {
		peer := peerName(x.kind, c)
		how.refused = &refusal{peer: peer.Addr, data: returned(peer.Service, []byte(back))}
	}
	x.end(how)
}
