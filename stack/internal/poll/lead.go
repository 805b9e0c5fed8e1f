// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"runtime"
	"time"

	"github.com/utipc/utipc/netdev"
)

// Run is the background goroutine: it leads when no call does. It returns after Stop. The
// lock is not held.
func (l *Loop) Run() {
	defer close(l.backgroundDone)
	timer := time.NewTimer(doze)
	l.mu.Lock()
	for polls := 0; !l.stopped; {
		if l.flushAsked {
			l.flushAsked = false
			l.machine.Poll(l.Now(), false)
		}
		switch l.leadership.look(l.callParker.state.Load() == parkerSleeping, l.batching()) {
		case backgroundPolling:
			if polls > 0 {
				l.yieldLock()
			}
			polls++
			if !l.stopped && l.leadership.leader == nil {
				l.flushAsked = false // this turn does it; who asks from now on finds the parker taken
				l.lead(&l.ownParker, nil, time.Time{})
			}
			continue
		case backgroundDozing:
			l.Unlock()
			timer.Reset(doze)
			select {
			case <-l.backgroundWake:
			case <-timer.C:
			}
		case backgroundParked:
			l.Unlock()
			<-l.backgroundWake
		}
		polls = 0
		l.mu.Lock()
		l.wakeUps++
	}
	l.Unlock()
}

// Polling reports whether the leader is in its poll.
func (l *Loop) Polling() bool { return l.polling }

// Polled is called at the end of a poll, of whomever, that has changed something: it wakes a
// leader that sleeps for longer than it may now; with receive, also for the frames that the
// poll has left in a device.
func (l *Loop) Polled(now time.Duration, receive bool) {
	if l.callParker.until|l.ownParker.until > 0 {
		l.rouseEarlier(now, receive)
	}
}

func (l *Loop) rouseEarlier(now time.Duration, receive bool) {
	if s := l.leaderParker(); s.until > 0 && (l.due(now) < s.until || receive && l.more()) {
		s.rouse()
	}
}

// PollAgain makes whoever leads poll once more.
func (l *Loop) PollAgain() {
	if l.leadership.leader != nil {
		l.callParker.rouse()
	} else {
		l.AskFlush()
	}
}

// AskFlush makes the background goroutine ready to poll without frames.
func (l *Loop) AskFlush() {
	if !l.flushAsked {
		l.flushAsked = true
		l.ownParker.rouse()
		signal(l.backgroundWake)
		l.Resume(l.Now()) // that was a system call, perhaps
	}
}

// Wake is what devices without a descriptor call when frames have come. The lock need not be
// held.
func (l *Loop) Wake() {
	l.callParker.rouse()
	l.ownParker.rouse()
}

// Attend counts k more, or with a negative k less, whose messages the background goroutine
// waits for: active ports. While there are some it spins as a call does.
func (l *Loop) Attend(k int) {
	l.attending += k
	switch {
	case l.attending == 0:
		l.attended = 0
	case k > 0 && l.leadership.leader == nil:
		l.ownParker.rouse() // it may spin now
	}
}

// leaderParker is where whoever leads sleeps.
func (l *Loop) leaderParker() *parker {
	if l.leadership.leader != nil {
		return &l.callParker
	}
	return &l.ownParker
}

// yieldLock lets go of the lock between two polls of one leader.
func (l *Loop) yieldLock() {
	l.yields++
	yield := l.yield > 0 && l.yields%l.yield == 0
	l.Unlock()
	if yield {
		runtime.Gosched()
	}
	l.mu.Lock()
}

// lead is one turn of the leader, the waiter w or the background goroutine (nil): a poll, and if
// that brought nothing, a spin or a sleep in s until frames come, something is due,
// w is roused, or its deadline (zero: none).
func (l *Loop) lead(s *parker, w *Waiter, deadline time.Time) {
	s.take()
	defer s.state.Store(parkerEmpty)
	now := l.Now()
	spin, look := false, true
	since, p := l.waitingSince(w, now)
	if since > 0 {
		spin = p.look(now, since)
		look = spin || w == nil || w.polls > 1 || !l.descriptors || l.more() || anyReady(l.readyDevices) // if not, the sleep ends at once should there be something
	}
	if l.pollOnce(now, look) || w != nil && w.roused {
		if since > 0 {
			p.came(now)
		}
		return
	}
	if spin && l.readyDevices == nil {
		return // the next look is a poll
	}
	until := min(l.due(now), now+idle)
	if !deadline.IsZero() {
		until = min(until, now+min(time.Until(deadline), idle))
	}
	if until <= now {
		return
	}
	s.until = until
	var heard bool
	if spin {
		heard = l.spin(s, p, since, until)
	} else {
		heard = l.sleep(s, now, until)
	}
	if heard && (w == nil || !w.roused) {
		l.fetch(since, p)
	}
}

// pollOnce is the leader's poll.
func (l *Loop) pollOnce(now time.Duration, receive bool) (busy bool) {
	l.polling = true
	busy = l.machine.Poll(now, receive)
	l.polling = false
	return busy
}

// spin looks at the devices without the lock, and reports whether one has frames.
func (l *Loop) spin(s *parker, p *spinPolicy, since, until time.Duration) (ready bool) {
	readyDevices, yield := l.readyDevices, l.yield
	l.Unlock()
	ready = l.watch(s, p, since, until, readyDevices, yield)
	l.mu.Lock()
	s.until = 0
	return ready
}

// sleep lets go of the lock and sleeps in s, and reports whether a device ended that.
func (l *Loop) sleep(s *parker, now, until time.Duration) (heard bool) {
	if s.fitted != l.generation {
		s.fit(l.generation, l.sources)
	}
	b := *s.waker.Load()
	for i, a := range s.on {
		b.listen(i, !a.Closed && a.wakes.deaf == 0)
	}
	s.inside = true
	l.Unlock()
	slept := s.prepareSleep()
	if slept {
		b.wait(now, until)
	}
	l.mu.Lock()
	l.wakeUps++
	s.until, s.inside = 0, false
	for i, a := range s.on {
		if slept && b.heard(i) {
			a.wakes.woke()
			heard = true
		}
	}
	if len(l.retiring) > 0 {
		l.reapRetired()
	}
	return heard
}

// fetch is the shortest way from the wire to who leads: a poll as soon as a device has
// told that there are frames. since and p are what waitingSince has returned.
func (l *Loop) fetch(since time.Duration, p *spinPolicy) {
	now := l.Now()
	if l.pollOnce(now, true) && since > 0 {
		p.came(now)
	}
}

// waitingSince is when what the leader waits for began to be waited for, w by its call or
// messages to active ports by the background goroutine, and how long it spins then. 0: the
// background goroutine has nothing to wait for.
func (l *Loop) waitingSince(w *Waiter, now time.Duration) (time.Duration, *spinPolicy) {
	if w == nil {
		if l.attending > 0 && l.attended == 0 {
			l.attended = now
		}
		return l.attended, &l.attendance
	}
	l.attended = 0 // the background goroutine's waiting begins anew after this
	if w.since == 0 {
		w.since = now
	}
	return w.since, &l.spinPolicy
}

// watch spins, without the lock, until one of the devices has frames, which it reports,
// the parker is roused, or it has been long enough. yield is the Loop's.
func (l *Loop) watch(s *parker, p *spinPolicy, since, until time.Duration, devices []netdev.Peeker, yield int) (ready bool) {
	for i := 1; ; i++ {
		if anyReady(devices) {
			return true
		}
		if s.rung.Load() {
			return false
		}
		if yield > 0 && i%(looks*yieldAfter) == 0 {
			runtime.Gosched()
		}
		if i%looks == 0 {
			if now := l.Now(); now >= until || !p.look(now, since) {
				return false
			}
		}
	}
}

// anyReady reports whether one of the devices has frames.
func anyReady(devices []netdev.Peeker) bool {
	for _, d := range devices {
		if d.Ready() {
			return true
		}
	}
	return false
}

// more reports whether frames may wait in a device that tells of none but the next
// one to come.
func (l *Loop) more() bool {
	for _, s := range l.sources {
		if s.More {
			return true
		}
	}
	return false
}

// due is when the Machine or a device has to be looked at again, though no frame comes.
func (l *Loop) due(now time.Duration) time.Duration {
	at := l.machine.Due(now)
	for _, s := range l.sources {
		if !s.Closed && !s.wakes.listens(now) {
			at = min(at, s.wakes.deaf)
		}
	}
	return at
}
