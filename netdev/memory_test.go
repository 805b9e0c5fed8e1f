// SPDX-License-Identifier: Apache-2.0

package netdev_test

import (
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Every chunk lies where the drawing of Arena says, and At finds it by its first
// byte and its last.
//
// Proves: memory.lent
func TestMemoryLayout(t *testing.T) {
	for _, c := range []netdev.ArenaConfig{
		{Small: 3},
		{Small: 3, Jumbo: 2, JumboSize: 9014},
		{Small: 1, Jumbo: 3, JumboSize: 2*netdev.SmallChunk - netdev.Headroom},
		{Small: 2, Jumbo: 2, JumboSize: 2*netdev.SmallChunk - netdev.Headroom + 1},
	} {
		a := netdev.NewArena(c)
		mem := a.Memory()
		if len(mem) != c.MemorySize() {
			t.Errorf("%+v: got %d bytes of memory, want %d", c, len(mem), c.MemorySize())
		}
		want := 0
		for i := range a.Total() {
			size := netdev.SmallChunk
			if i >= c.Small {
				size = netdev.Headroom + a.Largest()
			}
			first, last := a.At(uint64(want)), a.At(uint64(want+size-1))
			if first == nil || first != last || first.Index() != i || first.Chunk() != want || want%4096 != 0 || size%4096 != 0 {
				t.Fatalf("%+v, chunk %d: got %p and %p, want one at %d", c, i, first, last, want)
			}
			if !first.Place(0, size) || &first.Bytes()[0] != &mem[want] || &first.Bytes()[size-1] != &mem[want+size-1] {
				t.Errorf("%+v, chunk %d does not lie at its offset", c, i)
			}
			want += size
		}
		if want != len(mem) {
			t.Errorf("%+v: chunks take %d bytes of %d", c, want, len(mem))
		}
		for _, outside := range []uint64{uint64(len(mem)), uint64(len(mem)) + 1, 1 << 32, 1 << 63, math.MaxUint64} {
			if b := a.At(outside); b != nil {
				t.Errorf("%+v: At(%d): got chunk %d, want nil", c, outside, b.Index())
			}
		}
		if a.SmallFrame() != netdev.SmallChunk-netdev.Headroom || c.Jumbo > 0 && a.Largest() < c.JumboSize {
			t.Errorf("%+v: got frames of %d and %d bytes", c, a.SmallFrame(), a.Largest())
		}
	}
}

// Proves: memory.lent
func TestMemoryOfTheOwner(t *testing.T) {
	c := netdev.ArenaConfig{Small: 2, Jumbo: 1, JumboSize: 9014}
	mem := netdev.NewArena(c).Memory()
	a := netdev.NewArena(netdev.ArenaConfig{Small: 2, Jumbo: 1, JumboSize: 9014, Memory: mem})
	for _, size := range []int{100, 9014} {
		b := a.Get(size, netdev.Control)
		copy(b.Extend(5), "bytes")
		if got := string(mem[b.Offset() : b.Offset()+5]); got != "bytes" || b.Offset() != b.Chunk()+netdev.Headroom {
			t.Errorf("at offset %d: got %q, want %q", b.Offset(), got, "bytes")
		}
		b.Prepend(3)
		if b.Offset() != b.Chunk()+netdev.Headroom-3 {
			t.Errorf("after Prepend: got offset %d, want %d", b.Offset(), b.Chunk()+netdev.Headroom-3)
		}
	}
	for name, wrong := range map[string][]byte{"short": mem[:len(mem)-1], "askew": append(mem, 0)[1:]} {
		c.Memory = wrong
		if panics(func() { netdev.NewArena(c) }) == nil {
			t.Errorf("%s memory: got no panic", name)
		}
	}
}

// Proves: memory.lent
func TestPlace(t *testing.T) {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 1})
	b := a.Get(100, netdev.Control)
	copy(b.Extend(4), "kept")
	for _, p := range [][2]int{{-1, 10}, {0, -1}, {0, 4097}, {1, 4096}, {4097, 0}, {4096, 1}, {math.MaxInt, 1}, {1, math.MaxInt}, {math.MinInt, 0}} {
		if b.Place(p[0], p[1]) {
			t.Errorf("Place(%d, %d): got true, want false", p[0], p[1])
		}
	}
	if string(b.Bytes()) != "kept" {
		t.Errorf("after what is refused: got %q, want %q", b.Bytes(), "kept")
	}
	for _, p := range [][2]int{{0, 4096}, {256, 64}, {4096, 0}} {
		if !b.Place(p[0], p[1]) || b.Len() != p[1] || b.Offset() != p[0] {
			t.Errorf("Place(%d, %d): got %d bytes at %d", p[0], p[1], b.Len(), b.Offset())
		}
	}
	if b.Place(256, 64); len(b.Prepend(256)) != 256 || panics(func() { b.Prepend(1) }) == nil {
		t.Error("a placed frame: got another headroom than 256")
	}
}

// The memory goes back to its owner with the last chunk, not before, and once.
//
// Proves: memory.release
func TestRetire(t *testing.T) {
	for name, last := range map[string]func(b *netdev.Buffer){
		"released":  (*netdev.Buffer).Release,
		"completed": func(b *netdev.Buffer) { b.Lend(); b.Release(); b.Complete() },
	} {
		a := netdev.NewArena(netdev.ArenaConfig{Small: 4, Jumbo: 2, JumboSize: 9000})
		b, c := a.Get(100, netdev.Control), a.Get(9000, netdev.Control)
		copy(b.Extend(4), "view")
		freed := 0
		a.Retire(func() { freed++ })
		a.Retire(func() { freed += 100 })
		if a.Get(100, netdev.Control) != nil || a.Get(9000, netdev.Control) != nil {
			t.Errorf("%s: got a Buffer of a retired arena", name)
		}
		c.Release()
		if freed != 0 || string(b.Bytes()) != "view" {
			t.Errorf("%s: one chunk out: got %d frees, %q, want 0 and its bytes", name, freed, b.Bytes())
		}
		last(b)
		if freed != 1 || a.Memory() != nil || a.At(0) != nil || a.Free() != a.Total() {
			t.Errorf("%s: all back: got %d frees, want 1", name, freed)
		}
	}
	freed := 0
	netdev.NewArena(netdev.ArenaConfig{Small: 4}).Retire(func() { freed++ })
	if freed != 1 {
		t.Errorf("nothing out: got %d frees, want 1", freed)
	}
	netdev.NewArena(netdev.ArenaConfig{Small: 4}).Retire(nil)
}

// However Retire and the last releases meet, the memory goes back once.
//
// Proves: memory.release
func TestRetireConcurrent(t *testing.T) {
	mem := netdev.NewArena(netdev.ArenaConfig{Small: 1}).Memory()
	var round, answered atomic.Int32 // the two sides go on together, as close as they can
	var last atomic.Pointer[netdev.Buffer]
	spin := func(done func() bool) {
		for i := 0; !done(); i++ {
			if i%256 == 255 {
				runtime.Gosched()
			}
		}
	}
	const end = math.MaxInt32
	var giver sync.WaitGroup
	giver.Go(func() {
		for i := int32(1); ; i++ {
			spin(func() bool { return round.Load() >= i })
			if round.Load() == end {
				return
			}
			last.Load().Release()
			answered.Store(i)
		}
	})
	for i, began := int32(1), time.Now(); time.Since(began) < 500*time.Millisecond; i++ {
		a := netdev.NewArena(netdev.ArenaConfig{Small: 1, Memory: mem})
		var freed atomic.Int32
		last.Store(a.Get(0, netdev.Control))
		round.Store(i)
		for range i % 64 { // Retire comes now before the release, now after it
			freed.Load()
		}
		a.Retire(func() { freed.Add(1) })
		spin(func() bool { return answered.Load() == i })
		if freed.Load() != 1 {
			t.Errorf("round %d: got %d frees, want 1", i, freed.Load())
			break
		}
	}
	round.Store(end)
	giver.Wait()
}

func TestScarceFor(t *testing.T) {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 8, Jumbo: 4, JumboSize: 9000, Reserve: 2})
	check := func(when string, small, jumbo bool) {
		t.Helper()
		for size, want := range map[int]bool{0: small, 1514: small, a.SmallFrame(): small, a.SmallFrame() + 1: jumbo, 9000: jumbo, a.Largest() + 1: false} {
			if got := a.ScarceFor(size); got != want {
				t.Errorf("%s: ScarceFor(%d): got %v, want %v", when, size, got, want)
			}
		}
	}
	check("full", false, false)
	b := a.Get(9000, netdev.Data)
	a.Get(9000, netdev.Data)
	check("jumbo chunks taken", false, true)
	for range 6 {
		a.Get(100, netdev.Data)
	}
	check("both taken", true, true)
	b.Release()
	check("a jumbo chunk back", true, false)
}

// Proves: memory.lent
func TestMayKeep(t *testing.T) {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 5, Jumbo: 4, JumboSize: 9000})
	for _, c := range []struct{ size, total int }{{100, 5}, {9000, 4}} {
		for taken := 1; taken <= c.total; taken++ {
			b := a.Get(c.size, netdev.Control)
			if got, want := b.MayKeep(), 2*taken < c.total; got != want {
				t.Errorf("%d of %d taken for %d bytes: got %v, want %v", taken, c.total, c.size, got, want)
			}
		}
	}
}

// Proves: memory.release
func TestPoison(t *testing.T) {
	c := netdev.ArenaConfig{Small: 2, Jumbo: 1, JumboSize: 9000, Poison: true}
	for _, size := range []int{100, 9000} {
		a := netdev.NewArena(c)
		b := a.Get(size, netdev.Control)
		if got := b.Extend(8); got[0] != netdev.Poison || got[7] != netdev.Poison {
			t.Errorf("size %d, fresh: got % x, want poison", size, got)
		}
		view := b.Bytes()
		copy(view, "kept")
		b.Hold()
		b.Release()
		if string(view[:4]) != "kept" {
			t.Errorf("size %d, a holder left: got %q, want %q", size, view[:4], "kept")
		}
		b.Release()
		for i, got := range view {
			if got != netdev.Poison {
				t.Errorf("size %d, read after release: got byte %d %#02x, want poison", size, i, got)
			}
		}
		if _, _, err := frame.ParseEthernet(view); err == nil {
			t.Errorf("size %d: poison passes for a frame", size)
		}
		if _, err := frame.Parse(view); err == nil {
			t.Errorf("size %d: poison passes for a message", size)
		}
		for range 4 { // nobody wrote: nothing to find
			a.Get(size, netdev.Control).Release()
		}
	}
}

// A write after release is found when the chunk is taken again, at whatever byte,
// and when the arena ends.
//
// Proves: memory.release
func TestPoisonFindsWrites(t *testing.T) {
	for _, size := range []int{100, 9000} {
		for _, at := range []int{0, 4095} {
			for name, find := range map[string]func(a *netdev.Arena){
				"next Get": func(a *netdev.Arena) { a.Get(size, netdev.Control) },
				"the end":  func(a *netdev.Arena) { a.Retire(nil) },
			} {
				a := netdev.NewArena(netdev.ArenaConfig{Small: 1, Jumbo: 1, JumboSize: 9000, Poison: true})
				b := a.Get(size, netdev.Control)
				b.Place(0, 4096)
				view := b.Bytes()
				b.Release()
				view[at] = 0x41
				got, _ := panics(func() { find(a) }).(string)
				want := map[int]string{100: "chunk 0 ", 9000: "chunk 1 "}[size]
				if !strings.Contains(got, want) || !strings.Contains(got, "after its release: 0x41 at byte") {
					t.Errorf("size %d, byte %d, %s: got panic %q, want one that names %q and the byte", size, at, name, got, want)
				}
			}
		}
	}
}
