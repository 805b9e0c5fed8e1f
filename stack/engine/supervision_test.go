// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/monitor"
)

const gapAckCaps = popCaps | frame.CapGapAckBlock

// ringPeers is $1 peers whose peers say what they miss in records, as kernels do.
func ringPeers(t *testing.T, bearers, peerList int, change ...func(*Config)) *peers {
	t.Helper()
	c := newPeers(t, bearers, 0, change...)
	for range peerList {
		c.on(c.add(gapAckCaps), 0).join()
	}
	return c
}

// lowThreshold makes three nodes a cluster large enough to be watched by domains.
func lowThreshold(k *Config) { k.MonitorThreshold = 2 }

// states takes the STATEs sent to peer i on a bearer.
func (c *peers) states(i, bearer int) (all []frame.State) {
	c.t.Helper()
	c.collect()
	rest := c.sent[:0]
	for _, f := range c.sent {
		if eth, payload, _ := frame.ParseEthernet(f.bytes); f.bearer == bearer && eth.Dst() == c.peerList[i].links[bearer].mac {
			if m, err := frame.Parse(payload); err == nil && m.User() == frame.UserLink {
				if l, err := frame.ParseLink(m); err == nil && l.IsState() {
					s, _ := l.State()
					all = append(all, s)
					continue
				}
			}
		}
		rest = append(rest, f)
	}
	c.sent = rest
	return all
}

// asked has peer i probe, and returns the answer's data in hex.
func (c *peers) asked(i, bearer int) string {
	c.t.Helper()
	c.states(i, bearer)
	c.on(i, bearer).report(func(f *frame.StateFields) { f.Probe, f.Keepalive = true, true })
	s := c.states(i, bearer)
	if len(s) != 1 {
		c.t.Fatalf("peer %d: %d answers to a probe", i, len(s))
	}
	return fmt.Sprintf("%x", s[0].Data())
}

// tells has peer i say a STATE with a monitor's record.
func (c *peers) tells(i, bearer int, d frame.DomainFields) {
	c.t.Helper()
	x := c.peerList[i].links[bearer]
	f := frame.StateFields{Common: frame.Common{Seq: x.state, Ack: x.ack, BcastAck: c.peerList[i].heard, Prev: c.peerList[i].addr}, LinkInfo: c.on(i, bearer).info()}
	f.LastBcast = c.peerList[i].bcast - 1
	x.state++
	var data []byte
	if c.peerList[i].caps.Has(frame.CapGapAckBlock) {
		data = (&frame.GapAckFields{}).Append(nil)
	}
	c.on(i, bearer).hear(f.Append(nil, d.Append(data)))
}

// lives keeps some peers alive for a time, which say no record.
func (c *peers) lives(d time.Duration, who ...int) {
	c.t.Helper()
	for end := c.now + d; c.now < end; {
		for _, i := range who {
			c.on(i, 0).report(nil)
		}
		c.wait(min(c.now+200*time.Millisecond, end))
	}
}

// causes takes the events of links that went down.
func (c *peers) causes() (s []string) {
	for ev, ok := c.NextEvent(); ok; ev, ok = c.NextEvent() {
		if ev.Kind == LinkDown {
			s = append(s, fmt.Sprint(ev.Node, " ", ev.Cause))
		}
	}
	return s
}

// newRing is four nodes that all have told their domains: 1001001 supervises 1001002 and
// 1001003, which covers 1001004.
func newRing(t *testing.T) *peers {
	t.Helper()
	c := ringPeers(t, 1, 3, lowThreshold)
	for i := range 3 {
		c.tells(i, 0, frame.DomainFields{Gen: 1, AckGen: c.domain(), UpMap: 1, Members: []frame.NodeAddr{c.behind(i)}})
	}
	c.lives(time.Second, 0, 1, 2) // all have answered, and nobody needs to be asked
	c.forget()
	return c
}

// domain is the generation of the engine's own domain.
func (c *peers) domain() frame.Seq {
	_, rows, _ := c.Monitor(0)
	return rows[0].Generation
}

// behind is who stands behind peer i in the ring.
func (c *peers) behind(i int) frame.NodeAddr {
	if i+1 == len(c.peerList) {
		return c.Address()
	}
	return c.peerList[i+1].addr
}

// The record stands behind the Gap ACK record, where the monitor is at work: whole until
// it is acknowledged, then without members. A link that begins anew tells it anew.
//
// Proves: contact.monitor
func TestRecordInState(t *testing.T) {
	if got, want := ringPeers(t, 1, 3).asked(0, 0), "00040000"; got != want {
		t.Errorf("of four nodes with the threshold of 32: got %s, want %s", got, want)
	}
	c := ringPeers(t, 1, 3, lowThreshold)
	g := c.domain()
	full := fmt.Sprintf("00040000"+"0014%04x00000001"+"000000000000000101001002", uint16(g))
	if got := c.asked(0, 0); got != full {
		t.Errorf("not acknowledged: got %s, want %s", got, full)
	}
	c.tells(0, 0, frame.DomainFields{Gen: 9, AckGen: g, UpMap: 1, Members: []frame.NodeAddr{popAddr + 1}})
	if got, want := c.asked(0, 0), fmt.Sprintf("00040000"+"0010%04x00090000"+"0000000000000000", uint16(g)); got != want {
		t.Errorf("acknowledged: got %s, want %s", got, want)
	}
	if got := c.asked(1, 0); got != full {
		t.Errorf("to another: got %s, want %s", got, full)
	}
	c.on(0, 0).leave()
	c.on(0, 0).join()
	if got, want := c.asked(0, 0), full[:12]+fmt.Sprintf("%04x", uint16(c.domain()))+full[16:]; got != want {
		t.Errorf("in a new session: got %s, want %s", got, want)
	}
	old := newPeers(t, 1, 3, lowThreshold)
	if got := old.asked(0, 0); got != full[8:12]+fmt.Sprintf("%04x", uint16(old.domain()))+full[16:] {
		t.Errorf("to a peer without Gap ACK records: got %s", got)
	}
	c.done("records")
}

// What does not fit into a packet is left out: the members, or all of it.
//
// Proves: contact.monitor
func TestRecordFits(t *testing.T) {
	c := newPeers(t, 1, 0, lowThreshold)
	i := c.add(gapAckCaps)
	c.on(i, 0).joinMTU(120)
	r := c.bearers[0].ring
	for k := range 300 {
		r.Up(0x2001001 + frame.NodeAddr(k))
	}
	if got := c.asked(i, 0); len(got) != 2*(4+16) || got[8:12] != "0010" {
		t.Errorf("with an MTU of 120: got %s", got)
	}
	c.on(c.add(gapAckCaps), 0).joinMTU(1500)
	if got := c.asked(i+1, 0); len(got) != 2*(4+16+4*17) {
		t.Errorf("with an MTU of 1500: got %d characters, %s", len(got), got)
	}
	if got := r.RecordLen(c.peerList[i].addr, 15); got != 0 {
		t.Errorf("a record of %d bytes in 15", got)
	}
}

// Who is not ours to supervise is not probed while nothing is to be said, and may be
// silent, until the one that covers it says that it is lost: then it is probed, and lost
// if it is silent for as long as others may be.
//
// Proves: contact.monitor
func TestOthersWatch(t *testing.T) {
	c := newRing(t)
	c.states(2, 0)
	c.lives(10*time.Second, 0, 1)
	if got := c.states(2, 0); len(got) > 0 || !c.node(2).links[0].IsUp() {
		t.Errorf("%d STATEs to a node that is not ours to supervise, link %v", len(got), c.node(2).links[0].State())
	}
	if got := c.states(0, 0); len(got) < 20 {
		t.Errorf("%d STATEs to a node that is ours to supervise", len(got))
	}
	c.tells(1, 0, frame.DomainFields{Gen: 2, AckGen: c.domain(), Members: []frame.NodeAddr{popAddr + 2}})
	began := c.now
	c.lives(time.Second, 0, 1)
	if got := c.states(2, 0); len(got) < 2 || !got[0].Probe() {
		t.Errorf("reported lost: %d STATEs", len(got))
	}
	var got []string
	for ; c.now < began+10*time.Second && len(got) == 0; got = c.causes() {
		c.lives(100*time.Millisecond, 0, 1)
	}
	if want := []string{"1001004 peer silent"}; !slices.Equal(got, want) || c.now < began+1500*time.Millisecond || c.now > began+2500*time.Millisecond {
		t.Errorf("after %v: got %q, want %q", c.now-began, got, want)
	}
	c.done("silent")
}

// Four members that report another end the link to it at the second interval, unless a
// probe is answered before; one that does so as often is no more than one.
//
// Proves: contact.monitor
func TestReportedLost(t *testing.T) {
	const victim = 5
	for _, c := range []struct {
		name      string
		reporters []int
		answers   bool
		lost      bool
	}{
		{"four, no answer", []int{1, 2, 3, 4}, false, true},
		{"four, answers", []int{1, 2, 3, 4}, true, false},
		{"one four times, no answer", []int{1, 1, 1, 1}, false, false},
		{"three, one of them twice, no answer", []int{1, 2, 3, 3}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ringPeers(t, 1, victim+1, lowThreshold)
			gen := make([]frame.Seq, victim)
			says := func(i int, lost bool) {
				gen[i]++
				d := frame.DomainFields{Gen: gen[i], AckGen: w.domain()}
				for k := i + 1; k <= victim; k++ {
					if k < victim || !lost {
						d.UpMap |= 1 << len(d.Members)
					}
					d.Members = append(d.Members, popAddr+frame.NodeAddr(k))
				}
				w.tells(i, 0, d)
			}
			for i := range victim {
				says(i, false)
			}
			w.tells(victim, 0, frame.DomainFields{Gen: 1, AckGen: w.domain()})
			w.lives(time.Second, 0, 1, 2, 3, 4, victim) // all have answered, and nobody needs to be asked
			w.forget()
			for _, i := range c.reporters {
				says(i, false)
				says(i, true)
			}
			var got []string
			for began := w.now; w.now < began+900*time.Millisecond; {
				if s := w.states(victim, 0); c.answers && len(s) > 0 {
					w.tells(victim, 0, frame.DomainFields{Gen: 1, AckGen: w.domain()})
				}
				w.lives(50*time.Millisecond, 0, 1, 2, 3, 4)
				got = append(got, w.causes()...)
			}
			var want []string
			if c.lost {
				want = []string{"1001007 " + flowctl.PeerReported.String()}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			w.done("reported")
		})
	}
}

// Data that waits for its acknowledgement has silence counted, whoever supervises.
//
// Proves: contact.monitor
func TestDataIsWatched(t *testing.T) {
	c := newRing(t)
	p := c.OpenPort(PortConfig{})
	if err := p.Send(c.now, frame.SocketAddr{Port: 5, Node: popAddr + 2}, []byte("anybody there?")); err != nil {
		t.Fatal(err)
	}
	began := c.now
	var got []string
	for ; c.now < began+10*time.Second && len(got) == 0; got = c.causes() {
		c.lives(100*time.Millisecond, 0, 1)
	}
	if want := []string{"1001004 peer silent"}; !slices.Equal(got, want) || c.now > began+2500*time.Millisecond {
		t.Errorf("after %v: got %q, want %q", c.now-began, got, want)
	}
	c.done("data")
}

// The threshold may change while links are up: records begin and end, and with them who
// is supervised.
//
// Proves: contact.monitor
func TestThresholdChanges(t *testing.T) {
	for _, n := range []int{0, -1, monitor.MaxThreshold + 1} {
		if err := newPeers(t, 1, 0).SetMonitorThreshold(n); !errors.Is(err, ErrConfig) {
			t.Errorf("threshold %d: got %v", n, err)
		}
	}
	c := newRing(t)
	if n := c.MonitorThreshold(); n != 2 || len(c.asked(2, 0)) != 2*(4+16) {
		t.Errorf("threshold %d: got %s", n, c.asked(2, 0))
	}
	if err := c.SetMonitorThreshold(32); err != nil {
		t.Fatal(err)
	}
	if got, want := c.asked(2, 0), "00040000"; got != want {
		t.Errorf("threshold 32: got %s, want %s", got, want)
	}
	c.lives(3*time.Second, 0, 1)
	if got, want := c.causes(), []string{"1001004 peer silent"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := c.SetMonitorThreshold(3); err != nil || len(c.asked(1, 0)) <= 8 {
		t.Errorf("threshold 3 of a ring of 4, one of them down: got %s, %v", c.asked(1, 0), err)
	}
	c.done("threshold")
}

// Each bearer has a ring of those with a link there; a bearer that is removed has none, a
// node that is forgotten no place.
//
// Proves: contact.monitor
func TestRingOfEachBearer(t *testing.T) {
	c := ringPeers(t, 2, 3, lowThreshold)
	c.on(0, 1).join()
	size := func(bearer int) string {
		s, rows, ok := c.Monitor(bearer)
		return fmt.Sprint(s.Size, len(rows), s.Active, ok)
	}
	if a, b := size(0), size(1); a != "4 4 true true" || b != "2 2 false true" {
		t.Errorf("got %s and %s", a, b)
	}
	if a, b := c.asked(0, 0), c.asked(0, 1); len(a) <= 8 || b != "00040000" {
		t.Errorf("to one node: got %s on the one bearer, %s on the other", a, b)
	}
	c.lives(forgetAfter+5*time.Second+2*slowTick, 1)
	if got := size(0); got != "2 2 false true" {
		t.Errorf("two nodes are gone and forgotten: got %s", got)
	}
	r := c.bearers[0].ring
	c.RemoveBearer(c.now, 0)
	c.collect()
	if got := size(0); got != "0 0 false false" || r.Size() != 1 {
		t.Errorf("the bearer is removed: got %s, a ring of %d", got, r.Size())
	}
	c.done("rings")
}
