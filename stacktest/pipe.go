// SPDX-License-Identifier: Apache-2.0

package stacktest

import (
	"context"
	"testing"

	"github.com/utipc/utipc/stack"
)

// Pipe returns the two ends of a connection between two nodes of a cluster in memory, a stream, as
// net.Pipe does; but writes do not wait for reads. They are closed with the test, by t.Cleanup,
// or before. For a connection that keeps messages apart, see Cluster.Pipe.
func Pipe(t testing.TB) (a, b *stack.Conn) {
	t.Helper()
	return NewCluster(t, 2).Pipe("tipc", 0, 1)
}

// Pipe returns the two ends of a connection from node i to node j, by network "tipc", a stream, or
// "tipcpacket", which keeps messages apart. They are closed with the test, by t.Cleanup, or before.
func (c *Cluster) Pipe(network string, i, j int) (a, b *stack.Conn) {
	c.t.Helper()
	c.check(i, j)
	ctx, cancel := context.WithTimeout(context.Background(), meetTimeout)
	defer cancel()
	ln, err := c.Node(j).Listen(ctx, network, nil)
	if err != nil {
		c.t.Fatalf("stacktest: %v", err)
	}
	defer ln.Close()
	dialed := make(chan error, 1)
	go func() {
		var err error
		if a, err = c.Node(i).Dial(ctx, network, ln.Addr()); err != nil {
			ln.Close()
		}
		dialed <- err
	}()
	b, err = ln.AcceptConn()
	if dial := <-dialed; dial != nil {
		err = dial
	}
	if err != nil {
		c.t.Fatalf("stacktest: %v", err)
	}
	c.t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}
