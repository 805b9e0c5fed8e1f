// SPDX-License-Identifier: Apache-2.0

package stack

// Monitor implements nodeBackend.
func (n *localNode) Monitor() []Monitor {
	n.mu.Lock()
	defer n.unlock()
	var all []Monitor
	for _, a := range n.attached {
		if s, rows, ok := n.eng.Monitor(a.id); ok {
			all = append(all, Monitor{a.fullName(), s, rows})
		}
	}
	return all
}

// SetMonitorThreshold implements nodeBackend.
func (n *localNode) SetMonitorThreshold(nodes int) error {
	n.mu.Lock()
	defer n.unlock()
	if err := n.eng.SetMonitorThreshold(nodes); err != nil {
		return opError("set", "tipc", nil, nil, err)
	}
	return nil
}
