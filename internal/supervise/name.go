// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
)

// A name is what the abstract name of an end of a plain socket says, see docs/attach.md, "Plain sockets".
type name struct {
	kind attach.Kind
	addr attach.Sockaddr
}

// parseName reads "@utipc1/KIND/PORTNODE/COOKIE/SERVICE/CHECK".
func parseName(sa unix.Sockaddr, err error) (n name, ok bool) {
	u, ok := sa.(*unix.SockaddrUnix)
	if err != nil || !ok || !strings.HasPrefix(u.Name, "@utipc1/") {
		return n, false
	}
	f := strings.Split(u.Name, "/")
	if len(f) != 6 {
		return n, false
	}
	kind, err := strconv.ParseUint(f[1], 10, 8)
	if err != nil {
		return n, false
	}
	addr, err := strconv.ParseUint(f[2], 16, 64)
	if err != nil {
		return n, false
	}
	return name{attach.Kind(kind), attach.SocketSockaddr(frame.SocketAddr{Port: uint32(addr >> 32), Node: frame.NodeAddr(uint32(addr))})}, true
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
	case c.own.kind.Connected():
		c.is = unconnected
	default:
		c.is = messages
	}
}
