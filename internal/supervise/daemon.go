// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// An answer is the daemon's to a request.
type answer struct {
	attach.Header
	data []byte
	fd   int // -1: none
}

// most is the longest data of an answer.
const most = 4096

// ask makes a request of the daemon about a descriptor, or -1. Errors: what the daemon says;
// EAFNOSUPPORT, there is none; ENETDOWN, it is gone; ENOBUFS, there are no descriptors or no memory; EINTR, the
// thread that makes the call is gone.
func (c *call) ask(h attach.Header, data []byte, fd int) (answer, error) {
	conn, err := attach.Dial(c.ctx, c.s.socket)
	switch {
	case err == nil:
		defer conn.Close()
		return c.askOn(conn, h, data, fd)
	case c.ctx.Err() != nil:
		return answer{fd: -1}, unix.EINTR
	case shortage(err):
		return answer{fd: -1}, unix.ENOBUFS
	}
	return answer{fd: -1}, unix.EAFNOSUPPORT
}

// shortage reports whether an error is for want of descriptors or memory.
func shortage(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}

// askOn makes a request on a connection that there is already.
func (c *call) askOn(conn *attach.Conn, h attach.Header, data []byte, fd int) (a answer, err error) {
	a.fd = -1
	c.watchThread()
	stop := context.AfterFunc(c.ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	h.ID = 1
	if fd >= 0 {
		err = conn.WriteFD(&h, data, fd)
	} else {
		err = conn.Write(&h, data)
	}
	if err == nil {
		a.data = make([]byte, most)
		var n int
		n, a.fd, err = conn.ReadFD(&a.Header, a.data)
		a.data = a.data[:n]
		if a.fd >= 0 { // the daemon closes its own copy, then the connection
			_, _ = conn.Read(new(attach.Header), nil)
		}
	}
	switch {
	case c.ctx.Err() != nil:
		err = unix.EINTR
	case err != nil:
		err = unix.ENETDOWN
	case a.Errno != 0:
		err = a.Errno
	}
	if err != nil && a.fd >= 0 {
		unix.Close(a.fd)
		a.fd = -1
	}
	return a, err
}

// about makes a request about the call's descriptor, without data.
func (c *call) about(h attach.Header) (answer, error) { return c.ask(h, nil, c.fd) }

// done is the result of a request that returns nothing.
func (c *call) done(h attach.Header, data []byte) result {
	if _, err := c.ask(h, data, c.fd); err != nil {
		return failed(err)
	}
	return returned(0)
}
