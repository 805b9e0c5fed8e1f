// SPDX-License-Identifier: Apache-2.0

// Jobs is a queue of work in which each job is done at least once, though workers, or their
// nodes, die at any moment: docs/how-to/jobs.md. Without arguments a queue and its workers run in
// one process, and two of the workers die; "jobs queue" and "jobs worker" are programs of their
// own, on the node that $UTIPC_NODE names.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

// service is the name that all workers have.
var service = stack.Service{Type: 18888, Instance: 2}

func main() {
	flag.Parse()
	if flag.NArg() == 0 {
		cluster.Main(4, demo)
		return
	}
	ctx := context.Background()
	n, err := stack.OpenString(ctx, "")
	if err == nil && flag.Arg(0) == "worker" {
		err = worker(ctx, n, square)
	} else if err == nil {
		for i := range 100 {
			answer, doer, failed := do(ctx, n, strconv.Itoa(i))
			if err = errors.Join(err, failed); failed == nil {
				fmt.Printf("job %d: %s, by %v\n", i, answer, doer)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// do has a job done, and says by whom: it gives the job out again for as long as workers die with
// it. Errors: the context's, and those of a job that can never be sent, as it is too long.
func do(ctx context.Context, n *stack.Node, job string) (answer string, doer stack.SocketAddr, err error) {
	b := make([]byte, 1000)
	for {
		k, from, err := stack.CallConfig{PreferIdle: true}.Call(ctx, n, service, []byte(job), b)
		var back *stack.RejectError // no worker has done it
		var gone *stack.GoneError   // the daemon, see docs/reference/attach.md: the next one will come
		switch {
		case err == nil:
			return string(b[:k]), from, nil
		case ctx.Err() != nil:
			return "", from, ctx.Err()
		case !errors.As(err, &back) && !errors.As(err, &gone) && !errors.Is(err, stack.ErrUnreachable):
			return "", from, err
		}
		// There is no worker, or it is gone and may have done the job. A little later its names are
		// gone, too.
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// worker does jobs until ctx is done. A job is its own when it acknowledges it: what it dies with
// before that comes back to the queue at once.
func worker(ctx context.Context, n *stack.Node, work func(job string) (string, error)) error {
	c, err := stack.SocketConfig{ManualAck: true}.ListenPacket(ctx, n, "tipcrdm", service)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	for b := make([]byte, 1000); ; {
		k, m, err := c.ReadMsg(b)
		if err != nil {
			return ctx.Err()
		}
		answer, err := work(string(b[:k]))
		if err != nil {
			return err // the job goes back
		}
		if err := c.Ack(m.Receipt); err != nil { // before the answer: see PacketConn.Ack
			return err
		}
		c.WriteTo([]byte(answer), m.From) // where the queue is gone, nobody waits
	}
}
