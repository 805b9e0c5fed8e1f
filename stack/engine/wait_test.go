// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// sendAs sends for a call that waits.
func sendAs(e *Engine, now time.Duration, t *Ticket, p *Port, to frame.SocketAddr, data []byte) error {
	e.SendAs(t)
	err := p.Send(now, to, data)
	e.SendAs(nil)
	return err
}

// calledOf names those who should try again.
func calledOf(e *Engine) (names string) {
	for _, t := range e.TakeCalled(nil) {
		names += fmt.Sprint(t.Owner)
	}
	return names
}

// Who is called and leaves without sending hands the room on; who sends does, and a
// newcomer does not take it.
//
// Proves: link.importance
func TestRoomIsHandedOn(t *testing.T) {
	p := newScriptedPeer(t, func(c *Config) { c.Window = 1 }).up()
	defer p.done()
	s := p.OpenPort(PortConfig{})
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	data := make([]byte, 1000)
	for s.Send(p.now, to, data) == nil {
	}
	p.collect()
	a, b, c := &Ticket{Owner: "a"}, &Ticket{Owner: "b"}, &Ticket{Owner: "c"}
	for i, x := range []*Ticket{a, b, c} {
		if _, ok := sendAs(p.Engine, p.now, x, s, to, data).(*Blocked); !ok {
			t.Fatal("not blocked")
		}
		if why, ok := p.Why(x).(*Blocked); !ok || why.Ahead != i || why.Bearer != "eth0" {
			t.Errorf("waits for %+v", why)
		}
	}
	want := func(when, want string) {
		t.Helper()
		if got := calledOf(p.Engine); got != want {
			t.Errorf("%s: called %q, want %q", when, got, want)
		}
	}
	want("before", "")
	p.report(nil)
	want("room for one", "a")
	if _, ok := s.Send(p.now, to, data).(*Blocked); !ok {
		t.Error("a newcomer took the room")
	}
	p.Quit(p.now, a)
	want("the first left", "b")
	if err := sendAs(p.Engine, p.now, b, s, to, data); err != nil {
		t.Error(err)
	}
	p.Quit(p.now, b)
	want("and the link is full", "")
	p.report(nil)
	want("room again", "c")
	p.Quit(p.now, c)
	p.collect()
	for range 5 {
		p.report(nil)
	}
}

// Whoever waits for more chunks than are free is not passed by those who need fewer.
//
// Proves: link.importance
func TestChunksAreHandedOn(t *testing.T) {
	arena := newArena(t, netdev.ArenaConfig{Small: 64, Reserve: 16})
	p := scriptedPeerOn(t, arena).up()
	s := p.OpenPort(PortConfig{})
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	var kept []*netdev.Buffer
	for b := arena.Get(100, netdev.Data); b != nil; b = arena.Get(100, netdev.Data) {
		kept = append(kept, b)
	}
	free := func(n int) {
		for range n {
			kept[0].Release()
			kept = kept[1:]
		}
	}
	long, short := &Ticket{Owner: "long"}, &Ticket{Owner: "short"}
	if err := sendAs(p.Engine, p.now, long, s, to, make([]byte, 15000)); err != ErrMemory { // 11 chunks
		t.Fatal(err)
	}
	free(5)
	if err := sendAs(p.Engine, p.now, short, s, to, make([]byte, 1000)); err != ErrMemory {
		t.Errorf("the short one passed: %v", err)
	}
	if got := calledOf(p.Engine); got != "" || p.Why(short) != ErrMemory {
		t.Errorf("called %q with too few chunks", got)
	}
	free(6)
	if got := calledOf(p.Engine); got != "long" {
		t.Errorf("called %q", got)
	}
	if err := sendAs(p.Engine, p.now, long, s, to, make([]byte, 15000)); err != nil {
		t.Error(err)
	}
	p.Quit(p.now, long)
	free(1)
	if got := calledOf(p.Engine); got != "short" {
		t.Errorf("called %q", got)
	}
	p.Quit(p.now, short)
	free(len(kept))
}

// Calls that wait for a link that fails wait for the other one, in the order in which
// they began; without any link they are called, to find that out.
//
// Proves: link.importance
func TestSendersMove(t *testing.T) {
	b := newBed(t, 2)
	x, y := b.nodes[0], b.nodes[1]
	for _, n := range b.nodes {
		b.attach(n, BearerConfig{MTU: 1500})
	}
	if !b.until(5*time.Second, func() bool { return x.byAddr[0x1001002] != nil && x.nodes[0].slots[0] != x.nodes[0].slots[1] }) {
		t.Fatal("there are no two links")
	}
	b.pass(2 * time.Second)
	to := frame.SocketAddr{Port: 9, Node: y.Address()}
	b.lose = func(int, []byte) bool { return true } // nothing is acknowledged
	var ports [2]*Port
	for ports[0] == nil || ports[1] == nil {
		p := x.OpenPort(PortConfig{})
		ports[p.number&1] = p
	}
	data := make([]byte, 1000)
	var all []*Ticket
	for i, port := range []int{0, 1, 1, 0, 1} {
		for ports[port].Send(b.now, to, data) == nil {
		}
		c := &Ticket{Owner: fmt.Sprint(i)}
		if _, ok := sendAs(x.Engine, b.now, c, ports[port], to, data).(*Blocked); !ok {
			t.Fatal("not blocked")
		}
		all = append(all, c)
	}
	standing := func() (s string) {
		for _, c := range all {
			if why, ok := x.Why(c).(*Blocked); ok {
				s += fmt.Sprint(why.Bearer, " ", why.Ahead, ", ")
			}
		}
		return s
	}
	if got, want := standing(), "eth0 0, eth1 0, eth1 1, eth0 1, eth1 2, "; got != want {
		t.Errorf("waiting: %s, want %s", got, want)
	}
	x.SetMTU(b.now, 1, 0)
	if got, want := standing(), "eth0 0, eth0 1, eth0 2, eth0 3, eth0 4, "; got != want {
		t.Errorf("with one link: %s, want %s", got, want)
	}
	x.TakeCalled(nil)
	x.SetMTU(b.now, 0, 0)
	if got := calledOf(x.Engine); got != "01234" || standing() != "" {
		t.Errorf("without a link: called %q, waiting: %s", got, standing())
	}
	for _, c := range all {
		if err := sendAs(x.Engine, b.now, c, ports[0], to, data); !Unreachable(err) {
			t.Errorf("got %v", err)
		}
		x.Quit(b.now, c)
	}
}

// An attempt that meets anything but want of room ends the call's place in line, and who is
// behind it has the room; one that is refused keeps its place. Mutation: Tried does not Quit,
// or does so whatever the attempt met.
func TestAttemptLeavesTheLine(t *testing.T) {
	p := newScriptedPeer(t, func(c *Config) { c.Window = 1 }).up()
	defer p.done()
	s := p.OpenPort(PortConfig{})
	to := frame.SocketAddr{Port: 9, Node: popAddr}
	data := make([]byte, 1000)
	for s.Send(p.now, to, data) == nil {
	}
	p.collect()
	try := func(x *Ticket, send func()) {
		p.SendAs(x)
		send()
		p.Tried(p.now)
	}
	refused := func() {
		if _, ok := s.Send(p.now, to, data).(*Blocked); !ok {
			t.Error("not blocked")
		}
	}
	a, b := &Ticket{Owner: "a"}, &Ticket{Owner: "b"}
	try(a, refused)
	try(b, refused)
	if try(a, refused); p.Waiting() != 2 {
		t.Errorf("%d wait, want 2", p.Waiting())
	}
	p.report(nil)
	if got := calledOf(p.Engine); got != "a" || !a.Invited() {
		t.Fatalf("called %q, want a", got)
	}
	try(a, func() {}) // a window is full, say
	if _, waits := a.Since(); waits || a.Invited() || p.Waiting() != 1 {
		t.Errorf("it waits still: %t, is invited: %t; %d wait", waits, a.Invited(), p.Waiting())
	}
	if got := calledOf(p.Engine); got != "b" {
		t.Errorf("called %q, want b", got)
	}
	p.Quit(p.now, b)
	if p.Waiting() != 0 {
		t.Errorf("%d wait after all have quit", p.Waiting())
	}
}
