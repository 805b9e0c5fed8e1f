// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"time"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// Links implements nodeBackend.
func (n *localNode) Links() []admin.Link {
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

// SetLink implements nodeBackend.
func (n *localNode) SetLink(peer NodeAddr, bearer string, c LinkConfig) error {
	return n.onBearer(bearer, func(now time.Duration, id int) error { return n.eng.SetLink(now, peer, id, c) })
}

// ResetStatistics implements nodeBackend.
func (n *localNode) ResetStatistics(peer NodeAddr, bearer string) error {
	return n.onBearer(bearer, func(now time.Duration, id int) error { return n.eng.ResetStatistics(now, peer, id) })
}

// onBearer lets change work on the engine, with the number of the bearer of that name.
func (n *localNode) onBearer(name string, change func(now time.Duration, id int) error) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	err := engine.ErrUnreachable
	now := n.loop.Now()
	if a := n.bearer(name); a != nil {
		err = change(now, a.id)
	}
	n.pollOnce(now, false)
	if err != nil {
		return opError("set", "tipc", nil, nil, err)
	}
	return nil
}

// impaired is an impairment as links show it.
func impaired(f engine.Impairment) string {
	if f == engine.Unimpaired {
		return ""
	}
	return f.String()
}
