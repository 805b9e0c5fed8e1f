// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"

	"github.com/utipc/utipc/stack/engine"
)

// Write sends b to all members, as one message of up to 66000 bytes, which is copied. It
// waits while a member has not read enough of what was sent before (see SlowPolicy), or
// a link is congested. A nil error means that the message was taken: it arrives as long
// as contact with the members' nodes lasts. Empty it is no message. Errors, inside
// *net.OpError: ErrUnreachable without other members, ErrTooLong, net.ErrClosed;
// *BlockedError at the deadline, which names the member.
func (g *Group) Write(b []byte) (int, error) { return g.WriteContext(context.Background(), b) }

// WriteContext is Write that ctx ends, too.
func (g *Group) WriteContext(ctx context.Context, b []byte) (int, error) {
	d := g.toAll()
	return g.b.Write(ctx, b, d, d.all())
}

// WriteTo sends b to one member with the instance of addr, a Service, where they take
// turns and who has no room is passed over; to the member addr, a SocketAddr; or to all
// members with the lower bound of addr, a Range, as their instance. Its upper bound is
// not looked at, nor is a type that is 0. For one member it waits whatever the policy is.
// Errors as for Write, with ErrUnreachable when there is no such member.
func (g *Group) WriteTo(b []byte, addr net.Addr) (int, error) {
	d, err := g.destOf(addr)
	if err != nil {
		return 0, opError("write", g.b.Network(), g.b.Addr(), addr, err)
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
			return 0, g.b.sendError(addr, err)
		}
	}
	return g.b.TryWrite(b, d, addr)
}

// toAll is where a message to all members goes.
func (g *Group) toAll() dest {
	return dest{kind: toAll, a: g.service.Type, c: ^uint32(0)}
}

// destOf is where a message to addr goes. It calls addr's methods.
func (g *Group) destOf(addr net.Addr) (d dest, err error) {
	typ := g.service.Type
	switch a := addr.(type) {
	case Service:
		typ = a.Type
		d = serviceDest(a)
	case Range:
		typ = a.Type
		d = rangeDest(a)
	case SocketAddr:
		a.Net = ""
		d = socketDest(a)
	case nil:
		return dest{}, &net.AddrError{Err: "missing address"}
	default:
		return dest{}, &net.AddrError{Err: "not a service, service range or socket address", Addr: addr.String()}
	}
	if typ != 0 && typ != g.service.Type {
		return dest{}, &net.AddrError{Err: "not of this group", Addr: addr.String()}
	}
	return d, nil
}

// many reports whether a message in a group goes to several members.
func (d *dest) many() bool { return d.kind == toAll || d.kind == toRange }

// member says what a write in a group waits for.
func (e *BlockedError) member() string {
	return (&engine.MemberBlocked{Group: e.Group, Member: e.Peer, Window: e.Window, Need: e.Need, Acks: e.Acks, Behind: e.Behind}).What()
}
