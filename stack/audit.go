// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"time"
)

// An AuditConfig is how an audit is done; its zero value means the defaults.
type AuditConfig struct {
	// Types are service types to ask about, beside those that this node knows bindings
	// of. What no binding here shows is not asked unless it is named.
	Types []uint32
	// Settle is how long what differs is given until it is asked about again; zero:
	// 500 ms. It has to be longer than a change takes to every node.
	Settle time.Duration
	// Patience is how long a node may say nothing before it counts as one that could
	// not be asked; zero: 8 s.
	Patience time.Duration
}

// A NodeAudit is how the binding table of another node compares with this node's, by
// range and socket. Keys are not told by other nodes; they are zero.
type NodeAudit struct {
	Node     NodeAddr
	Bindings int       // of cluster scope, that it told of when it was asked first
	Lacks    []Binding // those here that it has not
	Extra    []Binding // those it has that are not here
	Err      error     // why it could not be asked; then the rest says nothing
}

// An AuditReport is what an audit found.
type AuditReport struct {
	Node     NodeAddr // this node
	Bindings int      // of cluster scope, here
	Types    []uint32 // that were asked about
	Nodes    []NodeAudit
}

// Differences is the number of bindings that differ, those of all nodes together.
func (r *AuditReport) Differences() (d int) {
	for _, a := range r.Nodes {
		d += len(a.Lacks) + len(a.Extra)
	}
	return d
}

// Unasked is the number of nodes that could not be asked.
func (r *AuditReport) Unasked() (k int) {
	for _, a := range r.Nodes {
		if a.Err != nil {
			k++
		}
	}
	return k
}

// Audit compares the binding tables of all nodes that there is contact with, with
// default options; see AuditConfig.Audit.
func (n *Node) Audit(ctx context.Context) (*AuditReport, error) { return AuditConfig{}.Audit(ctx, n) }

// Audit asks the topology service of every node that there is contact with, kernels
// too, for all bindings of cluster scope, and compares them with those here. Tables
// change while it is done: what differs is asked about a second time, Settle later,
// and reported if it differs in the same way still. It is for clusters in which every
// node has contact with every other. A node that cannot be asked, or is lost
// meanwhile, is reported with the reason.
// Errors, inside *net.OpError: ErrConfig, net.ErrClosed, the context's.
func (c AuditConfig) Audit(ctx context.Context, n *Node) (*AuditReport, error) {
	return n.b.Audit(ctx, c)
}
