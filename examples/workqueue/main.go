// SPDX-License-Identifier: Apache-2.0

// Workqueue shares jobs out among workers by anycast: all workers bind one name, and
// each message to the name goes to one of them, in turn. There is no broker, and no list
// of workers to keep. When a worker leaves, the jobs it has not read come back to the
// sender, who sends them again; those still under way to it go to another worker by
// themselves.
package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

// work is the name that all workers have.
var work = stack.Service{Type: 18888, Instance: 1}

const jobs = 12

func main() { cluster.Main(4, workqueue) }

func workqueue(ctx context.Context, nodes []*stack.Node) error {
	boss, workers := nodes[0], nodes[1:]
	var sockets []*stack.PacketConn
	for _, n := range workers {
		pc, err := n.ListenPacket(ctx, "tipcrdm", work)
		if err != nil {
			return err
		}
		defer pc.Close()
		sockets = append(sockets, pc)
		// The boss should know them all before it begins; work would go to the first else.
		if err := boss.WaitFor(ctx, stack.Service{Type: work.Type, Instance: work.Instance, Node: n.Addr()}); err != nil {
			return err
		}
	}
	go compute(sockets[0])
	go compute(sockets[1])
	idle := sockets[2] // this one reads nothing, and leaves

	// Returnable: what nobody has read comes back.
	pc, err := stack.SocketConfig{Returnable: true}.ListenPacket(ctx, boss, "tipcrdm", nil)
	if err != nil {
		return err
	}
	defer pc.Close()
	for i := range jobs {
		if _, err := pc.WriteTo([]byte(strconv.Itoa(i)), work); err != nil {
			return err
		}
	}
	sum, done := 0, 0
	left := false
	by := map[stack.NodeAddr]bool{} // who did some
	b := make([]byte, 100)
	for done < jobs {
		if done == 8 && !left { // the other four are with the idle one
			idle.Close()
			left = true
		}
		n, from, err := pc.ReadFrom(b)
		var returned *stack.RejectError
		if errors.As(err, &returned) { // b has the job
			if _, err = pc.WriteTo(b[:n], work); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		square, err := strconv.Atoi(string(b[:n]))
		if err != nil {
			return err
		}
		sum += square
		done++
		by[from.(stack.SocketAddr).Node] = true
	}
	fmt.Printf("%d jobs are done by %d workers; one left without doing any\n", done, len(by))
	fmt.Printf("0² + 1² + ... + %d² = %d\n", jobs-1, sum)
	return nil
}

// compute is a worker: it answers each number with its square.
func compute(pc *stack.PacketConn) {
	b := make([]byte, 100)
	for {
		n, from, err := pc.ReadFrom(b)
		if err != nil {
			return
		}
		number, err := strconv.Atoi(string(b[:n]))
		if err != nil {
			continue // not a job
		}
		pc.WriteTo([]byte(strconv.Itoa(number*number)), from)
	}
}
