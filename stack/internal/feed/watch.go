// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"net"

	"github.com/utipc/utipc/stack/admin"
)

// Limits of watching.
const (
	maxNotices = 1024 // events that wait to be read, of one Watch
)

// A Watch is an admin.Watch.
type Watch struct {
	Queue Queue[admin.NodeEvent]
	Stop  func()
}

func NewWatch() *Watch {
	w := &Watch{Stop: func() {}}
	w.Queue.init(maxNotices)
	return w
}

// Next implements admin.Watch.
func (w *Watch) Next(ctx context.Context) (admin.NodeEvent, error) {
	ev, lost, err := w.Queue.next(ctx)
	ev.Lost += lost
	return ev, err
}

// Close implements admin.Watch.
func (w *Watch) Close() error {
	w.Queue.end(net.ErrClosed, true)
	w.Stop()
	return nil
}

// End ends it once what waits is read.
func (w *Watch) End(why error) { w.Queue.end(why, false) }
