// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/stack/admin"

// BroadcastLink implements nodeBackend.
func (n *localNode) BroadcastLink() admin.BroadcastLink {
	n.mu.Lock()
	defer n.unlock()
	return admin.BroadcastLink{BroadcastStatus: n.eng.Broadcast(n.now())}
}
