// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"syscall"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// LinkProperty implements nodeBackend.
func (n *localNode) LinkProperty(link string, p admin.Property) (int, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	v, err := n.linkProperty(link, p)
	return v, manageError("get", err)
}

func (n *localNode) linkProperty(link string, p admin.Property) (int, error) {
	if link == admin.BroadcastLinkName && p == admin.PropertyWindow {
		return n.castWindow(), nil
	}
	s, err := n.linkNamed(link)
	if err != nil {
		return 0, err
	}
	switch p {
	case admin.PropertyPriority:
		return int(s.Priority), nil
	case admin.PropertyTolerance:
		return int(s.Tolerance.Milliseconds()), nil
	case admin.PropertyWindow:
		return s.Window, nil
	}
	return 0, noProperty(p)
}

// SetLinkProperty implements nodeBackend.
func (n *localNode) SetLinkProperty(link string, p admin.Property, value int) error {
	return n.manage("set", func() error { return n.setLinkProperty(link, p, value) })
}

func (n *localNode) setLinkProperty(link string, p admin.Property, value int) error {
	if err := checkProperty(p, value); err != nil {
		return err
	}
	if link == admin.BroadcastLinkName && p == admin.PropertyWindow {
		n.bcastWindow = value
		return nil
	}
	s, err := n.linkNamed(link)
	if err != nil {
		return err
	}
	if p == admin.PropertyMTU {
		return noProperty(p)
	}
	now := n.loop.Now()
	err = n.eng.SetLink(now, s.Peer, s.Bearer, changeOf(p, value, s.MinWindow))
	n.pollOnce(now, false)
	return err
}

// castWindow is the window of the broadcast link that was set.
func (n *localNode) castWindow() int { return cmp.Or(n.bcastWindow, leastWindow) }

// linkNamed finds a link by its name. Errors: *Refusal with EINVAL.
func (n *localNode) linkNamed(name string) (engine.LinkStatus, error) {
	for s := range n.eng.Peers(n.loop.Now()) {
		if s.Name == name && name != "" {
			return s, nil
		}
	}
	return engine.LinkStatus{}, &admin.Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: no link %.80q", ErrUnreachable, name)}
}

// ResetLinkStatistics implements nodeBackend.
func (n *localNode) ResetLinkStatistics(link string) error {
	return n.manage("reset", func() error { return n.resetLinkStatistics(link) })
}

func (n *localNode) resetLinkStatistics(link string) error {
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

// Receptions implements nodeBackend.
func (n *localNode) Receptions() []admin.BroadcastReception {
	n.loop.Lock()
	defer n.loop.Unlock()
	return slices.Collect(n.eng.Receptions())
}

var broadcastMethods = map[string]engine.Method{"AUTOSELECT": engine.Auto, "BROADCAST": engine.Broadcast, "REPLICAST": engine.Replicast}

// BroadcastMethod implements nodeBackend.
func (n *localNode) BroadcastMethod() admin.BroadcastMethod {
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

// SetBroadcastMethod implements nodeBackend.
func (n *localNode) SetBroadcastMethod(m admin.BroadcastMethod) error {
	k, ok := broadcastMethods[m.Method]
	if !ok {
		return manageError("set", fmt.Errorf("%w: no broadcast method %.40q", ErrConfig, m.Method))
	}
	return n.manage("set", func() error { return n.eng.SetMulticast(k, m.Ratio) })
}

// MonitorThreshold implements nodeBackend.
func (n *localNode) MonitorThreshold() int {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.MonitorThreshold()
}

// manage lets the lock's holder change something, unless the node has ended.
func (n *localNode) manage(op string, change func() error) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	if n.closing {
		return manageError(op, net.ErrClosed)
	}
	return manageError(op, change())
}
