// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// hearBroadcast gives the link's node a broadcast packet of the peer, as an engine does.
func (r *scriptedPeer) hearBroadcast(seq frame.Seq) {
	r.t.Helper()
	if _, report := r.broadcast(seq); report {
		r.Report(r.now)
	}
	r.WatchBroadcast(r.now)
}

// hearLast gives it a STATE that tells what the peer has sent.
func (r *scriptedPeer) hearLast(last frame.Seq) {
	if r.bc.HandleState(last) {
		r.Report(r.now)
	}
	r.WatchBroadcast(r.now)
}

// The report of broadcasts that are missing is repeated after four round trips, at least
// 200 µs, and less and less often up to an interval.
func TestBroadcastReportIsRepeated(t *testing.T) {
	for _, c := range []struct {
		rtt   time.Duration
		first string
		n     int // reports until the tick
	}{{0, "200µs", 10}, {500 * time.Microsecond, "2ms", 7}, {time.Second, "375ms", 0}} {
		r := newScriptedPeer(t).up()
		r.bc.Open(0)
		r.estimate = c.rtt
		r.hearBroadcast(2)
		wantLines(t, "by number", r.out(), "link/state bcast-gap=1 next=1 session=100 redundant seq=2 ack=0")
		got := r.until(r.next)
		if len(got) != c.n || c.n > 0 && got[0] != c.first+" link/state bcast-gap=1 next=1 session=100 redundant seq=3 ack=0" {
			t.Errorf("round trip %v: got %d reports: %v; want %d, first at %v", c.rtt, len(got), got, c.n, c.first)
		}
		if r.RepeatedReports != uint64(c.n) {
			t.Errorf("round trip %v: got %d counted, want %d", c.rtt, r.RepeatedReports, c.n)
		}
		r.done()
	}
}

// Whatever moves, and whatever reports, begins the wait anew; nothing is due when all came.
func TestBroadcastReportBeginsAnew(t *testing.T) {
	const us = time.Microsecond
	r := newScriptedPeer(t).up()
	defer r.done()
	r.bc.Open(0)
	times := func(end time.Duration) (at []time.Duration) {
		for r.Deadline() < end {
			r.now = max(r.now, r.Deadline())
			r.HandleTimeout(r.now)
			for range r.out() {
				at = append(at, r.now)
			}
		}
		r.now = end
		return at
	}
	r.hearBroadcast(2)
	r.out() // by number
	wantTimes(t, "first hole", times(900*us), 200*us, 600*us)
	r.hearBroadcast(1)
	wantTimes(t, "none", times(1500*us))
	r.hearBroadcast(5)
	wantTimes(t, "second hole", times(1600*us))
	r.Report(r.now) // for another reason
	r.out()
	wantTimes(t, "after a report", times(1900*us), 1800*us)
	r.hearBroadcast(3)
	wantTimes(t, "moved", times(2400*us), 2100*us)
	r.hearBroadcast(4)
	wantTimes(t, "all came", times(100*time.Millisecond))
	if r.Deadline() != r.next {
		t.Errorf("got a deadline of %v, want the tick at %v", r.Deadline(), r.next)
	}
}

// The wait begins with the first hole, however late that is.
func TestBroadcastReportOfFirstHole(t *testing.T) {
	const ms = time.Millisecond
	for _, last := range []frame.Seq{0, 0xffff} {
		r := newScriptedPeer(t).up()
		r.bc.Open(last)
		r.now = 50 * ms
		r.bc.HandleState(last + 2) // the report that is due is lost for want of memory
		r.WatchBroadcast(r.now)
		r.until(50*ms + 200*time.Microsecond)
		if n := r.RepeatedReports; n != 0 {
			t.Errorf("behind %d: got %d reports repeated at once, want none", last, n)
		}
		r.done()
	}
}

// So it is when a STATE tells of more than came, which a kernel would not repeat.
func TestBroadcastTailIsReported(t *testing.T) {
	for _, kernel := range []bool{false, true} {
		r := newScriptedPeer(t, func(c *Config) { c.AsKernel = kernel }).up()
		r.bc.Open(7)
		r.hearLast(9)
		r.out()
		want := 2
		if kernel {
			want = 0
		}
		if got := r.until(700 * time.Microsecond); len(got) != want {
			t.Errorf("as a kernel %v: got %v, want %d reports", kernel, got, want)
		}
		r.hearBroadcast(8)
		r.hearBroadcast(9)
		if got := r.until(100 * time.Millisecond); len(got) != 0 {
			t.Errorf("as a kernel %v, all came: got %v", kernel, got)
		}
		r.done()
	}
}

// Nothing is watched where nothing is missing.
func TestBroadcastWatchCostsNothing(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.bc.Open(0)
	r.hearBroadcast(1)
	r.hearLast(1)
	if r.look != Never || r.Deadline() != r.next {
		t.Errorf("got to look at %v, want never", r.look)
	}
}
