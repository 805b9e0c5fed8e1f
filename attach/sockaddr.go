// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"fmt"
	"net"

	"github.com/utipc/utipc/frame"
)

// AFTIPC is the address family, AF_TIPC of Linux.
const AFTIPC = 30

// Types of address in a Sockaddr. Source: linux/tipc.h.
const (
	TypeRange   = 1 // TIPC_SERVICE_RANGE: A type, B lower, C upper
	TypeService = 2 // TIPC_SERVICE_ADDR: A type, B instance, C node of lookup, 0: anywhere
	TypeSocket  = 3 // TIPC_SOCKET_ADDR: A port, B node
)

// A Sockaddr is struct sockaddr_tipc of linux/tipc.h, 16 bytes in the byte order of
// the machine:
//
//	0  u16 family    2  u8 type    3  s8 scope    4  u32 A    8  u32 B    12  u32 C
//
// Its zero value is no address.
type Sockaddr struct {
	Family  uint16
	Type    uint8
	Scope   int8 // of what is bound; 0 means the cluster
	A, B, C uint32
}

// SocketSockaddr is the address of a socket.
func SocketSockaddr(a frame.SocketAddr) Sockaddr {
	return Sockaddr{Family: AFTIPC, Type: TypeSocket, A: a.Port, B: uint32(a.Node)}
}

// ServiceSockaddr is a service's address.
func ServiceSockaddr(a frame.Service, scope frame.Scope) Sockaddr {
	return Sockaddr{AFTIPC, TypeService, int8(scope), a.Type, a.Instance, uint32(a.Node)}
}

// RangeSockaddr is that of a range.
func RangeSockaddr(a frame.Range, scope frame.Scope) Sockaddr {
	return Sockaddr{AFTIPC, TypeRange, int8(scope), a.Type, a.Lower, a.Upper}
}

// SockaddrOf makes a Sockaddr of a frame.Service, frame.Range or frame.SocketAddr, and
// no address of nil; ok is false for anything else.
func SockaddrOf(a net.Addr, scope frame.Scope) (s Sockaddr, ok bool) {
	switch a := a.(type) {
	case nil:
		return Sockaddr{}, true
	case frame.Service:
		return ServiceSockaddr(a, scope), true
	case frame.Range:
		return RangeSockaddr(a, scope), true
	case frame.SocketAddr:
		return SocketSockaddr(a), true
	}
	return Sockaddr{}, false
}

// IsZero reports whether it is no address.
func (s Sockaddr) IsZero() bool { return s.Family == 0 }

// Socket returns the address of a socket; ok is false when s is none.
func (s Sockaddr) Socket() (a frame.SocketAddr, ok bool) {
	if s.Family != AFTIPC || s.Type != TypeSocket {
		return a, false
	}
	return frame.SocketAddr{Port: s.A, Node: frame.NodeAddr(s.B)}, true
}

// Service returns a service's address; ok is false when s is none.
func (s Sockaddr) Service() (a frame.Service, ok bool) {
	if s.Family != AFTIPC || s.Type != TypeService {
		return a, false
	}
	return frame.Service{Type: s.A, Instance: s.B, Node: frame.NodeAddr(s.C)}, true
}

// Range returns a range; ok is false when s is none. It may be inverted.
func (s Sockaddr) Range() (a frame.Range, ok bool) {
	if s.Family != AFTIPC || s.Type != TypeRange {
		return a, false
	}
	return frame.Range{Type: s.A, Lower: s.B, Upper: s.C}, true
}

// Addr returns the address as package stack has it, nil for no address; ok is false
// for what is none of these. It allocates.
func (s Sockaddr) Addr() (a net.Addr, ok bool) {
	if s.IsZero() {
		return nil, true
	}
	if a, ok := s.Service(); ok {
		return a, true
	}
	if a, ok := s.Range(); ok {
		return a, true
	}
	if a, ok := s.Socket(); ok {
		return a, true
	}
	return nil, false
}

// String returns the address's text, as ParseAddr of package stack reads it.
func (s Sockaddr) String() string {
	switch a, ok := s.Addr(); {
	case !ok:
		return fmt.Sprintf("family %d type %d", s.Family, s.Type)
	case a == nil:
		return "none"
	default:
		return a.String()
	}
}

// SockaddrLen is the length of struct sockaddr_tipc, in bytes.
const SockaddrLen = 16

// Append appends the bytes of struct sockaddr_tipc.
func (s *Sockaddr) Append(b []byte) []byte {
	var all [SockaddrLen]byte
	s.put(all[:])
	return append(b, all[:]...)
}

func (s *Sockaddr) put(b []byte) {
	_ = b[15]
	e := binary.NativeEndian
	e.PutUint16(b[0:], s.Family)
	b[2], b[3] = s.Type, uint8(s.Scope)
	e.PutUint32(b[4:], s.A)
	e.PutUint32(b[8:], s.B)
	e.PutUint32(b[12:], s.C)
}

// ParseSockaddr reads the first SockaddrLen bytes of b, a struct sockaddr_tipc. Its family may be any.
func ParseSockaddr(b []byte) Sockaddr {
	_ = b[15]
	e := binary.NativeEndian
	return Sockaddr{e.Uint16(b[0:]), b[2], int8(b[3]), e.Uint32(b[4:]), e.Uint32(b[8:]), e.Uint32(b[12:])}
}

// PackSocket packs a socket's address into the wide argument: the port below, the
// node above.
func PackSocket(a frame.SocketAddr) uint64 { return uint64(a.Node)<<32 | uint64(a.Port) }

// UnpackSocket is the reverse of PackSocket.
func UnpackSocket(w uint64) frame.SocketAddr {
	return frame.SocketAddr{Port: uint32(w), Node: frame.NodeAddr(w >> 32)}
}
