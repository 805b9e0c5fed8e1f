// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/utipc/utipc/stack"
)

// demo is a queue at the first node, and a worker at each of the others: the first two die with a
// job in hand.
func demo(ctx context.Context, nodes []*stack.Node) error {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	var died atomic.Int32
	for i, n := range nodes[1:] {
		did := 0
		workers.Go(func() {
			worker(ctx, n, func(job string) (string, error) {
				if did++; i < 2 && did == 3 {
					died.Add(1)
					return "", errors.New("killed")
				}
				return square(job)
			})
		})
	}
	if err := nodes[0].WaitForN(ctx, service, len(nodes)-1); err != nil {
		return err
	}
	const jobs = 20
	var sum atomic.Int64
	var queue sync.WaitGroup
	var failed atomic.Pointer[error]
	for i := range jobs {
		queue.Go(func() {
			answer, _, err := do(ctx, nodes[0], strconv.Itoa(i))
			if err != nil {
				failed.Store(&err)
				return
			}
			k, _ := strconv.Atoi(answer)
			sum.Add(int64(k))
		})
	}
	queue.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	fmt.Printf("%d jobs are done, and %d workers died\n", jobs, died.Load())
	fmt.Printf("0² + 1² + ... + %d² = %d\n", jobs-1, sum.Load())
	return nil
}

// square is the work.
func square(job string) (string, error) {
	k, err := strconv.Atoi(job)
	return strconv.Itoa(k * k), err
}
