// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"os"
	"testing"
	"testing/synctest"
)

// After a daemon was lost nothing new is asked of the next one before the sockets that there were are
// made again: it may be meant for one of them, whose name nobody would know yet.
//
// Mutation: whenThere tries at once.
func TestNewSocketsComeAfterTheOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRemoteNode("", Config{})
		defer f.stop()
		tries := 0
		done := make(chan error, 1)
		go func() { done <- f.whenThere(t.Context(), func() error { tries++; return nil }) }()
		synctest.Wait()
		if tries != 0 {
			t.Errorf("%d attempts while the sockets are missing", tries)
		}
		f.mu.Lock()
		f.met = true
		f.mu.Unlock()
		f.announce()
		if err := <-done; err != nil || tries != 1 {
			t.Errorf("got %v after %d attempts, want one", err, tries)
		}
	})
}

// A connection that leads to another process than the node's does not count as the node's daemon.
//
// Mutation: current is always true.
func TestLineToAnotherDaemon(t *testing.T) {
	s, _ := nodeBed(t)
	for pid, want := range map[int]bool{0: true, os.Getpid(): true, os.Getpid() + 1: false} {
		s.f.pid = pid
		if got := s.f.current(s.line()); got != want {
			t.Errorf("the daemon is process %d, the line leads to %d: got %v, want %v", pid, os.Getpid(), got, want)
		}
	}
}
