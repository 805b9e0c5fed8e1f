// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"github.com/utipc/utipc/stack/engine"
)

// What tipc(8) asks of a node and tells it, beside bearers and media. All of it stands
// for one call over a socket: arguments and results are plain values.
// Source: docs/spec/10-management.md.

// BroadcastLinkName is the name of a node's broadcast link.
const BroadcastLinkName = "broadcast-link"

// LinkProperty returns one value of the link of that name, in the units of Property: of
// the window the present one. Of the broadcast link there is the window alone.
// Errors, inside *net.OpError: a *Refusal with EINVAL.
func (n *Node) LinkProperty(link string, p Property) (int, error) { return n.b.LinkProperty(link, p) }

// SetLinkProperty changes one value of the link of that name, within the bounds of
// Property, at once; see SetLink. The window is the largest that there may be. Of the
// broadcast link, that can be set too, but never are more than 50 packets under way
// there: no receiver could bear more. Errors as of LinkProperty.
func (n *Node) SetLinkProperty(link string, p Property, value int) error {
	return n.b.SetLinkProperty(link, p, value)
}

// ResetLinkStatistics sets the counters of the link of that name to 0: also those of
// "broadcast-link", and of what came on a peer's, "broadcast-link:1001002".
// Errors, inside *net.OpError: a *Refusal with EINVAL.
func (n *Node) ResetLinkStatistics(link string) error { return n.b.ResetLinkStatistics(link) }

// A BroadcastReception is what came on another node's broadcast link.
type BroadcastReception = engine.BroadcastReception

// BroadcastReceptions returns what came on the broadcast links of the nodes there is
// contact with, by address.
func (n *Node) BroadcastReceptions() []BroadcastReception { return n.b.BroadcastReceptions() }

// A BroadcastMethod is how multicast messages of sockets that have no method of their
// own reach other nodes: "BROADCAST", on the broadcast link, "REPLICAST", a copy to each
// node, or "AUTOSELECT": copies for up to 1 and Ratio per cent of the other nodes.
type BroadcastMethod struct {
	Method string `json:"method"`
	Ratio  int    `json:"ratio"` // 1 to 100; 0, when it is set: no change
}

var broadcastMethods = map[string]engine.Method{"AUTOSELECT": engine.Auto, "BROADCAST": engine.Broadcast, "REPLICAST": engine.Replicast}

// BroadcastMethod returns it. Nodes begin with AUTOSELECT, and 10 per cent.
func (n *Node) BroadcastMethod() BroadcastMethod { return n.b.BroadcastMethod() }

// SetBroadcastMethod changes it, from the next message on.
// Errors, inside *net.OpError: a *Refusal with EINVAL.
func (n *Node) SetBroadcastMethod(m BroadcastMethod) error { return n.b.SetBroadcastMethod(m) }

// MonitorThreshold is the number of nodes on a bearer up to which every node supervises
// every other.
func (n *Node) MonitorThreshold() int { return n.b.MonitorThreshold() }
