// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/utipc/utipc/stack"
)

// Limits of what is asked of others.
const (
	mostAsked   = 64                     // nodes whose topology services are asked
	mostTold    = 4096                   // links that one may tell of
	askAgain    = 2 * time.Second        // after one that could not be asked
	settleQuiet = 100 * time.Millisecond // without news, then all was told
)

// An asker knows what links other nodes have: it has a subscription at each.
type asker struct {
	n    *stack.Node
	ctx  context.Context
	stop context.CancelFunc
	all  sync.WaitGroup

	mu    sync.Mutex // guards what follows
	asked map[stack.NodeAddr]*askedNode
	news  time.Time // when somebody told something last
}

// An askedNode is what a node has told.
type askedNode struct {
	told  map[stack.SocketAddr]stack.NodeAddr // links that are up, by the socket of the binding: to whom
	err   error                               // why it tells nothing
	again time.Time                           // when it is to be asked once more
	busy  bool                                // a goroutine listens to it
}

func newAsker(n *stack.Node) *asker {
	a := &asker{n: n, asked: map[stack.NodeAddr]*askedNode{}}
	a.ctx, a.stop = context.WithCancel(context.Background())
	return a
}

// close ends the subscriptions.
func (a *asker) close() {
	a.stop()
	a.all.Wait()
}

// look asks nodes that are up and not asked yet, and forgets those that are not known
// any more. It does nothing when the daemon does not answer.
func (a *asker) look() {
	peers, err := a.n.Admin().Peers(a.ctx)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known := map[stack.NodeAddr]bool{}
	for _, p := range peers {
		known[p.Node] = true
		x := a.asked[p.Node]
		if !p.Up || x != nil && (x.busy || time.Now().Before(x.again)) {
			continue
		}
		if x == nil {
			x = &askedNode{}
			a.asked[p.Node] = x
		}
		if len(a.asked) > mostAsked {
			x.err = errors.New("not asked: there are too many nodes")
			continue
		}
		x.busy, x.err, x.told = true, nil, map[stack.SocketAddr]stack.NodeAddr{}
		a.all.Go(func() { a.listen(p.Node, x) })
	}
	for node, x := range a.asked {
		if !known[node] && !x.busy {
			delete(a.asked, node)
		}
	}
}

// listen hears what a node tells until it ends.
func (a *asker) listen(node stack.NodeAddr, x *askedNode) {
	err := a.hear(node, x)
	a.mu.Lock()
	defer a.mu.Unlock()
	x.busy, x.err, x.told, x.again = false, err, nil, time.Now().Add(askAgain)
}

func (a *asker) hear(node stack.NodeAddr, x *askedNode) error {
	sub, err := stack.SubscriptionConfig{At: node}.Subscribe(a.ctx, a.n, stack.AllLinks)
	if err != nil {
		return err
	}
	defer sub.Close()
	for {
		e, err := sub.Next(a.ctx)
		if err != nil {
			return err
		}
		key := e.Socket
		key.Node = stack.NodeAddr(e.Range.Lower) // one bearer leads to many nodes
		a.mu.Lock()
		if a.news = time.Now(); e.Withdrawn {
			delete(x.told, key)
		} else if len(x.told) < mostTold {
			x.told[key] = stack.NodeAddr(e.Range.Lower)
		}
		a.mu.Unlock()
	}
}

// settle asks everybody and waits until all have told what they have to, at most for a
// time: each has a link to this node, so one that has said nothing of that is not done.
func (a *asker) settle(ctx context.Context, most time.Duration) {
	end := time.Now().Add(most)
	for a.look(); time.Now().Before(end) && !a.settled(); a.look() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

func (a *asker) settled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, x := range a.asked {
		if x.busy && !x.knows(a.n.Addr()) {
			return false
		}
	}
	return time.Since(a.news) > settleQuiet
}

// knows reports whether the node has told of a link to another.
func (x *askedNode) knows(other stack.NodeAddr) bool {
	for _, to := range x.told {
		if to == other {
			return true
		}
	}
	return false
}
