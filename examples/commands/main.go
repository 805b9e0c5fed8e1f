// SPDX-License-Identifier: Apache-2.0

// Commands is a queue of commands for the shell. "commands queue JOBS DONE" has the lines of JOBS done by workers, and writes
// what they print to DONE; "commands work" is a worker. Each may be killed at any moment and started again: a job whose
// worker has died goes to another, and what stands in DONE is not done again.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
)

var work = stack.Service{Type: 18888, Instance: 1} // the name of all workers

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	node, err := stack.OpenString(ctx, "") // $UTIPC_NODE
	if err == nil && len(os.Args) == 4 && os.Args[1] == "queue" {
		err = queue(ctx, node, os.Args[2], os.Args[3])
	} else if err == nil {
		err = worker(ctx, node, shell)
	}
	if err == nil {
		err = node.Close(context.Background()) // once the other nodes have all that was written
	}
	if err != nil {
		log.Fatal(err)
	}
}

// queue has the jobs done that the file done does not have, four at once.
func queue(ctx context.Context, node *stack.Node, jobs, done string) error {
	list, err := os.ReadFile(jobs)
	before, _ := os.ReadFile(done)
	out, errOut := os.OpenFile(done, os.O_WRONLY|os.O_CREATE|os.O_APPEND|os.O_SYNC, 0o644)
	if err := errors.Join(err, errOut); err != nil {
		return err
	}
	defer out.Close()
	var group sync.WaitGroup
	places := make(chan bool, 4)
	for i, job := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		if bytes.Contains(before, fmt.Appendf(nil, "\n%d ", i)) {
			continue
		}
		places <- true
		group.Go(func() {
			answer := make([]byte, 66000) // the longest message
			n, _, err := 0, stack.SocketAddr{}, errors.New("not asked")
			for err != nil && node.WaitFor(ctx, work) == nil { // again, when the worker has died
				n, _, err = node.Call(ctx, work, []byte(job), answer)
			}
			if err == nil {
				fmt.Fprintf(out, "\n%d %q\n", i, answer[:n]) // one write: a line is there or not
			}
			<-places
		})
	}
	group.Wait()
	return ctx.Err()
}

// worker does jobs until ctx is done. Then it takes its name back, and does what it has been given so far.
func worker(ctx context.Context, node *stack.Node, do func(job string) []byte) error {
	pc, err := node.ListenPacket(ctx, "tipcrdm", work)
	if err != nil {
		return err
	}
	defer pc.Close()
	defer context.AfterFunc(ctx, func() {
		pc.Unbind(work)
		node.WaitPublished(context.Background()) // from here on no node sends jobs
		pc.SetReadDeadline(time.Now())
	})()
	for b := make([]byte, 66000); ; {
		n, m, err := pc.ReadMsg(b)
		if errors.Is(err, os.ErrDeadlineExceeded) { // no more will come
			n, m, err = pc.TryReadMsg(b)
		}
		if errors.Is(err, syscall.EAGAIN) { // nothing is left
			return nil
		} else if err != nil {
			return err
		}
		pc.WriteTo(do(string(b[:n])), m.From)
	}
}

// shell runs a job and returns what it printed, and how it ended: never nothing, as an empty message does not arrive.
func shell(job string) []byte {
	out, err := exec.Command("sh", "-c", job).CombinedOutput()
	return fmt.Appendf(out, "%v", err)
}
