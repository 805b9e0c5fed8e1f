// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// What a call has written beside WriteLast is read before the last record, all of it; every
// other call fails.
//
// Mutations: write does not look for the last record; WriteLast notes it when it is written,
// without the lock.
//
// Proves: daemon.socket
func TestWriteLast(t *testing.T) {
	for name, beds := range map[string]func(testing.TB) (a, b *Conn){
		"socket": pair,
		"ring":   func(tb testing.TB) (a, b *Conn) { return ringPair(tb, MinRing) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				a, b := beds(t)
				var writers sync.WaitGroup
				var wrote atomic.Int64
				begun := make(chan struct{})
				for _, write := range []func(*Header, []byte) error{a.Write, a.TryWrite} {
					writers.Go(func() {
						for h := (Header{Op: OpSend}); ; {
							switch err := write(&h, nil); {
							case err == nil:
								if wrote.Add(1) == 1 {
									close(begun)
								}
							case errors.Is(err, net.ErrClosed):
								return
							case err != syscall.EAGAIN:
								t.Errorf("beside WriteLast: %v", err)
								return
							}
						}
					})
				}
				var read int64
				done := make(chan struct{})
				go func() {
					defer close(done)
					for h := (Header{}); ; read++ {
						if _, err := b.Read(&h, nil); err != nil || h.Op != OpSend {
							if err != nil || h.Op != OpShutdown {
								t.Errorf("read %v, %v", h.Op, err)
							}
							return
						}
					}
				}()
				<-begun
				last := Header{Op: OpShutdown}
				if err := a.WriteLast(&last, nil); err != nil {
					t.Fatal(err)
				}
				<-done
				b.Close() // a write that goes on fails otherwise
				writers.Wait()
				if read != wrote.Load() {
					t.Fatalf("%d records written, %d read before the last", wrote.Load(), read)
				}
				if err := a.WriteLast(&last, nil); !errors.Is(err, net.ErrClosed) {
					t.Errorf("WriteLast again: %v", err)
				}
			}
		})
	}
}
