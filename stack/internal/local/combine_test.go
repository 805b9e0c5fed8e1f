// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A bench is a sending node on a device that a test may hold up, and a socket on
// another node to send to.
type bench struct {
	*testing.T
	node   *stack.Node
	dev    *fakeDevice
	conn   *stack.PacketConn
	server *stack.PacketConn
	big    []byte // fills more than half a packet: no two share one

	kicks  []int              // big frames in each call of Transmit that had any
	held   chan chan struct{} // a call of Transmit that waits until its channel is closed
	closes []func()
}

// newBench works in a bubble of synctest: nothing but the senders moves while the
// clock stands still.
func newBench(t *testing.T) *bench {
	h := hub.New(hub.Config{})
	b := &bench{T: t, big: make([]byte, 1000), held: make(chan chan struct{})}
	b.node, b.dev = openFake(t, h, 1)
	other, _ := openFake(t, h, 2)
	b.closes = []func(){func() { b.node.Close(context.Background()) }, func() { other.Close(context.Background()) }}
	b.server = mustOpen(t, other, stack.Service{Type: 18888})
	if err := b.node.WaitFor(t.Context(), stack.Service{Type: 18888}); err != nil {
		t.Fatal(err)
	}
	b.conn = mustOpen(t, b.node, nil)
	<-time.After(10 * time.Millisecond) // both pumps sleep
	// What is not acknowledged gives the link a deadline: no send from now on makes it
	// earlier, for which the background goroutine would be woken.
	if _, err := b.conn.WriteTo([]byte("x"), stack.Service{Type: 18888}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.server.ReadFrom(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return b
}

func (b *bench) close() {
	for _, f := range b.closes {
		f()
	}
}

// holdUp makes the next calls of Transmit that have big frames wait, each until the
// channel is closed that it sends to held.
func (b *bench) holdUp(calls int) {
	b.dev.transmit = func(bufs []*netdev.Buffer) (int, error) {
		big := 0
		for _, f := range bufs {
			if f.Len() > len(b.big) {
				big++
			}
		}
		if big > 0 {
			b.kicks = append(b.kicks, big)
			if len(b.kicks) <= calls {
				goOn := make(chan struct{})
				b.held <- goOn
				<-goOn
			}
		}
		return b.dev.Device.Transmit(bufs)
	}
}

// send sends data in a goroutine of its own; the channel is closed when that is
// done, which must be without the clock having moved.
func (b *bench) send(data []byte) <-chan struct{} {
	done := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(done)
		if _, err := b.conn.WriteTo(data, stack.Service{Type: 18888}); err != nil {
			b.Error(err)
		}
		if took := time.Since(began); took > 0 {
			b.Errorf("a job was left for %v", took)
		}
	}()
	return done
}

// Sends that find a poll under way go out together, in one poll with one kick.
//
// Proves: link.bundles
func TestSendersCombine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		b.holdUp(1)
		first := b.send(b.big)
		goOn := <-b.held
		const others = 40
		var all []<-chan struct{}
		for range others {
			all = append(all, b.send(b.big))
		}
		synctest.Wait() // all have left their job
		close(goOn)
		<-first
		for _, done := range all {
			<-done
		}
		if len(b.kicks) != 2 || b.kicks[0] != 1 || b.kicks[1] != others {
			t.Errorf("kicks with %v frames, want 1 and %d", b.kicks, others)
		}
		buf := make([]byte, 2048)
		for i := range 1 + others {
			if n, _, err := b.server.ReadFrom(buf); n != len(b.big) || err != nil {
				t.Fatalf("message %d: %d bytes, %v", i, n, err)
			}
		}
	})
}

// Small ones share packets besides.
//
// Proves: link.bundles
func TestSmallSendsCombine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		b.holdUp(1)
		first := b.send(b.big)
		goOn := <-b.held
		var all []<-chan struct{}
		for range 10 {
			all = append(all, b.send([]byte("small")))
		}
		synctest.Wait()
		before := inside(b.node).Engine().Counters().MessagesOut
		frames := 0
		b.dev.transmit = func(bufs []*netdev.Buffer) (int, error) {
			if inside(b.node).Engine().Counters().MessagesOut == before+10 {
				frames += len(bufs)
				before = 0
			}
			return b.dev.Device.Transmit(bufs)
		}
		close(goOn)
		<-first
		for _, done := range all {
			<-done
		}
		if frames != 1 {
			t.Errorf("ten small messages went out in %d frames", frames)
		}
	})
}

// Rule (d), the sender's half: the holder of the lock may have looked for jobs and
// gone between a sender's failure to get it and its job's being in the list.
//
// Proves: poll.leader
func TestSubmitTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		gone := false
		inside(b.node).IdleJobs().New = func() any { // where the sender takes its job from
			gone = true
			inside(b.node).Loop().Unlock()
			return nil
		}
		inside(b.node).Loop().Lock()
		<-b.send(b.big)
		if !gone {
			t.Error("the holder was not gone when the job was made")
			inside(b.node).Loop().Unlock()
		}
	})
}

// Rule (d), the holder's half: a job may come while the holder carries out the ones
// before, and its sender finds the lock still taken.
//
// Proves: poll.leader
func TestUnlockLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.close()
		b.holdUp(2)
		first := b.send(b.big)
		goOn := <-b.held
		second := b.send(b.big)
		synctest.Wait()
		close(goOn)
		goOn = <-b.held // the holder carries out the second
		third := b.send(b.big)
		synctest.Wait()
		close(goOn)
		<-first
		<-second
		<-third
	})
}
