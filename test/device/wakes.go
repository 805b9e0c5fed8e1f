// SPDX-License-Identifier: Apache-2.0

package device

import (
	"sync"
	"testing"

	"github.com/utipc/utipc/frame"
)

// wakes: whoever has received fewer frames than there was room for may sleep,
// and the next frame ends that. Frames come one by one, up to burst of them, and
// then no more until all have been received: so a wake-up lost, even one for a
// frame that came during Receive, is a test that stands still.
func wakes(t *testing.T, a, b *station, burst int) {
	total := 6400
	if testing.Short() {
		total = 640
	}
	_, bufs := a.some(b, 0, 1)
	defer release(bufs)
	received := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		for n := range total {
			if n%burst == 0 && n > 0 {
				if _, ok := <-received; !ok {
					return
				}
			}
			if n, err := a.offer(bufs); err != nil {
				t.Errorf("Transmit: got %d, %v", n, err)
				return
			}
		}
	})
	both.Go(func() {
		defer close(received)
		for got := 0; got < total; {
			n, err := b.dev.Receive(b.batch[:])
			if err != nil {
				t.Errorf("Receive: %v", err)
				return
			}
			release(b.batch[:n])
			got += n
			if n > 0 && got%burst == 0 && got < total {
				received <- struct{}{}
			}
			if n == len(b.batch) || got == total {
				continue
			}
			if err := b.sleep(); err != nil {
				t.Errorf("after %d of %d frames: %v", got, total, err)
				return
			}
		}
	})
	both.Wait()
}

// echo: a station may send and receive in turn while its peer does the same.
func echo(t *testing.T, a, b *station) {
	const rounds = 2000
	_, there := a.some(b, 0, 4)
	_, back := b.some(a, 0, 4)
	defer release(there)
	defer release(back)
	// play sends its frames first or answers, and counts what comes.
	play := func(s *station, out []*frame.Buffer, first bool) {
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
