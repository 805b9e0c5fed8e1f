// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/frame"
)

// A connCall is what a Call about a connection says beside its port.
type connCall struct {
	is     bool   // a send without an address
	port   uint32 // accept: of the new socket
	stream bool
	sink   bool // reads when the capture shows that it has read
	bytes  int  // read
	off    bool // nodelay
}

// listen reads PORT [stream].
func (c *Call) listen(a []string) error {
	if err := count(a, 1, 2); err != nil {
		return err
	}
	if len(a) > 1 {
		if c.conn.stream = a[1] == "stream"; !c.conn.stream {
			return fmt.Errorf("%q is not stream", a[1])
		}
	}
	return c.setPort(a[0])
}

// accept reads LISTENER PORT [echo|sink].
func (c *Call) accept(a []string) (err error) {
	if err = count(a, 2, 3); err != nil {
		return err
	}
	for _, o := range a[2:] {
		if !c.setReader(o) {
			return fmt.Errorf("%q is none of echo, sink", o)
		}
	}
	if c.conn.port, err = portNumber(a[1]); err != nil {
		return err
	}
	return c.setPort(a[0])
}

// connect reads PORT TO and options, of which one may be data: an implied connect.
func (c *Call) connect(a []string) error {
	if err := count(a, 2, 7); err != nil {
		return err
	}
	if err := c.setTo(a[1]); err != nil {
		return err
	}
	for _, o := range a[2:] {
		ms, isTimeout := strings.CutPrefix(o, "timeout:")
		switch {
		case c.setReader(o):
		case o == "stream":
			c.conn.stream = true
		case isTimeout:
			var err error
			if c.delay, err = milliseconds(ms, 65535); err != nil {
				return err
			}
		case strings.Contains(o, ":"):
			if err := c.setData(o); err != nil {
				return err
			}
		case !c.setImportance(o):
			return fmt.Errorf("%q is none of low, medium, high, critical, stream, echo, sink, timeout:MILLISECONDS, DATA", o)
		}
	}
	return c.setPort(a[0])
}

// read reads PORT BYTES.
func (c *Call) read(a []string) (err error) {
	if err = count(a, 2, 2); err != nil {
		return err
	}
	if c.conn.bytes, err = number(a[1], 1, 1<<30); err != nil {
		return err
	}
	return c.setPort(a[0])
}

// noDelay reads PORT [on|off].
func (c *Call) noDelay(a []string) error {
	if err := count(a, 1, 2); err != nil {
		return err
	}
	if c.conn.off = len(a) > 1 && a[1] == "off"; len(a) > 1 && !c.conn.off && a[1] != "on" {
		return fmt.Errorf("%q is none of on, off", a[1])
	}
	return c.setPort(a[0])
}

// setReader takes what has a socket read by itself.
func (c *Call) setReader(s string) bool {
	switch s {
	case "echo":
		c.echo = true
	case "sink":
		c.conn.sink = true
	default:
		return false
	}
	return true
}

// named reports whether a call goes to a service, not to one socket.
func (c *Call) named() bool { return c.to == (frame.SocketAddr{}) }
