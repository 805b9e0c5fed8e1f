// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A timer is one of the node's, as the recorded node keeps it: one for the discovery
// of each bearer, one for all links to another node, and the next of its sockets.
type timer struct {
	timerKey
	due0  time.Duration // of discovery and sockets: when the engine has it due
	set   time.Duration // when it was set, or rang last
	every time.Duration // from then to being due
}

type timerKey struct {
	bearer  int            // of discovery, as the engine numbers it
	node    frame.NodeAddr // 0: discovery
	sockets bool           // neither
}

// due is when it rings. The ticks of a link go on when the link is reset, in a
// kernel; ours begin anew, so that a packet of the old session has time to get
// lost (captures 11, 20 and 21).
func (t *timer) due() time.Duration { return t.set + t.every }

// look notes which timers the engine has set anew.
func (r *run) look() {
	tick := map[frame.NodeAddr]time.Duration{} // that have links
	for n := range r.eng.Neighbours {
		for _, l := range n.Links {
			if l == nil {
				continue
			}
			every := min(l.Tolerance()/4, 500*time.Millisecond)
			if was, ok := tick[n.Node]; !ok || every < was {
				tick[n.Node] = every
			}
		}
	}
	found := map[timerKey]bool{}
	for t := range r.eng.Timers {
		if t.Due == flowctl.Never || t.Sockets == engine.Calls {
			continue
		}
		k := timerKey{node: t.Node, sockets: t.Sockets == engine.Alarms}
		if t.Node == 0 {
			k.bearer = t.Bearer
		}
		found[k] = true
		switch old := r.timers[k]; {
		case t.Node == 0 && (old == nil || old.due0 != t.Due):
			r.timers[k] = &timer{timerKey: k, due0: t.Due, set: r.now, every: t.Due - r.now}
		case t.Node != 0 && old == nil:
			r.timers[k] = &timer{timerKey: k, set: r.now, every: tick[t.Node]}
		}
	}
	for k := range r.timers {
		if !found[k] {
			delete(r.timers, k)
		}
	}
	r.ticks = tick
}

// ring has the timer ring that a frame must come from, when it can: by what is
// wrong it says why it cannot.
func (r *run) ring(f *Frame) (why string) {
	if !r.cfg.AsKernel {
		return r.ringOwn(f)
	}
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
	switch {
	case t.sockets:
		r.eng.HandleTimer(r.now, engine.Timer{Sockets: engine.Alarms})
	case t.node == 0:
		r.eng.HandleTimer(r.now, engine.Timer{Bearer: t.bearer})
	default:
		for i := range engine.MaxBearers {
			r.eng.HandleTimer(r.now, engine.Timer{Bearer: i, Node: t.node})
		}
		t.set, t.every = r.now, r.ticks[t.node]
	}
	r.collect()
}

// callInside calls the users of connections that are part of the engine, which are due
// at once.
func (r *run) callInside() {
	const rounds = 10 // a call may bring about another
	for range rounds {
		due := false
		for t := range r.eng.Timers {
			due = due || t.Sockets == engine.Calls && t.Due <= r.now
		}
		if !due {
			return
		}
		r.eng.HandleTimer(r.now, engine.Timer{Sockets: engine.Calls})
	}
}

// timerOf returns the timer that sends frames like this, or nil.
func (r *run) timerOf(f *Frame) *timer {
	if f.Bad != nil {
		return nil
	}
	if d, err := discovery(*f); err == nil {
		if d.Type() == frame.Request || d.Type() == frame.Trial {
			return r.timers[timerKey{bearer: r.ids[f.bearer]}]
		}
		return nil
	}
	if l, err := frame.ParseLink(f.Message); err == nil {
		return r.timers[timerKey{node: l.Info().Dest}]
	}
	if c, err := frame.ParseConn(f.Message); err == nil && c.Fields().Type == frame.ConnProbe || r.resent[f.No] {
		return r.timers[timerKey{sockets: true}]
	}
	if t, err := frame.ParseTunnel(f.Message); err == nil { // of a link that was silent for too long
		return r.timers[timerKey{node: t.Fields().Dest}]
	}
	return nil
}

// overdue serves the timers that must have rung by a time without a word: the
// next frame that could come of them was recorded too late to be of this ring. That
// we send something then is a difference.
func (r *run) overdue(at time.Duration) *Difference {
	if !r.cfg.AsKernel {
		r.serveOwn(at - 1) // what arrives at that time comes first
		return nil
	}
	for range 1000 { // more than any pause between two frames has
		var first *timer
		for _, k := range slices.SortedFunc(maps.Keys(r.timers), timerKey.compare) {
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
			return &Difference{
				At: r.now, Ours: r.last, compared: r.compared,
				Why: fmt.Sprintf("our timer of %v sends it, and it was not sent within %v of being due", first.every, LateBy(first.every)),
			}
		}
	}
	return nil
}

func (k timerKey) compare(o timerKey) int {
	if k.sockets != o.sockets {
		if o.sockets {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(k.node, o.node), cmp.Compare(k.bearer, o.bearer))
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
