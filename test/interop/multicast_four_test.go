// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/test/interop/cast"
)

// castTotal is how many messages the test of multicast sends in all.
func castTotal() int {
	if testing.Short() {
		return 5000
	}
	return 100_000
}

// receiversEach is how many sockets hear multicast on each of the four.
const receiversEach = 2

// crossPlan is a round in which messages go to ranges that overlap in many ways. On
// node n
//
//	receiver 2n    is bound to 10n..10n+9
//	receiver 2n+1  is bound to 10n+5..10n+9 twice, to 10n+8..10n+19 (the next node's
//	               first receiver shares those above 10n+9) and to 100
//
// and messages go to a range of one node, of two, of all second receivers, of all. It
// is for a sender that keeps to one method: one that changes it tells only the
// receivers of the message with which it does, and others may see messages of the two
// methods in another order.
func crossPlan(seed uint32, count int) cast.Plan {
	p := cast.Plan{Seed: seed, Type: castType, Senders: nodesOfFour, Count: count, Batch: 64, Longest: longestMessage}
	lanes := []cast.Range{{Lower: 100, Upper: 200}, {Lower: 5, Upper: 39}, cast.All}
	for n := range uint32(nodesOfFour) {
		p.Receivers = append(p.Receivers,
			[]cast.Range{{Lower: 10 * n, Upper: 10*n + 9}},
			[]cast.Range{{Lower: 10*n + 5, Upper: 10*n + 9}, {Lower: 10*n + 5, Upper: 10*n + 9}, {Lower: 10*n + 8, Upper: 10*n + 19}, {Lower: 100, Upper: 100}})
		lanes = append(lanes, cast.Range{Lower: 10 * n, Upper: 10*n + 4}, cast.Range{Lower: 10*n + 7, Upper: 10*n + 12})
	}
	for range p.Senders {
		p.Lanes = append(p.Lanes, lanes)
	}
	return p
}

// changePlan is a round in which senders that choose the method change it at every few
// messages: from s they go to all receivers of the next node, to some of its own node, or
// to all. Who hears of one change hears of all.
func changePlan(seed uint32, count int) cast.Plan {
	p := cast.Plan{Seed: seed, Type: castType, Senders: nodesOfFour, Count: count, Batch: 64, Longest: longestMessage}
	for n := range uint32(nodesOfFour) {
		p.Receivers = append(p.Receivers,
			[]cast.Range{{Lower: 10 * n, Upper: 10*n + 9}},
			[]cast.Range{{Lower: 10*n + 5, Upper: 10*n + 9}, {Lower: 10*n + 5, Upper: 10*n + 9}, {Lower: 100, Upper: 100}})
		next := 10 * ((n + 1) % nodesOfFour)
		p.Lanes = append(p.Lanes, []cast.Range{{Lower: next + 6, Upper: next + 7}, {Lower: 10*n + 2, Upper: 10*n + 3}, cast.All})
	}
	return p
}

// gently makes a round such that a sender never has more under way than fits into the
// window of a kernel's link. A kernel that has changes of method waiting behind a full
// window sends them in the wrong order: their marks count as of higher importance
// (docs/spec/04-broadcast.md §6.1).
func gently(p cast.Plan) cast.Plan {
	p.Batch, p.Longest = 8, 1400
	return p
}

// A round is multicast from some of the four to sockets on all.
type round struct {
	f        *four
	plan     cast.Plan
	method   method
	disorder bool // is expected of kernels that send
	ears     [nodesOfFour]castEars
	mouths   map[int]castMouth // by member
	began    time.Time
}

// begin opens all sockets, waits until their names are known everywhere and starts
// the senders, which are the members given. The first of ours waits half way until hold is
// closed, if it is given.
func (f *four) begin(t *testing.T, p cast.Plan, how method, senders []int, hold <-chan struct{}) *round {
	t.Helper()
	r := &round{f: f, plan: p, method: how, mouths: map[int]castMouth{}}
	for i, m := range f.members {
		which := []int{}
		for k := range receiversEach {
			which = append(which, receiversEach*i+k)
		}
		var at []stack.SocketAddr
		r.ears[i], at = m.(caster).hear(t, p, which...)
		for k, n := range which {
			for _, b := range p.Receivers[n] {
				f.promise(stack.Range{Type: p.Type, Lower: b.Lower, Upper: b.Upper}, at[k], stack.ClusterScope, 1)
			}
		}
	}
	f.agree(t)
	for _, i := range senders {
		r.mouths[i] = f.members[i].(caster).speak(t, p, i, how)
	}
	if hold != nil {
		r.mouths[us[0]].(*ourMouth).sender.Hold(p.Count/2, hold)
	}
	r.began = time.Now()
	for _, m := range r.mouths {
		must(t, m.start())
	}
	return r
}

// end waits for the senders that live and judges what the receivers that live have
// got. Of a sender that died they must have a beginning.
func (r *round) end(t *testing.T, testTimeout time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(r.f.ctx, testTimeout)
	defer cancel()
	for i, m := range r.mouths {
		if r.f.ledgers[i] == nil {
			continue
		}
		if err := m.wait(ctx); err != nil {
			t.Errorf("sender %d: %v", i, err)
			if st, err := m.status(); err == nil {
				t.Logf("sender %d: %+v", i, st)
			}
		}
	}
	took := time.Since(r.began)
	var got, bytes int
	for i, e := range r.ears {
		if r.f.ledgers[i] == nil {
			continue
		}
		all, err := e.report()
		if err != nil {
			t.Fatalf("receivers at %d: %v", i, err)
		}
		for _, rep := range all {
			r.judge(t, i, rep)
			for _, v := range rep.Senders {
				got, bytes = got+v.Messages, bytes+v.Bytes
			}
		}
	}
	t.Logf("%v: %d messages sent by each of %d in %v; %d received, %s in all", r.method, r.plan.Count, len(r.mouths),
		took.Round(10*time.Millisecond), got, rate(float64(bytes)/took.Seconds()))
	if t.Failed() {
		t.FailNow() // senders that have not ended cannot be closed
	}
	for i := range r.f.members {
		if r.f.ledgers[i] == nil {
			continue
		}
		if m := r.mouths[i]; m != nil {
			must(t, m.close())
		}
		must(t, r.ears[i].close())
	}
	r.f.forget(func(x bound) bool { return x.Range.Type == castType })
	r.f.agree(t)
}

// judge looks at what a receiver at a member has got.
func (r *round) judge(t *testing.T, at int, rep cast.Report) {
	t.Helper()
	for s, v := range rep.Senders {
		good := v.Whole()
		switch _, sends := r.mouths[s]; {
		case !sends:
			good = v.Clean() && v.Messages == 0
		case r.f.ledgers[s] == nil:
			good = v.Clean()
		case !good && r.disorder && isKernel(s) && at != s: // see gently
			t.Logf("receiver %d at %d, of kernel %d: %+v, %d marks of changes handed over", rep.Receiver, at, s, v, rep.Phantoms)
			good = isKernel(at) || v.Missing+v.Left+v.Twice+v.Stray == 0
		}
		if !good {
			t.Errorf("receiver %d at %d, of sender %d: %+v", rep.Receiver, at, s, v)
		}
	}
	if rep.Corrupt+rep.Dropped > 0 || rep.Phantoms > 0 && !r.disorder {
		t.Errorf("receiver %d at %d: %d corrupt, %d dropped by its own node for want of room, %d of no data",
			rep.Receiver, at, rep.Corrupt, rep.Dropped, rep.Phantoms)
	}
}

// all four.
var everybody = []int{0, 1, 2, 3}

// Two kernels and two nodes of ours multicast to ranges spread over all four, while
// one frame in a hundred is lost on the way to each: every socket gets what is meant for
// it once and in order, whether it comes by broadcast, as copies, or as the sender
// chooses for each message.
//
// Proves: multicast.kernels, contact.capabilities
func TestMulticastOnFour(t *testing.T) {
	f := newFour(t, 15*time.Minute)
	for _, i := range kernels {
		f.run(t, i, "sysctl -w net.core.rmem_max=%d", receiveRoom)
	}
	each := func(share int) int { return castTotal()*share/100/nodesOfFour + 1 }
	_ = t.Run("broadcast", func(t *testing.T) {
		f.cast(t, crossPlan(1, each(35)), broadcast, everybody)
	}) && t.Run("replicast", func(t *testing.T) {
		f.cast(t, crossPlan(2, each(35)), replicast, everybody)
	}) && t.Run("automatic", func(t *testing.T) {
		f.cast(t, gently(changePlan(3, each(10))), automatic, everybody)
	}) && t.Run("automatic under load", func(t *testing.T) {
		f.cast(t, changePlan(4, each(20)), automatic, everybody)
	}) && t.Run("a kernel killed and restarted", f.castKilled)
}

// cast is a round with faults, and a look at how it went.
func (f *four) cast(t *testing.T, p cast.Plan, how method, senders []int) {
	t.Helper()
	var dummies atomic.Int64
	f.segment.watch(func(b []byte) {
		if isDummy(b) {
			dummies.Add(1)
		}
	})
	defer f.segment.watch(nil)
	f.segment.Set(fault.Faults{Loss: 0.01}, uint64(p.Seed))
	defer f.segment.Set(fault.Faults{}, 0)
	before := f.castCounts(t)
	lost := f.segment.Counts()
	r := f.begin(t, p, how, senders, nil)
	r.disorder = how == automatic && p.Longest == longestMessage
	r.end(t, 15*time.Minute)
	c := f.segment.Counts()
	t.Logf("%d of %d frames lost; %d of them, or more, changes of method", c.Lost-lost.Lost, c.Seen-lost.Seen, dummies.Load())
	if c.Lost == lost.Lost {
		t.Error("nothing was lost")
	}
	if changes := dummies.Load() > 0; changes != (how == automatic) {
		t.Errorf("changes of method: %v", changes)
	}
	f.castMethod(t, how, before)
}

// isDummy reports whether a frame is what a sender puts between two methods.
func isDummy(b []byte) bool {
	m, err := frame.Parse(b[frame.EthernetLen:])
	if err != nil {
		return false
	}
	p, err := frame.ParsePayload(m)
	return err == nil && p.Type() == frame.McastMsg && p.Syn() && p.Error() != frame.OK
}

// run gives a kernel a command.
func (f *four) run(t *testing.T, i int, format string, args ...any) string {
	t.Helper()
	cmd := fmt.Sprintf(format, args...)
	out, err := f.members[i].(*kernelMember).guest.Run(f.ctx, cmd)
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return out
}

// A kernel that dies in the midst of multicast does not keep the others from it, and
// nothing of theirs is lost. Once it is back it hears everything again.
func (f *four) castKilled(t *testing.T) {
	const victim = 2
	f.segment.Set(fault.Faults{Loss: 0.01}, 9)
	defer f.segment.Set(fault.Faults{}, 0)
	p := crossPlan(9, max(castTotal()/20, 3000))
	for r := range p.Receivers {
		if r/receiversEach != victim {
			p.Await = append(p.Await, r)
		}
	}
	hold := make(chan struct{})
	r := f.begin(t, p, broadcast, everybody, hold)
	f.castHalfway(t, r, victim)
	f.kill(t, victim)
	close(hold)
	r.end(t, 15*time.Minute)
	f.restart(t, victim)
	f.agree(t)
	f.run(t, victim, "sysctl -w net.core.rmem_max=%d", receiveRoom)
	f.begin(t, gently(changePlan(10, castTotal()/200)), automatic, everybody, nil).end(t, 15*time.Minute)
}

// castHalfway waits until the first of the members that will live has sent a quarter.
func (f *four) castHalfway(t *testing.T, r *round, victim int) {
	t.Helper()
	begun := func() bool {
		for i, m := range r.mouths {
			st, err := m.status()
			must(t, err)
			if i != victim && st.Sent >= r.plan.Count/4 {
				return true
			}
		}
		return false
	}
	for !begun() {
		must(t, f.ctx.Err())
	}
	for i, m := range r.mouths {
		st, err := m.status()
		must(t, err)
		t.Logf("member %d has sent %d of %d when the kernel %d dies", i, st.Sent, r.plan.Count, victim)
	}
}
