// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// What a run holds back goes out with the background goroutine, also when that was asked for while
// the background goroutine let go of the lock between two turns, the second of which sent it: where
// all sleep, nothing is held.
func TestNothingIsHeldWhileAllSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		n := b.node
		to, small := serviceDest(Service{Type: 18888}), make([]byte, 100)
		send := func() { // as submit does in the midst of a run
			n.inside().mu.Lock()
			defer n.inside().unlock()
			n.inside().sendsInRow = batchAfter + 1
			now := n.inside().sendTime()
			n.inside().eng.Hold(n.inside().inBatch(now, len(small)))
			if err := n.inside().send(now, b.conn.inside(), to, small); err != nil {
				t.Error(err)
			}
			n.inside().afterSend(now, len(small))
		}
		for range 20 {
			inside, goOn := make(chan struct{}), make(chan struct{})
			n.inside().mu.Lock() // the background goroutine may look any time: it dozes in a run
			b.dev.receive = func(bufs []*netdev.Buffer) (int, error) {
				b.dev.receive = nil
				close(inside)
				<-goOn
				bufs[0] = n.inside().arena.Get(0, netdev.Control) // so that another turn follows
				return 1, nil
			}
			n.inside().mu.Unlock()
			n.inside().backgroundParker.rouse()
			<-inside
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
			n.inside().mu.Lock()
			holding := n.inside().eng.Holding()
			n.inside().unlock()
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
		sub, err := b.node.Subscribe(t.Context(), Range{Type: LinkState, Upper: 1<<32 - 1})
		if err != nil {
			t.Fatal(err)
		}
		if ev, err := sub.Next(t.Context()); err != nil || ev.Withdrawn {
			t.Fatal(ev, err)
		}
		<-time.After(10 * time.Millisecond)
		began := time.Now()
		b.dev.down.Store(true)
		b.node.inside().wakeDevices()
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
		b.node.inside().mu.Lock()
		defer b.node.inside().unlock()
		b.dev.down.Store(true)
		b.node.inside().pollOnce(b.node.inside().now(), false)
		for l := range b.node.inside().eng.Peers(b.node.inside().now()) {
			if l.Up {
				t.Error("the link is up on an interface that is down")
			}
		}
	})
}

// The engine's time does not go back: a send that takes the time of the last one
// takes that of one which met an obstacle, too.
func TestTimeGoesOnAfterARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		n, to := b.node, Service{Type: 18888}
		for range 2 * batchAfter {
			if _, err := b.conn.WriteTo([]byte("x"), to); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(batchPause / 2)
		n.inside().mu.Lock()
		if n.inside().sendsInRow++; n.inside().sendsInRow%batchClock == 0 {
			n.inside().sendsInRow++
		}
		n.inside().unlock()
		if err := b.node.inside().retry(context.Background(), b.conn.inside(), serviceDest(to), []byte("x"), engine.ErrMemory); err != nil {
			t.Fatal(err)
		}
		n.inside().mu.Lock()
		defer n.inside().unlock()
		told := n.inside().now()
		for range batchClock {
			if now := n.inside().sendTime(); now < told {
				t.Errorf("told %v, and then %v", told, now)
			}
			n.inside().sendsInRow++
		}
	})
}
