// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"testing"

	"github.com/utipc/utipc/stack"
)

// PollOnce drives the node itself, once each time, and hands out what has come; Notify's function is called when something comes while
// nobody calls PollOnce.
//
// Mutations it catches: Loop.PollNow does not poll; note does not call the function.
func TestPollOnce(t *testing.T) {
	d := newPolled(t, nil)
	n, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{d}, Address: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(within(t))
	p, err := n.NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := listen(t, n, nil)
	told := make(chan bool, 100)
	p.Notify(func() {
		select {
		case told <- true:
		default:
		}
	})
	p.Add(c, c)
	var ready [4]*stack.Polled
	const calls = 1000
	before := d.looks.Load()
	for range calls {
		p.PollOnce(ready[:])
	}
	if got := d.looks.Load() - before; got < calls {
		t.Errorf("%d calls looked %d times at the device", calls, got)
	}
	p.Rest()
	for len(told) > 0 {
		<-told
	}
	other := listen(t, n, nil)
	if _, err := other.WriteTo([]byte("news"), c.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	<-told
	if k := p.PollOnce(ready[:]); k != 1 || ready[0].Owner != c {
		t.Errorf("%d are ready", k)
	}
}
