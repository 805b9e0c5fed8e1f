// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// mac is the address of station i.
func mac(i int) frame.MAC { return frame.MAC{2, 0, 0, 0, byte(i >> 8), byte(i)} }

// A station is a port with what its owner has: an arena and a count of wakes.
type station struct {
	*hub.Port
	arena *netdev.Arena
	wakes atomic.Int32 // senders call wake, several at a time
}

// plug attaches a station with the given number of chunks.
func plug(t testing.TB, h *hub.Hub, i, chunks int) *station {
	t.Helper()
	p, err := h.Port(fmt.Sprint("port", i), mac(i))
	if err != nil {
		t.Fatal(err)
	}
	s := &station{Port: p, arena: netdev.NewArena(netdev.ArenaConfig{Small: chunks})}
	if err := p.Attach(s.arena, func() { s.wakes.Add(1) }); err != nil {
		t.Fatal(err)
	}
	return s
}

// build makes a frame of n bytes, its last byte being mark. A frame too short
// for a header is cut from one.
func build(t testing.TB, a *netdev.Arena, dst, src frame.MAC, n int, mark byte) *netdev.Buffer {
	t.Helper()
	b := a.Get(max(n, frame.EthernetLen), netdev.Control)
	if b == nil {
		t.Fatal("no chunk")
	}
	frame.PutEthernet(b.Extend(frame.EthernetLen), dst, src)
	if n < frame.EthernetLen {
		b.Resize(n)
		return b
	}
	clear(b.Extend(n - frame.EthernetLen))
	b.Bytes()[n-1] = mark
	return b
}

// send transmits one frame of 60 bytes and lets go of it.
func (s *station) send(t testing.TB, dst frame.MAC, mark byte) {
	t.Helper()
	b := build(t, s.arena, dst, s.Addr(), 60, mark)
	defer b.Release()
	if n, err := s.Transmit([]*netdev.Buffer{b}); n != 1 || err != nil {
		t.Fatalf("Transmit: got %v, %v, want 1, nil", n, err)
	}
}

// marks receives at most max frames and returns their last bytes.
func (s *station) marks(t testing.TB, max int) []byte {
	t.Helper()
	bufs := make([]*netdev.Buffer, max)
	n, err := s.Receive(bufs)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for _, b := range bufs[:n] {
		got = append(got, b.Bytes()[b.Len()-1])
		b.Release()
	}
	return got
}

func TestPortRefusals(t *testing.T) {
	h := hub.New(hub.Config{})
	if _, err := h.Port("eth0", mac(1)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		mac  frame.MAC
		want error
	}{
		{"eth0", mac(1), hub.ErrAddressInUse},
		{"eth0", mac(2), nil},
		{"", mac(3), hub.ErrName},
		{"fifteen-letters", mac(4), nil},
		{"sixteen-letters-", mac(5), hub.ErrName},
		{"eth0", frame.MAC{}, hub.ErrAddress},
		{"eth0", frame.BroadcastMAC, hub.ErrAddress},
		{"eth0", frame.MAC{1, 0, 0x5e}, hub.ErrAddress},
	}
	for _, tt := range tests {
		if _, err := h.Port(tt.name, tt.mac); !errors.Is(err, tt.want) {
			t.Errorf("Port(%q, %v): got %v, want %v", tt.name, tt.mac, err, tt.want)
		}
	}
}

func TestAttachRefusals(t *testing.T) {
	h := hub.New(hub.Config{MTU: 9000})
	p, err := h.Port("eth0", mac(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Receive(make([]*netdev.Buffer, 1)); !errors.Is(err, hub.ErrNotAttached) {
		t.Errorf("Receive first: got %v, want %v", err, hub.ErrNotAttached)
	}
	if err := p.Attach(netdev.NewArena(netdev.ArenaConfig{Small: 8}), nil); !errors.Is(err, hub.ErrArena) {
		t.Errorf("small chunks: got %v, want %v", err, hub.ErrArena)
	}
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 8, Jumbo: 8, JumboSize: 9014})
	if err := p.Attach(arena, nil); err != nil {
		t.Errorf("jumbo chunks: got %v, want nil", err)
	}
	if err := p.Attach(arena, nil); !errors.Is(err, hub.ErrAttached) {
		t.Errorf("again: got %v, want %v", err, hub.ErrAttached)
	}
	p.Close()
	if err := p.Attach(arena, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: got %v, want %v", err, net.ErrClosed)
	}
	if arena.Free() != arena.Total() {
		t.Errorf("got %d free chunks, want %d", arena.Free(), arena.Total())
	}
}

func TestWhoReceives(t *testing.T) {
	tests := []struct {
		name string
		dst  frame.MAC
		want []int // stations that receive what station 0 sends
	}{
		{"one station", mac(2), []int{2}},
		{"broadcast", frame.BroadcastMAC, []int{1, 2, 3}},
		{"multicast", frame.MAC{0x33, 0x33, 0, 0, 0, 1}, []int{1, 2, 3}},
		{"nobody", mac(99), nil},
		{"itself", mac(0), nil},
	}
	for _, tt := range tests {
		h := hub.New(hub.Config{})
		var all []*station
		for i := range 4 {
			all = append(all, plug(t, h, i, 16))
		}
		all[0].send(t, tt.dst, 1)
		var got []int
		for i, s := range all {
			if len(s.marks(t, 8)) > 0 {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestUnpaddedOfAnyType(t *testing.T) {
	h := hub.New(hub.Config{})
	a, b := plug(t, h, 1, 16), plug(t, h, 2, 16)
	for _, n := range []int{14, 15, 38, 59, 60, 1514} {
		x := build(t, a.arena, b.Addr(), a.Addr(), n, 7)
		copy(x.Bytes()[12:], "\x08\x00")
		want := bytes.Clone(x.Bytes())
		if _, err := a.Transmit([]*netdev.Buffer{x}); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		x.Release()
		var bufs [1]*netdev.Buffer
		if got, err := b.Receive(bufs[:]); got != 1 || err != nil {
			t.Fatalf("%d bytes: Receive: got %v, %v, want 1, nil", n, got, err)
		}
		if !bytes.Equal(bufs[0].Bytes(), want) {
			t.Errorf("%d bytes: got %x, want %x", n, bufs[0].Bytes(), want)
		}
		bufs[0].Release()
	}
}

func TestRefusedFrames(t *testing.T) {
	for _, n := range []int{0, 13, 1515, 2000} {
		h := hub.New(hub.Config{})
		a, b := plug(t, h, 1, 16), plug(t, h, 2, 16)
		bufs := []*netdev.Buffer{
			build(t, a.arena, b.Addr(), a.Addr(), 60, 1),
			build(t, a.arena, b.Addr(), a.Addr(), n, 2),
			build(t, a.arena, b.Addr(), a.Addr(), 60, 3),
		}
		var size *hub.SizeError
		if got, err := a.Transmit(bufs); got != 1 || !errors.As(err, &size) || size.Len != n || size.Max != 1514 {
			t.Errorf("%d bytes: got %v, %v, want 1, a SizeError", n, got, err)
		}
		if got := b.marks(t, 8); !bytes.Equal(got, []byte{1}) {
			t.Errorf("%d bytes: got frames %v, want [1]", n, got)
		}
		if _, out := a.Dropped(); out != 1 || b.wakes.Load() != 1 {
			t.Errorf("%d bytes: got %d dropped, %d wakes, want 1, 1", n, out, b.wakes.Load())
		}
	}
}

func TestFullRingDropsNewest(t *testing.T) {
	h := hub.New(hub.Config{Queue: 3}) // four slots
	a, b := plug(t, h, 1, 16), plug(t, h, 2, 16)
	for i := range 6 {
		a.send(t, b.Addr(), byte(i))
	}
	if got, want := b.marks(t, 1), []byte{0}; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	a.send(t, b.Addr(), 6)
	if got, want := b.marks(t, 8), []byte{1, 2, 3, 6}; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if in, out := b.Dropped(); in != 2 || out != 0 {
		t.Errorf("got %d, %d dropped, want 2, 0", in, out)
	}
}

func TestWakes(t *testing.T) {
	h := hub.New(hub.Config{})
	a, b := plug(t, h, 1, 256), plug(t, h, 2, 256)
	check := func(when string, want int32) {
		t.Helper()
		if got := b.wakes.Swap(0); got != want {
			t.Errorf("%s: got %d wakes, want %d", when, got, want)
		}
	}
	var batch []*netdev.Buffer
	for range 64 {
		batch = append(batch, build(t, a.arena, b.Addr(), a.Addr(), 60, 0))
	}
	a.Transmit(batch)
	check("a batch into an empty ring", 1)
	a.Transmit(batch)
	check("a batch behind it", 0)
	b.marks(t, 127)
	a.Transmit(batch[:1])
	check("one left in the ring", 0)
	b.marks(t, 2)
	a.Transmit(batch[:1])
	check("a full batch that took the last", 1)
	b.marks(t, 2)
	a.Transmit(batch[:1])
	check("a short batch", 1)
	b.marks(t, 0)
	a.Transmit(batch[:1])
	check("no room given", 0)
	b.Close()
	b.Close()
	check("Close, and again", 1)
}

func TestExhaustedArenaKeepsFrames(t *testing.T) {
	h := hub.New(hub.Config{})
	a, b := plug(t, h, 1, 16), plug(t, h, 2, 4)
	for i := range 6 {
		a.send(t, b.Addr(), byte(i))
	}
	var bufs [8]*netdev.Buffer
	if n, err := b.Receive(bufs[:]); n != 4 || err != nil {
		t.Fatalf("Receive: got %v, %v, want 4, nil", n, err)
	}
	b.wakes.Store(0)
	a.send(t, b.Addr(), 6)
	if got := b.wakes.Load(); got != 1 {
		t.Errorf("got %d wakes after a short batch, want 1", got)
	}
	for _, x := range bufs[:4] {
		x.Release()
	}
	if got, want := b.marks(t, 8), []byte{4, 5, 6}; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if in, _ := b.Dropped(); in != 0 {
		t.Errorf("got %d dropped, want 0", in)
	}
}

func TestCloseFreesTheAddress(t *testing.T) {
	h := hub.New(hub.Config{})
	a, b := plug(t, h, 1, 16), plug(t, h, 2, 16)
	b.Close()
	a.send(t, b.Addr(), 1)
	again := plug(t, h, 2, 16)
	b.Close() // must not unplug its successor
	a.send(t, b.Addr(), 2)
	if got, want := again.marks(t, 8), []byte{2}; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Six stations send to each other and to all at once, while a seventh comes and
// goes; every frame is received or counted.
func TestConcurrentStations(t *testing.T) {
	const stations, rounds = 6, 500
	h := hub.New(hub.Config{Queue: 64})
	type node struct {
		*hub.Port
		arena *netdev.Arena
		awake chan struct{}
		got   int
	}
	var all []*node
	for i := range stations {
		p, err := h.Port("eth0", mac(i))
		if err != nil {
			t.Fatal(err)
		}
		n := &node{Port: p, arena: netdev.NewArena(netdev.ArenaConfig{Small: 64}), awake: make(chan struct{}, 1)}
		all = append(all, n)
		if err := p.Attach(n.arena, func() {
			select {
			case n.awake <- struct{}{}:
			default:
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	var senders, receivers sync.WaitGroup
	done := make(chan struct{})
	for i, n := range all {
		// What is sent lives in an arena of its own: Get has one owner.
		own := netdev.NewArena(netdev.ArenaConfig{Small: 2})
		one, everyone := build(t, own, mac((i+1)%stations), mac(i), 60, 0), build(t, own, frame.BroadcastMAC, mac(i), 60, 0)
		senders.Go(func() {
			for range rounds {
				if k, err := n.Transmit([]*netdev.Buffer{one, everyone}); k != 2 || err != nil {
					t.Errorf("Transmit: got %v, %v, want 2, nil", k, err)
				}
			}
		})
		receivers.Go(func() {
			bufs := make([]*netdev.Buffer, 16)
			for last := false; ; {
				k, err := n.Receive(bufs)
				if err != nil {
					t.Errorf("Receive: %v", err)
				}
				for _, b := range bufs[:k] {
					b.Release()
				}
				n.got += k
				switch {
				case k == len(bufs):
				case last:
					return
				default:
					select {
					case <-n.awake:
					case <-done:
						last = true
					}
				}
			}
		})
	}
	senders.Go(func() {
		for range rounds {
			plug(t, h, stations, 2).Close()
		}
	})
	senders.Wait()
	close(done)
	receivers.Wait()
	for i, n := range all {
		in, _ := n.Dropped()
		if got, want := n.got+int(in), rounds*stations; got != want {
			t.Errorf("station %d: received and dropped %d frames, want %d", i, got, want)
		}
		if n.arena.Free() != n.arena.Total() {
			t.Errorf("station %d: got %d free chunks, want %d", i, n.arena.Free(), n.arena.Total())
		}
	}
}
