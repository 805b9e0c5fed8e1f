// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/socket"
)

// Many reports whether a message in a group goes to several members.
func (d *Dest) Many() bool { return d.Kind == ToAll || d.Kind == ToRange }

// Bindable calls addr's methods, so it is for callers without the node's lock.
func Bindable(addr net.Addr) (frame.Range, error) {
	switch a := addr.(type) {
	case nil:
		return frame.Range{}, &net.AddrError{Err: "missing address"}
	case frame.Service:
		if a.Node == 0 {
			return a.Range(), nil
		}
	case frame.Range:
		return a, nil
	}
	return frame.Range{}, &net.AddrError{Err: "not a service or service range", Addr: addr.String()}
}

// DestOf is where a message to addr goes. It calls addr's methods.
func DestOf(addr net.Addr) (Dest, error) {
	switch a := addr.(type) {
	case frame.Service:
		return ServiceDest(a), nil
	case frame.Range:
		return RangeDest(a), nil
	case frame.SocketAddr:
		return SocketDest(a), nil
	case nil:
		return Dest{}, &net.AddrError{Err: "missing address"}
	}
	return Dest{}, &net.AddrError{Err: "not a service, service range or socket address", Addr: addr.String()}
}

// A DefaultDest is where messages without an address go: addr, which is nil where there is
// none, and to the same.
type DefaultDest struct {
	Addr net.Addr
	To   Dest
}

// DestOf is the function DestOf but for the default destination.
func (d *DefaultDest) DestOf(addr net.Addr) (Dest, error) {
	if addr == nil && d.Addr != nil {
		return d.To, nil
	}
	return DestOf(addr)
}

// Reachable is how many of the messages have an address that can be, from the first on;
// the error is that of the first one.
func (d *DefaultDest) Reachable(ms []socket.Message) (int, error) {
	for i := range ms {
		if _, err := d.DestOf(ms[i].To); err != nil {
			if i == 0 {
				return 0, err
			}
			return i, nil
		}
	}
	return len(ms), nil
}

// Name is what must be bound for a message to a name to go anywhere.
func (d *Dest) Name() frame.Range {
	if d.Kind == ToRange {
		return d.All()
	}
	return d.Service().Range()
}
