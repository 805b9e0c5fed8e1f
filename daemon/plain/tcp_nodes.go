// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
)

// addressWait is for how long a connection waits for an address that no node has: as long as Linux asks
// for a host's Ethernet address.
const addressWait = 3 * time.Second

// A tcpNodes knows which node has which address: of those that bind it the one that was first.
type tcpNodes struct {
	wait time.Duration // for an address

	mu   sync.Mutex                  // guards the rest
	of   map[uint32][]frame.NodeAddr // in the order in which they bound it
	news chan struct{}               // closed when that changes
}

func newTCPNodes() *tcpNodes {
	return &tcpNodes{wait: addressWait, of: map[uint32][]frame.NodeAddr{}, news: make(chan struct{})}
}

// learn keeps who has which address, until ctx is done or the subscription ends.
func (t *tcpNodes) learn(ctx context.Context, sub *stack.Subscription) {
	for {
		ev, err := sub.Next(ctx)
		if err != nil {
			return
		}
		if ev.Range.Lower == ev.Range.Upper {
			t.note(ev.Range.Lower, ev.Socket.Node, !ev.Withdrawn)
		}
	}
}

// note takes down that a node has bound an address, or has it no more.
func (t *tcpNodes) note(ip uint32, node frame.NodeAddr, bound bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.of[ip]
	if bound {
		all = append(all, node)
	} else if i := slices.Index(all, node); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	if t.of[ip] = all; len(all) == 0 {
		delete(t.of, ip)
	}
	close(t.news)
	t.news = make(chan struct{})
}

// owner returns the node that has an address, 0 if none, and what is closed when that may have changed.
func (t *tcpNodes) owner(ip uint32) (node frame.NodeAddr, news <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if all := t.of[ip]; len(all) > 0 {
		node = all[0]
	}
	return node, t.news
}

// node returns the node that has an address, for which it waits. Errors: syscall.EHOSTUNREACH, the context's cause.
func (t *tcpNodes) node(ctx context.Context, ip uint32) (frame.NodeAddr, error) {
	return t.await(ctx, ip, func(n frame.NodeAddr) bool { return n != 0 })
}

// await waits until the node that has an address is as ok says, or t.wait is over. Errors: those of node.
func (t *tcpNodes) await(ctx context.Context, ip uint32, ok func(frame.NodeAddr) bool) (frame.NodeAddr, error) {
	ctx, stop := context.WithTimeoutCause(ctx, t.wait, syscall.EHOSTUNREACH)
	defer stop()
	for {
		n, news := t.owner(ip)
		if ok(n) {
			return n, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}
