// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"

	"github.com/utipc/utipc/frame"
)

// A dest is where a message goes: one socket, one of those bound to a service, or all
// that are bound to a range. It is three words of whichever address it is, and not the
// address, because every send hands it on six times: so small it stays in registers.
type dest struct {
	kind    destKind
	a, b, c uint32
}

type destKind uint8

const (
	toSocket  destKind = iota // port and node
	toService                 // type, instance and node
	toRange                   // type, lower and upper
	toAll                     // members of a group; the range is the group's type
)

func socketDest(s frame.SocketAddr) dest { return dest{toSocket, s.Port, uint32(s.Node), 0} }
func serviceDest(s frame.Service) dest {
	return dest{toService, s.Type, s.Instance, uint32(s.Node)}
}
func rangeDest(r frame.Range) dest { return dest{toRange, r.Type, r.Lower, r.Upper} }

// socket is the socket that a message goes to; of no network in particular.
func (d dest) socket() frame.SocketAddr {
	return frame.SocketAddr{Port: d.a, Node: frame.NodeAddr(d.b)}
}

// service is the service that it goes to.
func (d dest) service() frame.Service {
	return frame.Service{Type: d.a, Instance: d.b, Node: frame.NodeAddr(d.c)}
}

// all is the range of what it goes to.
func (d dest) all() frame.Range { return frame.Range{Type: d.a, Lower: d.b, Upper: d.c} }

// addr is where a message goes that a socket of network sends.
func (d dest) addr(network string) net.Addr {
	switch d.kind {
	case toService:
		return d.service()
	case toRange, toAll:
		return d.all()
	}
	s := d.socket()
	s.Net = network
	return s
}
