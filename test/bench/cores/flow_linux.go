// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/stack"
)

const (
	size      = 64   // bytes of a message
	most      = 16   // goroutines
	allowance = 1024 // messages that a reader allows at a time
	allowed   = 4    // such allowances that a goroutine begins with
)

// A reader reads what comes for a peer, checks that each goroutine's messages come in order,
// and allows them more.
type reader struct {
	socket *stack.PacketConn
	more   [most]chan struct{} // an allowance for each goroutine
	next   [most]uint64        // of the reader alone
	wrong  atomic.Uint64       // messages that were not the next
	done   sync.WaitGroup
}

func newReader(s *stack.PacketConn) *reader {
	r := &reader{socket: s}
	for i := range r.more {
		r.more[i] = make(chan struct{}, allowed)
		for range allowed {
			r.more[i] <- struct{}{}
		}
	}
	r.done.Go(r.read)
	return r
}

// read reads until the socket is closed.
func (r *reader) read() {
	b := make([]byte, 2*size)
	for {
		n, _, err := r.socket.ReadFrom(b)
		if err != nil {
			return
		}
		from, no := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
		if n != size || from >= most || no != r.next[from] {
			r.wrong.Add(1)
			continue
		}
		if r.next[from]++; r.next[from]%allowance == 0 {
			r.more[from] <- struct{}{} // has room: no more was sent than was allowed
		}
	}
}

func (r *reader) close() error {
	err := r.socket.Close()
	r.done.Wait()
	if n := r.wrong.Load(); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d messages were lost, doubled or reordered", n))
	}
	return err
}

// A sender is what a goroutine has sent so far.
type sender struct {
	no      uint64
	next    [nodes - 1]uint64 // number of the next message to each peer
	readers []*reader
}

// send sends to so many peers by turns until over, once at least, and then to each what is missing in an
// allowance, so that all is allowed, and so read, when it has as many allowances as at the
// beginning.
func (s *sender) send(ctx context.Context, socket *stack.PacketConn, peers int, over *atomic.Bool) (sent uint64, err error) {
	var b [size]byte
	binary.BigEndian.PutUint64(b[:], s.no)
	for open := peers; open > 0; {
		open = 0
		for p := range peers {
			if s.next[p]%allowance == 0 {
				if sent > 0 && over.Load() {
					continue
				}
				select {
				case <-s.readers[p].more[s.no]:
				case <-ctx.Done():
					return sent, ctx.Err()
				}
			}
			open++
			binary.BigEndian.PutUint64(b[8:], s.next[p])
			if _, err := socket.WriteTo(b[:], service(p)); err != nil {
				return sent, err
			}
			s.next[p]++
			sent++
		}
	}
	return sent, s.drained(ctx, peers)
}

// drained waits until all is read.
func (s *sender) drained(ctx context.Context, peers int) error {
	for p := range peers {
		more := s.readers[p].more[s.no]
		for range allowed {
			select {
			case <-more:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		for range allowed {
			more <- struct{}{}
		}
	}
	return nil
}

// A run is what a round found.
type run struct {
	messages uint64
	took     time.Duration
}

// run sends from so many goroutines for a time.
func (c *cluster) run(ctx context.Context, senders []*sender, s shape, goroutines int, d time.Duration) (r run, err error) {
	ctx, cancel := context.WithTimeout(ctx, d+meeting)
	defer cancel()
	sockets := make([]*stack.PacketConn, goroutines)
	for i := range sockets {
		if i > 0 && !s.own {
			sockets[i] = sockets[0]
			continue
		}
		if sockets[i], err = c.nodes[0].ListenPacket(ctx, "tipcrdm", nil); err != nil {
			return r, err
		}
		defer sockets[i].Close()
	}
	var over atomic.Bool
	var sent atomic.Uint64
	var all sync.WaitGroup
	failed := make(chan error, goroutines)
	began := time.Now()
	defer time.AfterFunc(d, func() { over.Store(true) }).Stop()
	labelled(ctx, 0, func(ctx context.Context) {
		for i := range goroutines {
			all.Go(func() {
				n, err := senders[i].send(ctx, sockets[i], s.peers, &over)
				sent.Add(n)
				failed <- err
			})
		}
	})
	all.Wait()
	r = run{sent.Load(), time.Since(began)}
	for range goroutines {
		err = errors.Join(err, <-failed)
	}
	return r, err
}
