// SPDX-License-Identifier: Apache-2.0

package local

import (
	"slices"

	"github.com/utipc/utipc/stack/admin"
)

// Sockets implements backend.Node.
func (n *Node) Sockets() []admin.Socket {
	n.loop.Lock()
	numbers := n.eng.SocketNumbers(nil)
	n.loop.Unlock()
	slices.Sort(numbers)
	all := make([]admin.Socket, 0, len(numbers))
	for part := range slices.Chunk(numbers, lookPart) {
		n.loop.Lock()
		for _, number := range part {
			x, ok := n.eng.Socket(number)
			if !ok {
				continue // it was closed meanwhile
			}
			if o, ok := x.Owner.(openSocket); ok {
				x.Network = o.writes().network
			}
			x.Owner = nil // which means nothing to others
			all = append(all, x)
		}
		n.loop.Unlock()
	}
	return all
}

// lookPart is the number of sockets, or bindings, that are looked at in one holding of the node's
// lock by a call that returns all of them.
const lookPart = 1024

// ServiceStats implements backend.Node.
func (n *Node) ServiceStats() []admin.ServiceStats {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.Services()
}

// Peers implements backend.Node.
func (n *Node) Peers() []admin.Peer {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.Traffic()
}
