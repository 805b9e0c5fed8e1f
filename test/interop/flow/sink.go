// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// A Report is what a sink found.
type Report struct {
	Verdict
	Elapsed time.Duration // from the first message to the last
}

// Goodput is what arrived, in bytes a second.
func (r Report) Goodput() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Bytes) / r.Elapsed.Seconds()
}

// A Mark is what a sink found since the last one.
type Mark struct {
	Messages int
	Gap      time.Duration // the longest time without a message, the present one too
}

// A Sink receives one stream. Mark may be called beside Serve.
type Sink struct {
	plan        Plan
	mu          sync.Mutex // guards what follows
	judge       *judge
	first, last time.Time
	longest     time.Duration // without a message, since the last Mark
	marked      int           // messages at the last Mark
}

// NewSink returns a sink that has received nothing.
func NewSink(p Plan) *Sink { return &Sink{plan: p, judge: newJudge(p)} }

// Serve receives until the stream's end.
func (s *Sink) Serve(c Conn) (Report, error) {
	b := make([]byte, 1<<17)
	var messages, bytes int // without credit so far
	for {
		n, from, err := c.ReadFrom(b)
		if errors.Is(err, ErrReturned) || errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if err != nil {
			return Report{}, err
		}
		if w, number, ok := parseNote(b[:n]); ok {
			if w != end {
				continue
			}
			if err := s.answer(c, ended, number, from); err != nil {
				return Report{}, err
			}
			return s.report(number), nil
		}
		want := s.take(b[:n], time.Now())
		messages++
		bytes += n
		if messages >= windowMessages/4 || bytes >= windowBytes/4 {
			messages, bytes = 0, 0
			if err := s.answer(c, credit, want, from); err != nil {
				return Report{}, err
			}
		}
	}
}

// answer sends a note, again and again while it is refused, at most for the sender's
// timeout: who waits for credit sends nothing that would bring another.
func (s *Sink) answer(c Conn, w word, number uint32, to net.Addr) error {
	for end := time.Now().Add(s.plan.timeout()); ; {
		_, err := c.WriteTo(note(w, number), to)
		switch {
		case errors.Is(err, net.ErrClosed):
			return err
		case err == nil || time.Now().After(end):
			return nil
		}
		<-time.After(retry)
	}
}

func (s *Sink) take(b []byte, now time.Time) (want uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first.IsZero() {
		s.first, s.last = now, now
	}
	s.longest = max(s.longest, now.Sub(s.last))
	s.last = now
	s.judge.take(b)
	return s.judge.want
}

// Mark begins a new stretch and tells of the last.
func (s *Sink) Mark() Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	m := Mark{Messages: s.judge.Messages - s.marked, Gap: s.longest}
	if !s.first.IsZero() {
		m.Gap = max(m.Gap, now.Sub(s.last))
	}
	s.marked, s.longest = s.judge.Messages, 0
	return m
}

func (s *Sink) report(total uint32) Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Report{s.judge.finish(total), s.last.Sub(s.first)}
}
