// SPDX-License-Identifier: Apache-2.0

package local

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"syscall"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// LinkProperty implements backend.Node.
func (n *Node) LinkProperty(link string, p control.Property) (int, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	v, err := n.linkProperty(link, p)
	return v, backend.ManageError("get", err)
}

func (n *Node) linkProperty(link string, p control.Property) (int, error) {
	if link == admin.BroadcastLinkName && p == control.PropertyWindow {
		return n.castWindow(), nil
	}
	s, err := n.linkNamed(link)
	if err != nil {
		return 0, err
	}
	switch p {
	case control.PropertyPriority:
		return int(s.Priority), nil
	case control.PropertyTolerance:
		return int(s.Tolerance.Milliseconds()), nil
	case control.PropertyWindow:
		return s.Window, nil
	}
	return 0, noProperty(p)
}

// SetLinkProperty implements backend.Node.
func (n *Node) SetLinkProperty(link string, p control.Property, value int) error {
	return n.manage("set", func() error { return n.setLinkProperty(link, p, value) })
}

func (n *Node) setLinkProperty(link string, p control.Property, value int) error {
	if err := checkProperty(p, value); err != nil {
		return err
	}
	if link == admin.BroadcastLinkName && p == control.PropertyWindow {
		n.bcastWindow = value
		return nil
	}
	s, err := n.linkNamed(link)
	if err != nil {
		return err
	}
	if p == control.PropertyMTU {
		return noProperty(p)
	}
	now := n.loop.Now()
	err = n.eng.SetLink(now, s.Peer, s.Bearer, changeOf(p, value, s.MinWindow))
	n.pollOnce(now, false)
	return err
}

// castWindow is the window of the broadcast link that was set.
func (n *Node) castWindow() int { return cmp.Or(n.bcastWindow, leastWindow) }

// linkNamed finds a link by its name. Errors: *Refusal with EINVAL.
func (n *Node) linkNamed(name string) (engine.LinkStatus, error) {
	for s := range n.eng.Peers(n.loop.Now()) {
		if s.Name == name && name != "" {
			return s, nil
		}
	}
	return engine.LinkStatus{}, &admin.Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: no link %.80q", engine.ErrNoLink, name)}
}

// ResetStatistics implements backend.Node.
func (n *Node) ResetStatistics(link string) error {
	return n.manage("reset", func() error { return n.resetStatistics(link) })
}

func (n *Node) resetStatistics(link string) error {
	now := n.loop.Now()
	if link == admin.BroadcastLinkName {
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

// Receptions implements backend.Node.
func (n *Node) Receptions() []admin.BroadcastReception {
	n.loop.Lock()
	defer n.loop.Unlock()
	return slices.Collect(n.eng.Receptions())
}

var broadcastMethods = map[string]engine.Method{"AUTOSELECT": engine.Auto, "BROADCAST": engine.Broadcast, "REPLICAST": engine.Replicast}

// BroadcastMethod implements backend.Node.
func (n *Node) BroadcastMethod() admin.BroadcastMethod {
	n.loop.Lock()
	defer n.loop.Unlock()
	m, ratio := n.eng.Multicast()
	for name, k := range broadcastMethods {
		if k == m {
			return admin.BroadcastMethod{Method: name, Ratio: ratio}
		}
	}
	return admin.BroadcastMethod{Ratio: ratio}
}

// SetBroadcastMethod implements backend.Node.
func (n *Node) SetBroadcastMethod(m admin.BroadcastMethod) error {
	k, ok := broadcastMethods[m.Method]
	if !ok {
		return backend.ManageError("set", fmt.Errorf("%w: no broadcast method %.40q", engine.ErrConfig, m.Method))
	}
	return n.manage("set", func() error { return n.eng.SetMulticast(k, m.Ratio) })
}

// MonitorThreshold implements backend.Node.
func (n *Node) MonitorThreshold() int {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.MonitorThreshold()
}

// manage lets the lock's holder change something, unless the node has ended.
func (n *Node) manage(op string, change func() error) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	if n.closing {
		return backend.ManageError(op, net.ErrClosed)
	}
	return backend.ManageError(op, change())
}
