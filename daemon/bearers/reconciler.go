// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"math"
	"net/netip"
	"slices"
	"time"
)

// Never is the deadline of a machine that waits for nothing.
const Never time.Duration = math.MaxInt64

// OtherSettings is the Reason of a Close because another way to open the device is wanted.
const OtherSettings = "other settings"

// How long things take.
const (
	LookEvery  = 10 * time.Second       // between two slow looks
	newsPause  = 20 * time.Millisecond  // from news to the look: they come in bursts
	settle     = 100 * time.Millisecond // how long an interface must be as it is before a device is opened on it again
	firstRetry = 250 * time.Millisecond // after an opening that failed; twice as long each time
	lastRetry  = LookEvery
	blindPause = time.Second      // after a look that found nothing out
	firstAlone = 10 * time.Second // how long nobody else must have used an interface until its bearer is opened for that; twice as long each time
	lastAlone  = 10 * time.Minute
	adoptLimit = 30 * time.Second // for the node to take a device that a command has opened
)

// A Reconciler makes bearers what is wanted of them.
//
//	         usable, settled        Done             carrier
//	Waiting ────────────────► Opening ────► Down ◄──────────────► Up
//	   ▲  ▲                      │           │ ▲  lost 3 times   │
//	   │  └──────Done, failed────┘           │ └──Damped◄────────┤
//	   │                                     │                   │
//	   └───Done── Closing ◄──────────────────┴───────────────────┘
//	                           removed, made anew, a port; MAC, queues, program, wish changed;
//	                           others use it now, or have not for a while
//
// At most one action of a bearer is under way. Not safe for concurrent use. Times never
// go back.
type Reconciler struct {
	all  []*bearer // in the order in which they were wanted
	out  []Action
	look time.Duration // when the next look is due
	slow time.Duration // when the next slow one is
}

// A bearer is a wish with a state.
type bearer struct {
	wish    Wish
	status  Status
	facts   Facts
	fresh   bool          // facts were found after the last action
	open    bool          // the node has the device
	adopted time.Duration // by when the node must have the device of a command; 0: it has had
	noted   bool          // the node has been told of the bearer
	leaving bool
	prompt  bool             // somebody waits for the opening: it does not wait for the interface to settle
	reopen  string           // why the device is to be closed and opened again, though it fits the interface
	busy    Action           // what is under way
	remotes []netip.AddrPort // of the device
	changed time.Duration    // when the facts were others
	retry   time.Duration    // when opening may be tried
	tries   int              // openings that failed in a row
	failure Reason           // what the last of them said
	damper  damper
	held    bool
	use     use
}

// New makes a Reconciler of no bearers.
func New(now time.Duration) *Reconciler { return &Reconciler{look: now, slow: now} }

func (r *Reconciler) bearer(id string) *bearer {
	if i := slices.IndexFunc(r.all, func(b *bearer) bool { return b.wish.ID == id }); i >= 0 {
		return r.all[i]
	}
	return nil
}

// Want says what the settings want now: bearers of the settings that are not among wishes
// are closed, and those that are new are opened. What commands have asked for stays, unless
// a wish has its ID.
func (r *Reconciler) Want(now time.Duration, wishes []Wish) {
	for _, b := range slices.Clone(r.all) {
		if !b.wish.Command && !slices.ContainsFunc(wishes, func(w Wish) bool { return w.ID == b.wish.ID }) {
			r.drop(now, b)
		}
	}
	for _, w := range wishes {
		r.want(now, w)
	}
	r.lookBy(now)
}

// Retry has the openings that failed be tried again at once.
func (r *Reconciler) Retry(now time.Duration) {
	for _, b := range r.all {
		b.retry = now
	}
	r.lookBy(now)
}

func (r *Reconciler) want(now time.Duration, w Wish) {
	b := r.bearer(w.ID)
	if b == nil {
		r.all = append(r.all, &bearer{wish: w, prompt: true})
		return
	}
	if b.wish.reopens(&w) {
		b.tries, b.retry, b.prompt = 0, now, true
		if b.open || b.busy.Act == Open {
			b.reopen = OtherSettings
		}
	}
	b.wish, b.leaving = w, false
	r.decide(now, b)
}

// Adopt takes over a bearer whose device is open already: one that the daemon has begun
// with, or that a command has opened, which the node will have shortly.
func (r *Reconciler) Adopt(now time.Duration, w Wish) {
	b := r.bearer(w.ID)
	if b == nil {
		b = &bearer{}
		r.all = append(r.all, b)
	}
	*b = bearer{wish: w, status: b.status, noted: b.noted, open: true, adopted: now + adoptLimit, remotes: slices.Clone(w.Remotes)}
	r.lookBy(now + newsPause)
}

// drop wants a bearer no longer.
func (r *Reconciler) drop(now time.Duration, b *bearer) {
	b.leaving = true
	r.decide(now, b)
}

// News says that something may have changed.
func (r *Reconciler) News(now time.Duration) { r.lookBy(now + newsPause) }

func (r *Reconciler) lookBy(t time.Duration) { r.look = min(r.look, t) }

// Deadline says when to call HandleTimeout.
func (r *Reconciler) Deadline() time.Duration {
	d := min(r.look, r.slow)
	for _, b := range r.all {
		d = min(d, b.deadline())
	}
	return d
}

// HandleTimeout does what is due at now. Calling it early is harmless.
func (r *Reconciler) HandleTimeout(now time.Duration) {
	if now >= min(r.look, r.slow) {
		r.look, r.slow = Never, now+LookEvery
		r.out = append(r.out, Action{Act: Look})
	}
	for _, b := range slices.Clone(r.all) {
		if now >= b.deadline() {
			r.decide(now, b)
		}
	}
}

// NextAction returns the next thing to do, until there is none.
func (r *Reconciler) NextAction() (a Action, ok bool) {
	if len(r.out) == 0 {
		return a, false
	}
	a = r.out[0]
	r.out = r.out[1:]
	return a, true
}

// Statuses calls f for every bearer, in the order in which they were wanted.
func (r *Reconciler) Statuses(f func(w Wish, s Status, last Facts)) {
	for _, b := range r.all {
		f(b.wish, b.status, b.facts)
	}
}

// See takes what a look has found of a bearer. What is found while an action of the bearer
// is under way does not count.
func (r *Reconciler) See(now time.Duration, id string, f Facts) {
	b := r.bearer(id)
	if b == nil {
		return
	}
	if b.damper.see(now, f.Downs, f.Index) {
		b.changed = now
	}
	was := b.facts
	was.Downs, was.Above, was.Attached, was.Noted, was.On = f.Downs, f.Above, f.Attached, f.Noted, f.On
	if b.use.see(now, f.Users != "") {
		b.changed = now
	}
	was.Users = f.Users
	if was != f {
		b.changed, b.tries = now, 0
		b.retry = min(b.retry, now)
	}
	b.facts, b.fresh = f, true
	r.decide(now, b)
}

// Blind says that a look found nothing out, for want of descriptors or memory. Nothing is
// done about what is not known; the look is made again.
func (r *Reconciler) Blind(now time.Duration) { r.lookBy(now + blindPause) }

// Done says how an action of a bearer ended.
func (r *Reconciler) Done(now time.Duration, id string, act Act, err error) {
	b := r.bearer(id)
	if b == nil || b.busy.Act != act {
		return
	}
	done := b.busy
	b.busy, b.fresh = Action{}, false
	b.prompt = b.prompt && act == Close
	switch {
	case act == Open && err == nil:
		b.open, b.tries, b.failure, b.held, b.adopted = true, 0, Reason{}, false, 0
	case act == Open:
		b.failure = b.wish.failed(err)
		b.retry = now + min(firstRetry<<min(b.tries, 8), lastRetry)
		b.tries++
	case act == Close:
		b.open, b.reopen, b.held = false, "", false
	case act == Rejoin && err != nil:
		b.reopen = err.Error()
	case act == AddRemote:
		b.remotes = append(b.remotes, done.Remote) // one that is refused now is so for good
	case act == RemoveRemote:
		b.remotes = slices.DeleteFunc(b.remotes, func(a netip.AddrPort) bool { return a == done.Remote })
	case act == Hold:
		b.held = true
	case act == Release:
		b.held = false
	}
	r.lookBy(now)
	if act == Open && err != nil || b.leaving || !b.open {
		r.decide(now, b)
	}
}

// deadline is when the bearer is to be looked at without an event.
func (b *bearer) deadline() time.Duration {
	d := Never
	switch {
	case b.busy.Act != None || !b.fresh:
		return Never
	case !b.open && b.facts.lacks(&b.wish) == (Reason{}):
		return b.opens()
	case !b.open:
		return Never
	case b.stale() != "":
		d = b.changed + settle
	case b.facts.unsuited(&b.wish) != "":
		d = b.movesAt()
	}
	if b.damper.holds {
		d = min(d, b.damper.until)
	}
	return d
}

// opens is when the device may be opened.
func (b *bearer) opens() time.Duration {
	if b.prompt {
		return b.retry
	}
	return max(b.retry, b.changed+settle)
}

// stale says why the open device is to be closed.
func (b *bearer) stale() string {
	if b.reopen != "" {
		return b.reopen
	}
	return b.facts.differs(&b.wish)
}

// movesAt is when an open device whose driver is not for who uses the interface is to be closed.
// Those who lose by it do not wait. The way back is a gain for nobody but the node, whose peers
// lose it for a moment: it has time, and ever more where users come and go.
func (b *bearer) movesAt() time.Duration {
	if b.facts.On.Shared {
		return b.use.leaves()
	}
	return b.changed + settle
}

// decide finds the next thing to do for a bearer.
func (r *Reconciler) decide(now time.Duration, b *bearer) {
	f := &b.facts
	switch {
	case b.busy.Act != None:
		return
	case b.leaving && b.open:
		r.act(now, b, Action{Act: Close, Reason: "no longer wanted"})
		return
	case b.leaving:
		r.forget(b)
		return
	case !b.fresh:
		if b.status.State == 0 && !b.open {
			r.report(now, b, Waiting, Reason{})
		}
		if b.failure != (Reason{}) && !b.open {
			r.report(now, b, Waiting, b.failure)
		}
		return
	case b.open && b.adopted > 0 && f.Attached:
		b.adopted = 0
	case b.open && !f.Attached && now < b.adopted:
		r.lookBy(now + settle)
		return
	case b.open && !f.Attached: // a command has disabled it
		b.open = false
		r.forget(b)
		return
	case b.noted && !f.Noted && !b.open: // the same
		r.forget(b)
		return
	}
	b.noted = b.noted || f.Noted
	if b.open {
		r.remedy(now, b)
	} else {
		r.tryOpen(now, b)
	}
}

// tryOpen finds what is to be done about a bearer without a device.
func (r *Reconciler) tryOpen(now time.Duration, b *bearer) {
	w := &b.wish
	switch why := b.facts.lacks(w); {
	case why != (Reason{}):
		b.failure = Reason{}
		r.report(now, b, Waiting, why)
	case now >= b.opens():
		b.remotes = slices.Clone(w.Remotes)
		r.act(now, b, Action{Act: Open})
	default:
		r.report(now, b, Waiting, b.failure)
	}
}

// remedy finds what is to be done about an open device.
func (r *Reconciler) remedy(now time.Duration, b *bearer) {
	f, w := &b.facts, &b.wish
	lacks, stale, flaps := f.lacks(w), b.stale(), b.damper.holding(now)
	switch {
	case stale != "" && (now >= b.changed+settle || b.reopen != ""):
		r.act(now, b, Action{Act: Close, Reason: stale})
	case stale != "":
		r.report(now, b, Down, because(stale))
	case !w.UDP() && (!f.Exists || f.Master != ""):
		r.act(now, b, Action{Act: Close, Reason: lacks.Text})
	case f.unsuited(w) != "" && now >= b.movesAt():
		b.prompt = true // the interface is as it was
		r.act(now, b, Action{Act: Close, Reason: f.unsuited(w)})
	case w.UDP() && !f.Exists:
		r.hold(now, b, Down, lacks)
	case f.adrift(w) != "":
		r.act(now, b, Action{Act: Rejoin, Reason: f.adrift(w)})
	case len(difference(w.Remotes, b.remotes)) > 0:
		r.act(now, b, Action{Act: AddRemote, Remote: difference(w.Remotes, b.remotes)[0]})
	case len(difference(b.remotes, w.Remotes)) > 0:
		r.act(now, b, Action{Act: RemoveRemote, Remote: difference(b.remotes, w.Remotes)[0]})
	case flaps && !w.UDP():
		r.hold(now, b, Damped, flapping)
	case b.held:
		r.act(now, b, Action{Act: Release})
	case lacks != (Reason{}):
		r.report(now, b, Down, lacks)
	case !f.Carrier:
		r.report(now, b, Down, w.noCarrier())
	default:
		r.report(now, b, Up, Reason{})
	}
}

// hold has the node treat the interface as one that carries nothing.
func (r *Reconciler) hold(now time.Duration, b *bearer, s State, why Reason) {
	if !b.held {
		r.act(now, b, Action{Act: Hold, Reason: why.Text})
	}
	r.report(now, b, s, why)
}

// act gives out an action of a bearer.
func (r *Reconciler) act(now time.Duration, b *bearer, a Action) {
	a.ID = b.wish.ID
	b.busy = a
	switch a.Act {
	case Open:
		r.report(now, b, Opening, Reason{})
	case Close:
		r.report(now, b, Closing, because(a.Reason))
	}
	r.out = append(r.out, a)
}

// report gives out a new state, once.
func (r *Reconciler) report(now time.Duration, b *bearer, s State, why Reason) {
	above := b.facts.Above
	if b.status.State == s && b.status.Reason == why && b.status.Above == above {
		return
	}
	if b.status.State != s {
		b.status.Since = now
		b.status.Changes++
	}
	b.status.State, b.status.Reason, b.status.Above = s, why, above
	r.out = append(r.out, Action{Act: Report, ID: b.wish.ID, Status: b.status})
}

func (r *Reconciler) forget(b *bearer) {
	r.all = slices.DeleteFunc(r.all, func(o *bearer) bool { return o == b })
	r.out = append(r.out, Action{Act: Forget, ID: b.wish.ID})
}
