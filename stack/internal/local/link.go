// SPDX-License-Identifier: Apache-2.0

package local

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// Links implements backend.Node.
func (n *Node) Links() []admin.Link {
	n.loop.Lock()
	defer n.loop.Unlock()
	var all []admin.Link
	for s := range n.eng.Peers(n.loop.Now()) {
		a := n.byID(s.Bearer)
		all = append(all, admin.Link{
			Peer: s.Peer, Identity: s.Identity, Bearer: a.Device.Name(), Name: s.Name, Up: s.Up, Active: s.Active,
			MTU: s.MTU, Tolerance: s.Tolerance, Priority: s.Priority, Senders: s.Senders, Ended: s.Ended, Impaired: impaired(s.Impaired),
			Statistics: s.Statistics, Device: a.carried(),
		})
	}
	return all
}

// SetLink implements backend.Node.
func (n *Node) SetLink(peer frame.NodeAddr, bearer string, c engine.LinkConfig) error {
	return n.manage("set", func() error {
		a := n.bearer(bearer)
		if a == nil {
			return engine.ErrNoLink
		}
		now := n.loop.Now()
		err := n.eng.SetLink(now, peer, a.id, c)
		n.pollOnce(now, false)
		return err
	})
}

// impaired is an impairment as links show it.
func impaired(f engine.Impairment) string {
	if f == engine.Unimpaired {
		return ""
	}
	return f.String()
}
