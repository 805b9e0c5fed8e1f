// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// A socket with PreferIdle passes over sockets of its node that have messages unread or
// unacknowledged, and among equals they take turns.
//
// Mutations it catches: busy does not count the queue, or what is not acknowledged.
func TestPreferIdle(t *testing.T) {
	p := newScriptedPeer(t)
	var workers []*Port
	for range 3 {
		workers = append(workers, p.bound(t, PortConfig{ManualAck: true}, 18888, 17))
	}
	s := p.OpenPort(PortConfig{Returnable: true, PreferIdle: true})
	send := func() (k int) {
		to, err := s.SendAny(0, requestService, []byte("job"))
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range workers {
			if w.Addr() == to {
				return k
			}
		}
		return -1
	}
	take := func(k int) uint64 {
		_, r, ok := workers[k].Read(nil)
		if !ok {
			t.Fatalf("worker %d has nothing", k)
		}
		return r.Receipt
	}
	first, second := send(), send()
	third := 3 - first - second
	if got := send(); first == second || got != third {
		t.Fatalf("to %d, %d, then %d", first, second, got)
	}
	receipt := take(second)
	send() // all have one: whose turn it is has two
	for k, w := range workers {
		for w.Pending() > 1 {
			workers[k].Ack(take(k))
		}
	}
	workers[second].Ack(receipt)
	for w := workers[second]; w.Pending() > 0; {
		w.Ack(take(second))
	}
	if got := send(); got != second {
		t.Errorf("%d is idle, %d has it", second, got)
	}
	workers[third].Ack(take(third))
	if got := send(); got != third {
		t.Errorf("%d is idle, %d has it", third, got)
	}
	workers[first].Close(0)
	workers[second].Close(0)
	for range 2 {
		if got := send(); got != third {
			t.Errorf("to %d of those closed", got)
		}
	}
	for _, w := range workers {
		w.Close(0)
	}
	// One that has messages unread is busy, though it has none to acknowledge: those that follow go to the other,
	// whose turn it is or not.
	a, b := p.bound(t, PortConfig{}, 18888, 17), p.bound(t, PortConfig{}, 18888, 17)
	workers = []*Port{a, b}
	for n, unread := 0, send(); n < 3; n++ {
		got := send()
		if got == unread {
			t.Error("it has one that is not read")
			break
		}
		take(got)
	}
	a.Close(0)
	b.Close(0)
	// So is one that has read all and holds one that it has not acknowledged.
	a, b = p.bound(t, PortConfig{ManualAck: true}, 18888, 17), p.bound(t, PortConfig{ManualAck: true}, 18888, 17)
	workers = []*Port{a, b}
	k := send()
	take(k)
	for range 3 {
		if got := send(); got == k {
			t.Error("it has one that is not acknowledged")
		} else {
			workers[got].Ack(take(got))
		}
	}
}

// A lookup that prefers the idle looks at a bounded number of sockets, and allocates nothing; nor do
// requests under way, of which nothing is left when they are over.
//
// Mutations it catches: leastBusy looks at all; over leaves a count; a request that follows one
// without an answer leaves it counted.
func TestPreferIdleIsBounded(t *testing.T) {
	p := newScriptedPeer(t)
	var workers []*Port
	for range mostCompared + 2 {
		workers = append(workers, p.bound(t, PortConfig{}, 18888, 17))
	}
	s := p.OpenPort(PortConfig{PreferIdle: true})
	for range workers { // all are busy
		if err := s.SendService(0, requestService, []byte("job")); err != nil {
			t.Fatal(err)
		}
	}
	c, _ := p.table.Choose(requestService)
	var order []frame.SocketAddr
	for a := range c.Sockets {
		order = append(order, a)
	}
	if len(order) != len(workers) || order[0] != c.Socket() {
		t.Fatalf("%d sockets from %v on, whose turn is %v", len(order), order[0], c.Socket())
	}
	read(p.ports[order[mostCompared].Port]) // the first that is not compared
	if to, _ := s.SendAny(0, requestService, []byte("job")); to != order[0] {
		t.Error("it is not compared")
	}
	r := p.OpenPort(PortConfig{Requests: true, PreferIdle: true})
	job := []byte("job")
	ask := func() *Port {
		r.SendService(0, requestService, job)
		to := p.ports[r.Callee().Port]
		for ok := true; ok; _, _, ok = to.Read(nil) {
		}
		return to
	}
	if k := testing.AllocsPerRun(100, func() {
		r.answered(ask().Addr())
		ask() // the next is sent without an answer to it
	}); k != 0 && !raceEnabled {
		t.Errorf("%v allocations", k)
	}
	if len(p.requests.underWay) != 1 {
		t.Errorf("%d requests are under way, want 1", len(p.requests.underWay))
	}
	r.Close(0)
	if len(p.requests.underWay) != 0 {
		t.Errorf("%d requests are under way after the end", len(p.requests.underWay))
	}
}
