// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A timer is one of the node's, as the recorded node keeps it.
type timer struct {
	engine.Timer
	link  *flowctl.Link // nil: discovery
	set   time.Duration // when it was set, or rang last
	every time.Duration // from then to being due
}

// from sets a timer. What changes the interval later counts from the next time on.
func (t *timer) from(now time.Duration) {
	t.set, t.every = now, t.Due-now
	if t.link != nil {
		t.every = min(t.link.Tolerance()/4, 500*time.Millisecond)
	}
}

// due is when it rings. The ticks of a link go on when the link is reset, in a
// kernel; ours begin anew, so that a packet of the old session has time to get
// lost (captures 11, 20 and 21).
func (t *timer) due() time.Duration { return t.set + t.every }

// look notes which timers the engine has set anew.
func (r *run) look() {
	for k, t := range r.timers {
		if t.link != nil && !r.has(k, t.link) {
			delete(r.timers, k)
		}
	}
	for t := range r.eng.Timers {
		old := r.timers[t.Node]
		if t.Node == 0 {
			if old == nil || old.Due != t.Due {
				r.timers[0] = r.timer(t, nil)
			}
			continue
		}
		link := r.link(t.Node)
		if old == nil || old.link != link {
			r.timers[t.Node] = r.timer(t, link)
		}
	}
}

func (r *run) timer(t engine.Timer, l *flowctl.Link) *timer {
	n := &timer{Timer: t, link: l}
	n.from(r.now)
	return n
}

func (r *run) link(a frame.NodeAddr) *flowctl.Link {
	for n := range r.links {
		if n.Node == a {
			return n.Link
		}
	}
	return nil
}

func (r *run) has(a frame.NodeAddr, l *flowctl.Link) bool { return r.link(a) == l }

// ring has the timer ring that a frame must come from, when it can: by what is
// wrong it says why it cannot.
func (r *run) ring(f *Frame) (why string) {
	t := r.timerOf(f)
	if t == nil {
		return "it was sent, and we send nothing"
	}
	switch d := f.At - t.due(); {
	case d < -EarlyBy:
		return fmt.Sprintf("it was sent, and we send nothing; our next is due %v later", (-d).Round(time.Microsecond))
	case d > LateBy(t.every):
		return fmt.Sprintf("it was sent %v later than our timer of %v rings, more than %v", d.Round(time.Microsecond), t.every, LateBy(t.every))
	default:
		r.stats.latest = max(r.stats.latest, d)
	}
	r.stats.timers++
	r.serve(t, f.At)
	return ""
}

// serve has a timer ring.
func (r *run) serve(t *timer, at time.Duration) {
	r.clock(at)
	r.eng.HandleTimer(r.now, t.Timer)
	if t.link != nil {
		t.from(r.now)
	}
	r.collect()
}

// timerOf returns the timer that sends frames like this, or nil.
func (r *run) timerOf(f *Frame) *timer {
	if f.Bad != nil {
		return nil
	}
	if d, err := discovery(*f); err == nil {
		if d.Type() == frame.Request || d.Type() == frame.Trial {
			return r.timers[0]
		}
		return nil
	}
	if l, err := frame.ParseLink(f.Message); err == nil {
		return r.timers[l.Info().Dest]
	}
	return nil
}

// overdue serves the timers that must have rung by a time without a word: the
// next frame that could come of them was recorded too late to be of this ring. That
// we send something then is a difference.
func (r *run) overdue(at time.Duration) *Difference {
	for range 1000 { // more than any pause between two frames has
		var first *timer
		for _, k := range slices.Sorted(maps.Keys(r.timers)) {
			t := r.timers[k]
			if t.rings() <= at && (first == nil || t.rings() < first.rings()) && r.silent(t) {
				first = t
			}
		}
		if first == nil {
			break
		}
		r.last = nil
		if r.serve(first, first.rings()); r.last != nil {
			return &Difference{At: r.now, Ours: r.last, compared: r.compared,
				Why: fmt.Sprintf("our timer of %v sends it, and it was not sent within %v of being due", first.every, LateBy(first.every))}
		}
	}
	return nil
}

// rings is when a kernel's timer would ring.
func (t *timer) rings() time.Duration { return t.set + rounded(t.every) }

// silent reports whether this ring of a timer is not the one that any later own
// frame comes of.
func (r *run) silent(t *timer) bool {
	last := t.due() + LateBy(t.every)
	for i := r.compared; i < len(r.own); i++ {
		if r.timerOf(&r.own[i]) == t {
			return r.own[i].At > last
		}
	}
	return r.end > last
}
