// SPDX-License-Identifier: Apache-2.0

package stacktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stacktest"
)

// What docs/how-to/test.md shows: a program, and tests of it.

// A clock tells the time to whoever asks, in the zone that has its number.
type clock struct{ port *stack.ActivePort }

func startClock(ctx context.Context, n *stack.Node, zone uint32) (*clock, error) {
	p, err := n.Handle(ctx, stack.Service{Type: 18888, Instance: zone}, stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) {
		w.Send([]byte(time.Now().Format(time.TimeOnly)))
	}))
	return &clock{p}, err
}

func (c *clock) Close() error { return c.port.Close() }

// whatTime asks, again and again, until a clock answers within a second.
func whatTime(ctx context.Context, n *stack.Node, zone uint32) (string, error) {
	b := make([]byte, 100)
	for {
		try, cancel := context.WithTimeout(ctx, time.Second)
		k, _, err := n.Call(try, stack.Service{Type: 18888, Instance: zone}, []byte("?"), b)
		cancel()
		if err == nil {
			return string(b[:k]), nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 2) // both have met
		clock, err := startClock(t.Context(), c.Node(0), 17)
		if err != nil {
			t.Fatal(err)
		}
		defer clock.Close()
		if now, err := whatTime(t.Context(), c.Node(1), 17); err != nil || now != time.Now().Format(time.TimeOnly) {
			t.Errorf("got %q, %v", now, err)
		}
	})
}

func TestClockDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.NewCluster(t, 2)
		if _, err := startClock(t.Context(), c.Node(0), 17); err != nil {
			t.Fatal(err)
		}
		c.Crash(0)
		began, answered := time.Now(), make(chan error, 1)
		go func() {
			_, err := whatTime(t.Context(), c.Node(1), 17)
			answered <- err
		}()
		<-time.After(time.Hour) // of the bubble: it takes no time
		clock, err := startClock(t.Context(), c.Restart(0), 17)
		if err != nil {
			t.Fatal(err)
		}
		defer clock.Close()
		if err := <-answered; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > time.Hour+10*time.Second {
			t.Errorf("got an answer after %v, want it soon after an hour", took)
		}
	})
}

func TestClockOnABadNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stacktest.Config{Bearers: 2, Seed: 7}.NewCluster(t, 3)
		clock, err := startClock(t.Context(), c.Node(0), 17)
		if err != nil {
			t.Fatal(err)
		}
		defer clock.Close()
		c.All().Delay(20 * time.Millisecond) // there, and as long back
		c.Bearer(0).Lose(0.1)                // a tenth of all frames
		c.Between(0, 1).On(1).Cut()          // these two have "eth0" alone
		c.Around(2).Cut()                    // node 2 is alone
		if now, err := whatTime(t.Context(), c.Node(1), 17); err != nil || now == "" {
			t.Errorf("got %q, %v", now, err)
		}
		c.All().Heal()
		c.Meet()
	})
}
