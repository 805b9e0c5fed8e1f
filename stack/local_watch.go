// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack/admin"
)

// Watch implements nodeBackend.
func (n *localNode) Watch(context.Context) (admin.Watch, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	switch {
	case n.closing:
		return nil, opError("watch", "tipc", nil, nil, net.ErrClosed)
	case len(n.watches) >= maxWatches:
		return nil, opError("watch", "tipc", nil, nil, refuse(syscall.EUSERS, "Too many watches."))
	}
	w := newWatch()
	w.stop = func() {
		n.loop.Lock()
		defer n.loop.Unlock()
		delete(n.watches, w)
	}
	n.watches[w] = struct{}{}
	return w, nil
}

// tellWatches tells those who watch. The node's lock is held.
func (n *localNode) tellWatches(ev admin.NodeEvent) {
	if len(n.watches) == 0 {
		return
	}
	ev.Time = time.Now()
	for w := range n.watches {
		w.queue.put(ev)
	}
}
