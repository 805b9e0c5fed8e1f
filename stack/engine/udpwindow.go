// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// udpWindow is how far the window of a link over UDP moves up among nodes of this
// implementation, in packets. A call gives the kernel 45 packets of a network with an MTU of
// 1500, which it carries as one, and takes as many: with the default window the sender stands
// still while the receiver works.
const udpWindow = 256

// udpShare is the part of the chunks for frames of a bearer that a large window may take.
const udpShare = 16

// suit makes a link that has come up do what it does with its peer alone. Over UDP, where
// frames come in large batches, a peer that has Batches gets an acknowledgement a batch, and
// where nobody has chosen a window, one that moves.
func (e *Engine) suit(now time.Duration, l *link) {
	b := l.bearer
	batches := b.Medium != nil && l.n.has(Batches) && !e.cfg.AsKernel
	l.AckBatches(batches)
	if l.tuned || b.tuned {
		return
	}
	least, most := b.Window, b.MaxWindow
	if batches && least == flowctl.DefaultWindow && most == flowctl.DefaultWindow {
		chunks := e.cfg.Arena.TotalFor(frame.EthernetLen + b.MTU)
		most = max(most, min(udpWindow, chunks/udpShare))
	}
	if a, b := l.WindowBounds(); a != least || b != most {
		l.SetWindow(now, least, most)
	}
}
