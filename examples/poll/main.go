// SPDX-License-Identifier: Apache-2.0

// Poll asks every service of a type how it is, again and again, and prints what has changed. It knows of services that
// begin, end or die from the name table: there is no list of them, and none is asked that is not there.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/utipc/utipc/stack"
)

var services = stack.Range{Type: 18888, Lower: 0, Upper: 199}

func main() {
	ctx := context.Background()
	node, err := stack.OpenString(ctx, "") // $UTIPC_NODE
	if err == nil {
		err = poll(ctx, node, time.NewTicker(10*time.Second).C, os.Stdout)
	}
	log.Fatal(err)
}

// poll asks all services that there are, at once and at each tick, until ctx is done.
func poll(ctx context.Context, node *stack.Node, tick <-chan time.Time, out io.Writer) error {
	sub, err := stack.SubscriptionConfig{Complete: true}.Subscribe(ctx, node, services)
	if err != nil {
		return err
	}
	defer sub.Close()
	events := make(chan stack.Event)
	go func() {
		defer close(events)
		for ev := range sub.Events(ctx) {
			events <- ev
		}
	}()
	there, answers := map[stack.SocketAddr]uint32{}, map[uint32]string{}
	for {
		select {
		case ev, open := <-events:
			switch {
			case !open:
				return ctx.Err()
			case ev.Complete: // what exists has been told
				ask(ctx, node, there, answers, out)
			case ev.Withdrawn:
				delete(there, ev.Socket)
				delete(answers, ev.Range.Lower)
				fmt.Fprintln(out, ev.Range.Lower, "is gone")
			default:
				there[ev.Socket] = ev.Range.Lower
			}
		case <-tick:
			ask(ctx, node, there, answers, out)
		}
	}
}

// ask asks all services at the same time, and prints answers that are not those of the last time.
func ask(ctx context.Context, node *stack.Node, there map[stack.SocketAddr]uint32, answers map[uint32]string, out io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var group sync.WaitGroup
	var mu sync.Mutex // of now
	now := map[uint32]string{}
	for socket, number := range there {
		group.Go(func() {
			b := make([]byte, 1000)
			n, _, err := node.Call(ctx, socket, []byte("how are you?"), b)
			answer := string(b[:n])
			if err != nil {
				answer = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			now[number] = answer
		})
	}
	group.Wait()
	for _, number := range slices.Sorted(maps.Keys(now)) {
		if now[number] != answers[number] {
			answers[number] = now[number]
			fmt.Fprintf(out, "%d: %s\n", number, now[number])
		}
	}
}
