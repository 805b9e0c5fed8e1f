// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/test/interop/pattern"
)

// retry is how long a sender waits after a message was refused, which happens
// while there is no contact.
const retry = 10 * time.Millisecond

// A Sent is what a sender did.
type Sent struct {
	Messages int
	Refused  int // tries that the socket refused
	Returned int // messages that came back
	Stalls   int // times that credit stayed away
}

// Send sends messages until stop is closed, and returns once the sink knows that
// these were all. It fails when the sink does not say so for a long time.
func Send(c Conn, to net.Addr, p Plan, stop <-chan struct{}) (Sent, error) {
	s := sender{conn: c, to: to, plan: p, stop: stop, in: make([]byte, 2048)}
	b := make([]byte, p.Longest)
	for !s.stopped() {
		m := b[:p.Size(s.next)]
		if err := s.room(len(m)); err != nil {
			return s.Sent, err
		}
		pattern.Fill(m, s.next)
		if !s.write(m) {
			break
		}
		s.ahead = append(s.ahead, len(m))
		s.bytes += len(m)
		s.next++
		s.Messages++
		if p.Pace > 0 {
			select {
			case <-stop:
			case <-time.After(p.Pace):
			}
		}
	}
	for range 6 {
		if _, err := c.WriteTo(note(end, s.next), to); err != nil {
			s.Refused++
		}
		if err := s.read(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return s.Sent, err
		}
		if s.ended {
			return s.Sent, nil
		}
	}
	return s.Sent, fmt.Errorf("flow: the sink has not confirmed the end after %d messages", s.Messages)
}

// A sender is one stream on its way out.
type sender struct {
	conn  Conn
	to    net.Addr
	plan  Plan
	stop  <-chan struct{}
	in    []byte
	next  uint32
	ahead []int // lengths of the messages under way
	bytes int   // of these
	ended bool
	Sent
}

func (s *sender) stopped() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// room waits until n bytes more may be under way.
func (s *sender) room(n int) error {
	for len(s.ahead) >= windowMessages || len(s.ahead) > 0 && s.bytes+n > windowBytes {
		err := s.read()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.Stalls++
			s.ahead, s.bytes = nil, 0
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read waits for one message from the sink.
func (s *sender) read() error {
	s.conn.SetReadDeadline(time.Now().Add(s.plan.timeout()))
	n, _, err := s.conn.ReadFrom(s.in)
	if errors.Is(err, ErrReturned) {
		s.Returned++
		return nil
	}
	if err != nil {
		return err
	}
	switch w, number, ok := parseNote(s.in[:n]); {
	case !ok:
		return fmt.Errorf("flow: %d bytes that are no note of a sink", n)
	case w == credit:
		for base := s.next - uint32(len(s.ahead)); len(s.ahead) > 0 && base < number; base++ {
			s.bytes -= s.ahead[0]
			s.ahead = s.ahead[1:]
		}
	case w == ended && number == s.next:
		s.ended = true
	}
	return nil
}

// write sends a message, again and again while it is refused. It returns false
// when stopped first.
func (s *sender) write(b []byte) bool {
	for {
		if _, err := s.conn.WriteTo(b, s.to); err == nil {
			return true
		}
		s.Refused++
		select {
		case <-s.stop:
			return false
		case <-time.After(retry):
		}
	}
}
