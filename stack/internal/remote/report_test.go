// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"slices"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/engine"
)

// Of more reports than are kept the oldest are dropped, and the one after them says how
// many; so it is with those that the daemon has only counted. Mutations: add drops the
// newest; add does not pass on what a dropped one had lost; sendFailed does not count Arg0.
func TestReportsKeepTheNewest(t *testing.T) {
	s := &Socket{network: "tipcrdm"}
	l := &clientConn{socket: s}
	const all = maxReports + 36
	for range all {
		r := clientRecord{Header: attach.Header{Op: attach.OpFailed, Addr: attach.ServiceSockaddr(frame.Service{Type: 18890}, 0), Arg0: 3}}
		s.reports.number(&r.Header)
		if l.sendFailed(&r) {
			t.Fatal("it came back")
		}
	}
	for i := range uint64(maxReports) {
		want := uint64(2) // that only were counted
		if i == 0 {
			want += 36 * 3
		}
		if r, ok := s.reports.take(); !ok || r.Seq != 37+i || r.Lost != want {
			t.Errorf("report %d is about message %d, %d were lost before, want %d and %d", i, r.Seq, r.Lost, 37+i, want)
		}
	}
	if r, ok := s.reports.take(); ok {
		t.Errorf("one more: %+v", r)
	}
}

// A message that would come back is reported if others before it could only be counted: the socket
// learns of those. Mutation it catches: sendFailed lets it come back all the same.
func TestReportTellsOfThoseBefore(t *testing.T) {
	s := &Socket{network: "tipcrdm"}
	s.reports.returns.Store(true)
	l := &clientConn{socket: s}
	why, reason := control.EncodeError(engine.ErrUnreachable)
	for _, before := range []uint32{0, 4} {
		r := clientRecord{Header: attach.Header{Op: attach.OpFailed, Errno: why, Addr: attach.ServiceSockaddr(frame.Service{Type: 18890}, 0), Arg0: 1 + before, Arg1: 4, Wide: 4}}
		r.data = append(slices.Clip(reason), "text"...)
		s.reports.number(&r.Header)
		back := l.sendFailed(&r)
		report, ok := s.reports.take()
		if back != (before == 0) || ok == back || report.Lost != uint64(before) {
			t.Errorf("%d before it: came back: %v, report %+v", before, back, report)
		}
	}
}

// Messages have numbers of their own for longer than records have room for. Mutation:
// numbered does not look at the last one.
func TestReportsNumberMessages(t *testing.T) {
	var q sendReports
	for _, last := range []uint64{0, noRequest - 2, 1 << 40} {
		q.sent.Store(last)
		for i := range uint64(4) {
			var h attach.Header
			if seq := q.number(&h); seq != last+1+i || h.ID < noRequest || q.numbered(h.ID) != seq {
				t.Errorf("message %d has number %d, %#x on its record, which is taken for %d", last+1+i, seq, h.ID, q.numbered(h.ID))
			}
		}
	}
	q.unsent(q.sent.Load())
	if got := q.numbered(77); got != 0 || q.sent.Load() != 1<<40+3 {
		t.Errorf("number %d of what is none, %d sent", got, q.sent.Load())
	}
}
