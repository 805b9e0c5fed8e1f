// SPDX-License-Identifier: Apache-2.0

package stack

import "context"

// WaitPublished waits until the nodes with which there is contact now know the names that sockets of
// this node have bound, and know those no longer that were taken back. A message that is sent on one of
// them afterwards, to a name or to a range, finds them.
//
// Nodes of this implementation say so once they have applied the names, and this node then knows what
// they had bound before. Of kernels, and of older versions, it means that their links have
// acknowledged the names, and no more: a kernel looks at them a moment later. A node with which contact
// is lost meanwhile is not waited for; one that comes into contact is told all names, and not waited for
// either.
//
// Of an attached node the names are those of the daemon's node, those of this program among them.
// Errors, inside *net.OpError: *SilentError, with one of the nodes that are waited for, when ctx is
// done; ErrTooManySockets, as it takes the number of one; net.ErrClosed.
func (n *Node) WaitPublished(ctx context.Context) error { return n.b.WaitPublished(ctx) }
