// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A Choice is the slots of the keys that a packet is sent under: each but the last
// is that of a copy which goes before.
type Choice struct {
	n    uint8
	slot [3]uint8
}

// Slots returns the slots, in the order of sending; none where the packet is to be dropped.
func (c *Choice) Slots() []uint8 { return c.slot[:c.n] }

// Len is the number of packets to send.
func (c Choice) Len() int { return int(c.n) }

// Slot is the slot of the i-th packet to send.
func (c Choice) Slot(i int) uint8 { return c.slot[i] }

func (c *Choice) add(slot uint8) {
	c.slot[c.n] = slot
	c.n++
}

// Choose says under which keys a packet of a kind goes to a node, nil for discovery
// and for the broadcast link. Copies let the receivers try a pending key, and
// reach those who have the master key alone; the numbers of the links remove the doubles.
//
//	pending    alone, or to those who use it; else a copy of what is for nodes and links,
//	           and of what is for all, while there is a node that came with it: one
//	           that started since may have been given no older key
//	master     alone, or to those who use no other; a copy where not all may have it
//	active     else
//
// Source: docs/spec/09-security.md §4.1.
func (r *Ring) Choose(now time.Duration, to *Peer, kind Kind) (c Choice) {
	if r.pending != 0 {
		if r.tx[0] == nil && r.active == 0 || to != nil && to.reported == r.pending {
			c.add(r.pending)
			return c
		}
		if kind.probes() || to == nil && r.only[r.pending] > 0 {
			c.add(r.pending)
		}
	}
	if r.tx[0] != nil {
		switch {
		case r.active == 0:
			c.add(MasterSlot)
			return c
		case !kind.masters() && now >= r.grace:
		case to != nil:
			if to.master && to.reported == 0 {
				c.add(MasterSlot)
				return c
			}
		case now >= r.legacy:
			c.add(MasterSlot)
			return c
		default:
			c.add(MasterSlot)
		}
	}
	if r.active != 0 {
		c.add(r.active)
	}
	return c
}

// Seal seals plain to a node, nil for discovery and the broadcast link, under the
// key of a slot that Choose named, as Sender.Seal does. Errors: those, and ErrNoKey.
func (r *Ring) Seal(dst, plain []byte, to *Peer, slot uint8) (int, error) {
	t := r.tx[slot]
	if t == nil {
		r.counters.NoTX++
		return 0, ErrNoKey
	}
	bits, dest := uint32(slot)<<6, frame.NodeAddr(0)
	if r.tx[0] != nil {
		bits |= masterBit
	}
	if to != nil {
		dest = to.addr
		bits |= destined | uint32(to.active)<<4
		if to.noKey {
			bits |= noKeyBit
		}
	}
	n, err := t.pack(dst, plain, bits, dest, &r.identity)
	switch err {
	case nil:
		r.counters.Sealed++
	case ErrSpent:
		r.counters.Spent++
	}
	return n, err
}
