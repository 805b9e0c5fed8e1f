// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
)

// A slow member is evicted when too much waits for it, and told; the others get all.
//
// Proves: group.flow
func TestGroupLag(t *testing.T) {
	for _, local := range []int{1, 0} {
		b := newGroupBed(t, 2)
		x := b.join(0, 1, func(k *GroupConfig) { k.Policy, k.Limit = Lag, 50 })
		y, z := b.join(local, 2), b.join(1, 3)
		for _, g := range b.in {
			b.read(g)
		}
		n := 0
		for ; x.count.Evicted == 0 && n < 1000; n++ {
			if err := x.Send(b.now, fmt.Append(nil, n)); err != nil {
				t.Fatalf("message %d: %v", n, err)
			}
			b.settle()
			if got, want := b.read(z), fmt.Sprint("1: ", n); len(got) != 1 || got[0] != want {
				t.Fatalf("the other one read %q, want %q", got, want)
			}
		}
		if n != flowctl.GroupIdle+51 {
			t.Errorf("evicted after %d messages, want a window of 65 and 50 that wait, and one", n)
		}
		b.want("the sender", x, "2 evicted")
		for i, m := range x.Members() {
			if want := m.Addr == y.Addr(); m.Evicted != want {
				t.Errorf("member %d: %+v", i, m)
			}
		}
		got := b.read(y)
		if len(got) != 66 || got[64] != "1: 64" || got[65] != "1 left" {
			t.Errorf("the slow one read %q", got)
		}
		if err := x.SendTo(b.now, y.Addr(), []byte("x")); err != ErrEvicted {
			t.Errorf("to the evicted: %v", err)
		}
		// It joins again.
		y.Leave(b.now)
		b.settle()
		b.in = slices.DeleteFunc(b.in, func(g *Group) bool { return g == y })
		y = b.join(local, 2)
		b.want("again", x, "2 joined")
		if err := x.Send(b.now, []byte("hello")); err != nil {
			t.Error(err)
		}
		b.want("again", y, "1 joined", "3 joined", "1: hello")
		b.clean()
	}
}

// Of what waits for a slow member the oldest is dropped, for it alone; it gets the rest
// in order, and is a member like others when it reads again.
//
// Proves: group.flow
func TestGroupDropOldest(t *testing.T) {
	for _, local := range []int{1, 0} {
		b := newGroupBed(t, 2)
		x := b.join(0, 1, func(k *GroupConfig) { k.Policy, k.Limit = DropOldest, 10 })
		y, z := b.join(local, 2), b.join(1, 3)
		for _, g := range b.in {
			b.read(g)
		}
		var want []string
		for n := range 200 {
			if err := x.Send(b.now, fmt.Append(nil, n)); err != nil {
				t.Fatalf("message %d: %v", n, err)
			}
			b.settle()
			if got := b.read(z); len(got) != 1 || got[0] != fmt.Sprint("1: ", n) {
				t.Fatalf("the other one read %q", got)
			}
			if n < flowctl.GroupIdle || n >= 190 {
				want = append(want, fmt.Sprint("1: ", n))
			}
		}
		b.want("the sender", x, "2 dropping")
		for _, m := range x.Members() {
			if m.Addr == y.Addr() && (m.Dropped != 125 || m.Behind != 10) {
				t.Errorf("got %+v", m)
			}
		}
		var got []string
		for range 5 {
			got = append(got, b.read(y)...)
			b.pass(100 * time.Millisecond)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the slow one read\n%q, want\n%q", got, want)
		}
		if m := x.find(y.Addr()); m.diverted || m.lag.Len() != 0 {
			t.Errorf("it is still apart: %+v", m)
		}
		b.lines = nil
		x.Send(b.now, []byte("end"))
		b.want("at the end", y, "1: end")
		b.want("at the end", z, "1: end")
		if got := strings.Join(b.lines, "\n"); strings.Contains(got, "group-ucast") {
			t.Errorf("it is still apart:\n%s", got)
		}
		b.clean()
	}
}
