// SPDX-License-Identifier: Apache-2.0

package local

import (
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/admin"
)

// Names implements backend.Node.
func (n *Node) Names() []naming.Binding {
	var all []naming.Binding
	for c := (naming.Cursor{}); !c.Done(); {
		n.loop.Lock()
		n.eng.NextBindings(&c, lookPart, func(b naming.Binding) { all = append(all, b) })
		n.loop.Unlock()
	}
	return all
}

// Stats implements backend.Node.
func (n *Node) Stats() admin.Stats {
	n.loop.Lock()
	defer n.loop.Unlock()
	s := admin.Stats{Counters: n.eng.Counters(), Sockets: n.eng.Ports(), ChunksFree: n.arena.Free(), ChunksTotal: n.arena.Total(), WakeUps: n.loop.State().WakeUps, Kept: n.eng.Kept()}
	if c := n.eng.Conflict(); c.Node != 0 {
		name, _, _ := n.claim(&c.Claim)
		s.Conflict = admin.Conflict{Node: c.Node, Station: c.Claim.Station.String(), Bearer: name, Ago: n.loop.Now() - c.At, Times: c.Times}
	}
	for _, a := range n.attached {
		in, out := a.Device.Dropped()
		s.DeviceDropsIn += in
		s.DeviceDropsOut += out
	}
	return s
}

// Bearers implements backend.Node.
func (n *Node) Bearers() []admin.BearerStatus {
	n.loop.Lock()
	defer n.loop.Unlock()
	var all []admin.BearerStatus
	for _, a := range n.attached {
		s := admin.BearerStatus{Name: a.Device.Name(), Medium: a.medium().String(), BearerState: n.state(a), MTU: n.carriedOn(a), Unsent: a.n, Carried: a.carried(), Links: n.eng.Bearer(a.id), Spare: n.eng.Spares(n.loop.Now(), a.id)}
		if d, ok := as[ender](a.Device); ok {
			s.Local, s.Remote = d.Ends()
		}
		if d, ok := as[explainer](a.Device); ok {
			s.Driver, s.DriverReason = d.Explain()
		}
		all = append(all, s)
	}
	return append(all, n.withoutDevice()...)
}

func (a *attachment) carried() admin.Carried {
	c := admin.Carried{FramesIn: a.in, FramesOut: a.out}
	c.DropsIn, c.DropsOut = a.Device.Dropped()
	return c
}
