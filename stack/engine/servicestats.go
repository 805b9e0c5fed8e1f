// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
)

// ServiceStats are what the sockets of a node have had to do with a service type. The
// first MaxServices types that a socket is bound to or sends to have a row each; all
// later ones share that of type 0.
type ServiceStats struct {
	Type                  uint32
	MessagesOut, BytesOut uint64 // sent to it by datagram, a multicast once
	MessagesIn, BytesIn   uint64 // sent to it by datagram that a socket of this node got, each copy of a multicast
	Connections           uint64 // made by it, at either end
	Unbound               uint64 // sends and requests that found nobody bound
}

// MaxServices is how many service types are counted apart.
const MaxServices = 1024

// services are the rows of a node.
type services struct {
	rows map[uint32]*ServiceStats
	rest ServiceStats
}

// row returns the row of a type that a socket of this node uses.
func (s *services) row(typ uint32) *ServiceStats {
	if r := s.rows[typ]; r != nil {
		return r
	}
	if len(s.rows) == MaxServices {
		return &s.rest
	}
	if s.rows == nil {
		s.rows = map[uint32]*ServiceStats{}
	}
	r := &ServiceStats{Type: typ}
	s.rows[typ] = r
	return r
}

// known returns the row of a type that came from elsewhere, which makes none.
func (s *services) known(typ uint32) *ServiceStats {
	if r := s.rows[typ]; r != nil {
		return r
	}
	return &s.rest
}

// sentTo counts a message to a service. Mostly it is the type of last time.
func (p *Port) sentTo(typ uint32, size int) {
	r := p.served.out
	if r == nil || r.Type != typ {
		r = p.e.services.row(typ)
		p.served.out = r
	}
	r.MessagesOut++
	r.BytesOut += uint64(size)
}

// gotAs counts a message that the socket got for a service.
func (p *Port) gotAs(typ uint32, size int) {
	r := p.served.in
	if r == nil || r.Type != typ {
		r = p.e.services.known(typ)
		p.served.in = r
	}
	r.MessagesIn++
	r.BytesIn += uint64(size)
}

// served are the rows that a socket counted in last.
type served struct{ in, out *ServiceStats }

// Services returns the rows that are in use, by type.
func (e *Engine) Services() []ServiceStats {
	var all []ServiceStats
	if e.services.rest != (ServiceStats{}) {
		all = append(all, e.services.rest)
	}
	for _, r := range e.services.rows {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b ServiceStats) int { return cmp.Compare(a.Type, b.Type) })
	return all
}
