// SPDX-License-Identifier: Apache-2.0

package stack

// BroadcastLink implements nodeBackend.
func (n *localNode) BroadcastLink() BroadcastLink {
	n.mu.Lock()
	defer n.unlock()
	return BroadcastLink{n.eng.Broadcast(n.now())}
}
