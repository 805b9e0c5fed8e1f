// SPDX-License-Identifier: Apache-2.0

package local

// bearer returns the bearer of a name, with or without its medium in front, or nil.
func (n *Node) bearer(name string) *attachment {
	if a := n.named(name); a != nil && !a.leaving {
		return a
	}
	for _, a := range n.attached {
		if !a.leaving && a.fullName() == name {
			return a
		}
	}
	return nil
}

// named returns the bearer whose device has the name, though it be about to leave.
func (n *Node) named(name string) *attachment {
	for _, a := range n.attached {
		if a.Device.Name() == name {
			return a
		}
	}
	return nil
}

// byID returns the bearer with a number of the engine's.
func (n *Node) byID(id int) *attachment {
	for _, a := range n.attached {
		if a.id == id {
			return a
		}
	}
	return nil
}

// fullName is the bearer's name as tipc(8) says it.
func (a *attachment) fullName() string { return a.medium().String() + ":" + a.Device.Name() }
