// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A netWaker is woken by a ring, also one before the sleep, by a device that is listened
// to, by time, and by close; it says who it was.
//
// Proves: daemon.sleeps
func TestNetWaker(t *testing.T) {
	dev, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dev)
	b, err := newNetWaker([]int{dev})
	if err != nil {
		t.Fatal(err)
	}
	one := [8]byte{0: 1}
	began := time.Now()
	sleep := func(d time.Duration) <-chan struct{} {
		ended := make(chan struct{})
		go func() { now := time.Since(began); b.wait(now, now+d); close(ended) }()
		return ended
	}
	must := func(ended <-chan struct{}, heard bool) {
		t.Helper()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("sleeps on")
		}
		if b.heard(0) != heard {
			t.Fatalf("heard the device: %v, want %v", !heard, heard)
		}
	}
	b.ring()
	must(sleep(time.Hour), false)
	s := sleep(time.Hour)
	b.ring()
	must(s, false)
	must(sleep(time.Millisecond), false)
	s = sleep(time.Hour)
	unix.Write(dev, one[:])
	must(s, true)
	must(sleep(time.Hour), true) // as long as it is readable
	b.listen(0, false)
	must(sleep(time.Millisecond), false)
	b.listen(0, true)
	must(sleep(time.Hour), true)
	b.listen(0, false)
	s = sleep(time.Hour)
	b.close()
	must(s, false)
	must(sleep(time.Hour), false)
	b.ring()
	b.close()
	b.listen(0, true)
}
