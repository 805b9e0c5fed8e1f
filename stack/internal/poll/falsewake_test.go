// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"testing"
	"time"
)

// Each step is a sleep: it begins at a time, and the device may end it or not. The rows
// fail in turn if a stuck descriptor is listened to for ever, if it is asked at a fixed
// interval, if seldom wake-ups count, if a frame does not end the suspicion, and if a
// device that came to rest is not listened to any more.
//
// Proves: daemon.sleeps
func TestFalseWakes(t *testing.T) {
	const ms = time.Millisecond
	stuck := func(f *falseWakes, from, to time.Duration) (wakes int, now time.Duration) {
		for now = from; now < to; {
			if f.listens(now) { // it ends the sleep at once
				f.woke()
				wakes++
				now += ms / 100
				continue
			}
			if f.deaf <= now {
				t.Fatalf("at %v not listened to until %v", now, f.deaf)
			}
			now = f.deaf
		}
		return wakes, now
	}
	var f falseWakes
	first, now := stuck(&f, time.Second, 2*time.Second)
	if first > 40 {
		t.Errorf("a descriptor that stays readable ended %d sleeps in a second", first)
	}
	if more, _ := stuck(&f, now, now+10*time.Second); more > 10*20 {
		t.Errorf("it ended %d sleeps in ten seconds more", more)
	}

	f = falseWakes{}
	for i := range 1000 {
		if now := time.Duration(i+1) * 125 * ms; !f.listens(now) {
			t.Fatalf("not listened to after %d wake-ups in %v", i, now)
		}
		f.woke()
	}

	f = falseWakes{}
	_, now = stuck(&f, time.Second, 2*time.Second)
	f.woke()
	f.came()
	if f.pause != 0 || !f.listens(now) {
		t.Errorf("after a frame: %+v", f)
	}

	_, now = stuck(&f, now, now+time.Second)
	f.listens(f.deaf) // nothing is there any more
	for i := range 10 {
		now += time.Second
		if !f.listens(now) {
			t.Fatalf("not listened to in second %d of rest: %+v", i, f)
		}
		f.woke()
	}
}

// To look costs nothing to speak of where no wake-up was false.
func BenchmarkFalseWakes(b *testing.B) {
	var f falseWakes
	for b.Loop() {
		f.woke()
		f.came()
		f.listens(1)
	}
}
