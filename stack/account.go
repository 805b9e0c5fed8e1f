// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/internal/hosting"

// count is hosting.Count.
func count(config any, a *hosting.Account) {
	switch c := config.(type) {
	case *SocketConfig:
		c.account = a
	case *GroupConfig:
		c.account = a
	case *SubscriptionConfig:
		c.account = a
	default:
		panic("stack: not a configuration that counts")
	}
}

// hold is hosting.Hold.
func (c *PacketConn) hold(k int) { c.b.hold(k) }
func (c *Conn) hold(k int)       { c.b.hold(k) }
func (g *Group) hold(k int)      { g.b.hold(k) }
func (l *Listener) hold(k int)   { l.b.hold(k) }
