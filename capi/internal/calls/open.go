// SPDX-License-Identifier: Apache-2.0

//go:build linux

package calls

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
)

// open looks at what all calls that open a socket are given, and has it made, with a handle.
func open(h int32, typ int, addr *Addr, o *Options, mk func(n *Node, network string, addr net.Addr, o *Options) (int32, error)) (int32, error) {
	n, err := find[*Node](h)
	if err != nil {
		return 0, err
	}
	name, err := network(typ)
	if err != nil {
		return 0, err
	}
	to, err := addr.optional()
	if err != nil {
		return 0, err
	}
	if o == nil {
		o = new(Options)
	}
	if err := o.check(); err != nil {
		return 0, err
	}
	return mk(n, name, to, o)
}

// config is what package stack calls the options.
func (o *Options) config() stack.SocketConfig {
	return stack.SocketConfig{
		Importance:   stack.Importance(o.Importance),
		Scope:        stack.Scope(o.Scope),
		Multicast:    stack.Method(o.Multicast),
		ReceiveLimit: int(o.ReceiveLimit),
		Backlog:      int(o.Backlog),
		NameWait:     time.Duration(o.NameWait) * time.Millisecond,
		Returnable:   o.Flags&returnable != 0,
		AcceptAhead:  o.Flags&acceptAhead != 0,
		NoDelay:      o.Flags&noDelay != 0,
		SyncErrors:   o.Flags&syncErrors != 0,
	}
}

// OpenSocket opens a socket without connection.
func OpenSocket(h int32, typ int, name *Addr, o *Options) (int32, error) {
	return open(h, typ, name, o, func(n *Node, network string, addr net.Addr, o *Options) (int32, error) {
		c, err := o.config().ListenPacket(context.Background(), n.n, network, addr)
		return newSocket(n, typ, c, err)
	})
}

// Listen opens a socket that accepts connections.
func Listen(h int32, typ int, name *Addr, o *Options) (int32, error) {
	return open(h, typ, name, o, func(n *Node, network string, addr net.Addr, o *Options) (int32, error) {
		l, err := o.config().Listen(context.Background(), n.n, network, addr)
		return newSocket(n, typ, l, err)
	})
}

// Connect opens a connection, or a socket with a default destination.
func Connect(h int32, typ int, to *Addr, o *Options, timeout int) (int32, error) {
	if _, err := to.Address(); err != nil {
		return 0, err
	}
	return open(h, typ, to, o, func(n *Node, network string, addr net.Addr, o *Options) (int32, error) {
		ctx, cancel := within(timeout)
		defer cancel()
		if typ == syscall.SOCK_RDM || typ == syscall.SOCK_DGRAM {
			c, err := o.config().DialPacket(ctx, n.n, network, addr)
			return newSocket(n, typ, c, inTime(err, timeout))
		}
		cfg := o.config()
		if timeout > 0 {
			cfg.DialTimeout = time.Duration(timeout) * time.Millisecond
		}
		c, err := cfg.Dial(ctx, n.n, network, addr)
		return newSocket(n, typ, c, inTime(err, timeout))
	})
}

// Join opens a socket in a group.
func Join(h int32, group *Addr, o *Options) (int32, error) {
	if _, err := group.Address(); err != nil {
		return 0, err
	}
	return open(h, syscall.SOCK_RDM, group, o, func(n *Node, _ string, addr net.Addr, o *Options) (int32, error) {
		svc, ok := addr.(stack.Service)
		if !ok {
			return 0, failed(syscall.EINVAL, "%+v is not a service", *group)
		}
		g, err := stack.GroupConfig{
			Importance:   stack.Importance(o.Importance),
			Scope:        stack.Scope(o.Scope),
			Policy:       stack.SlowPolicy(o.Policy),
			Limit:        int(o.PolicyLimit),
			ReceiveLimit: int(o.ReceiveLimit),
			Loopback:     o.Flags&loopback != 0,
			Events:       o.Flags&groupEvents != 0,
			SyncErrors:   o.Flags&syncErrors != 0,
		}.Join(context.Background(), n.n, svc)
		return newSocket(n, syscall.SOCK_RDM, g, err)
	})
}

// Subscribe watches what is bound in a range.
func Subscribe(h int32, name *Addr, flags uint32) (int32, error) {
	n, err := find[*Node](h)
	if err != nil {
		return 0, err
	}
	_, r, on, err := lookup(name)
	if err != nil {
		return 0, err
	}
	if flags&^(subRanges|subChanges|subComplete) != 0 {
		return 0, failed(syscall.EINVAL, "unknown flags %#x of a subscription", flags)
	}
	s, err := stack.SubscriptionConfig{
		At:       on,
		Ranges:   flags&subRanges != 0,
		Changes:  flags&subChanges != 0,
		Complete: flags&subComplete != 0,
	}.Subscribe(context.Background(), n.n, r)
	return newSocket(n, 0, s, err)
}
