// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// marked is what a deliberate mistake was made in: it is made again where that is sent
// again.
type marked struct {
	done bool
	it   frame.NameItem
	node frame.NodeAddr
}

// mutate reports whether the deliberate mistake m is to be made now, once, where it can
// be.
func (c *cluster) mutate(m Mutation, can bool) bool {
	if c.Mutation != m || !can {
		return false
	}
	c.occasions++
	return c.occasions == 5
}

// spoilSent makes a deliberate mistake in a frame that is about to leave.
func (c *cluster) spoilSent(b *netdev.Buffer) {
	if c.Mutation != OmitWithdrawal && c.Mutation != SkipUpdate {
		return
	}
	msg := b.Bytes()[frame.EthernetLen:]
	m, err := frame.Parse(msg)
	if err != nil {
		return
	}
	n, err := frame.ParseNames(m)
	if err != nil || n.Bulk() || n.Len() != 1 {
		return
	}
	var it frame.NameItem
	for it = range n.Items() {
	}
	x := &c.marked
	if !x.done && c.mutate(c.Mutation, c.Mutation == SkipUpdate || n.Withdrawal()) {
		*x = marked{true, it, n.Orig()}
	}
	if !x.done || x.it != it || x.node != n.Orig() {
		return
	}
	if c.Mutation == SkipUpdate {
		setSeq := uint16(n.UpdateSeq() + 100)
		msg[18], msg[19] = byte(setSeq>>8), byte(setSeq)
	} else {
		msg[len(msg)-1] ^= 0xff // of another key
	}
	x.it = frame.NameItem{}
}

// spoilReceived makes a deliberate mistake in a frame that a node is about to be handed.
func (c *cluster) spoilReceived(b *netdev.Buffer) {
	if c.Mutation != IgnoreBarrier {
		return
	}
	msg := b.Bytes()[frame.EthernetLen:]
	if m, err := frame.Parse(msg); err == nil {
		if p, err := frame.ParsePayload(m); err == nil && p.Type() == frame.McastMsg && p.Syn() && p.Error() == frame.OK {
			msg[1] &^= 2 // w0[17]
		}
	}
}

// again returns a packet of the broadcast link that comes twice, the second time under
// the next number.
func (c *cluster) again(b *netdev.Buffer) *packet {
	if c.Mutation != CastTwice {
		return nil
	}
	m, err := frame.Parse(b.Bytes()[frame.EthernetLen:])
	if err != nil || !m.NonSeq() {
		return nil
	}
	p, err := frame.ParsePayload(m)
	if err != nil || p.Type() != frame.McastMsg || !c.mutate(CastTwice, true) {
		return nil
	}
	x := append([]byte(nil), b.Bytes()...)
	frame.StampSeq(x[frame.EthernetLen:], m.Seq()+1)
	return &packet{bytes: x}
}
