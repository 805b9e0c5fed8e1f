// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// join adds a fragment that leaves to what has left of its message, and returns the
// message with the last one.
func (s *session) join(f frame.Fragment, bad func(string, ...any)) []frame.Message {
	first := f.Type() == frame.FirstFragment
	if first != (s.joins == nil) {
		bad("a fragment out of its place: %d bytes have left", len(s.joins))
		s.joins = nil
		return nil
	}
	s.joins = append(s.joins, f.Data()...)
	if f.Type() != frame.LastFragment {
		if len(s.joins) > frame.MaxMessage {
			bad("fragments without end")
			s.joins = nil
		}
		return nil
	}
	whole := s.joins
	s.joins = nil
	m, err := frame.Parse(whole)
	if err != nil || len(m.Bytes()) != len(whole) {
		bad("fragments that join to %d bytes, %v", len(whole), err)
		return nil
	}
	s.owner.n.w.report.Fragmented++
	return []frame.Message{m}
}
