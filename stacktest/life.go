// SPDX-License-Identifier: Apache-2.0

package stacktest

import (
	"context"
	"time"

	"github.com/utipc/utipc/stack"
)

// closeTimeout is how long the orderly end of a node may take.
const closeTimeout = 10 * time.Second

// Crash ends node i as the end of its machine would: nothing more of it reaches the others, which
// notice after the tolerance of their links, and nothing reaches it. Its sockets are closed, so
// that calls on them return net.ErrClosed. For an end in order close the node:
// c.Node(i).Close(ctx).
func (c *Cluster) Crash(i int) {
	c.settle()
	c.life(i).crash()
	c.settle()
}

func (l *life) crash() {
	for _, p := range l.ports {
		p.disconnect()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l.Close(ctx) // what it has still to say nobody hears
}

// Restart opens node i anew, with its address, and returns it when it has met the others, see
// Meet. A node that has not ended is closed before, in order.
func (c *Cluster) Restart(i int) *stack.Node {
	c.t.Helper()
	old := c.life(i)
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	old.Close(ctx)
	c.settle()
	l := c.open(i, old.count+1)
	c.mu.Lock()
	c.lives[i] = l
	c.mu.Unlock()
	c.Meet()
	return l.Node
}

// end is the end of the test.
func (c *Cluster) end() {
	c.report()
	for _, l := range c.all() {
		l.crash()
	}
}
