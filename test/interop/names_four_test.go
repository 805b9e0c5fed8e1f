// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

const (
	// goneWithin is the yardstick for how long names of a node that died may be known, on a
	// machine with nothing else to do: the tolerance of a link, two of its intervals, and a
	// second.
	goneWithin = impatient + 2*impatient/4 + time.Second
)

// Two kernels and two nodes of ours in one segment: names that are bound and unbound
// on each are known to all, and all tables are equal.
//
// Proves: names.kernels
func TestNamesOnFour(t *testing.T) {
	f := newFour(t, 15*time.Minute)
	_ = t.Run("one by one", f.namesOneByOne) &&
		t.Run("a hundred at once", f.namesAtOnce) &&
		t.Run("churn", f.namesChurn) &&
		t.Run("a kernel killed and restarted", f.namesKilled)
}

// knownAfter waits until all four know what was bound since began, and returns how long it took.
func (f *four) knownAfter(t *testing.T, began time.Time) time.Duration {
	t.Helper()
	return f.agree(t).Sub(began)
}

func (f *four) namesOneByOne(t *testing.T) {
	for _, i := range kernels {
		began := time.Now()
		f.members[i].(*kernelMember).ping(t)
		t.Logf("%x answers a line after %v; the times below include one or two such ways", uint32(f.members[i].addr()), time.Since(began).Round(100*time.Microsecond))
	}
	for i, m := range f.members {
		base := uint32(1000 * i)
		var worst, sum time.Duration
		steps := 0
		step := func(do func()) {
			t.Helper()
			began := time.Now()
			do()
			took := f.knownAfter(t, began)
			steps++
			worst, sum = max(worst, took), sum+took
		}
		single := stack.Range{Type: fourType, Lower: base + 17, Upper: base + 17}
		wide := stack.Range{Type: fourType, Lower: base, Upper: base + 99}
		shared := stack.Range{Type: fourType, Lower: 900000, Upper: 900009} // by all four
		cluster, node := stack.ClusterScope, stack.NodeScope
		var a, b, c stack.SocketAddr
		step(func() { a = f.bind(t, i, 0, single, cluster, 1) })                                     // a name
		step(func() { b = f.bind(t, i, 1, single, cluster, 1) })                                     // the same of another socket
		step(func() { f.bind(t, i, 1, single, cluster, 1) })                                         // the same twice
		step(func() { f.bind(t, i, 0, wide, cluster, 1) })                                           // a range around it
		step(func() { f.bind(t, i, 0, shared, cluster, 1) })                                         // a range of all four
		step(func() { c = f.bind(t, i, 2, wide, node, 1) })                                          // of node scope
		step(func() { f.bind(t, i, 1, stack.Range{Type: otherType, Upper: 1<<32 - 1}, cluster, 1) }) // another type
		f.tables(t)
		step(func() { f.unbind(t, i, 1, b, single, cluster, 1) }) // one of two withdrawn
		step(func() { f.unbind(t, i, 2, c, wide, node, 1) })      // node scope withdrawn
		f.tables(t)
		step(func() { f.bind(t, i, 2, wide, node, 1) }) // bound again
		step(func() { f.close(t, i, 0, a) })            // a socket closed
		step(func() { f.close(t, i, 1, b) })            // another closed
		step(func() { f.close(t, i, 2, c) })            // the last closed
		f.tables(t)
		t.Logf("%x: %d changes, each known everywhere after %v on average, %v at most; yardstick 100ms",
			uint32(m.addr()), steps, (sum / time.Duration(steps)).Round(100*time.Microsecond), worst.Round(100*time.Microsecond))
	}
}

// together has all members do the same at once.
func (f *four) together(do func(i int)) {
	var all sync.WaitGroup
	for i := range f.members {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func (f *four) namesAtOnce(t *testing.T) {
	const names = 100
	r := func(i int) stack.Range {
		low := uint32(100000 * (i + 1))
		return stack.Range{Type: fourType, Lower: low, Upper: low + 4}
	}
	var at [nodesOfFour]stack.SocketAddr
	began := time.Now()
	f.together(func(i int) { at[i] = f.members[i].bind(t, 0, r(i), stack.ClusterScope, names) })
	for i := range at {
		f.promise(r(i), at[i], stack.ClusterScope, names)
	}
	t.Logf("4 x %d names bound: known everywhere after %v; yardstick 100ms", names, f.knownAfter(t, began).Round(100*time.Microsecond))
	f.tables(t)
	began = time.Now()
	f.together(func(i int) { f.members[i].unbind(t, 0, r(i), stack.ClusterScope, names/2) })
	for i := range at {
		f.promise(r(i), at[i], stack.ClusterScope, -names/2)
	}
	t.Logf("4 x %d names unbound: known everywhere after %v", names/2, f.knownAfter(t, began).Round(100*time.Microsecond))
	f.tables(t)
	began = time.Now()
	f.together(func(i int) { f.members[i].close(t, 0) })
	f.forget(func(x bound) bool { return x.Range.Type == fourType })
	t.Logf("4 x %d names closed: known everywhere after %v", names/2, f.knownAfter(t, began).Round(100*time.Microsecond))
	f.tables(t)
}

// Sockets of all four bind, unbind and close without waiting for anybody, while
// frames get lost. Once quiet all agree.
func (f *four) namesChurn(t *testing.T) {
	f.segment.Set(fault.Faults{Loss: 0.02}, 3)
	defer f.segment.Set(fault.Faults{}, 0)
	const steps, sockets = 150, 5
	type binding struct {
		socket int
		r      stack.Range
	}
	var held [nodesOfFour][]binding
	var at [nodesOfFour][sockets]stack.SocketAddr
	began := time.Now()
	f.together(func(i int) {
		dice := rand.New(rand.NewPCG(4, uint64(i)))
		m := f.members[i]
		for range steps {
			switch s := dice.IntN(sockets); dice.IntN(10) {
			case 0: // close
				if at[i][s].Port == 0 {
					continue
				}
				m.close(t, s)
				at[i][s] = stack.SocketAddr{}
				kept := held[i][:0]
				for _, b := range held[i] {
					if b.socket != s {
						kept = append(kept, b)
					}
				}
				held[i] = kept
			case 1, 2, 3: // unbind
				if len(held[i]) == 0 {
					continue
				}
				k := dice.IntN(len(held[i]))
				b := held[i][k]
				m.unbind(t, b.socket, b.r, stack.ClusterScope, 1)
				held[i] = append(held[i][:k], held[i][k+1:]...)
			default:
				low := dice.Uint32N(1000)
				r := stack.Range{Type: fourType, Lower: low, Upper: low + dice.Uint32N(50)}
				at[i][s] = m.bind(t, s, r, stack.ClusterScope, 1)
				held[i] = append(held[i], binding{s, r})
			}
		}
	})
	for i := range held {
		for _, b := range held[i] {
			f.promise(b.r, at[i][b.socket], stack.ClusterScope, 1)
		}
	}
	done := time.Now()
	after := f.agree(t).Sub(done)
	c := f.segment.Counts()
	t.Logf("4 x %d changes in %v, known everywhere %v later; %d of %d frames lost", steps, done.Sub(began).Round(time.Millisecond),
		max(0, after).Round(time.Millisecond), c.Lost, c.Seen)
	if c.Lost == 0 {
		t.Error("nothing was lost")
	}
	f.tables(t)
}

// The names of a kernel that dies are gone everywhere, and are back once it
// is. What the churn left is bound at all four meanwhile.
func (f *four) namesKilled(t *testing.T) {
	const victim, names = 2, 50
	r := stack.Range{Type: fourType, Lower: 5000, Upper: 5003}
	f.bind(t, victim, 0, r, stack.ClusterScope, names)
	f.agree(t)
	before := len(f.want)
	began := time.Now()
	f.kill(t, victim)
	took := f.agree(t).Sub(began)
	t.Logf("%d bindings of a kernel that died gone everywhere after %v; yardstick %v", before-len(f.want), took.Round(time.Millisecond), goneWithin)
	f.tables(t)

	began = time.Now()
	f.restart(t, victim)
	up := time.Since(began)
	f.agree(t) // its own table is whole, too
	t.Logf("up again after %v, in contact after %v", up.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	f.tables(t)
	began = time.Now()
	f.bind(t, victim, 0, r, stack.ClusterScope, names)
	t.Logf("%d bindings back everywhere after %v", names, f.knownAfter(t, began).Round(100*time.Microsecond))
	f.tables(t)
}
