// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/stack/admin"

// BroadcastLink implements nodeBackend.
func (n *localNode) BroadcastLink() admin.BroadcastLink {
	n.loop.Lock()
	defer n.loop.Unlock()
	return admin.BroadcastLink{BroadcastStatus: n.eng.Broadcast(n.loop.Now())}
}
