// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"

	"github.com/utipc/utipc/stack/internal/backend"
)

// BindScope is Bind with a scope of its own: ClusterScope, or NodeScope.
func (c *PacketConn) BindScope(addr net.Addr, scope Scope) error {
	if err := (SocketConfig{Scope: scope}).check(); err != nil {
		return backend.OpError("bind", c.b.Network(), c.b.Addr(), addr, err)
	}
	return c.b.BindScope(addr, scope)
}

// UnbindScope is Unbind of a binding that was made with that scope.
func (c *PacketConn) UnbindScope(addr net.Addr, scope Scope) error {
	if err := (SocketConfig{Scope: scope}).check(); err != nil {
		return backend.OpError("unbind", c.b.Network(), c.b.Addr(), addr, err)
	}
	return c.b.UnbindScope(addr, scope)
}

// BindScope is Bind with a scope of its own: ClusterScope, or NodeScope.
func (l *Listener) BindScope(addr net.Addr, scope Scope) error {
	if err := (SocketConfig{Scope: scope}).check(); err != nil {
		return backend.OpError("bind", l.b.Network(), l.b.Addr(), addr, err)
	}
	return l.b.BindScope(addr, scope)
}

// UnbindScope is Unbind of a binding that was made with that scope.
func (l *Listener) UnbindScope(addr net.Addr, scope Scope) error {
	if err := (SocketConfig{Scope: scope}).check(); err != nil {
		return backend.OpError("unbind", l.b.Network(), l.b.Addr(), addr, err)
	}
	return l.b.UnbindScope(addr, scope)
}
