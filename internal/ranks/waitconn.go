// SPDX-License-Identifier: Apache-2.0

package ranks

import (
	"io"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
)

// window is how long an adaptive read looks before it sleeps, as a node's does.
const window = 50 * time.Microsecond

// turns is after how many looks in vain others of this process may run, and the clock is read.
const turns = 8

// A waitListener accepts connections that wait in its way.
type waitListener struct {
	net.Listener
	wait stack.WaitMode
}

func (l waitListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return withWait(c, l.wait)
}

// withWait makes a TCP connection's reads wait in that way: asleep in Go's poller, which is
// package net's own; looking for a while first; or looking without end.
func withWait(c net.Conn, wait stack.WaitMode) (net.Conn, error) {
	if wait == stack.Sleep {
		return c, nil
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		c.Close()
		return nil, err
	}
	p := &waitConn{Conn: c, raw: raw, wait: wait}
	p.look = p.tries
	return p, nil
}

// A waitConn looks for what comes before it sleeps. Reads are one goroutine's.
type waitConn struct {
	net.Conn
	raw    syscall.RawConn
	wait   stack.WaitMode
	closed atomic.Bool

	look func(fd uintptr) bool // tries, made once
	b    []byte                // of the read under way
	n    int
	err  error
}

// Read is net.Conn's. It heeds no deadline while it looks.
func (c *waitConn) Read(b []byte) (int, error) {
	c.b, c.n, c.err = b, 0, nil
	err := c.raw.Read(c.look)
	switch {
	case err != nil:
		return 0, err
	case c.err != nil:
		return 0, os.NewSyscallError("read", c.err)
	case c.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return c.n, nil
}

// tries reads as soon as there is something; false: it is time to sleep.
func (c *waitConn) tries(fd uintptr) bool {
	var began time.Time
	for i := 0; ; i++ {
		c.n, c.err = syscall.Read(int(fd), c.b)
		if c.err == syscall.EINTR {
			continue
		}
		if c.err != syscall.EAGAIN {
			return true
		}
		if i%turns != turns-1 {
			continue
		}
		if c.closed.Load() {
			c.err = syscall.ECONNABORTED
			return true
		}
		if c.wait == stack.Adaptive {
			switch now := time.Now(); {
			case began.IsZero():
				began = now
			case now.Sub(began) > window:
				return false
			}
		}
		runtime.Gosched()
	}
}

// Close is net.Conn's; it ends a read that looks.
func (c *waitConn) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}
