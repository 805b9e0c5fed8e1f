// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// Who watches hears a wake-up byte for each record that comes meanwhile: as many as a ring takes
// are no reason to end the connection.
func TestWatchOverAFullRing(t *testing.T) {
	a, b := ringPair(t, MaxRing)
	watched := make(chan error, 1)
	go func() { watched <- b.Watch(OpCancel) }()
	consumerWantsWake := b.ring.Load().ring.in.consumerWantsWake
	by := time.Now().Add(testTimeout)
	k := 0
	for ; ; k++ {
		for atomic.LoadUint32(consumerWantsWake) == 0 { // the next is a wake-up byte again
			select {
			case err := <-watched:
				t.Fatalf("after %d records: %v", k, err)
			default:
				runtime.Gosched()
			}
			if time.Now().After(by) {
				t.Fatal("nobody watches")
			}
		}
		if err := a.TryWrite(&Header{Op: OpSend}, nil); err != nil {
			break // it is full
		}
	}
	if k != MaxRing/ringAlign {
		t.Errorf("%d records", k)
	}
	select {
	case err := <-watched:
		t.Fatalf("after %d records: %v", k, err)
	default:
	}
	var h Header
	b.SetReadDeadline(time.Now()) // ends the watch
	<-watched
	b.SetReadDeadline(time.Now().Add(testTimeout))
	for range k {
		if _, err := b.Read(&h, nil); err != nil {
			t.Fatal(err)
		}
	}
}
