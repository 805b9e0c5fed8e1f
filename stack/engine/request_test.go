// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A requestBed is a caller on node 0, and a callee there or on node 1 that has read its
// request.
type requestBed struct {
	*bed
	caller, callee *Port
	from           frame.SocketAddr // of the request
}

var requestService = frame.Service{Type: 18888, Instance: 17}

func newRequestBed(t *testing.T, home int) *requestBed {
	b := &requestBed{bed: newBed(t, 2)}
	b.callee = b.bind(home)
	b.caller = b.nodes[0].OpenPort(PortConfig{Returnable: true, Requests: true})
	if !b.until(3*time.Second, func() bool { return b.nodes[0].ups == 1 && b.nodes[0].knows(requestService.Range()) }) {
		t.Fatal("the name did not arrive")
	}
	return b
}

// bind opens a socket with the name.
func (b *requestBed) bind(home int) *Port {
	p := b.nodes[home].OpenPort(PortConfig{})
	if err := p.Bind(b.now, requestService.Range(), frame.ClusterScope); err != nil {
		b.t.Fatal(err)
	}
	return p
}

// ask sends a request, by name or to the callee itself, and has the callee read it.
func (b *requestBed) ask(named bool) {
	b.t.Helper()
	var err error
	if named {
		err = b.caller.SendService(b.now, requestService, []byte("request"))
	} else {
		err = b.caller.Send(b.now, b.callee.Addr(), []byte("request"))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.settle()
	_, r, ok := b.callee.Read(make([]byte, 100))
	if !ok {
		b.t.Fatal("the request did not arrive")
	}
	b.from = r.From
}

// wantEnd waits for the end of the request, which is to come within a time, and nothing
// before or after it.
func (b *requestBed) wantEnd(within time.Duration, why frame.ErrorCode) {
	b.t.Helper()
	began := b.now
	b.until(30*time.Second, func() bool { return b.caller.Pending() > 0 })
	if took := b.now - began; b.caller.Pending() != 1 || took > within {
		b.t.Fatalf("%d messages after %v, want the end within %v", b.caller.Pending(), took, within)
	}
	_, r, _ := b.caller.Read(nil)
	if r.Error != why || r.Len != 0 || r.From != b.callee.Addr() {
		b.t.Errorf("got %+v, want %v of %v", r, why, b.callee.Addr())
	}
	b.quiet()
}

// quiet wants nothing to come for the caller, and nothing to be sent after the callee.
func (b *requestBed) quiet() {
	b.t.Helper()
	b.lines = nil
	b.pass(5 * time.Second)
	if b.caller.Pending() > 0 || b.probes() > 0 {
		b.t.Errorf("%d messages and %d probes after the end", b.caller.Pending(), b.probes())
	}
}

// probes is how often the callee was asked after.
func (b *bed) probes() (k int) {
	for _, l := range b.lines {
		if strings.Contains(l, " conn/probe ") && !strings.Contains(l, "no port") {
			k++
		}
	}
	return k
}

// A request ends when the socket that took it closes, on another node and on the own one,
// asked for by name or by address, and without an error when that has answered before.
//
// Mutations that it catches: no suspect in applyName, in withdraw, or in retire; no
// noCallee in handleConn; answered does nothing.
func TestRequestEndsWithItsCallee(t *testing.T) {
	for home := range 2 {
		for _, named := range []bool{true, false} {
			b := newRequestBed(t, home)
			b.ask(named)
			b.callee.Close(b.now)
			b.wantEnd(0, frame.NoPort)

			b = newRequestBed(t, home)
			b.ask(named)
			if err := b.callee.Send(b.now, b.from, []byte("answer")); err != nil {
				t.Fatal(err)
			}
			b.callee.Close(b.now)
			b.settle()
			if k, r, _ := b.caller.Read(make([]byte, 9)); k != 6 || r.Error != frame.OK {
				t.Errorf("got %d bytes, %v, want the answer", k, r.Error)
			}
			b.quiet()
		}
	}
}

// A request that was not read comes back as it was, and nothing else does.
//
// Mutation that it catches: answered for messages of other nodes alone.
func TestRequestUnread(t *testing.T) {
	for home := range 2 {
		b := newRequestBed(t, home)
		if err := b.caller.SendService(b.now, requestService, []byte("request")); err != nil {
			t.Fatal(err)
		}
		b.settle()
		b.callee.Close(b.now)
		b.settle()
		if k, r, ok := b.caller.Read(make([]byte, 9)); !ok || k != 7 || r.Error != frame.NoPort {
			t.Errorf("got %d bytes, %v, want the request back", k, r.Error)
		}
		b.quiet()
	}
}

// A socket that takes its name back before it answers is waited for as long as it is there,
// though the withdrawal comes long before the answer. When it closes after all, the request
// ends: a callee of this node at once, of another within askAgain.
//
// Mutations that it catches: lookAfter ends a request without asking; it asks once.
func TestRequestOutlivesTheName(t *testing.T) {
	for home := range 2 {
		for _, answers := range []bool{true, false} {
			b := newRequestBed(t, home)
			b.ask(true)
			if err := b.callee.Unbind(b.now, requestService.Range(), frame.ClusterScope); err != nil {
				t.Fatal(err)
			}
			b.lines = nil
			b.pass(10*time.Second + askAgain/2)
			if k := b.probes(); b.caller.Pending() > 0 || home == 1 && k != 11 || home == 0 && k != 0 {
				t.Errorf("at node %d: %d messages and %d probes after 10 s", home, b.caller.Pending(), k)
			}
			if answers {
				if err := b.callee.Send(b.now, b.from, []byte("answer")); err != nil {
					t.Fatal(err)
				}
				b.settle()
				if k, r, _ := b.caller.Read(make([]byte, 9)); k != 6 || r.Error != frame.OK {
					t.Errorf("got %d bytes, %v, want the answer", k, r.Error)
				}
				b.quiet()
				continue
			}
			b.callee.Close(b.now)
			b.wantEnd(time.Duration(home)*askAgain, frame.NoPort)
		}
	}
}

// A request ends with the contact to the callee's node; one to another node does not.
//
// Mutations that it catches: no loseRequests in lost; loseRequests ends all.
func TestRequestEndsWithContact(t *testing.T) {
	b := newRequestBed(t, 1)
	b.ask(false)
	other := b.nodes[0].OpenPort(PortConfig{Requests: true})
	local := b.nodes[0].OpenPort(PortConfig{})
	if err := other.Send(b.now, local.Addr(), []byte("request")); err != nil {
		t.Fatal(err)
	}
	b.cut = func(int, int, int) bool { return true }
	b.wantEnd(3*time.Second, frame.NoNode)
	if other.Pending() > 0 {
		t.Error("the request to a socket of this node has ended")
	}
}

// While another socket has the name it may be that one which has the request: the end comes
// rerouteGrace later, unless the answer does.
//
// Mutation that it catches: no grace.
func TestRequestMayBeWithAnother(t *testing.T) {
	b := newRequestBed(t, 1)
	b.ask(true)
	other := b.bind(1)
	b.settle()
	began := b.now
	b.callee.Close(b.now)
	b.until(rerouteGrace/2, func() bool { return b.caller.Pending() > 0 })
	if b.caller.Pending() > 0 {
		t.Fatalf("ended after %v", b.now-began)
	}
	b.wantEnd(rerouteGrace/2, frame.NoPort)

	b.callee = other
	b.ask(true)
	another := b.bind(0)
	b.settle()
	b.callee.Close(b.now)
	b.settle()
	if err := another.Send(b.now, b.from, []byte("answer")); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if k, r, _ := b.caller.Read(make([]byte, 9)); k != 6 || r.Error != frame.OK {
		t.Errorf("got %d bytes, %v, want the answer", k, r.Error)
	}
	b.quiet()
}

// Only the callee's node ends a request, and only when it was asked.
//
// Mutation that it catches: noCallee without a look at the node, or at suspected.
func TestRequestForgedEnd(t *testing.T) {
	b := newRequestBed(t, 1)
	b.ask(true)
	n := b.nodes[0].nodes[0]
	end := func(n *node, orig frame.NodeAddr, port uint32) {
		f := &frame.ConnFields{Type: frame.ConnProbe, Error: frame.NoPort, OrigPort: port, Orig: orig, DestPort: b.caller.number, Dest: b.nodes[0].addr}
		b.caller.noCallee(b.now, n, f)
		b.settle()
		b.nodes[0].HandleTimeout(b.now)
	}
	end(n, n.addr, b.callee.number) // nobody has asked
	b.callee.Unbind(b.now, requestService.Range(), frame.ClusterScope)
	b.settle()
	b.nodes[0].HandleTimeout(b.now)
	end(&node{addr: 0x1001003}, 0x1001003, b.callee.number)
	end(&node{addr: 0x1001003}, n.addr, b.callee.number)
	end(n, n.addr, b.callee.number+1)
	if b.caller.Pending() > 0 {
		t.Fatal("a message of somebody else ended the request")
	}
	end(n, n.addr, b.callee.number)
	if b.caller.Pending() != 1 {
		t.Error("the callee's node did not end it")
	}
}

// A request that is answered allocates nothing and has no timer; sockets that come and go
// leave nothing behind.
//
// Mutation that it catches: requests.leave does not correct place.
func TestRequestsCostNothing(t *testing.T) {
	b := newRequestBed(t, 0)
	e := b.nodes[0]
	buf := make([]byte, 100)
	once := func() {
		b.caller.SendService(b.now, requestService, buf[:10])
		_, r, _ := b.callee.Read(buf)
		b.callee.Send(b.now, r.From, buf[:10])
		b.caller.Read(buf)
		e.ready = e.ready[:0]
		b.caller.readied, b.callee.readied = false, false
	}
	once()
	if k := testing.AllocsPerRun(1000, once); k != 0 && !raceEnabled {
		t.Errorf("%v allocations", k)
	}
	if e.requests.look.isSet() {
		t.Error("a timer is set")
	}
	var all []*Port
	for range 5 {
		all = append(all, e.OpenPort(PortConfig{Requests: true}))
	}
	for _, i := range []int{1, 4, 0, 2, 3} {
		all[i].Close(b.now)
		for place, p := range e.requests.ports {
			if p.request.place != place || p.closed {
				t.Fatalf("after %d: %v at place %d says %d", i, p.closed, place, p.request.place)
			}
		}
	}
	if len(e.requests.ports) != 1 {
		t.Errorf("%d sockets left", len(e.requests.ports))
	}
}
