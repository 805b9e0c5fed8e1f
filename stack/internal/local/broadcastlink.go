// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/utipc/utipc/stack/admin"

// BroadcastLink implements backend.Node.
func (n *Node) BroadcastLink() admin.BroadcastLink {
	n.loop.Lock()
	defer n.loop.Unlock()
	return admin.BroadcastLink{BroadcastStatus: n.eng.Broadcast(n.loop.Now())}
}
