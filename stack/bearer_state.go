// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net/netip"
	"time"
)

// A BearerState is how a bearer stands that somebody keeps as it is wanted: the daemon
// does, see package daemon/bearers. Of one that nobody keeps the state is "up" or "down".
type BearerState struct {
	State   string    // "waiting", "opening", "up", "down", "damped", "closing"
	Reason  string    // why; empty when up
	Since   time.Time // zero: not known
	Changes int       // states that the bearer has had
}

// NoteBearer says how a bearer stands that the caller keeps, under its full name,
// "eth:eth0". It is among Bearers from then on, whether the node has a device for it or
// not, until ForgetBearer, or DisableBearer while there is no device. A new state is
// logged, and reported to those who watch. On an attached node it does nothing.
func (n *Node) NoteBearer(name string, s BearerState) { n.b.NoteBearer(name, s) }

// ForgetBearer says that a bearer is no longer kept. On an attached node it does nothing.
func (n *Node) ForgetBearer(name string) { n.b.ForgetBearer(name) }

// BearerNoted reports whether a bearer is kept, under its full name; never of an attached
// node.
func (n *Node) BearerNoted(name string) bool { return n.b.BearerNoted(name) }

// HoldBearer has the node treat a bearer's interface as one that carries nothing, or no
// longer. Errors, inside *net.OpError: a *Refusal with EINVAL, "Bearer not found.";
// errors.ErrUnsupported of an attached node.
func (n *Node) HoldBearer(name string, hold bool) error { return n.b.HoldBearer(name, hold) }

// RemoveRemote ends that a host gets what goes to all, over the bearer of that name, "UDP1"
// or "udp:UDP1". The address's port 0 is TIPC's, 6118. A link to the host stays until it
// ends by itself; those to others are not touched. Errors, inside *net.OpError: a
// *Refusal with EINVAL, "Bearer not found.", or where the bearer is not over UDP, or has no
// such remote.
func (n *Node) RemoveRemote(bearer string, remote netip.AddrPort) error {
	return n.b.RemoveRemote(bearer, remote)
}
