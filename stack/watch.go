// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// Limits of watching.
const (
	maxWatches = 256  // of one node
	maxNotices = 1024 // events that wait to be read, of one Watch
)

// ofEngine makes a NodeEvent of the engine's.
func ofEngine(ev engine.Event) admin.NodeEvent {
	x := admin.NodeEvent{Kind: admin.EventKind(ev.Kind.String()), Node: ev.Node, Link: ev.Link, Count: ev.Count}
	if ev.Cause != flowctl.NoCause {
		x.Reason = ev.Cause.String()
	}
	if ev.Fault != engine.Unimpaired {
		x.Reason = ev.Fault.String()
	}
	return x
}

// A watch is an admin.Watch.
type watch struct {
	queue waitQueue[admin.NodeEvent]
	stop  func()
}

func newWatch() *watch {
	w := &watch{stop: func() {}}
	w.queue.init(maxNotices)
	return w
}

// Next implements admin.Watch.
func (w *watch) Next(ctx context.Context) (admin.NodeEvent, error) {
	ev, lost, err := w.queue.next(ctx)
	ev.Lost += lost
	return ev, err
}

// Close implements admin.Watch.
func (w *watch) Close() error {
	w.queue.end(net.ErrClosed, true)
	w.stop()
	return nil
}

// end ends it once what waits is read.
func (w *watch) end(why error) { w.queue.end(why, false) }
