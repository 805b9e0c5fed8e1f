// SPDX-License-Identifier: Apache-2.0

// Package cluster gives each example the nodes it is about. They live in one process, on
// a network in memory, or with the flag -udp on the loopback interface, where tcpdump and
// Wireshark see them.
//
// A program of one's own is one node, which its user chooses. All it needs in place of this
// package is
//
//	node, err := stack.OpenString(ctx, "") // $UTIPC_NODE, as "eth:eth1" or "udp:10.0.0.1"
//	defer node.Close(ctx)
package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"time"

	"github.com/utipc/utipc/stack"
)

var overUDP = flag.Bool("udp", false, "the nodes speak over UDP, from 127.0.0.1, 127.0.0.2, ... port 6118")

// limit is how long an example may take.
const limit = 5 * time.Minute

// tolerance is how long a node may be silent: this process may stand still where others want the
// machine too, and no node ends without a word.
const tolerance = 20 * time.Second

// Main is an example's main: it opens nodes 1001001, 1001002 ..., runs example with
// them, and closes those that it has not closed. An error is printed, and the process exits with 1.
func Main(nodes int, example func(ctx context.Context, nodes []*stack.Node) error) {
	flag.Parse()
	if err := run(nodes, example); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(count int, example func(context.Context, []*stack.Node) error) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	nodes, err := open(ctx, count)
	defer func() {
		for _, n := range nodes {
			if end := n.Close(ctx); err == nil && !errors.Is(end, net.ErrClosed) {
				err = end
			}
		}
	}()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { // ends all calls that wait
		for _, n := range nodes {
			n.Close(ctx)
		}
	})()
	if err := example(ctx, nodes); ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// open opens the nodes and waits until each has met all others: a name that one of them knows may be
// bound on a node that it cannot reach yet. With an error, those that are open already come back too.
func open(ctx context.Context, count int) (nodes []*stack.Node, err error) {
	for i := range count {
		place := "memory:"
		if *overUDP {
			place = "udp:" + loopback(i, count)
		}
		n, err := stack.OpenString(ctx, fmt.Sprintf("%s?node=1.1.%d&tolerance=%v", place, i+1, tolerance))
		if err != nil {
			return nodes, err
		}
		nodes = append(nodes, n)
	}
	for _, n := range nodes {
		if err := n.WaitNodes(ctx, count); err != nil {
			return nodes, err
		}
	}
	return nodes, nil
}

// loopback is where node i of count speaks UDP, and where the others do.
func loopback(i, count int) string {
	all := fmt.Sprintf("127.0.0.%d", i+1)
	for j := range count {
		if j != i {
			all += fmt.Sprintf(",127.0.0.%d", j+1)
		}
	}
	return all
}
