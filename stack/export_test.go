// SPDX-License-Identifier: Apache-2.0

package stack

// Held is the number of bytes that a connection of a node from Open holds: its Write has taken
// them, and they are not on the link.
func Held(c *Conn) int {
	l := c.inside()
	l.n.loop.Lock()
	defer l.n.loop.Unlock()
	return l.c.Held()
}
