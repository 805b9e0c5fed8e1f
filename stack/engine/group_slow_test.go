// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
)

// burst sends k messages at once, until one has to wait.
func (b *groupBed) burst(x *Group, k int) (sent int, err error) {
	for ; sent < k; sent++ {
		if err = x.Send(b.now, []byte("hello")); err != nil {
			return sent, err
		}
		b.settle()
	}
	return sent, nil
}

// Without a Limit a burst, of which more waits than a window, evicts nobody who reads afterwards, however long nothing was sent before.
// Who reads nothing for SlowTime is evicted with the next message, if more waits than its window
// was, and not if less does. Both sides are told.
//
// Mutations it catches: a burst counts and no time; the time before something waited counts; the
// window does not; a grant does not count as reading; the sender is not told how much waited, or the
// other side that it was evicted.
func TestGroupLagByTime(t *testing.T) {
	for _, local := range []int{1, 0} {
		b := newGroupBed(t, 2)
		x := b.join(0, 1, func(k *GroupConfig) { k.Policy = Lag })
		y := b.join(local, 2)
		b.read(x)
		b.read(y)
		b.pass(3 * SlowTime)
		const many = 3000
		if sent, err := b.burst(x, many); err != nil {
			t.Fatalf("after %d messages: %v", sent, err)
		}
		got := 0
		for range 10 { // a part each time: slow, and not dead
			b.pass(SlowTime * 2 / 3)
			for range many / 10 {
				if _, _, ok := y.Read(b.now, nil); ok {
					got++
				}
			}
			if sent, err := b.burst(x, 1); err != nil || x.count.Evicted != 0 {
				t.Fatalf("after %d messages: %v, %d evicted", sent, err, x.count.Evicted)
			}
		}
		for got < many+10 {
			k := len(b.read(y))
			if got += k; k == 0 {
				t.Fatalf("%d of %d came", got, many+10)
			}
			b.settle()
		}
		m := x.find(y.Addr())
		if sent, err := b.burst(x, m.flow.Window()+m.most/2); err != nil {
			t.Fatalf("after %d messages: %v", sent, err)
		}
		b.pass(3 * SlowTime)
		if sent, err := b.burst(x, 1); err != nil || x.count.Evicted != 0 {
			t.Errorf("less waits than the window: after %d messages %v, %d evicted", sent, err, x.count.Evicted)
		}
		waits := m.lag.Len()
		if sent, err := b.burst(x, m.most-waits+1); err != nil || x.count.Evicted != 1 {
			t.Fatalf("more waits: after %d messages %v, %d evicted", sent, err, x.count.Evicted)
		}
		_, r, _ := x.Read(b.now, nil)
		if r.Kind != MemberEvicted || r.Behind != m.most || r.Idle != b.now-m.moved || r.Idle < 3*SlowTime {
			t.Errorf("told %+v, window %d", r, m.most)
		}
		for {
			_, r, ok := y.Read(b.now, nil)
			if !ok {
				t.Fatal("the other side is not told")
			}
			if r.Kind != GroupData {
				if r.Kind != MemberLeft || !r.Evicts {
					t.Errorf("the other side: %+v", r)
				}
				break
			}
		}
		b.clean()
	}
}

// Where as much waits for a member as may, sends wait for it: until it reads, or has read nothing for
// SlowTime, when it is evicted.
//
// Mutations it catches: who reads is evicted; the send is not woken when the time is over.
func TestGroupLagFull(t *testing.T) {
	for _, reads := range []bool{true, false} {
		b := newGroupBed(t, 2)
		x := b.join(0, 1, func(k *GroupConfig) { k.Policy = Lag })
		y, z := b.join(1, 2), b.join(1, 3)
		for _, g := range b.in {
			b.read(g)
		}
		sent := 0
		var err error
		for err == nil {
			if _, err = b.burst(x, 1); err == nil {
				sent++
			}
			b.read(z)
			b.settle()
		}
		if sent != flowctl.GroupIdle+MaxLag || x.count.Evicted != 0 {
			t.Fatalf("after %d messages: %v", sent, err)
		}
		x.port.e.TakeReadyGroups(nil)
		if reads {
			b.read(y)
		}
		if !b.until(2*SlowTime, func() bool { return len(x.port.e.TakeReadyGroups(nil)) > 0 }) {
			t.Fatal("the sender is not woken")
		}
		if _, err := b.burst(x, 1); err != nil || reads == (x.count.Evicted == 1) {
			t.Errorf("reads %v: then %v, %d evicted", reads, err, x.count.Evicted)
		}
		b.clean()
	}
}

// DropOldest without a Limit drops nothing of a burst, and then for who reads nothing; a kind of
// message that has no room by itself never holds up a send.
//
// Mutations it catches: a burst is dropped from; nothing ever is.
func TestGroupDropOldestByTime(t *testing.T) {
	b := newGroupBed(t, 2)
	x := b.join(0, 1, func(k *GroupConfig) { k.Policy = DropOldest })
	y := b.join(1, 2)
	b.read(x)
	b.read(y)
	const many = flowctl.GroupIdle + 3000
	if sent, err := b.burst(x, many); err != nil || x.count.Dropped != 0 {
		t.Fatalf("after %d messages: %v, %d dropped", sent, err, x.count.Dropped)
	}
	b.pass(SlowTime)
	if _, err := b.burst(x, 1); err != nil || x.count.Dropped == 0 {
		t.Errorf("then %v, %d dropped", err, x.count.Dropped)
	}
	m := x.find(y.Addr())
	if m.lag.Len() != m.most {
		t.Errorf("%d wait, the window was %d", m.lag.Len(), m.most)
	}
	for _, now := range []time.Duration{0, SlowTime} {
		b.now += now
		if sent, err := b.burst(x, 2*MaxLag); err != nil {
			t.Fatalf("after %d messages: %v", sent, err)
		}
	}
	b.clean()
}
