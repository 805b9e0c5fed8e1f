// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// BindScope is Bind with a scope of its own: ClusterScope, or NodeScope.
func (c *PacketConn) BindScope(addr net.Addr, scope Scope) error {
	return c.rebind("bind", addr, scope, (*engine.Port).Bind)
}

// UnbindScope is Unbind of a binding that was made with that scope.
func (c *PacketConn) UnbindScope(addr net.Addr, scope Scope) error {
	return c.rebind("unbind", addr, scope, (*engine.Port).Unbind)
}

func (c *PacketConn) rebind(op string, addr net.Addr, scope Scope, how func(*engine.Port, time.Duration, Range, Scope) error) error {
	r, err := bindable(addr)
	if err == nil {
		err = SocketConfig{Scope: scope}.check()
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
		return opError(op, c.network, c.local, addr, err)
	}
	return nil
}

// BindScope is Bind with a scope of its own: ClusterScope, or NodeScope.
func (l *Listener) BindScope(addr net.Addr, scope Scope) error {
	if err := (SocketConfig{Scope: scope}).check(); err != nil {
		return opError("bind", l.network, l.local, addr, err)
	}
	return l.rebind("bind", addr, scope, (*engine.Listener).Bind)
}

// UnbindScope is Unbind of a binding that was made with that scope.
func (l *Listener) UnbindScope(addr net.Addr, scope Scope) error {
	if err := (SocketConfig{Scope: scope}).check(); err != nil {
		return opError("unbind", l.network, l.local, addr, err)
	}
	return l.rebind("unbind", addr, scope, (*engine.Listener).Unbind)
}
