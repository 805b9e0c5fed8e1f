// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
)

// 200 services on four nodes answer, one changes its answer, and those of a node that crashes are told to be gone.
//
// Mutation it catches: events that withdraw a name are passed over; an answer is printed at each tick.
//
// Proves: stacktest.examples
func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 5)
		state := "well"
		for i := range 200 {
			number := uint32(i)
			port, err := c.Node(1+i%4).Handle(t.Context(), stack.Service{Type: 18888, Instance: number}, stack.HandlerFunc(func(w *stack.Reply, _ *stack.Message) {
				if number == 17 {
					w.Send([]byte(state))
				} else {
					w.Send([]byte("well"))
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			defer port.Close()
		}
		if err := c.Node(0).WaitForN(t.Context(), services, 200); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		tick, ended := make(chan time.Time), make(chan error, 1)
		var out bytes.Buffer
		go func() { ended <- poll(ctx, c.Node(0), tick, &out) }()
		printed := func(want ...string) {
			t.Helper()
			synctest.Wait()
			got := strings.Split(strings.TrimSpace(out.String()), "\n")
			out.Reset()
			for i, w := range want {
				if len(got) != len(want) || got[i] != w {
					t.Fatalf("printed %d lines %q, want %d, of which line %d is %q", len(got), got, len(want), i, w)
				}
			}
		}
		settle := func() { <-time.After(time.Minute) } // of the bubble
		settle()
		var all, gone []string
		for i := range 200 {
			all = append(all, fmt.Sprint(i, ": well"))
		}
		printed(all...)
		state = "busy"
		tick <- time.Now()
		settle()
		printed("17: busy")
		c.Crash(3) // of the services 2, 6, 10 ...
		settle()
		tick <- time.Now()
		settle()
		got := strings.Fields(strings.ReplaceAll(out.String(), " is gone\n", " "))
		for i := 2; i < 200; i += 4 {
			gone = append(gone, fmt.Sprint(i))
		}
		if strings.Join(got, " ") != strings.Join(gone, " ") {
			t.Errorf("gone are %q, want %q", got, gone)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("poll ended with %v", err)
		}
	})
}
