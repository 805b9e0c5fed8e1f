// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"fmt"
	"slices"
	"syscall"

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
func (n *Node) LinkProperty(link string, p Property) (int, error) {
	if n.far != nil {
		return getFar(n, "link-property", link, p)
	}
	n.mu.Lock()
	defer n.unlock()
	v, err := n.linkProperty(link, p)
	return v, manageError("get", err)
}

func (n *Node) linkProperty(link string, p Property) (int, error) {
	if link == BroadcastLinkName && p == PropertyWindow {
		return n.castWindow(), nil
	}
	s, err := n.linkNamed(link)
	if err != nil {
		return 0, err
	}
	switch p {
	case PropertyPriority:
		return int(s.Priority), nil
	case PropertyTolerance:
		return int(s.Tolerance.Milliseconds()), nil
	case PropertyWindow:
		return s.Window, nil
	}
	return 0, p.refusal()
}

// SetLinkProperty changes one value of the link of that name, within the bounds of
// Property, at once; see SetLink. The window is the largest that there may be. Of the
// broadcast link, that can be set too, but never are more than 50 packets under way
// there: no receiver could bear more. Errors as of LinkProperty.
func (n *Node) SetLinkProperty(link string, p Property, value int) error {
	if n.far != nil {
		return tellFar(n, "set-link-property", propertyWords{link, p, value})
	}
	return n.manage("set", func() error { return n.setLinkProperty(link, p, value) })
}

func (n *Node) setLinkProperty(link string, p Property, value int) error {
	if err := p.check(value); err != nil {
		return err
	}
	if link == BroadcastLinkName && p == PropertyWindow {
		n.bcastWindow = value
		return nil
	}
	s, err := n.linkNamed(link)
	if err != nil {
		return err
	}
	if p == PropertyMTU {
		return p.refusal()
	}
	now := n.now()
	err = n.eng.SetLink(now, s.Peer, s.Bearer, p.change(value, s.MinWindow))
	n.lap(now, false)
	return err
}

// castWindow is the window of the broadcast link that was set.
func (n *Node) castWindow() int { return cmp.Or(n.bcastWindow, leastWindow) }

// linkNamed finds a link by its name. Errors: *Refusal with EINVAL.
func (n *Node) linkNamed(name string) (engine.LinkStatus, error) {
	for s := range n.eng.Peers(n.now()) {
		if s.Name == name && name != "" {
			return s, nil
		}
	}
	return engine.LinkStatus{}, &Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: no link %.80q", ErrUnreachable, name)}
}

// ResetLinkStatistics sets the counters of the link of that name to 0: also those of
// "broadcast-link", and of what came on a peer's, "broadcast-link:1001002".
// Errors, inside *net.OpError: a *Refusal with EINVAL.
func (n *Node) ResetLinkStatistics(link string) error {
	if n.far != nil {
		return tellFar(n, "reset-link-statistics", link)
	}
	return n.manage("reset", func() error { return n.resetLinkStatistics(link) })
}

func (n *Node) resetLinkStatistics(link string) error {
	now := n.now()
	if link == BroadcastLinkName {
		n.eng.ResetBroadcastStatistics(now)
		return nil
	}
	for r := range n.eng.Receptions() {
		if r.Name == link {
			return n.eng.ResetReception(r.Peer)
		}
	}
	s, err := n.linkNamed(link)
	if err != nil {
		return err
	}
	return n.eng.ResetStatistics(now, s.Peer, s.Bearer)
}

// A BroadcastReception is what came on another node's broadcast link.
type BroadcastReception = engine.BroadcastReception

// BroadcastReceptions returns what came on the broadcast links of the nodes there is
// contact with, by address.
func (n *Node) BroadcastReceptions() []BroadcastReception {
	if n.far != nil {
		return showFar[[]BroadcastReception](n, "receptions")
	}
	n.mu.Lock()
	defer n.unlock()
	return slices.Collect(n.eng.Receptions())
}

// A BroadcastMethod is how multicast messages of sockets that have no method of their
// own reach other nodes: "BROADCAST", on the broadcast link, "REPLICAST", a copy to each
// node, or "AUTOSELECT": copies for up to 1 and Ratio per cent of the other nodes.
type BroadcastMethod struct {
	Method string `json:"method"`
	Ratio  int    `json:"ratio"` // 1 to 100; 0, when it is set: no change
}

var broadcastMethods = map[string]engine.Method{"AUTOSELECT": engine.Auto, "BROADCAST": engine.Broadcast, "REPLICAST": engine.Replicast}

// BroadcastMethod returns it. Nodes begin with AUTOSELECT, and 10 per cent.
func (n *Node) BroadcastMethod() BroadcastMethod {
	if n.far != nil {
		return showFar[BroadcastMethod](n, "broadcast-method")
	}
	n.mu.Lock()
	defer n.unlock()
	m, ratio := n.eng.Multicast()
	for name, k := range broadcastMethods {
		if k == m {
			return BroadcastMethod{name, ratio}
		}
	}
	return BroadcastMethod{Ratio: ratio}
}

// SetBroadcastMethod changes it, from the next message on.
// Errors, inside *net.OpError: a *Refusal with EINVAL.
func (n *Node) SetBroadcastMethod(m BroadcastMethod) error {
	if n.far != nil {
		return tellFar(n, "set-broadcast-method", m)
	}
	k, ok := broadcastMethods[m.Method]
	if !ok {
		return manageError("set", fmt.Errorf("%w: no broadcast method %.40q", ErrConfig, m.Method))
	}
	return n.manage("set", func() error { return n.eng.SetMulticast(k, m.Ratio) })
}

// MonitorThreshold is the number of nodes on a bearer up to which every node supervises
// every other.
func (n *Node) MonitorThreshold() int {
	if n.far != nil {
		return showFar[int](n, "monitor-threshold")
	}
	n.mu.Lock()
	defer n.unlock()
	return n.eng.MonitorThreshold()
}
