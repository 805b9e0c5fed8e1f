// SPDX-License-Identifier: Apache-2.0

package link

import (
	"encoding/binary"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// An oldPeer is a device that hides of every other node that it knows gap-ack blocks: what is
// lost is sent again by going back, as older nodes do. Where both nodes have
// one, neither makes such blocks.
type oldPeer struct{ netdev.Device }

func (e oldPeer) Receive(bufs []*netdev.Buffer) (int, error) {
	n, err := e.Device.Receive(bufs)
	for _, b := range bufs[:n] {
		hideBlocks(b.Bytes())
	}
	return n, err
}

// hideBlocks takes the capability out of a discovery message. Source: docs/spec/01-wire.md, word 1.
func hideBlocks(b []byte) {
	if len(b) < frame.EthernetLen+8 {
		return
	}
	m, err := frame.Parse(b[frame.EthernetLen:])
	if err != nil {
		return
	}
	if _, err := frame.ParseDiscovery(m); err != nil {
		return
	}
	word := b[frame.EthernetLen+4:]
	binary.BigEndian.PutUint32(word, binary.BigEndian.Uint32(word)&^(uint32(frame.CapGapAckBlock)<<15))
}
