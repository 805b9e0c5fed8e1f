// SPDX-License-Identifier: Apache-2.0

package device

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/utipc/utipc/netdev"
)

// wakes: whoever has received fewer frames than there was room for may sleep,
// and the next frame ends that. Frames come one by one, up to burst of them, and
// then no more until all have been received: so a wake-up lost, even one for a
// frame that came during Receive, is a test that stands still. Each other burst
// finds the receiver awake.
func wakes(t *testing.T, a, b *station, burst int) {
	// It is the bursts that may find the receiver asleep: long ones are fewer.
	bursts := 2000
	if burst > 10 && os.Getenv("UTIPC_LONG") == "" {
		bursts = 300
	}
	if testing.Short() {
		bursts = min(bursts, 200)
	}
	_, bufs := a.some(b, 0, 1)
	defer release(bufs)
	received := make(chan struct{}, bursts)
	var both sync.WaitGroup
	both.Go(func() {
		for range bursts {
			for range burst {
				if n, err := a.offer(bufs); err != nil {
					t.Errorf("Transmit: got %d, %v", n, err)
					return
				}
			}
			if _, ok := <-received; !ok {
				return
			}
		}
	})
	both.Go(func() {
		defer close(received)
		for i := range bursts {
			if err := b.receiveBurst(burst, i%2 == 1); err != nil {
				t.Errorf("burst %d: %v", i, err)
				return
			}
			received <- struct{}{}
		}
	})
	both.Wait()
}

// receiveBurst receives size frames, and sleeps whenever it may; the first of
// them it may await awake.
func (s *station) receiveBurst(size int, awake bool) error {
	for got := 0; got < size; {
		n, err := s.dev.Receive(s.batch[:])
		if err != nil {
			return err
		}
		release(s.batch[:n])
		got += n
		switch {
		case n == len(s.batch), got == size:
		case got == 0 && awake:
			runtime.Gosched()
		default:
			if err := s.sleep(); err != nil {
				return fmt.Errorf("after %d of %d frames: %w", got, size, err)
			}
		}
	}
	return nil
}

// echo: a station may send and receive in turn while its peer does the same.
func echo(t *testing.T, a, b *station) {
	const rounds = 2000
	_, there := a.some(b, 0, 4)
	_, back := b.some(a, 0, 4)
	defer release(there)
	defer release(back)
	// play sends its frames first or answers, and counts what comes.
	play := func(s *station, out []*netdev.Buffer, first bool) {
		for i := range rounds {
			if i > 0 || first {
				if n, err := s.offer(out); err != nil {
					t.Errorf("Transmit: got %d, %v", n, err)
					return
				}
			}
			if i == rounds-1 && first {
				return
			}
			for got := 0; got < len(out); {
				bufs, err := s.receive(len(out) - got)
				if err != nil {
					t.Errorf("round %d, after %d frames: %v", i, got, err)
					return
				}
				got += len(bufs)
				release(bufs)
			}
		}
	}
	var both sync.WaitGroup
	both.Go(func() { play(a, there, true) })
	both.Go(func() { play(b, back, false) })
	both.Wait()
}
