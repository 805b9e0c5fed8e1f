// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/stack/admin"

// Monitor implements nodeBackend.
func (n *localNode) Monitor() []admin.Monitor {
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

// SetMonitorThreshold implements nodeBackend.
func (n *localNode) SetMonitorThreshold(nodes int) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.eng.SetMonitorThreshold(nodes); err != nil {
		return opError("set", "tipc", nil, nil, err)
	}
	return nil
}
