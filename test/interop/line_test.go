// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// Frames on a line meet the faults of their direction, as its counts say; a frame held
// back is overtaken by no more than three; what is not lost arrives. A line that was
// cut carries again.
func TestLineFaults(t *testing.T) {
	a, b := frame.MAC{2, 0, 0, 0, 0, 1}, frame.MAC{2, 0, 0, 0, 0, 2}
	line, ends, err := NewLine(a, b)
	must(t, err)
	defer line.Close()
	const n = 250
	count := func(from int) fault.Counts {
		in, out := line.Counts()
		return []fault.Counts{out, in}[from]
	}
	// through sends frames under faults, and one more without, which lets go of the
	// last held back.
	through := func(from int, f fault.Faults) (got []byte, c fault.Counts) {
		src, dst := ends[from].File, ends[1-from].File
		before := count(from)
		line.Set(fault.Config{Seed: 4, In: f, Out: f})
		send := func(b byte) {
			_, err := src.Write([]byte{b})
			must(t, err)
		}
		for i := range n {
			send(byte(i))
		}
		for c = count(from); c.Seen < before.Seen+n; c = count(from) {
			runtime.Gosched()
		}
		line.Set(fault.Config{})
		send(n)
		c.Lost -= before.Lost
		must(t, dst.SetReadDeadline(time.Now().Add(time.Minute)))
		frame := make([]byte, 10)
		for range n + 1 - c.Lost + c.Duplicated - before.Duplicated {
			_, err := dst.Read(frame)
			must(t, err)
			got = append(got, frame[0])
		}
		return got, c
	}
	for from := range ends {
		defer ends[from].Close()
		got, c := through(from, fault.Faults{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1})
		if c.Lost < n/20 || c.Duplicated < n/20 || c.Reordered < n/20 {
			t.Errorf("from end %d: counts %+v", from, c)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(got)))
		if len(distinct) != n+1-int(c.Lost) {
			t.Errorf("from end %d: %d different frames arrived, with %+v", from, len(distinct), c)
		}
		if slices.IsSorted(got) {
			t.Errorf("from end %d: nothing was reordered", from)
		}
		highest := 0
		for _, m := range got {
			if highest = max(highest, int(m)); highest-int(m) > 3 {
				t.Errorf("from end %d: frame %d came after %d", from, m, highest)
			}
		}
	}
	line.Cut()
	was := count(0)
	_, err = ends[0].File.Write([]byte{1})
	must(t, err)
	for count(0).Lost == was.Lost {
		runtime.Gosched()
	}
	if got, _ := through(0, fault.Faults{}); len(got) != n+1 || !slices.IsSorted(got) {
		t.Errorf("after a cut: %d frames arrived, want %d", len(got), n+1)
	}
}

// A cable that is unplugged says so, and carries nothing either way until it is
// plugged in again.
func TestCableUnplugged(t *testing.T) {
	ours, theirs := frame.MAC{2, 0, 0, 0, 0, 1}, frame.MAC{2, 0, 0, 0, 0, 2}
	c, link, err := NewCable(ours, theirs)
	must(t, err)
	defer link.Close()
	defer c.Close()
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 64})
	var wakes atomic.Int32
	must(t, c.Attach(arena, func() { wakes.Add(1) }))
	hello := slices.Concat(ours[:], theirs[:], []byte{0x88, 0xca, 1, 2, 3, 4})
	receive := func() int {
		if _, err := link.File.Write(hello); err != nil {
			t.Fatal(err)
		}
		var bufs [2]*netdev.Buffer
		n, err := c.Receive(bufs[:])
		must(t, err)
		for _, b := range bufs[:n] {
			b.Release()
		}
		return n
	}
	if n := receive(); n != 1 || c.MTU() != 1500 {
		t.Errorf("plugged in: %d frames, MTU %d", n, c.MTU())
	}
	c.Unplug()
	if n := receive(); n != 0 || c.MTU() != 0 || wakes.Load() != 1 {
		t.Errorf("unplugged: %d frames, MTU %d, woken %d times", n, c.MTU(), wakes.Load())
	}
	c.Plug()
	if n := receive(); n != 1 || c.MTU() != 1500 || wakes.Load() != 2 {
		t.Errorf("plugged in again: %d frames, MTU %d, woken %d times", n, c.MTU(), wakes.Load())
	}
}
