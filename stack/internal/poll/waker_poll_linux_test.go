// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A waker that is closed while somebody sleeps wakes him; its descriptors are not
// free before he is out, and are not touched after that.
func TestPollWakerClosed(t *testing.T) {
	x, err := newPollWaker(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := x.(*pollWaker)
	ended := make(chan struct{})
	go func() { b.wait(0, time.Hour); close(ended) }()
	for inside := false; !inside; runtime.Gosched() {
		b.mu.Lock()
		inside = b.inside
		b.mu.Unlock()
	}
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	wakerFD := b.alarm.waker
	b.close()
	<-ended
	if err := unix.Dup3(p[1], wakerFD, unix.O_CLOEXEC); err != nil { // the number means the pipe now
		t.Fatal(err)
	}
	defer unix.Close(wakerFD)
	unix.SetNonblock(p[0], true)
	b.ring()
	b.close()
	b.wait(0, time.Hour)
	if k, err := unix.Read(p[0], make([]byte, 8)); err != unix.EAGAIN {
		t.Errorf("a stranger's pipe was given %d bytes, %v", k, err)
	}
}
