// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"

	"github.com/utipc/utipc/stack/internal/backend"
)

// Write sends b to all members, as one message of up to 66000 bytes, which is copied. It
// waits while a member has not read enough of what was sent before (see SlowPolicy), or
// a link is congested. A nil error means that the message was taken: it arrives as long
// as contact with the members' nodes lasts. Empty it is not sent, but with the policy
// Strict waits as a message would. Errors, inside *net.OpError: ErrUnreachable without
// other members, ErrTooLong, net.ErrClosed; *BlockedError at the deadline, which names the
// member.
func (g *Group) Write(b []byte) (int, error) { return g.WriteContext(context.Background(), b) }

// WriteContext is Write that ctx ends, too.
func (g *Group) WriteContext(ctx context.Context, b []byte) (int, error) {
	d := g.toAll()
	return g.b.Write(ctx, b, d, d.All())
}

// WriteTo sends b to one member with the instance of addr, a Service, where they take
// turns and who has no room is passed over; to the member addr, a SocketAddr; or to all
// members with the lower bound of addr, a Range, as their instance. Its upper bound is
// not looked at, nor is a type that is 0. For one member it waits whatever the policy is.
// Errors as for Write, with ErrUnreachable when there is no such member.
func (g *Group) WriteTo(b []byte, addr net.Addr) (int, error) {
	d, err := g.destOf(addr)
	if err != nil {
		return 0, backend.OpError("write", g.b.Network(), g.b.Addr(), addr, err)
	}
	return g.b.Write(context.Background(), b, d, addr)
}

// TryWriteTo is WriteTo, or with a nil addr Write, that does not wait. Errors as for
// these, and syscall.EAGAIN.
func (g *Group) TryWriteTo(b []byte, addr net.Addr) (int, error) {
	d := g.toAll()
	if addr != nil {
		var err error
		if d, err = g.destOf(addr); err != nil {
			return 0, g.b.SendError(addr, err)
		}
	}
	return g.b.TryWrite(b, d, addr)
}

// toAll is where a message to all members goes.
func (g *Group) toAll() backend.Dest {
	return backend.AllDest(g.service.Type)
}

// destOf is where a message to addr goes. It calls addr's methods.
func (g *Group) destOf(addr net.Addr) (d backend.Dest, err error) {
	typ := g.service.Type
	switch a := addr.(type) {
	case Service:
		typ = a.Type
		d = backend.ServiceDest(a)
	case Range:
		typ = a.Type
		d = backend.RangeDest(a)
	case SocketAddr:
		d = backend.SocketDest(a)
	case nil:
		return backend.Dest{}, &net.AddrError{Err: "missing address"}
	default:
		return backend.Dest{}, &net.AddrError{Err: "not a service, service range or socket address", Addr: addr.String()}
	}
	if typ != 0 && typ != g.service.Type {
		return backend.Dest{}, &net.AddrError{Err: "not of this group", Addr: addr.String()}
	}
	return d, nil
}
