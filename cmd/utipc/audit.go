// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

var auditCommand = cmdline.Command{
	Name:  "audit",
	Short: "compare the binding tables of all nodes",
	Usage: `utipc audit: compare the binding tables of all nodes.

    utipc audit [FLAGS]

The node waits for contact with all others, kernels too, asks
their topology services for all bindings of cluster scope, and compares these with
its own table. What differs is asked about a second time half a second later: what
was only on its way is no difference. A line for each node, then what differs, and
last "differences: N". It exits with 1 when there are differences, or a node could
not be asked.

Every node must have contact with every other. Service types that nothing in this
node's table is bound to are not asked about, unless --types names them.

{flags}

    utipc audit --if eth1 --address 1.1.9
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		var h nodeFlags
		var a auditor
		f := cmdline.NewFlags("audit")
		types := f.String("types T,...", "", "service types to ask about, beside those known here")
		f.BoolVar(&a.json, "json", false, "print JSON: node, bindings, types, nodes (node, bindings, lacks and extra with name and socket, error), differences")
		f.DurationVar(&a.wait, "wait D", 10*time.Second, "how long to wait at most, until there is contact with every node heard of and for a second no more was heard of")
		f.DurationVar(&a.Timeout, "timeout D", 8*time.Second, "how long a node may say nothing before it counts as one that could not be asked")
		h.flags(f)
		if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
			return err
		}
		if a.wait <= 0 || a.Timeout <= 0 {
			return cmdline.UsageError("--wait and --timeout must be positive")
		}
		var err error
		if a.Types, err = typesArg(*types); err != nil {
			return err
		}
		n, finish, err := h.open(ctx, std)
		if err != nil {
			return err
		}
		return errors.Join(a.run(ctx, n, std.Out), closeNode(n, finish))
	},
}

// typesArg reads service types, with commas between them.
func typesArg(s string) (types []uint32, err error) {
	if s == "" {
		return nil, nil
	}
	for t := range strings.SplitSeq(s, ",") {
		typ, err := strconv.ParseUint(t, 10, 32)
		if err != nil {
			return nil, cmdline.UsageError(fmt.Sprintf("--types: %q is no service type", t))
		}
		types = append(types, uint32(typ))
	}
	return types, nil
}

// An auditor compares tables.
type auditor struct {
	admin.AuditConfig
	wait time.Duration
	json bool
}

// run waits for the others, asks and prints.
func (a *auditor) run(ctx context.Context, n *stack.Node, out io.Writer) error {
	silent, err := a.meet(ctx, n)
	if err != nil {
		return err
	}
	r, err := n.Admin().Audit(ctx, a.AuditConfig)
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		return err
	}
	for _, p := range silent {
		if !slices.ContainsFunc(r.Nodes, func(x admin.NodeAudit) bool { return x.Node == p }) {
			r.Nodes = append(r.Nodes, admin.NodeAudit{Node: p, Err: errors.New("heard, but no link is up")})
		}
	}
	if a.json {
		if err := newEncoder(out).Encode(auditJSON(r)); err != nil {
			return err
		}
		out = io.Discard // what follows is the verdict
	}
	return printAudit(out, r)
}

type (
	auditReport struct {
		Node        string        `json:"node"`
		Bindings    int           `json:"bindings"`
		Types       []uint32      `json:"types"`
		Nodes       []auditedNode `json:"nodes"`
		Differences int           `json:"differences"`
	}
	auditedNode struct {
		Node     string         `json:"node"`
		Bindings int            `json:"bindings"`
		Lacks    []auditBinding `json:"lacks,omitempty"`
		Extra    []auditBinding `json:"extra,omitempty"`
		Error    string         `json:"error,omitempty"`
	}
	auditBinding struct {
		Name   string `json:"name"`
		Socket string `json:"socket"`
	}
)

// auditJSON is a report as --json prints it.
func auditJSON(r *admin.AuditReport) auditReport {
	bindings := func(all []stack.Binding) (out []auditBinding) {
		for _, b := range all {
			out = append(out, auditBinding{rangeText(b.Range), b.Socket.String()})
		}
		return out
	}
	a := auditReport{Node: r.Node.String(), Bindings: r.Bindings, Types: r.Types, Nodes: []auditedNode{}, Differences: r.Differences()}
	for _, x := range r.Nodes {
		n := auditedNode{Node: x.Node.String(), Bindings: x.Bindings, Lacks: bindings(x.Lacks), Extra: bindings(x.Extra)}
		if x.Err != nil {
			n.Error = printable.Prefix(x.Err.Error(), longestText)
		}
		a.Nodes = append(a.Nodes, n)
	}
	return a
}

const (
	meetQuiet = time.Second            // without another node being heard
	meetLook  = 100 * time.Millisecond // between looks
)

// meet waits until there is contact with every node that was heard, for as long as
// newly heard ones keep coming, and returns those that there is no contact with.
func (a *auditor) meet(ctx context.Context, n *stack.Node) (silent []stack.NodeAddr, err error) {
	began := time.Now()
	heard, since := 0, began
	for {
		up := map[stack.NodeAddr]bool{}
		links, err := n.Admin().Links(ctx)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		for _, l := range links {
			up[l.Peer] = up[l.Peer] || l.Up
		}
		if len(up) != heard {
			heard, since = len(up), time.Now()
		}
		silent = silent[:0]
		for p, ok := range up {
			if !ok {
				silent = append(silent, p)
			}
		}
		slices.Sort(silent)
		switch {
		case heard > 0 && len(silent) == 0 && time.Since(since) >= meetQuiet:
			return nil, nil
		case time.Since(began) >= a.wait && heard == 0:
			return nil, fmt.Errorf("no other node was heard within %v%s", a.wait, foreign(n))
		case time.Since(began) >= a.wait:
			return silent, nil
		}
		select {
		case <-time.After(meetLook):
		case <-ctx.Done():
			return nil, errors.New("interrupted")
		}
	}
}

// printAudit prints what was found; a difference is an error.
func printAudit(out io.Writer, r *admin.AuditReport) error {
	fmt.Fprintf(out, "audit: node %v, %d bindings, %d types asked about\n", r.Node, r.Bindings, len(r.Types))
	for _, x := range r.Nodes {
		if x.Err != nil {
			fmt.Fprintf(out, "%v not asked: %v\n", x.Node, x.Err)
			continue
		}
		fmt.Fprintf(out, "%v %d bindings, %d differences\n", x.Node, x.Bindings, len(x.Lacks)+len(x.Extra))
		for _, b := range x.Lacks {
			fmt.Fprintf(out, "    not there:  %v of %v\n", b.Range, b.Socket)
		}
		for _, b := range x.Extra {
			fmt.Fprintf(out, "    only there: %v of %v\n", b.Range, b.Socket)
		}
	}
	d := r.Differences()
	fmt.Fprintf(out, "differences: %d\n", d)
	var err error
	if d > 0 {
		err = fmt.Errorf("the tables differ in %d bindings", d)
	}
	if k := r.Unasked(); k > 0 {
		err = errors.Join(err, fmt.Errorf("%d nodes could not be asked", k))
	}
	return err
}
