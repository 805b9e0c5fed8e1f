// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"syscall"
	"testing"

	"github.com/utipc/utipc/internal/callfault"
	"github.com/utipc/utipc/stack"
)

// The answer of an attached node's handler waits for room between program and daemon, as its
// goroutine may, and with SyncErrors does not wait for the daemon's word of it. The mutation:
// Reply.Send tries, and does not wait.
func TestReplyWaitsForTheDaemon(t *testing.T) {
	a, b := pair(t, stack.Config{})
	for i, sync := range []bool{false, true} {
		service := stack.Service{Type: activeService.Type, Instance: uint32(100 + i)} // the first may still be known
		m, _ := attachTo(t, b, stack.AttachConfig{SyncErrors: sync})
		p := handle(t, m, stack.HandlerConfig{}, service, mirror)
		if err := a.WaitFor(within(t), service); err != nil {
			t.Fatal(err)
		}
		callfault.Use(func(c callfault.Call) syscall.Errno {
			if c == callfault.Send {
				return syscall.EAGAIN
			}
			return 0
		})
		t.Cleanup(func() { callfault.Use(nil) })
		buf := make([]byte, 10)
		if k, _, err := a.Call(within(t), service, []byte("answer me"), buf); err != nil || string(buf[:k]) != "answer me" {
			t.Errorf("got %q, %v", buf[:k], err)
		}
		callfault.Use(nil)
		p.Close()
		if s := p.Stats(); s.Replies != 1 || s.Refused != 0 {
			t.Errorf("SyncErrors %v: got %+v", sync, s)
		}
	}
}
