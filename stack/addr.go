// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
)

// What is known from package frame, under the names programs use.
type (
	// A NodeAddr is a node's 32-bit address.
	NodeAddr = frame.NodeAddr
	// An Identity is a node's 128-bit identity.
	Identity = frame.Identity
	// A Service is a type and an instance: whoever has bound it answers.
	Service = frame.Service
	// A Range is a type and its instances from Lower to Upper.
	Range = frame.Range
	// A SocketAddr is the address of one socket.
	SocketAddr = frame.SocketAddr
	// An Importance is the class in which a message waits for a busy link.
	Importance = frame.Importance
	// A Scope says how far a binding reaches.
	Scope = frame.Scope
	// An ErrorCode says why a message came back.
	ErrorCode = frame.ErrorCode
	// A Method is how multicast messages reach other nodes.
	Method = engine.Method
)

// Methods of multicast. What a socket sends arrives in order also when it changes.
const (
	Auto      = engine.Auto      // copies where receivers are on one node, or few of many, else broadcast
	Broadcast = engine.Broadcast // once, to all nodes
	Replicast = engine.Replicast // a copy to each node that has receivers
)

// Importances and scopes, as in package frame.
const (
	Low      = frame.Low
	Medium   = frame.Medium
	High     = frame.High
	Critical = frame.Critical

	ClusterScope = frame.ClusterScope
	NodeScope    = frame.NodeScope
)

// Reserved service types a program may watch.
const (
	NodeState = naming.NodeState // {0,A,A} exists while node A is there
	LinkState = naming.LinkState // {2,P,P} exists while a link to node P is up
)

// AllNodes is the range to watch for nodes that come and go.
// In an event Range.Lower is the node's address; the own node is one of them.
var AllNodes = Range{Type: NodeState, Upper: 1<<32 - 1}

// AllLinks is the range to watch for links of this node that come and go. In an event
// Range.Lower is the address of the node at the other end, Socket.Node the own one, and
// Socket.Port tells links to one node apart: the number of the bearer there in the
// upper 16 bits, of the bearer here in the lower. Such bindings have NodeScope; with
// SubscriptionConfig.Ranges two links to one node are one range.
var AllLinks = Range{Type: LinkState, Upper: 1<<32 - 1}

// ParseAddr reads the text form of a Service ("18888:17", "18888:17@1001002"), a
// Range ("18888:0-99") or a SocketAddr ("<1001002:134550589>"), or the host form that Host
// returns, which fits URLs: "18888-17.tipc", "18888-17.1001002.tipc", "18888-0-99.tipc",
// "134550589.1001002.tipc". All of them are comparable: ParseAddr(a.String()) == a for
// every address of a Service, Range or SocketAddr that a program gets, and so with Host.
func ParseAddr(s string) (net.Addr, error) { return frame.ParseAddr(s) }

// ParseNodeAddr reads a node's address, "1001002" or "1.1.2".
func ParseNodeAddr(s string) (NodeAddr, error) { return frame.ParseNodeAddr(s) }

// ParseIdentity reads a node's identity: 32 hexadecimal digits or up to 16
// printable characters.
func ParseIdentity(s string) (Identity, error) { return frame.ParseIdentity(s) }
