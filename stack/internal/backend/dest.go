// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"net"

	"github.com/utipc/utipc/frame"
)

// A Dest is where a message goes: one socket, one of those bound to a service, or all
// that are bound to a range. It is three words of whichever address it is, and not the
// address, because every send hands it on six times: so small it stays in registers.
type Dest struct {
	Kind    destKind
	a, b, c uint32
}

type destKind uint8

const (
	ToSocket  destKind = iota // port and node
	ToService                 // type, instance and node
	ToRange                   // type, lower and upper
	ToAll                     // members of a group; the range is the group's type
)

func SocketDest(s frame.SocketAddr) Dest { return Dest{ToSocket, s.Port, uint32(s.Node), 0} }
func ServiceDest(s frame.Service) Dest {
	return Dest{ToService, s.Type, s.Instance, uint32(s.Node)}
}
func RangeDest(r frame.Range) Dest { return Dest{ToRange, r.Type, r.Lower, r.Upper} }

// AllDest is all members of the group of type typ.
func AllDest(typ uint32) Dest { return Dest{ToAll, typ, 0, ^uint32(0)} }

// Socket is the socket that a message goes to.
func (d Dest) Socket() frame.SocketAddr {
	return frame.SocketAddr{Port: d.a, Node: frame.NodeAddr(d.b)}
}

// Service is the service that it goes to.
func (d Dest) Service() frame.Service {
	return frame.Service{Type: d.a, Instance: d.b, Node: frame.NodeAddr(d.c)}
}

// All is the range of what it goes to.
func (d Dest) All() frame.Range { return frame.Range{Type: d.a, Lower: d.b, Upper: d.c} }

// Addr is where a message goes.
func (d Dest) Addr() net.Addr {
	switch d.Kind {
	case ToService:
		return d.Service()
	case ToRange, ToAll:
		return d.All()
	}
	return d.Socket()
}
