// SPDX-License-Identifier: Apache-2.0

package netdev_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// panics returns what f panics with, or nil.
func panics(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// Proves: socket.buffers
func TestBufferHolders(t *testing.T) {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 2})
	b := a.Get(100, netdev.Control)
	steps := []struct {
		name     string
		do       func()
		wantLent bool
		wantFree int
	}{
		{"got", func() {}, false, 1},
		{"held", b.Hold, false, 1},
		{"lent", b.Lend, true, 1},
		{"lent to a second device", b.Lend, true, 1},
		{"released by its first holder", b.Release, true, 1},
		{"completed", b.Complete, true, 1},
		{"released", b.Release, true, 1},
		{"completed by the second", b.Complete, false, 2},
	}
	for _, s := range steps {
		s.do()
		if b.Lent() != s.wantLent || a.Free() != s.wantFree {
			t.Errorf("%s: got lent %v, %d free, want %v, %d", s.name, b.Lent(), a.Free(), s.wantLent, s.wantFree)
		}
	}
}

// Proves: socket.buffers
func TestBufferPanics(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(b *netdev.Buffer)
		want any
	}{
		{"released twice", func(b *netdev.Buffer) { b.Release(); b.Release() }, "netdev: Buffer released more often than held"},
		{"completed, never lent", func(b *netdev.Buffer) { b.Complete() }, "netdev: Buffer completed more often than lent"},
		{"completed twice", func(b *netdev.Buffer) { b.Lend(); b.Complete(); b.Complete() }, "netdev: Buffer completed more often than lent"},
		{"held while free", func(b *netdev.Buffer) { b.Release(); b.Hold() }, "netdev: Buffer held while free"},
		{"lent while free", func(b *netdev.Buffer) { b.Release(); b.Lend() }, "netdev: Buffer held while free"},
		{"Resize too far", func(b *netdev.Buffer) { b.Resize(len(b.Space()) + 1) }, "netdev: Buffer.Resize beyond the chunk"},
		{"Resize below 0", func(b *netdev.Buffer) { b.Resize(-1) }, "netdev: Buffer.Resize beyond the chunk"},
		{"Extend too far", func(b *netdev.Buffer) { b.Extend(10); b.Extend(len(b.Space()) - 9) }, "netdev: Buffer.Extend beyond the chunk"},
		{"Extend below 0", func(b *netdev.Buffer) { b.Extend(-1) }, "netdev: Buffer.Extend beyond the chunk"},
		{"Prepend too far", func(b *netdev.Buffer) { b.Prepend(netdev.Headroom); b.Prepend(1) }, "netdev: Buffer.Prepend beyond the headroom"},
		{"Prepend below 0", func(b *netdev.Buffer) { b.Prepend(-1) }, "netdev: Buffer.Prepend beyond the headroom"},
	} {
		b := netdev.NewArena(netdev.ArenaConfig{Small: 2}).Get(0, netdev.Control)
		if got := panics(func() { c.do(b) }); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBufferBytes(t *testing.T) {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 2, Jumbo: 1, JumboSize: 9000})
	for _, size := range []int{0, 1514, netdev.SmallChunk - netdev.Headroom, netdev.SmallChunk - netdev.Headroom + 1, 9000} {
		b := a.Get(size, netdev.Control)
		if b == nil || b.Len() != 0 || len(b.Space()) < size {
			t.Fatalf("Get(%d): got %v, want an empty Buffer with room", size, b)
		}
		copy(b.Extend(4), "data")
		copy(b.Prepend(5), "head ")
		copy(b.Extend(5), " tail")
		if got, want := string(b.Bytes()), "head data tail"; got != want || b.Len() != len(want) {
			t.Errorf("got %q, %d bytes, want %q", got, b.Len(), want)
		}
		copy(b.Space(), "received")
		b.Resize(8)
		if got := string(b.Bytes()); got != "received" {
			t.Errorf("got %q, want %q", got, "received")
		}
		if b.Resize(len(b.Space())); b.Len() != len(b.Space()) {
			t.Errorf("got %d bytes, want all %d", b.Len(), len(b.Space()))
		}
		b.Prepend(netdev.Headroom)
		b.Release()
	}
	if b := a.Get(a.Largest(), netdev.Control); b == nil || len(b.Space()) != a.Largest() || a.Largest() < 9000 {
		t.Errorf("Get(%d): got %v, want a Buffer of that size, 9000 or more", a.Largest(), b)
	}
	if b := a.Get(a.Largest()+1, netdev.Control); b != nil {
		t.Errorf("Get(%d): got a Buffer of %d, want nil", a.Largest()+1, len(b.Space()))
	}
	if b := netdev.NewArena(netdev.ArenaConfig{Small: 1}).Get(4000, netdev.Control); b != nil {
		t.Errorf("no jumbo chunks, Get(4000): got a Buffer of %d, want nil", len(b.Space()))
	}
}

// TestBuffersApart fills each chunk to its ends: no byte belongs to two.
func TestBuffersApart(t *testing.T) {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 8, Jumbo: 4, JumboSize: 5000})
	var bufs []*netdev.Buffer
	index := map[int]bool{}
	for _, size := range []int{100, 100, 5000, 100, 5000, 100, 100, 5000, 5000, 100, 100, 100} {
		b := a.Get(size, netdev.Control)
		if b == nil {
			t.Fatal("got nil, want a Buffer")
		}
		b.Prepend(netdev.Headroom)
		b.Extend(len(b.Space()))
		for i := range b.Bytes() {
			b.Bytes()[i] = byte(b.Index())
		}
		bufs = append(bufs, b)
		index[b.Index()] = true
	}
	if len(index) != a.Total() || a.Total() != 12 || a.Free() != 0 || !index[0] || !index[11] {
		t.Errorf("got indexes %v, %d free of %d, want 0 to 11, 0 of 12", index, a.Free(), a.Total())
	}
	for _, b := range bufs {
		for _, c := range b.Bytes() {
			if c != byte(b.Index()) {
				t.Fatalf("chunk %d: got a byte of %d", b.Index(), c)
			}
		}
		b.Release()
	}
	if a.Free() != 12 {
		t.Errorf("got %d free, want 12", a.Free())
	}
}

// TestReserve takes all there is for data, then all there is.
//
// Proves: memory.small
func TestTotalFor(t *testing.T) {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 8, Jumbo: 3, JumboSize: 9014})
	for size, want := range map[int]int{64: 8, netdev.SmallChunk - netdev.Headroom: 8, netdev.SmallChunk: 3, 9014: 3, 65536: 0} {
		if got := a.TotalFor(size); got != want {
			t.Errorf("%d bytes: got %d chunks, want %d", size, got, want)
		}
	}
}

// Proves: socket.buffers
func TestReserve(t *testing.T) {
	for _, c := range []struct {
		config                netdev.ArenaConfig
		size                  int
		wantData, wantControl int
	}{
		{netdev.ArenaConfig{}, 100, 4096 - 128, 128},
		{netdev.ArenaConfig{Small: 300}, 100, 300 - 128, 128},
		{netdev.ArenaConfig{Small: 300, Reserve: 10}, 100, 290, 10},
		{netdev.ArenaConfig{Small: 100}, 100, 50, 50}, // never more than half
		{netdev.ArenaConfig{Small: 1}, 100, 1, 0},
		{netdev.ArenaConfig{Small: 300, Jumbo: 20, JumboSize: 9000, Reserve: 4}, 9000, 16, 4},
		{netdev.ArenaConfig{Small: 300, Jumbo: 4, JumboSize: 9000}, 9000, 2, 2},
	} {
		a := netdev.NewArena(c.config)
		var got []*netdev.Buffer
		take := func(use netdev.Use) (n int) {
			for b := a.Get(c.size, use); b != nil; b = a.Get(c.size, use) {
				got = append(got, b)
				n++
			}
			return n
		}
		data, control := take(netdev.Data), take(netdev.Control)
		if data != c.wantData || control != c.wantControl {
			t.Errorf("%+v: got %d for data, then %d, want %d, %d", c.config, data, control, c.wantData, c.wantControl)
		}
		// What comes back fills the reserve first.
		for i, b := range got {
			b.Release()
			if n := a.Get(c.size, netdev.Data); (n != nil) != (i >= c.wantControl) {
				t.Fatalf("%+v: %d back: got a Buffer for data: %v, want %v", c.config, i+1, n != nil, i >= c.wantControl)
			} else if n != nil {
				n.Release()
			}
		}
		if a.Free() != a.Total() {
			t.Errorf("%+v: got %d free, want %d", c.config, a.Free(), a.Total())
		}
	}
}

// TestArenaConcurrent turns one side that takes and many that give back, some of
// them as devices do. At the end every chunk is there, once.
//
// Proves: socket.buffers
func TestArenaConcurrent(t *testing.T) {
	const givers, rounds = 8, 20000
	a := netdev.NewArena(netdev.ArenaConfig{Small: 64, Jumbo: 8, JumboSize: 5000, Reserve: 4})
	var wg sync.WaitGroup
	lent, held := make(chan *netdev.Buffer, 16), make(chan *netdev.Buffer, 16)
	for range givers {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for b := range lent {
				b.Complete()
			}
		}()
		go func() {
			defer wg.Done()
			for b := range held {
				b.Release()
			}
		}()
	}
	for i := range rounds {
		size := 100
		if i%7 == 0 {
			size = 5000
		}
		b := a.Get(size, netdev.Data)
		if b == nil {
			continue
		}
		b.Extend(8)
		b.Lend()
		lent <- b
		b.Hold()
		held <- b
		b.Release()
		if n := a.Free(); n < 0 || n > a.Total() {
			t.Fatalf("got %d free, want 0 to %d", n, a.Total())
		}
	}
	close(lent)
	close(held)
	wg.Wait()
	if a.Free() != a.Total() {
		t.Fatalf("got %d free, want %d", a.Free(), a.Total())
	}
	seen := map[int]bool{}
	for _, size := range []int{100, 5000} {
		for b := a.Get(size, netdev.Control); b != nil; b = a.Get(size, netdev.Control) {
			if seen[b.Index()] || b.Lent() {
				t.Fatalf("chunk %d: got it twice or lent", b.Index())
			}
			seen[b.Index()] = true
		}
	}
	if len(seen) != a.Total() || a.Free() != 0 {
		t.Errorf("got %d chunks, %d still free, want %d, 0", len(seen), a.Free(), a.Total())
	}
}

// A Buffer goes from the arena to the wire and back: whoever still needs it holds
// it, and the last one to let go frees it.
//
// Proves: house.docs
func ExampleBuffer() {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 8})
	b := a.Get(1514, netdev.Data)
	f := frame.PayloadFields{Type: frame.DirectMsg, OrigPort: 7, DestPort: 9, OrigNode: 1, DestNode: 2}
	f.Put(b.Extend(f.Len()), 5)
	copy(b.Extend(5), "hello")
	frame.PutEthernet(b.Prepend(frame.EthernetLen), frame.BroadcastMAC, frame.MAC{2, 0, 0, 0, 0, 1})

	b.Lend()    // the device takes it,
	b.Release() // the owner lets go:
	fmt.Println(b.Len(), b.Lent(), a.Free())
	b.Complete() // the device, too
	fmt.Println(a.Free())
	// Output:
	// 51 true 7
	// 8
}
