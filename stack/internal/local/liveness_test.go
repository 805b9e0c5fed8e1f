// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// What a run holds back goes out with the background goroutine, also when that was asked for while
// the background goroutine let go of the lock between two turns, the second of which sent it: where
// all sleep, nothing is held.
func TestNothingIsHeldWhileAllSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		n := b.node
		to, small := backend.ServiceDest(stack.Service{Type: 18888}), make([]byte, 100)
		send := func() { // as submit does in the midst of a run
			inside(n).Loop().Lock()
			defer inside(n).Loop().Unlock()
			now := inside(n).Loop().Now()
			for range sendsOfARun {
				inside(n).Loop().InBatch(now, len(small))
			}
			now = inside(n).SendTime()
			inside(n).Engine().Hold(inside(n).Loop().InBatch(now, len(small)))
			if err := inside(n).Send(now, insidePacket(b.conn), to, small); err != nil {
				t.Error(err)
			}
			inside(n).AfterSend(now, len(small))
		}
		for range 20 {
			entered, goOn := make(chan struct{}), make(chan struct{})
			inside(n).Loop().Lock() // the background goroutine may look any time: it dozes in a run
			b.dev.receive = func(bufs []*netdev.Buffer) (int, error) {
				b.dev.receive = nil
				close(entered)
				<-goOn
				bufs[0] = inside(n).Arena().Get(0, netdev.Control) // so that another turn follows
				return 1, nil
			}
			inside(n).Loop().Unlock()
			inside(n).Loop().Wake()
			<-entered
			sent := make(chan struct{})
			go func() {
				send() // gets the lock between the background goroutine's turns
				close(sent)
			}()
			for range 100 {
				runtime.Gosched()
			}
			close(goOn)
			<-sent
			synctest.Wait()
			send()
			synctest.Wait()
			inside(n).Loop().Lock()
			holding := inside(n).Engine().Holding()
			inside(n).Loop().Unlock()
			if holding {
				t.Fatal("a message is held, and all sleep")
			}
		}
	})
}

// Who waits for what an interface's end brings hears of it at once.
func TestInterfaceGoesDownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		sub, err := b.node.Subscribe(t.Context(), stack.Range{Type: stack.LinkState, Upper: 1<<32 - 1})
		if err != nil {
			t.Fatal(err)
		}
		if ev, err := sub.Next(t.Context()); err != nil || ev.Withdrawn {
			t.Fatal(ev, err)
		}
		<-time.After(10 * time.Millisecond)
		began := time.Now()
		b.dev.down.Store(true)
		inside(b.node).Loop().Wake()
		if ev, err := sub.Next(context.Background()); err != nil || !ev.Withdrawn {
			t.Fatal(ev, err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// A turn that takes no frames follows the interface too: the wake that told of the
// change may have found nobody in a parker, and no descriptor is readable for it.
func TestEveryTurnFollowsTheInterface(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		inside(b.node).Loop().Lock()
		defer inside(b.node).Loop().Unlock()
		b.dev.down.Store(true)
		inside(b.node).PollOnce(inside(b.node).Loop().Now(), false)
		for l := range inside(b.node).Engine().Peers(inside(b.node).Loop().Now()) {
			if l.Up {
				t.Error("the link is up on an interface that is down")
			}
		}
	})
}

// The engine's time does not go back: a send that takes the time of the last one
// takes that of one which met an obstacle, too. Mutation: attempt leaves latest alone.
func TestTimeGoesOnAfterARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		n, to := inside(b.node), stack.Service{Type: 18888}
		for more := range 8 { // in a run the clock is read now and then: each place in it
			<-time.After(time.Second)
			for range sendsOfARun + more {
				if _, err := b.conn.WriteTo([]byte("x"), to); err != nil {
					t.Fatal(err)
				}
			}
			<-time.After(2 * time.Microsecond) // no pause that ends a run
			if err := n.Retry(context.Background(), insidePacket(b.conn), backend.ServiceDest(to), []byte("x"), engine.ErrMemory); err != nil {
				t.Fatal(err)
			}
			n.Loop().Lock()
			told := n.Loop().Now()
			for range 8 {
				now := n.SendTime()
				if now < told {
					t.Errorf("told %v, and then %v", told, now)
				}
				n.Loop().InBatch(now, 1)
			}
			n.Loop().Unlock()
		}
	})
}

// sendsOfARun is more sends without pause than make a run.
const sendsOfARun = 32
