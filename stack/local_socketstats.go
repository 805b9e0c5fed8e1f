// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/stack/admin"

// Sockets implements nodeBackend.
func (n *localNode) Sockets() []admin.Socket {
	n.mu.Lock()
	defer n.unlock()
	all := n.eng.Sockets()
	for i := range all {
		if o, ok := all[i].Owner.(socket); ok {
			all[i].Addr.Net = o.writes().network
			if all[i].Kind == admin.ConnectedSocket {
				all[i].Peer.Net = all[i].Addr.Net
			}
		}
		all[i].Owner = nil // which means nothing to others
	}
	return all
}

// ServiceStats implements nodeBackend.
func (n *localNode) ServiceStats() []admin.ServiceStats {
	n.mu.Lock()
	defer n.unlock()
	return n.eng.Services()
}

// Peers implements nodeBackend.
func (n *localNode) Peers() []admin.Peer {
	n.mu.Lock()
	defer n.unlock()
	return n.eng.Traffic()
}
