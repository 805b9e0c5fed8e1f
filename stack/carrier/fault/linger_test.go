// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"slices"
	"testing"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// completed sends frames with an Injector that lingers, calls it and says after how
// many calls each was complete.
func completed(t *testing.T, c fault.Config, frames, batch int, call func(j *fault.Injector)) (calls []int) {
	t.Helper()
	j, _, arena := wrap(t, c)
	bufs := marked(arena, make([]byte, frames))
	for part := range slices.Chunk(bufs, batch) {
		if n, err := j.Transmit(part); n != len(part) || err != nil {
			t.Fatalf("Transmit: got %d, %v, want %d, nil", n, err, len(part))
		}
		if batch == frames && !part[0].Lent() {
			t.Fatal("just sent: got not lent, want lent")
		}
	}
	calls = make([]int, frames)
	for k := 1; slices.ContainsFunc(bufs, (*netdev.Buffer).Lent); k++ {
		if k > 100 {
			t.Fatal("some frames are never complete")
		}
		call(j)
		for i, b := range bufs {
			if !b.Lent() && calls[i] == 0 {
				calls[i] = k
			}
		}
	}
	release(bufs)
	if got, want := arena.Free(), arena.Total(); got != want {
		t.Errorf("got %d chunks free, want %d", got, want)
	}
	return calls
}

// Proves: memory.lent
func TestLinger(t *testing.T) {
	var batch [8]*netdev.Buffer
	ways := map[string]func(j *fault.Injector){
		"Transmit": func(j *fault.Injector) { j.Transmit(nil) },
		"Receive":  func(j *fault.Injector) { j.Receive(batch[:]) },
	}
	for name, call := range ways {
		c := fault.Config{Seed: 4, Linger: 10}
		got := completed(t, c, 200, 200, call)
		if slices.Min(got) != 1 || slices.Max(got) != 10 || slices.IsSorted(got) {
			t.Errorf("%s: got complete after %v calls, want 1 to 10 in no order", name, got)
		}
		if again := completed(t, c, 200, 200, call); !slices.Equal(got, again) {
			t.Errorf("%s: one seed gave %v and %v", name, got, again)
		}
		c.Seed = 5
		if again := completed(t, c, 200, 200, call); slices.Equal(got, again) {
			t.Errorf("%s: two seeds gave the same", name)
		}
		c.Out = fault.Faults{Loss: 1}
		if lost := completed(t, c, 50, 50, call); slices.Max(lost) < 2 {
			t.Errorf("%s: lost frames: got complete after %v calls, want some later", name, lost)
		}
	}
}

// A frame the device did not take is not lent, one that is sent again is lent for
// both.
func TestLingerTaken(t *testing.T) {
	j, l, arena := wrap(t, fault.Config{Linger: 1})
	l.room = 1
	bufs := marked(arena, count(2))
	if n, err := j.Transmit(bufs); n != 1 || err != nil || !bufs[0].Lent() || bufs[1].Lent() {
		t.Errorf("room for one: got %d, %v, lent %v, %v, want 1, nil, true, false", n, err, bufs[0].Lent(), bufs[1].Lent())
	}
	l.room = -1
	j.Transmit(bufs[1:])
	if bufs[0].Lent() || !bufs[1].Lent() {
		t.Errorf("one call later: got lent %v, %v, want false, true", bufs[0].Lent(), bufs[1].Lent())
	}
	release(bufs)
	j.Close()
	if got, want := arena.Free(), arena.Total(); got != want {
		t.Errorf("closed: got %d chunks free, want %d", got, want)
	}
}

func TestLingerCountsChanges(t *testing.T) {
	for name, end := range map[string]func(j *fault.Injector){
		"complete": func(j *fault.Injector) { j.Transmit(nil) },
		"closed":   func(j *fault.Injector) { j.Close() },
	} {
		j, _, arena := wrap(t, fault.Config{Linger: 1})
		bufs := marked(arena, count(3))
		j.Transmit(bufs)
		bufs[1].Bytes()[20] ^= 1
		end(j)
		if _, out := j.Counts(); out.Changed != 1 {
			t.Errorf("%s: got %d changed, want 1", name, out.Changed)
		}
		release(bufs)
	}
}
