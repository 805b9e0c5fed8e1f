// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// memory is the networks within this process, by name. They are never removed.
var memory struct {
	sync.Mutex
	hubs map[string]*hub.Hub
}

// openMemory is a port of the network that t names. Its station address has the node's
// address in it, so that no two nodes there have the same; without one the node gets the
// first free address from 1001001 on, and need not try it on the network.
func (c *Config) openMemory(t *netdev.Text) (Bearer, error) {
	if err := t.Unknown(); err != nil {
		return nil, err
	}
	memory.Lock()
	defer memory.Unlock()
	h := memory.hubs[t.Place]
	if h == nil {
		h = hub.New(hub.Config{})
		if memory.hubs == nil {
			memory.hubs = map[string]*hub.Hub{}
		}
		memory.hubs[t.Place] = h
	}
	if c.Address != 0 {
		return plugIn(h, c.Address)
	}
	for a := frame.NodeAddr(0x1001001); ; a++ {
		p, err := plugIn(h, a)
		if errors.Is(err, hub.ErrAddressInUse) {
			continue
		}
		c.Address = a
		return p, err
	}
}

func plugIn(h *hub.Hub, a frame.NodeAddr) (*hub.Port, error) {
	mac := frame.MAC{2}
	binary.BigEndian.PutUint32(mac[2:], uint32(a))
	return h.Port("eth0", mac)
}
