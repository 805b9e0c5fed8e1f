// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// An observer tells of frames that go out what cannot be seen in them once they are
// sealed, or without the frames before: that they were sent before. It costs nothing
// while it is off.
type observer struct {
	on     bool
	again  map[*netdev.Buffer]int // how often the packet was sent before; those that wait for their devices
	repeat int                    // of the frame that was taken last
}

// Observe turns observation on or off.
func (e *Engine) Observe(on bool) {
	e.observer = observer{on: on}
	if on {
		e.observer.again = map[*netdev.Buffer]int{}
	}
}

// Repeated says how often the packet in the frame that NextFrame returned last had been
// sent before, as far as it was observed.
func (e *Engine) Repeated() int { return e.observer.repeat }

// observe looks at a frame that is about to wait for its device.
func (e *Engine) observe(b *bearer, f *netdev.Buffer, to *node) {
	delete(e.observer.again, f) // a chunk comes again
	m, err := frame.Parse(f.Bytes()[frame.EthernetLen:])
	if err != nil {
		return
	}
	var l *flowctl.Link
	switch u := m.User(); {
	case m.NonSeq() && u != frame.UserDiscovery && e.cast.link != nil:
		l = e.cast.Link
	case !m.NonSeq() && u != frame.UserLink && to != nil && to.links[b.id] != nil:
		l = to.links[b.id].Link
	default:
		return
	}
	if k := l.Repeats(m.Seq()); k > 0 {
		e.observer.again[f] = k
	}
}

// taken notes that a device is about to have a frame.
func (o *observer) taken(f *netdev.Buffer) { o.repeat = o.again[f] }
