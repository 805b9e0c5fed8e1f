// SPDX-License-Identifier: Apache-2.0

package local

import (
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/internal/backend"
)

// Monitor implements backend.Node.
func (n *Node) Monitor() []admin.Monitor {
	n.loop.Lock()
	defer n.loop.Unlock()
	var all []admin.Monitor
	for _, a := range n.attached {
		if s, rows, ok := n.eng.Monitor(a.id); ok {
			all = append(all, admin.Monitor{Bearer: a.fullName(), Status: s, Members: rows})
		}
	}
	return all
}

// SetMonitorThreshold implements backend.Node.
func (n *Node) SetMonitorThreshold(nodes int) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.eng.SetMonitorThreshold(nodes); err != nil {
		return backend.OpError("set", "tipc", nil, nil, err)
	}
	return nil
}
