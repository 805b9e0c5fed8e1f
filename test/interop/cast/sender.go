// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"fmt"
	"net"
	"sync"

	"github.com/utipc/utipc/test/interop/pattern"
)

// A Sender is one socket that sends a round.
type Sender struct {
	plan   Plan
	sender int
	held   int             // before this message it waits
	hold   <-chan struct{} // for this, if it is not nil

	mu        sync.Mutex // guards what follows
	sent      int
	confirmed []int // by each receiver: messages up to the latest mark
}

// NewSender makes the sender of that number in the plan.
func NewSender(p Plan, sender int) *Sender {
	return &Sender{plan: p, sender: sender, confirmed: make([]int, len(p.Receivers))}
}

// Hold has Run wait for a channel to be closed before it sends message i.
func (s *Sender) Hold(i int, until <-chan struct{}) { s.held, s.hold = i, until }

// A Status is how far a sender has come.
type Status struct {
	Sender    int
	Sent      int
	Confirmed []int // by each receiver: messages up to the latest mark
}

// Status may be asked for while the sender runs.
func (s *Sender) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{s.sender, s.sent, append([]int{}, s.confirmed...)}
}

// Run sends all messages and returns when every awaited receiver has confirmed the
// last. addr makes a range an address of the socket's kind.
func (s *Sender) Run(c Conn, addr func(typ uint32, r Range) net.Addr) error {
	p := &s.plan
	b := make([]byte, max(p.Longest, pattern.HeaderLen))
	for i := range p.Count {
		if i%p.Batch == 0 {
			if err := s.await(c, i-marksAhead*p.Batch); err != nil {
				return err
			}
		}
		if s.hold != nil && i == s.held {
			<-s.hold
		}
		m := b[:p.Size(s.sender, i)]
		pattern.Fill(m, number(s.sender, i))
		if _, err := c.WriteTo(m, addr(p.Type, p.To(s.sender, i))); err != nil {
			return fmt.Errorf("message %d of %d bytes to %v: %w", i, len(m), p.To(s.sender, i), err)
		}
		s.mu.Lock()
		s.sent++
		s.mu.Unlock()
	}
	return s.await(c, p.Count)
}

// await waits until the receivers have so many messages.
func (s *Sender) await(c Conn, count int) error {
	b := make([]byte, 256)
	for s.slowest() < count {
		n, _, err := c.ReadFrom(b)
		if err != nil {
			return err
		}
		receiver, i, ok := parseNote(b[:n])
		if !ok || receiver >= len(s.confirmed) {
			return fmt.Errorf("cast: %d bytes that are no note of a receiver", n)
		}
		s.mu.Lock()
		s.confirmed[receiver] = max(s.confirmed[receiver], i+1)
		s.mu.Unlock()
	}
	return nil
}

// slowest is how many messages all awaited receivers have confirmed.
func (s *Sender) slowest() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := s.plan.Count
	for r, n := range s.confirmed {
		if s.plan.awaited(r) {
			least = min(least, n)
		}
	}
	return least
}
