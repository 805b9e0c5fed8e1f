// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
)

const (
	defaultSettle       = 500 * time.Millisecond
	defaultAuditTimeout = 8 * time.Second
	auditsAtOnce        = 8       // nodes asked at a time
	strangers           = 1 << 16 // events a node may tell beside one for each binding here
)

// Audit implements backend.Node.
func (n *Node) Audit(ctx context.Context, c admin.AuditConfig) (*admin.AuditReport, error) {
	r, err := n.audit(ctx, c)
	if err != nil {
		return nil, backend.OpError("audit", "tipc", nil, nil, err)
	}
	return r, nil
}

func (n *Node) audit(ctx context.Context, c admin.AuditConfig) (*admin.AuditReport, error) {
	if c.Settle < 0 || c.Timeout < 0 {
		return nil, fmt.Errorf("%w: a negative time of an audit", engine.ErrConfig)
	}
	if c.Settle == 0 {
		c.Settle = defaultSettle
	}
	if c.Timeout == 0 {
		c.Timeout = defaultAuditTimeout
	}
	a := &audit{AuditConfig: c, n: n}
	nodes, err := n.contacts()
	if err != nil {
		return nil, err
	}
	r := &admin.AuditReport{Node: n.Addr(), Nodes: nodes}
	own := n.census()
	r.Bindings, r.Types = own.all, own.types(c.Types)
	var all []*admin.NodeAudit
	for i := range r.Nodes {
		all = append(all, &r.Nodes[i])
	}
	if err := a.round(ctx, all, func(x *admin.NodeAudit) {
		a.compare(ctx, x, own, r.Types)
	}); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(x *admin.NodeAudit) bool { return x.Err != nil || len(x.Lacks)+len(x.Extra) == 0 })
	if len(all) == 0 {
		return r, nil
	}
	if err := a.settle(ctx); err != nil {
		return nil, err
	}
	own = n.census()
	return r, a.round(ctx, all, func(x *admin.NodeAudit) { a.compareAgain(ctx, x, own) })
}

// An audit is one that is being done.
type audit struct {
	admin.AuditConfig
	n *Node
}

// settle waits until what differs is asked about again. Errors: net.ErrClosed, the
// context's.
func (a *audit) settle(ctx context.Context) error {
	n := a.n
	n.loop.Lock()
	defer n.loop.Unlock()
	by := time.Now().Add(a.Settle)
	c := poll.Wait{List: &n.settling, Closed: &n.closing, By: &by, Ctx: ctx}
	defer n.loop.Leave(&c)
	if err := n.loop.Await(&c, func() bool { return false }); err != os.ErrDeadlineExceeded {
		return err
	}
	return nil
}

// round compares with several nodes at a time. Errors: net.ErrClosed, the context's.
func (a *audit) round(ctx context.Context, all []*admin.NodeAudit, compare func(*admin.NodeAudit)) error {
	var done sync.WaitGroup
	next := make(chan *admin.NodeAudit)
	for range min(auditsAtOnce, len(all)) {
		done.Go(func() {
			for x := range next {
				compare(x)
			}
		})
	}
	for _, x := range all {
		next <- x
	}
	close(next)
	done.Wait()
	for _, x := range all {
		if x.Err == net.ErrClosed {
			return net.ErrClosed
		}
	}
	return ctx.Err()
}

// compare asks a node about types and compares with own. What own has of others, the
// node seems to lack.
func (a *audit) compare(ctx context.Context, x *admin.NodeAudit, own census, types []uint32) {
	told, err := a.ask(ctx, x.Node, types, own.all+strangers)
	if err != nil {
		x.Err = err
		return
	}
	x.Bindings = told.all
	for _, d := range naming.Audit([]naming.Copy{{Node: a.n.Addr(), Bindings: own.each}, {Node: x.Node, Bindings: told.each}}) {
		if d.Lack[0] == x.Node {
			x.Lacks = append(x.Lacks, d.Binding)
		} else {
			x.Extra = append(x.Extra, d.Binding)
		}
	}
}

// compareAgain keeps, of what differs, that which still does.
func (a *audit) compareAgain(ctx context.Context, x *admin.NodeAudit, own census) {
	var types []uint32
	for _, b := range slices.Concat(x.Lacks, x.Extra) {
		types = append(types, b.Range.Type)
	}
	slices.Sort(types)
	types = slices.Compact(types)
	again := admin.NodeAudit{Node: x.Node}
	if a.compare(ctx, &again, own, types); again.Err != nil {
		x.Err = again.Err
		return
	}
	x.Lacks, x.Extra = inBoth(x.Lacks, again.Lacks), inBoth(x.Extra, again.Extra)
}

// inBoth is what is in x and in y, without what told equal bindings apart.
func inBoth(x, y []naming.Binding) (all []naming.Binding) {
	in := map[naming.Binding]bool{}
	for _, b := range y {
		in[b] = true
	}
	for _, b := range x {
		if in[b] {
			b.Key = 0
			all = append(all, b)
		}
	}
	return all
}

// A census is how often each socket is bound to each range, in cluster scope; the keys
// are zero.
type census struct {
	count map[naming.Binding]int
	all   int // the sum of these
}

func (c *census) add(r frame.Range, at frame.SocketAddr) {
	c.count[naming.Binding{Range: r, Scope: frame.ClusterScope, Socket: at}]++
	c.all++
}

// take reports false if there is no such binding.
func (c *census) take(r frame.Range, at frame.SocketAddr) bool {
	b := naming.Binding{Range: r, Scope: frame.ClusterScope, Socket: at}
	if c.count[b] == 0 {
		return false
	}
	c.count[b]--
	c.all--
	return true
}

// each yields every binding; equal ones have keys 0, 1, 2 and so on.
func (c census) each(yield func(naming.Binding) bool) {
	for b, k := range c.count {
		for i := range uint32(k) {
			if b.Key = i; !yield(b) {
				return
			}
		}
	}
}

// types returns the types that something is bound to and more, in order, each once.
func (c census) types(more []uint32) []uint32 {
	in := map[uint32]bool{}
	for b := range c.count {
		in[b.Range.Type] = true
	}
	for _, t := range more {
		in[t] = true
	}
	return slices.Sorted(maps.Keys(in))
}

// contacts is a report without content on every node that there is contact with.
// Errors: net.ErrClosed.
func (n *Node) contacts() (all []admin.NodeAudit, err error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return nil, err
	}
	for a := range n.eng.Contacts {
		all = append(all, admin.NodeAudit{Node: a})
	}
	return all, nil
}

// census counts the bindings of this node's table.
func (n *Node) census() census {
	n.loop.Lock()
	defer n.loop.Unlock()
	c := census{count: map[naming.Binding]int{}}
	for b := range n.eng.Bindings {
		if b.Scope == frame.ClusterScope {
			c.add(b.Range, b.Socket)
		}
	}
	return c
}
