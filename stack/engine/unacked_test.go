// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// The end of a socket returns what it has read and not acknowledged, in order and before what it
// has not read, with the beginning of its data also where the reader had no room for that. What
// was acknowledged, or its sender does not want back, is not returned.
//
// Mutations it catches: Close does not call returnUnacked, or calls it last; Ack leaves the
// message; keep takes the data from what the reader's buffer has; keep keeps what may be dropped;
// Return does not take a message out of those kept.
//
// Proves: socket.returned
func TestUnackedReturned(t *testing.T) {
	p := newScriptedPeer(t).up()
	port := p.bound(t, PortConfig{ManualAck: true}, 18888, 17)
	long := strings.Repeat("x", 1300)
	for _, text := range []string{"first", "second", long, "fourth", "fifth", "unread"} {
		p.packet(data(port.number, nil, text))
		if text == "first" {
			p.packet(data(port.number, func(f *frame.PayloadFields) { f.DestDroppable = true }, "droppable"))
		}
	}
	var receipts []uint64
	var fifth Received
	for range 6 {
		n, r, ok := port.Read(make([]byte, 2))
		if !ok || n != 2 {
			t.Fatalf("got %d, %v", n, ok)
		}
		receipts = append(receipts, r.Receipt)
		fifth = r
	}
	if got := fmt.Sprint(receipts); got != "[1 0 2 3 4 5]" {
		t.Errorf("receipts %v", got)
	}
	if !port.Ack(2) || port.Ack(2) || port.Ack(9) || port.Ack(0) {
		t.Error("receipt 2 is to be known once, 9 and 0 never")
	}
	p.drain()
	port.Return(p.now, fifth, []byte("fifth"), frame.Overload)
	port.Return(p.now, fifth, []byte("fifth"), frame.Overload)
	port.Close(p.now)
	port.Return(p.now, Received{From: fifth.From, returnable: true, Receipt: 1}, []byte("first"), frame.NoPort)
	if port.Ack(1) || port.queued != 0 {
		t.Errorf("%d bytes are queued after the end", port.queued)
	}
	var got []string
	for _, l := range p.drain() {
		if _, what, ok := strings.Cut(l, fmt.Sprintf("%d>77 ", port.number)); ok {
			what, _, _ = strings.Cut(what, " seq=")
			got = append(got, what)
		}
	}
	want := []string{"error=overload bytes=5", "error=no port bytes=5", "error=no port bytes=1024", "error=no port bytes=6", "error=no port bytes=6"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	p.done()
}

// What is kept counts against the limit of the socket, with its beginning, until it is
// acknowledged, in whatever order.
//
// Mutations it catches: keep counts nothing; Ack gives nothing back; Ack finds what is kept by its
// place.
func TestUnackedIsCharged(t *testing.T) {
	p := newScriptedPeer(t)
	const most = 10
	r := p.bound(t, PortConfig{ManualAck: true, ReceiveLimit: most * (frame.MaxReturned + recordCost)}, 18888, 17)
	s := p.OpenPort(PortConfig{Returnable: true})
	text := make([]byte, frame.MaxReturned)
	round := func(k int) (receipts []uint64) {
		for range k {
			if err := s.SendService(0, frame.Service{Type: 18888, Instance: 17}, text); err != nil {
				t.Fatal(err)
			}
			if _, m, ok := r.Read(text); ok {
				receipts = append(receipts, m.Receipt)
			}
		}
		return receipts
	}
	all := round(most + 1)
	if back := read(s); len(all) != most || len(back) != 1 || !strings.Contains(back[0], "error=overload") {
		t.Fatalf("%d were read, %q came back", len(all), back)
	}
	for _, i := range []int{7, 2, 9, 0, 1, 8, 3, 6, 5} { // all but 4
		if !r.Ack(all[i]) {
			t.Errorf("%d is not there", i)
		}
	}
	if all = round(most); len(all) != most-1 {
		t.Errorf("%d were read, want %d", len(all), most-1)
	}
	r.Close(0)
	if back := read(s); len(back) != 1+most {
		t.Errorf("%d came back", len(back))
	}
}

// A socket that acknowledges each message before it reads the next allocates nothing.
//
// Mutation it catches: Ack does not leave its memory to the next.
func TestUnackedAllocatesNothing(t *testing.T) {
	p := newScriptedPeer(t)
	r := p.bound(t, PortConfig{ManualAck: true}, 18888, 17)
	s := p.OpenPort(PortConfig{Returnable: true})
	text := make([]byte, 500)
	if k := testing.AllocsPerRun(100, func() {
		s.Send(0, r.Addr(), text)
		_, m, _ := r.Read(text)
		r.Ack(m.Receipt)
	}); k != 0 {
		t.Errorf("%v allocations", k)
	}
}
