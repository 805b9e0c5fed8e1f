// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"context"
	"os"
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
// EAFNOSUPPORT, there is none; ENETDOWN, it is gone; EINTR, the thread that makes the call is.
func (c *call) ask(h attach.Header, data []byte, fd int) (answer, error) {
	conn, err := attach.Dial(context.Background(), c.s.socket)
	if err != nil {
		return answer{fd: -1}, unix.EAFNOSUPPORT
	}
	defer conn.Close()
	return c.askOn(conn, h, data, fd)
}

// askOn makes a request on a connection that there is already.
func (c *call) askOn(conn *attach.Conn, h attach.Header, data []byte, fd int) (a answer, err error) {
	a.fd = -1
	h.ID = 1
	if fd >= 0 {
		err = conn.WriteFD(&h, data, fd)
	} else {
		err = conn.Write(&h, data)
	}
	if err != nil {
		return a, unix.ENETDOWN
	}
	room := make([]byte, most)
	for {
		conn.SetReadDeadline(time.Now().Add(looks))
		n, got, err := conn.ReadFD(&a.Header, room)
		switch {
		case os.IsTimeout(err) && c.s.l.valid(c.n.ID):
			continue
		case os.IsTimeout(err):
			return a, unix.EINTR
		case err != nil:
			return a, unix.ENETDOWN
		}
		a.data, a.fd = room[:n], got
		if a.Errno != 0 {
			if got >= 0 {
				unix.Close(got)
				a.fd = -1
			}
			return a, a.Errno
		}
		return a, nil
	}
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
