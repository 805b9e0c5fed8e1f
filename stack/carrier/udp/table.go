// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"net/netip"

	"github.com/utipc/utipc/frame"
)

// maxStations is the size of the table: the nodes an engine knows at most, and
// room for strangers.
const maxStations = 4096 + 1024

// A rank says what a station means to us.
type rank uint8

const (
	heard    rank = iota // sent us something
	answered             // and we sent it something
	kept                 // and there is a link
	fixed                // configured
)

// A station is an address and port that we deal with.
type station struct {
	mac        frame.MAC
	rank       rank
	linked     bool           // there is a link, whatever the rank
	addr       netip.AddrPort // without a zone
	to         sockaddr
	prev, next *station // in the list of its rank, heard and answered alone; the oldest is first
}

// A table finds stations by address and by MAC. A station is put in when it is
// heard first and leaves only to make room:
//
//	       hear            sent to             keep
//	(none) ───► heard ───────────► answered ◄──────► kept       fixed
//	              └──── displaced ────┘
//
// Everything costs the same however full it is.
type table struct {
	limit  int
	own    station
	byAddr map[netip.AddrPort]*station
	byMAC  map[frame.MAC]*station
	lists  [2]station // of heard and answered; rings through these
	copies []*station // who gets a copy of broadcasts when there is no group
	fixed  int        // stations of that rank
}

func newTable(own netip.AddrPort, limit int) *table {
	t := &table{limit: limit, byAddr: map[netip.AddrPort]*station{}, byMAC: map[frame.MAC]*station{}}
	t.own = station{addr: own, mac: hash(own)}
	for i := range t.lists {
		l := &t.lists[i]
		l.prev, l.next = l, l
	}
	return t
}

// hash makes a station address: locally administered, of one station, the rest
// FNV-1a of address and port.
func hash(a netip.AddrPort) frame.MAC {
	h := uint64(14695981039346656037)
	ip := a.Addr().As16()
	for _, b := range ip {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h = (h ^ uint64(a.Port()>>8)) * 1099511628211
	h = (h ^ uint64(a.Port()&0xff)) * 1099511628211
	h ^= h >> 48
	return frame.MAC{byte(h>>40)&^3 | 2, byte(h >> 32), byte(h >> 24), byte(h >> 16), byte(h >> 8), byte(h)}
}

// hear returns the station at an address, putting it in when it is not there. It
// returns nil when there is no room.
func (t *table) hear(addr netip.AddrPort, to sockaddr) (s *station, isNew, displaced bool) {
	if s := t.byAddr[addr]; s != nil {
		return s, false, false
	}
	if len(t.byAddr) >= t.limit {
		if s = t.oldest(); s == nil {
			return nil, false, false
		}
		t.unlink(s)
		delete(t.byAddr, s.addr)
		delete(t.byMAC, s.mac)
		displaced = true
	} else {
		s = new(station)
	}
	*s = station{addr: addr, to: to, mac: hash(addr)}
	for t.byMAC[s.mac] != nil || s.mac == t.own.mac {
		s.mac[5]++ // two addresses of one hash; at most limit of them
		if s.mac[5] == 0 {
			s.mac[4]++
		}
	}
	t.byAddr[addr], t.byMAC[s.mac] = s, s
	t.link(s, heard)
	return s, true, displaced
}

// oldest returns the station to be displaced, nil when all have to stay.
func (t *table) oldest() *station {
	for i := range t.lists {
		if l := &t.lists[i]; l.next != l {
			return l.next
		}
	}
	return nil
}

// station returns the one of a MAC that something is sent to, or nil.
func (t *table) station(mac frame.MAC) *station {
	s := t.byMAC[mac]
	if s != nil && s.rank <= answered {
		t.unlink(s)
		t.link(s, answered)
	}
	return s
}

// add puts in a station for good, unless all that are there have to stay.
func (t *table) add(addr netip.AddrPort, to sockaddr) {
	s, _, _ := t.hear(addr, to)
	if s == nil || s.rank == fixed {
		return
	}
	if s.rank <= answered {
		t.unlink(s)
		t.copies = append(t.copies, s)
	}
	s.rank = fixed
	t.fixed++
}

// keep notes that there is a link to a station, or none any more.
func (t *table) keep(mac frame.MAC, up bool) {
	s := t.byMAC[mac]
	if s == nil {
		return
	}
	switch s.linked = up; {
	case s.rank == fixed:
	case up && s.rank != kept:
		t.unlink(s)
		s.rank = kept
		t.copies = append(t.copies, s)
	case !up && s.rank == kept:
		t.loosen(s)
	}
}

// loosen makes a station that stayed one that may be displaced, and gets no broadcasts.
func (t *table) loosen(s *station) {
	for i, c := range t.copies {
		if c == s {
			last := len(t.copies) - 1
			t.copies[i], t.copies[last] = t.copies[last], nil
			t.copies = t.copies[:last]
			break
		}
	}
	t.link(s, answered)
}

// remove makes a station that was put in for good one like others: it stays as long as
// there is a link.
func (t *table) remove(addr netip.AddrPort) {
	s := t.byAddr[addr]
	if s == nil || s.rank != fixed {
		return
	}
	t.fixed--
	if s.linked {
		s.rank = kept
		return
	}
	t.loosen(s)
}

// link puts a station behind all others of a rank.
func (t *table) link(s *station, r rank) {
	l := &t.lists[r]
	s.rank, s.prev, s.next = r, l.prev, l
	l.prev.next, l.prev = s, s
}

func (t *table) unlink(s *station) {
	s.prev.next, s.next.prev = s.next, s.prev
	s.prev, s.next = nil, nil
}
