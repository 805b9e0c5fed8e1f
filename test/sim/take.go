// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
)

// take is called for each frame a device takes.
func (w *world) take(l *life, net int, o outgoing) {
	l.spoilBundle(o)
	b := o.buf.Bytes()
	l.spoilFrame(o.rec, b)
	w.report.Frames++
	w.note('f', b, uint64(l.serial), uint64(net))
	if w.cfg.Trace != nil {
		line, _ := describe.Message(b[frame.EthernetLen:])
		w.tracef("node %d, network %d: %s", l.n.idx, net, line)
	}
	if !w.cfg.Hostile {
		l.checkFrame(net, b, o.rec)
	}
	p := &packet{bytes: append([]byte(nil), b...), from: l, rec: o.rec}
	w.record(net, p.bytes)
	w.nets[net].carry(p)
}
