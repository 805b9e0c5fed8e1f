// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A handler takes what arrives at once, as many as it is allowed; the rest waits, ports
// take turns, and the order of each is kept.
//
// Proves: socket.calls
func TestHandlerTakesTurns(t *testing.T) {
	p := newScriptedPeer(t).up()
	var got []string
	var ports [2]*Port
	for i := range ports {
		ports[i] = p.OpenPort(PortConfig{Handler: func(r *Received, data []byte) {
			got = append(got, fmt.Sprint(i, string(data)))
		}})
	}
	long := strings.Repeat("x", CopyBreak+1)
	p.LetHandle(3)
	for i, s := range []string{"a", "b", "c", "d", long, "f"} {
		p.packet(data(ports[0].number, nil, s))
		if i == 3 {
			p.packet(data(ports[1].number, nil, "A"))
			p.packet(data(ports[1].number, nil, "B"))
		}
	}
	if want := []string{"0a", "0b", "0c"}; !slices.Equal(got, want) {
		t.Errorf("at once: got %q, want %q", got, want)
	}
	if ready := p.TakeReady(nil); len(ready) > 0 || !p.HandlersWait() {
		t.Errorf("%d ports are their owners', waits %v", len(ready), p.HandlersWait())
	}
	got = nil
	p.LetHandle(3)
	p.packet(data(ports[0].number, nil, "g")) // behind those that wait
	p.ServeHandlers()
	if want := []string{"0d", "1A", "0" + long}; !slices.Equal(got, want) {
		t.Errorf("the next turn: got %q, want %q", got, want)
	}
	got = nil
	p.LetHandle(16)
	p.ServeHandlers()
	if want := []string{"1B", "0f", "0g"}; !slices.Equal(got, want) || p.HandlersWait() {
		t.Errorf("the last turn: got %q, want %q, waits %v", got, want, p.HandlersWait())
	}
	if c := p.Counters(); c.Handled != 9 || ports[0].queued != 0 {
		t.Errorf("handled %d, %d bytes counted", c.Handled, ports[0].queued)
	}
}

// Handlers of one node that answer each other, or themselves, take turns: they do not
// nest, and a turn ends.
func TestHandlersDoNotNest(t *testing.T) {
	p := newScriptedPeer(t).up()
	var a, b *Port
	depth, calls := 0, 0
	serve := func(from **Port) Handler {
		return func(r *Received, data []byte) {
			if depth++; depth > 1 {
				t.Error("nested")
			}
			calls++
			(*from).Send(p.now, r.From, data)
			(*from).Send(p.now, (*from).Addr(), data)
			depth--
		}
	}
	a, b = p.OpenPort(PortConfig{Handler: serve(&a)}), p.OpenPort(PortConfig{Handler: serve(&b)})
	if err := a.Send(p.now, b.Addr(), []byte("x")); err != nil || calls > 0 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	for turn := range 5 {
		calls = 0
		p.LetHandle(16)
		p.ServeHandlers()
		if calls > 16 || turn > 0 && calls != 16 {
			t.Errorf("turn %d: %d calls, want 16", turn, calls)
		}
	}
}

// A message for a port whose handler is gone waits for its owner, and so do those that
// waited for the handler; what is beyond the port's limit goes back, as from any port.
//
// Proves: socket.calls
func TestHandlerIsTakenAway(t *testing.T) {
	p := newScriptedPeer(t).up()
	port := p.OpenPort(PortConfig{Handler: func(*Received, []byte) { t.Error("called") }})
	p.packet(data(port.number, nil, "a"))
	port.SetHandler(nil)
	p.LetHandle(16)
	p.ServeHandlers()
	p.packet(data(port.number, nil, "b"))
	if ready := p.TakeReady(nil); !slices.Equal(ready, []*Port{port}) {
		t.Errorf("got %d ports that can be read, want 1", len(ready))
	}
	var buf [10]byte
	for _, want := range []string{"a", "b"} {
		if n, _, ok := port.Read(buf[:]); !ok || string(buf[:n]) != want {
			t.Errorf("got %q, want %q", buf[:n], want)
		}
	}

	full := p.OpenPort(PortConfig{Handler: func(*Received, []byte) {}, ReceiveLimit: 1000})
	p.LetHandle(0)
	before := p.Counters()
	for range 10 {
		p.packet(data(full.number, nil, strings.Repeat("x", 200)))
	}
	if c := p.Counters(); full.Pending() != 3 || c.Returned+c.Drops[DropOverload] == before.Returned+before.Drops[DropOverload] {
		t.Errorf("%d wait, want 3; %d went back, %d dropped", full.Pending(), c.Returned, c.Drops[DropOverload])
	}
	full.Close(p.now)
	p.LetHandle(16)
	p.ServeHandlers()
	if p.HandlersWait() {
		t.Error("a closed port waits")
	}
}

// An empty message is no call, and a message that nobody could parse is none either.
func TestHandlerOfEmptyMessage(t *testing.T) {
	p := newScriptedPeer(t).up()
	calls := 0
	port := p.OpenPort(PortConfig{Handler: func(*Received, []byte) { calls++ }})
	p.LetHandle(16)
	p.packet(data(port.number, nil, ""))
	p.packet(data(port.number, func(f *frame.PayloadFields) { f.DestDroppable = true }, "x"))
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}
