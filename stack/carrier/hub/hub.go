// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/utipc/utipc/frame"
)

// A Config shapes a segment; zero fields mean the defaults.
type Config struct {
	MTU   int // bytes of a frame behind its Ethernet header; default 1500
	Queue int // frames a port keeps for its receiver; default 1024, rounded up to a power of two
}

// A Hub is one Ethernet segment. It is safe for concurrent use.
type Hub struct {
	mtu      int
	queue    int
	mu       sync.Mutex // held while the table is replaced
	stations atomic.Pointer[table]
}

// A table is who is on the segment. It is never changed, only replaced, so that
// a frame on its way takes no lock but its receiver's.
type table struct {
	by  map[frame.MAC]*Port
	all []*Port // in the order they were plugged in
}

// New makes a segment without stations.
func New(c Config) *Hub {
	if c.MTU <= 0 {
		c.MTU = 1500
	}
	if c.Queue <= 0 {
		c.Queue = 1024
	}
	h := &Hub{mtu: c.MTU, queue: 1 << bits.Len(uint(c.Queue-1))}
	h.stations.Store(&table{})
	return h
}

// Port plugs a station in. Frames reach it from the moment it is attached until
// it is closed; then its address is free for another port. Two ports may have
// one name, as interfaces of two hosts do. Errors: ErrName, ErrAddress,
// ErrAddressInUse.
func (h *Hub) Port(name string, mac frame.MAC) (*Port, error) {
	switch {
	case name == "" || len(name) > 15:
		return nil, fmt.Errorf("%w: %q", ErrName, name)
	case mac.IsGroup() || mac == frame.MAC{}:
		return nil, fmt.Errorf("%w: %v", ErrAddress, mac)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.stations.Load()
	if old.by[mac] != nil {
		return nil, fmt.Errorf("%w: %v", ErrAddressInUse, mac)
	}
	p := &Port{hub: h, name: name, mac: mac}
	h.replaceLocked(append(slices.Clone(old.all), p))
	return p, nil
}

// remove unplugs p, if it is plugged in.
func (h *Hub) remove(p *Port) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.stations.Load().all
	if i := slices.Index(all, p); i >= 0 {
		h.replaceLocked(slices.Delete(slices.Clone(all), i, i+1))
	}
}

func (h *Hub) replaceLocked(all []*Port) {
	t := &table{by: make(map[frame.MAC]*Port, len(all)), all: all}
	for _, p := range all {
		t.by[p.mac] = p
	}
	h.stations.Store(t)
}
