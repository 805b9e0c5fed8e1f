// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/engine"
)

// BindScope is Bind with a scope of its own: ClusterScope, or NodeScope.
func (c *PacketConn) BindScope(addr net.Addr, scope Scope) error {
	return c.rebind(attach.OpBind, addr, scope, (*engine.Port).Bind)
}

// UnbindScope is Unbind of a binding that was made with that scope.
func (c *PacketConn) UnbindScope(addr net.Addr, scope Scope) error {
	return c.rebind(attach.OpUnbind, addr, scope, (*engine.Port).Unbind)
}

func (c *PacketConn) rebind(op attach.Op, addr net.Addr, scope Scope, how func(*engine.Port, time.Duration, Range, Scope) error) error {
	err := SocketConfig{Scope: scope}.check()
	if err == nil && c.far != nil {
		return c.far.bind(op, addr, scope)
	}
	var r Range
	if err == nil {
		r, err = bindable(addr)
	}
	if err == nil {
		c.n.mu.Lock()
		defer c.n.unlock()
		if err = net.ErrClosed; !c.closed {
			now := c.n.now()
			err = how(c.port, now, r, scope)
			c.n.lap(now, false)
		}
	}
	if err != nil {
		return opError(op.String(), c.network, c.Addr(), addr, err)
	}
	return nil
}

// BindScope is Bind with a scope of its own: ClusterScope, or NodeScope.
func (l *Listener) BindScope(addr net.Addr, scope Scope) error {
	if err := (SocketConfig{Scope: scope}).check(); err != nil {
		return opError("bind", l.b.Network(), l.b.Addr(), addr, err)
	}
	return l.b.BindScope(addr, scope)
}

// UnbindScope is Unbind of a binding that was made with that scope.
func (l *Listener) UnbindScope(addr net.Addr, scope Scope) error {
	if err := (SocketConfig{Scope: scope}).check(); err != nil {
		return opError("unbind", l.b.Network(), l.b.Addr(), addr, err)
	}
	return l.b.UnbindScope(addr, scope)
}
