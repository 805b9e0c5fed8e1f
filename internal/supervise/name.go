// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// parseName reads the name of an end of a plain socket. The daemon compares its CHECK.
func parseName(sa unix.Sockaddr, err error) (n attach.PlainName, ok bool) {
	u, ok := sa.(*unix.SockaddrUnix)
	if err != nil || !ok {
		return n, false
	}
	n, _, _, ok = attach.ParsePlainName(u.Name)
	return n, ok
}

// A kind is what a descriptor is.
type kind int

const (
	foreign     kind = iota // no plain socket
	connected               // it may have ended
	messages                // connectionless: what comes has a record's header
	unconnected             // open, listening, connecting, or refused
)

// look finds out what the descriptor is.
func (c *call) look() {
	var ok bool
	if c.own, ok = parseName(unix.Getsockname(c.fd)); !ok {
		return
	}
	sa, err := unix.Getpeername(c.fd)
	if err != nil {
		return
	}
	switch c.peer, ok = parseName(sa, nil); {
	case ok:
		c.is = connected
	case c.own.Kind.Connected():
		c.is = unconnected
	default:
		c.is = messages
	}
}
