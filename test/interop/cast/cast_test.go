// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/utipc/utipc/test/interop/pattern"
)

func testPlan() Plan {
	return Plan{
		Seed: 5, Type: 18950, Senders: 2, Count: 3000, Batch: 50, Longest: 66000,
		Lanes:     [][]Range{{{0, 9}, {10, 19}, {5, 14}}, {{0, 9}, {10, 19}}},
		Receivers: [][]Range{{{0, 4}, {0, 4}}, {{8, 12}, {9, 30}}, {{40, 40}}},
	}
}

func message(p *Plan, sender, i int) []byte {
	b := make([]byte, p.Size(sender, i))
	pattern.Fill(b, number(sender, i))
	return b
}

// meant lists the messages of sender 1 that receiver 0 must get.
func meant(p *Plan) (all [][]byte) {
	for i := range p.Count {
		if p.Meant(0, 1, i) {
			all = append(all, message(p, 1, i))
		}
	}
	return all
}

// The judge sees each thing that can go wrong, once.
//
// Proves: multicast.kernels
func TestJudgeSees(t *testing.T) {
	p := testPlan()
	stray := 0
	for p.Meant(0, 1, stray) {
		stray++
	}
	n := len(meant(&p))
	const at = 100
	for what, tt := range map[string]struct {
		change  func(all [][]byte) [][]byte
		want    Verdict
		corrupt int
	}{
		"nothing": {func(all [][]byte) [][]byte { return all }, Verdict{Messages: n}, 0},
		"missing": {
			func(all [][]byte) [][]byte { return append(all[:at:at], all[at+1:]...) },
			Verdict{Messages: n - 1, Missing: 1},
			0,
		},
		"twice": {
			func(all [][]byte) [][]byte { return append(all[:at+1:at+1], all[at:]...) },
			Verdict{Messages: n, Twice: 1},
			0,
		},
		"late": {func(all [][]byte) [][]byte {
			all[at], all[at+1] = all[at+1], all[at]
			return all
		}, Verdict{Messages: n, Late: 1}, 0},
		"changed": {func(all [][]byte) [][]byte {
			all[at][len(all[at])-1] ^= 1
			return all
		}, Verdict{Messages: n - 1, Missing: 1}, 1},
		"another's": {
			func(all [][]byte) [][]byte { return append(all, message(&p, 1, stray)) },
			Verdict{Messages: n, Stray: 1},
			0,
		},
		"cut": {func(all [][]byte) [][]byte { return all[:at] }, Verdict{Messages: at, Left: n - at}, 0},
	} {
		j := newJudge(p, 0)
		for _, b := range tt.change(meant(&p)) {
			j.take(b)
		}
		r := j.report()
		got := r.Senders[1]
		got.Bytes = 0
		if got != tt.want || r.Corrupt != tt.corrupt {
			t.Errorf("%s: got %+v, corrupt %d, want %+v, %d", what, got, r.Corrupt, tt.want, tt.corrupt)
		}
		if whole := got.Whole() && r.Corrupt == 0; whole != (what == "nothing") {
			t.Errorf("%s: whole is %v", what, whole)
		}
		if other := r.Senders[0]; other.Messages != 0 || other.Left == 0 {
			t.Errorf("%s: the sender that sent nothing: %+v", what, other)
		}
	}
}

// Sizes reach from the shortest to nearly the longest, and most fit into a frame.
//
// Proves: multicast.kernels
func TestPlanSizes(t *testing.T) {
	p := testPlan()
	shortest, most, small, sum := 1<<30, 0, 0, 0
	const n = 20000
	for i := range n {
		s := p.Size(0, i)
		shortest, most, sum = min(shortest, s), max(most, s), sum+s
		if s <= 1400 {
			small++
		}
	}
	if shortest != pattern.HeaderLen || most > p.Longest || most < p.Longest*9/10 || small < n*9/10 || small == n {
		t.Errorf("%d to %d bytes, %d of %d within a frame", shortest, most, small, n)
	}
	t.Logf("%d bytes on average", sum/n)
}

// A bus carries messages to all receivers bound within a range.
type bus struct {
	plan Plan
	to   map[string]chan packet
}

type packet struct {
	b    []byte
	from net.Addr
}

type busAddr string

func (a busAddr) Network() string { return "bus" }
func (a busAddr) String() string  { return string(a) }

type rangeAddr struct{ Range }

func (a rangeAddr) Network() string { return "bus" }
func (a rangeAddr) String() string  { return fmt.Sprint(a.Range) }

type busConn struct {
	*bus
	name string
}

func (c busConn) ReadFrom(b []byte) (int, net.Addr, error) {
	m, ok := <-c.to[c.name]
	if !ok {
		return 0, nil, os.ErrClosed
	}
	return copy(b, m.b), m.from, nil
}

func (c busConn) WriteTo(b []byte, to net.Addr) (int, error) {
	m := packet{append([]byte{}, b...), busAddr(c.name)}
	r, many := to.(rangeAddr)
	if !many {
		c.to[to.String()] <- m
		return len(b), nil
	}
	for i, bound := range c.plan.Receivers {
		for _, o := range bound {
			if o.overlaps(r.Range) {
				c.to[fmt.Sprint("receiver ", i)] <- m
				break
			}
		}
	}
	return len(b), nil
}

// A whole round over a medium without faults, and the bound on what is under way.
//
// Proves: multicast.kernels
func TestRound(t *testing.T) {
	p := testPlan()
	medium := &bus{p, map[string]chan packet{}}
	room := p.Senders * (marksAhead + 1) * p.Batch
	for i := range p.Receivers {
		medium.to[fmt.Sprint("receiver ", i)] = make(chan packet, room)
	}
	for i := range p.Senders {
		medium.to[fmt.Sprint("sender ", i)] = make(chan packet, 2*room)
	}
	receivers := make([]*Receiver, len(p.Receivers))
	ended := make(chan error, len(receivers))
	for i := range receivers {
		receivers[i] = NewReceiver(p, i)
		go func() { ended <- receivers[i].Serve(busConn{medium, fmt.Sprint("receiver ", i)}) }()
	}
	sent := make(chan error, p.Senders)
	for i := range p.Senders {
		s := NewSender(p, i)
		go func() {
			sent <- s.Run(busConn{medium, fmt.Sprint("sender ", i)}, func(_ uint32, r Range) net.Addr { return rangeAddr{r} })
			if least := s.slowest(); least != p.Count {
				t.Errorf("sender %d ended when a receiver had confirmed %d", i, least)
			}
		}()
	}
	for range p.Senders {
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range receivers {
		for s, v := range r.Report().Senders {
			if !v.Whole() || v.Messages < p.Count/p.Batch {
				t.Errorf("receiver %d of sender %d: %+v", i, s, v)
			}
		}
		close(medium.to[fmt.Sprint("receiver ", i)])
		<-ended
	}
}

// A slowConn confirms a mark by one receiver whenever it is read from, and never
// before.
type slowConn struct {
	t         *testing.T
	plan      Plan
	marks     []int // sent and not confirmed by all
	by        int   // the receiver that is next to confirm the first of them
	sent      int
	confirmed int // by all
}

func (c *slowConn) WriteTo(b []byte, _ net.Addr) (int, error) {
	if c.plan.mark(c.sent) {
		c.marks = append(c.marks, c.sent)
	}
	c.sent++
	if ahead := c.sent - c.confirmed; ahead > (marksAhead+1)*c.plan.Batch {
		c.t.Fatalf("%d messages under way", ahead)
	}
	return len(b), nil
}

func (c *slowConn) ReadFrom(b []byte) (int, net.Addr, error) {
	if len(c.marks) == 0 {
		return 0, nil, os.ErrDeadlineExceeded
	}
	i, by := c.marks[0], c.by
	if c.by++; c.by == len(c.plan.Receivers) {
		c.by, c.marks, c.confirmed = 0, c.marks[1:], i+1
	}
	return copy(b, note(by, i)), busAddr("receiver"), nil
}

// A sender does not run ahead of receivers that are slow, and waits for each.
//
// Proves: multicast.kernels
func TestSenderWaits(t *testing.T) {
	p := testPlan()
	c := &slowConn{t: t, plan: p}
	if err := NewSender(p, 0).Run(c, func(_ uint32, r Range) net.Addr { return rangeAddr{r} }); err != nil {
		t.Fatal(err)
	}
	if c.confirmed != p.Count {
		t.Errorf("ended when %d of %d were confirmed", c.confirmed, p.Count)
	}
	p.Await = []int{1}
	c = &slowConn{t: t, plan: p}
	c.plan.Receivers = p.Receivers[:2] // the third never confirms
	if err := NewSender(p, 0).Run(c, func(_ uint32, r Range) net.Addr { return rangeAddr{r} }); err != nil {
		t.Errorf("a receiver that is not awaited: %v", err)
	}
}
