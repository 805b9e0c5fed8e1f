// SPDX-License-Identifier: Apache-2.0

package stack

// Sockets implements nodeBackend.
func (n *localNode) Sockets() []Socket {
	n.mu.Lock()
	defer n.unlock()
	all := n.eng.Sockets()
	for i := range all {
		if o, ok := all[i].Owner.(socket); ok {
			all[i].Addr.Net = o.writes().network
			if all[i].Kind == ConnectedSocket {
				all[i].Peer.Net = all[i].Addr.Net
			}
		}
	}
	return all
}

// ServiceStats implements nodeBackend.
func (n *localNode) ServiceStats() []ServiceStats {
	n.mu.Lock()
	defer n.unlock()
	return n.eng.Services()
}

// Peers implements nodeBackend.
func (n *localNode) Peers() []Peer {
	n.mu.Lock()
	defer n.unlock()
	return n.eng.Traffic()
}
