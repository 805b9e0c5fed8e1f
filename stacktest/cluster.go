// SPDX-License-Identifier: Apache-2.0

package stacktest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/testhook"
	"github.com/utipc/utipc/stack"
)

// FirstAddr is the address of node 0; the others count up from there.
const FirstAddr stack.NodeAddr = 0x1001001

// Tolerance is how long a node may be silent outside of a bubble; within one it is the stack's own,
// 1.5 s.
const Tolerance = 20 * time.Second

// meetTimeout is how long nodes may take to meet: discovery and a link take milliseconds where
// nothing is lost, and a node in contact with one that crashed has to notice that first.
const meetTimeout = time.Minute

// A Config describes a cluster. Zero fields mean defaults.
type Config struct {
	Bearers int    // networks, each node is on all of them, 1 to 3; 0: 1. Their bearers are "eth0", "eth1", "eth2"
	MTU     int    // of the networks, in bytes; 0: 1500
	Seed    uint64 // of what is drawn: all draws of the nodes, keys included, and which frames are lost

	// Node changes what node i is opened with; it is called again when the node is restarted.
	// The bearers and the address are to be left alone.
	Node func(i int, c *stack.Config)
}

// A Cluster is some nodes in this process that are on the same networks. Its methods, but for Node
// and Nodes, and those of its Paths are for the test's goroutine: they may end the test.
type Cluster struct {
	t      testing.TB
	cfg    Config
	net    *network
	bubble bool
	group  *goroutines

	mu    sync.Mutex // guards lives
	lives []*life    // the present one of each node
}

// A life is a node from its opening to its end.
type life struct {
	*stack.Node
	hook  *testhook.Hook
	ports []*port
	count int // of lives of the node before this one
}

// NewCluster opens nodes 0 to n-1, and returns when all have met. It is Config{}.NewCluster.
func NewCluster(t testing.TB, n int) *Cluster {
	t.Helper()
	return Config{}.NewCluster(t, n)
}

// NewCluster opens nodes 0 to n-1, and returns when all have met: each knows each other as up, so
// that messages reach them, and names that are bound from now on. The nodes end with the test,
// with t.Cleanup; what is left open then is an error of the test, see the package comment. A
// node that cannot be opened ends the test.
func (cfg Config) NewCluster(t testing.TB, n int) *Cluster {
	t.Helper()
	cfg.Bearers = max(cfg.Bearers, 1)
	c := &Cluster{t: t, cfg: cfg, bubble: inBubble(), group: label(t)}
	c.net = newNetwork(cfg, n, c.bubble)
	t.Cleanup(c.end)
	for i := range n {
		c.lives = append(c.lives, c.open(i, 0))
	}
	c.Meet()
	return c
}

// open opens node i.
func (c *Cluster) open(i, count int) *life {
	c.t.Helper()
	l := &life{hook: &testhook.Hook{Seed: mix(c.cfg.Seed, uint64(i), uint64(count))}, count: count}
	cfg := stack.Config{Address: FirstAddr + stack.NodeAddr(i), Wait: stack.Sleep, Chunks: 1024}
	if !c.bubble {
		cfg.Tolerance = Tolerance
	}
	for b := range c.cfg.Bearers {
		p, err := c.net.port(b, i)
		if err != nil {
			c.t.Fatalf("stacktest: node %d: %v", i, err)
		}
		l.ports = append(l.ports, p)
		cfg.Bearers = append(cfg.Bearers, p)
	}
	if c.cfg.Node != nil {
		c.cfg.Node(i, &cfg)
	}
	var err error
	if l.Node, err = stack.Open(testhook.With(context.Background(), l.hook), cfg); err != nil {
		c.t.Fatalf("stacktest: node %d: %v", i, err)
	}
	c.settle()
	return l
}

// Node returns node i. When it was restarted that is the new one.
func (c *Cluster) Node(i int) *stack.Node { return c.life(i).Node }

// Nodes returns all nodes.
func (c *Cluster) Nodes() (all []*stack.Node) {
	for _, l := range c.all() {
		all = append(all, l.Node)
	}
	return all
}

func (c *Cluster) life(i int) *life {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lives[i]
}

func (c *Cluster) all() []*life {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lives)
}

// isOpen reports whether a node has not ended.
func (l *life) isOpen() bool { return l.Err() == nil }

// Meet waits until all nodes that have not ended know each other as up, but for pairs whose paths
// are all cut. A node that has not noticed yet that another is gone, and has come back,
// counts as one that knows it. After a minute without it ends the test, and says who has not met.
func (c *Cluster) Meet() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), meetTimeout)
	defer cancel()
	lives := c.all()
	var apart []string
	for i, a := range lives {
		for j, b := range lives {
			if i == j || !a.isOpen() || !b.isOpen() || c.net.parted(i, j) {
				continue
			}
			if err := a.WaitFor(ctx, stack.Service{Type: stack.NodeState, Instance: uint32(b.Addr())}); err != nil {
				apart = append(apart, fmt.Sprintf("node %d knows nothing of node %d: %v", i, j, err))
			}
		}
	}
	for _, s := range apart {
		c.t.Errorf("stacktest: %s", s)
	}
	if apart != nil {
		c.t.FailNow()
	}
	c.settle()
}

// mix makes a seed of a seed and what it is for.
func mix(seed uint64, of ...uint64) uint64 {
	for _, x := range of {
		seed ^= x + 0x9e3779b97f4a7c15
		seed *= 0xd6e8feb86659fd93
		seed ^= seed >> 32
	}
	return seed
}
