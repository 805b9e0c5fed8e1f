// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net/netip"
)

// AddRemote makes one more host get what goes to all, over the bearer of that name,
// "UDP1" or "udp:UDP1". The address's port 0 is TIPC's, 6118. Errors, inside
// *net.OpError: a *Refusal with EINVAL, "Bearer not found.", or where the bearer has a
// multicast group, is not over UDP, or takes no such address.
func (n *Node) AddRemote(bearer string, remote netip.AddrPort) error {
	return n.b.AddRemote(bearer, remote)
}
