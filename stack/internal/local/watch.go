// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/feed"
)

// Watch implements backend.Node.
func (n *Node) Watch(context.Context) (admin.Watch, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	switch {
	case n.closing:
		return nil, backend.OpError("watch", "tipc", nil, nil, net.ErrClosed)
	case len(n.watches) >= maxWatches:
		return nil, backend.OpError("watch", "tipc", nil, nil, backend.Refuse(syscall.EUSERS, "Too many watches."))
	}
	w := feed.NewWatch()
	w.Stop = func() {
		n.loop.Lock()
		defer n.loop.Unlock()
		delete(n.watches, w)
	}
	n.watches[w] = struct{}{}
	return w, nil
}

// tellWatches tells those who watch. The node's lock is held.
func (n *Node) tellWatches(ev admin.NodeEvent) {
	if len(n.watches) == 0 {
		return
	}
	ev.Time = time.Now()
	for w := range n.watches {
		w.Queue.Put(ev)
	}
}

// maxWatches is how many a node has.
const maxWatches = 256

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
