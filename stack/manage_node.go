// SPDX-License-Identifier: Apache-2.0

package stack

// NetID is the cluster's number.
func (n *Node) NetID() uint32 { return n.b.NetID() }

// SetAddress gives a node that was opened with NoBearers, and has had none, its address.
// It is settled at once. Errors, inside *net.OpError: a *Refusal with EPERM once the node
// has an address, with EINVAL for address 0.
func (n *Node) SetAddress(a NodeAddr) error { return n.b.SetAddress(a) }

// SetIdentity names such a node. Its address follows from that, when it has a bearer.
// Errors as of SetAddress.
func (n *Node) SetIdentity(id Identity) error { return n.b.SetIdentity(id) }

// SetNetID sets the cluster's number of such a node, 1 to 9999. Errors as of SetAddress.
func (n *Node) SetNetID(id uint32) error { return n.b.SetNetID(id) }

// RemovePeer forgets another node that there is no contact with: it is no longer among
// Peers and Links. Else that happens five minutes after contact was lost. Errors, inside
// *net.OpError: a *Refusal with EBUSY while there is contact, with ENXIO for a node that
// is not known.
func (n *Node) RemovePeer(a NodeAddr) error { return n.b.RemovePeer(a) }

// RemovePeerIdentity is RemovePeer by identity. As a kernel's, it finds nodes that there
// is no contact with only: the answer is ENXIO for any other.
func (n *Node) RemovePeerIdentity(id Identity) error { return n.b.RemovePeerIdentity(id) }
