// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
)

// until waits for a condition of a line.
func until(t *testing.T, l *clientConn, what string, is func() bool) {
	t.Helper()
	met := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return is()
	}
	for by := time.Now().Add(2 * time.Minute); !met(); runtime.Gosched() {
		if time.Now().After(by) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// A request that waits for room does not stand in the way of those that read for all: the daemon may
// make room only once it is read from.
//
// Mutation: converse waits for the role before its request is sent.
func TestRequestWithoutRoomLetsOthersRead(t *testing.T) {
	s, daemon := fullBed(t, false)
	l := s.line()
	ctx, cancel := context.WithCancel(context.Background())
	read := make(chan error, 1)
	go func() { read <- l.next(ctx, false, func(*clientRecord) bool { return true }) }()
	until(t, l, "a call reads", func() bool { return l.reads.holder != nil })
	asked := make(chan error, 1)
	go func() {
		_, err := l.ask(context.Background(), attach.Header{Op: attach.OpPing}, nil)
		asked <- err
	}()
	untilWaiting(t, l, 1)
	until(t, l, "its goroutine waits for the role", func() bool { return len(l.waits) == 4 })
	cancel()
	if err := endOf(t, read); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	until(t, l, "another call reads", func() bool { return l.reads.holder != nil })
	daemon.Close()
	if endOf(t, asked) == nil {
		t.Error("an answer without a daemon")
	}
}

// A role that is handed on goes to the call that has waited longest, and on from one that ends first.
//
// Mutations: release does not give it to the next call; leave does not hand it on.
func TestTurnsGoInOrder(t *testing.T) {
	s, _ := closeBed(t, false)
	l := s.line()
	c := newConn(s, true, &attach.Header{})
	if !c.tryTurn() {
		t.Fatal("somebody writes")
	}
	const calls = 3
	got := make(chan int, calls)
	for i := range calls {
		go func() {
			if _, err := c.takeTurn(); err != nil {
				t.Error(err)
			}
			got <- i
		}()
		until(t, l, "a call waits", func() bool { return len(l.waits) == i+1 })
	}
	for want := range calls {
		c.endTurn()
		if c.tryTurn() {
			t.Fatal("a call that comes later is first")
		}
		if i := <-got; i != want {
			t.Errorf("call %d has the turn, want %d", i, want)
		}
	}

	ended := make(chan error, 2)
	turn := func() {
		_, err := c.takeTurn()
		ended <- err
	}
	for k := range 2 {
		go turn()
		until(t, l, "a call waits", func() bool { return len(l.waits) == k+1 })
	}
	l.mu.Lock()
	l.release(&c.turn) // to the first, whose deadline is over before it looks
	l.out.by = longAgo
	l.mu.Unlock()
	if err := endOf(t, ended); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := endOf(t, ended); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	l.setWriteBy(never)
	if !c.tryTurn() {
		t.Error("nobody has the turn, and nobody can")
	}
}
