// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/monitor"
)

// A supervision is the monitor of a bearer's neighbours, as their links see it.
type supervision struct{ *monitor.Monitor }

// Judge implements flowctl.Watch.
func (r supervision) Judge(a frame.NodeAddr) flowctl.Duty {
	p := r.Peer(a)
	if p == nil {
		return flowctl.Duty{Count: true}
	}
	return flowctl.Duty(r.Monitor.Judge(p))
}

// RecordLen implements flowctl.Watch.
func (r supervision) RecordLen(a frame.NodeAddr, room int) int {
	if !r.Active() {
		return 0
	}
	p := r.Peer(a)
	if p == nil {
		return 0
	}
	return r.Monitor.RecordLen(p, room)
}

// AppendRecord implements flowctl.Watch.
func (r supervision) AppendRecord(b []byte, a frame.NodeAddr, room int) []byte {
	if p := r.Peer(a); p != nil {
		b = r.Append(b, p, room)
	}
	return b
}

// Receive implements flowctl.Watch.
func (r supervision) Receive(a frame.NodeAddr, record []byte) {
	if p := r.Peer(a); p != nil {
		r.Monitor.Receive(p, record)
	}
}

// supervise makes the ring of a bearer, once there is somebody in it.
func (e *Engine) supervise(b *bearer) *supervision {
	if b.ring == nil {
		b.ring = &supervision{monitor.New(e.addr, e.cfg.MonitorThreshold)}
	}
	return b.ring
}

// ringDown notes that a link is down; gone, that there is none any more.
func (l *link) ringDown(gone bool) {
	r := l.bearer.ring
	if r == nil {
		return
	}
	p := r.Peer(l.n.addr)
	switch {
	case p == nil:
	case gone:
		r.Remove(p)
	default:
		r.Down(p)
	}
}

// SetMonitorThreshold changes the number of nodes on a bearer up to which every one
// supervises every other, at once. Errors: ErrConfig.
func (e *Engine) SetMonitorThreshold(n int) error {
	if !monitorable(n) {
		return errThreshold(n)
	}
	e.cfg.MonitorThreshold = n
	for _, b := range e.bearers {
		if b.ring != nil {
			b.ring.SetThreshold(n)
		}
	}
	return nil
}

func monitorable(n int) bool { return n >= 1 && n <= monitor.MaxThreshold }

func errThreshold(n int) error {
	return fmt.Errorf("%w: monitor threshold %d is not in 1 to %d", ErrConfig, n, monitor.MaxThreshold)
}

// MonitorThreshold returns it.
func (e *Engine) MonitorThreshold() int {
	if e.cfg.MonitorThreshold == 0 {
		return monitor.DefaultThreshold
	}
	return e.cfg.MonitorThreshold
}

// Monitor returns the state of a bearer's ring, and its members, this node first. ok is
// false for a bearer that is out of use.
func (e *Engine) Monitor(bearerID int) (s monitor.Status, rows []monitor.Row, ok bool) {
	b := e.bearers[bearerID]
	if b.removed || e.addr == 0 {
		return s, nil, false
	}
	r := e.supervise(b)
	return r.Status(), r.Rows(), true
}
