// SPDX-License-Identifier: Apache-2.0

package flowctl

import "time"

// Timeout of a link that waits for something. All of it is local policy: on the wire
// there are a few more STATE messages, each of a kind that a kernel sends as well.
const (
	mostHoldOff = time.Millisecond       // between two repetitions of one packet, see holdOff
	kernelTick  = 4 * time.Millisecond   // of the clock it counts by, where recorded
	leastWait   = 200 * time.Microsecond // before a report is repeated, or a packet
	fullWait    = 2 * time.Millisecond   // before a full window is probed
	quietWait   = 10 * time.Millisecond  // before a link that fell quiet is probed
)

// A recovery gets a link going again that stands still, without waiting for the tick.
//
//	packets deferred ──(4 round trips)──► report again ──(x2, up to a tick)──► …
//	window full ──────(2 ms)──► probe ──(x2)──► … ──► the tick
//	fell quiet, not all acknowledged ──(10 ms)──► probe ──(x2)──► … ──► the tick
//
// A broadcast link has no peer to probe: it asks its node to, and once an interval in
// the end. What is missing of a peer's broadcasts is reported by a link to it, likewise.
//
// Whatever moves begins anew. The time to look is set ahead when something is sent
// or deferred and not moved by what follows: only when it has come is it looked whether
// there is still something to wait for, and since when.
type recovery struct {
	look     time.Duration // when to look; Never when there is nothing to wait for
	moved    time.Duration // when deferred packets had their turn last, or were reported
	released time.Duration // when the peer acknowledged something new
	asked    time.Duration // when the last probe of a sender that stands still was sent
	repeats  uint8         // reports since deferred packets moved
	tries    uint8         // probes since the peer acknowledged something new
	roundTrip
}

func (r *recovery) clear() { *r = recovery{look: Never, roundTrip: roundTrip{estimate: r.estimate}} }

// RTT is the estimated time the peer takes to answer, 0 while it is unknown.
func (l *Link) RTT() time.Duration { return l.estimate }

// holdOff is the time between two repetitions of one packet: two round trips, what queues
// on the way included, else a report that comes meanwhile repeats it once more. Without
// gap-ack blocks what waits behind a gap is acknowledged late, and the estimate too large:
// then it counts up to mostHoldOff.
func (l *Link) holdOff() time.Duration {
	most := mostHoldOff
	if l.withGapAck() {
		most = l.sup.Interval()
	}
	return min(max(leastWait, 2*l.estimate), most)
}

// lookBy makes sure that the link is looked at no later than at.
func (r *recovery) lookBy(at time.Duration) {
	if r.look > at {
		r.look = at
	}
}

// deferredMoved notes that deferred packets had their turn, or that the first of them
// came.
func (l *Link) deferredMoved(now time.Duration) {
	l.moved = now
	if l.repeats > 0 || len(l.deferred()) == 1 {
		l.repeats = 0
		l.lookBy(now + l.nextReportWait())
	}
}

// acknowledgedNew notes that the peer acknowledged something new.
func (l *Link) acknowledgedNew(now time.Duration) {
	l.released = now
	l.tries = 0
	if l.unacked > 0 {
		l.lookBy(now + quietWait)
	}
}

// nextReportWait is the time before the report of what is missing is repeated.
func (l *Link) nextReportWait() time.Duration {
	return l.reportWait(l.repeats)
}

// reportWait is four round trips, twice as much for each report that changed nothing.
func (l *Link) reportWait(repeats uint8) time.Duration {
	p := max(leastWait, 4*l.estimate)
	return min(p<<min(repeats, 16), l.sup.Interval())
}

// recover looks whether the link stands still, does something about it when it does,
// and says when to look again.
func (l *Link) recover(now time.Duration) {
	l.look = Never
	if !l.IsUp() {
		return
	}
	if l.Moving() > 0 {
		l.move(now)
	}
	if l.rcvUnacked >= ackEvery { // see AckBatches
		l.sendAck(now)
	}
	if len(l.deferred()) > 0 {
		if now >= l.moved+l.nextReportWait() {
			l.RepeatedReports++
			l.sendState(now, stateOptions{gap: l.missing()})
			l.repeats = min(l.repeats+1, 16)
			l.moved = now
		}
		l.lookBy(l.moved + l.nextReportWait())
	}
	if l.bcast.Gap() > 0 {
		l.repeatBroadcastReport(now)
	}
	if l.unacked > 0 {
		l.recoverSender(now)
	}
}

func (l *Link) recoverSender(now time.Duration) {
	reportWait := quietWait
	if !l.Open() {
		reportWait = fullWait
	}
	if l.cast != nil {
		reportWait *= l.cast.calm()
	}
	wait, interval := max(reportWait, 4*l.estimate)<<min(l.tries, 16), l.sup.Interval()
	if wait > interval {
		if l.cast == nil {
			return // the tick takes over
		}
		wait = interval
	}
	since := max(l.released, l.asked, l.transmit.At(l.transmit.Len()-1).at)
	if now >= since+wait {
		l.StallProbes++
		l.ask(now)
		l.tries = min(l.tries+1, 16)
		l.asked, since, wait = now, now, min(2*wait, interval)
	}
	l.lookBy(since + wait)
}

// ask asks for an acknowledgement.
func (l *Link) ask(now time.Duration) {
	if l.cast != nil {
		l.events |= Ask
	} else {
		l.Probe(now)
	}
}

// forget gives back memory that an idle link does not need.
func (l *Link) forget() {
	if l.Idle() {
		l.transmit.Forget(0)
		if l.backlog != nil && l.backlog.idle() {
			l.backlog = nil
		}
	}
	l.out.Forget(4)
	l.deferral.forget()
	l.bcast.deferral.forget()
}
