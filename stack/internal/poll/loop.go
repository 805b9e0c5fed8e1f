// SPDX-License-Identifier: Apache-2.0

// Package poll turns an engine: it decides which goroutine does that, when it spins on the
// devices and when it sleeps, and lets calls wait for what a turn brings.
//
// The engine is turned in polls: take a batch from the devices, read the clock
// once, feed, drain, write a batch, kick once. The rules:
//
//	(a) the Loop's lock is held for one bounded poll, never while sleeping
//	(b) at every moment exactly one leader is responsible (leadership)
//	(c) only the leader spins or sleeps in the kernel; all others park
//	(d) a caller that finds the lock taken copies, appends, tries once more (Submit);
//	    whoever unlocks looks again (Unlock)
//	(e) a poll that makes the next deadline earlier, delivers to a leader that
//	    sleeps, or leaves frames in a device, rings for it (Polled)
//	(f) a spinner gives way where others of its process must make the progress
//	    it waits for (yieldLock)
package poll

import (
	"runtime"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A Machine is what a Loop turns: an engine and its devices. The Loop's lock is held in all
// calls.
type Machine interface {
	// Poll is one bounded pass, with frames from the devices or without. It reports whether
	// frames came in.
	Poll(now time.Duration, receive bool) (busy bool)
	// Due is when the Machine has to be polled again, though no frame comes.
	Due(now time.Duration) time.Duration
	// Do carries out jobs, of which first is the oldest, and ends each with Job.Done.
	Do(first *Job)
}

// A Mode says what a leader does while nothing comes.
type Mode uint8

const (
	// Adaptive is to spin as long as that pays, and to sleep else.
	Adaptive Mode = iota
	// Sleep is never to spin.
	Sleep
	// Spin is never to sleep.
	Spin
)

const (
	// Retry is when to look again at what nobody tells of.
	Retry = time.Millisecond

	doze       = time.Millisecond // how long a background goroutine waits for calls to come back
	idle       = time.Hour        // the longest sleep
	looks      = 32               // of a spinning leader at the devices, between two at the clock
	yieldAfter = 16               // polls, or looks at the clock, after which one gives way on a single P
)

// A Config is what a Loop is made of.
type Config struct {
	Machine  Machine
	Mode     Mode
	GoPoller bool // the leader sleeps in Go's own poller
}

// A Loop turns a Machine. Methods are called with its lock held, unless they say otherwise.
type Loop struct {
	machine        Machine
	start          time.Time
	goPoller       bool
	parallel       bool // the process has several Ps
	mu             mutex
	jobs           jobList
	callParker     parker
	ownParker      parker        // of the background goroutine
	backgroundWake chan struct{} // of one place
	backgroundDone chan struct{}

	// The lock guards the rest.
	leadership leadership
	stopped    bool
	polling    bool          // the leader is in its poll
	spinPolicy spinPolicy    // of waiting calls
	attendance spinPolicy    // of the background goroutine, while it attends
	attending  int           // what it attends to, see Attend
	attended   time.Duration // since when it waits for that; 0: it does not
	sends      pace
	flushAsked bool // the background goroutine is about to flush
	yields     int
	wakeUps    uint64
	idle       []*Waiter // nobody's, for the next calls

	sources      []*Source       // never changed, but replaced
	generation   int             // of sources, for the parkers
	readyDevices []netdev.Peeker // the sources' devices, if all are such; never changed, but replaced
	descriptors  bool            // every source has a descriptor
	yield        int             // yields after which a spinner gives way to others of its process; 0: never
	retiring     []retiring
}

// Init makes l a Loop of c, whose time begins now. Nobody has the lock yet.
func (l *Loop) Init(c Config) {
	quota, _ := cpuQuota()
	*l = Loop{
		machine: c.Machine, start: time.Now(), goPoller: c.GoPoller, parallel: runtime.GOMAXPROCS(0) > 1,
		backgroundWake: make(chan struct{}, 1), backgroundDone: make(chan struct{}),
		spinPolicy: newSpinPolicy(c.Mode, quota),
	}
	l.attendance = l.spinPolicy
	l.mu.work = newLockWork()
	for _, s := range l.parkers() {
		s.hang(newChanWaker())
	}
}

func (l *Loop) parkers() [2]*parker { return [2]*parker{&l.callParker, &l.ownParker} }

// Now is the Loop's time. The lock need not be held.
func (l *Loop) Now() time.Duration { return time.Since(l.start) }

// Time is when the Loop's time was at. The lock need not be held.
func (l *Loop) Time(at time.Duration) time.Time { return l.start.Add(at) }

// Lock takes the lock. It panics in a handler that a poll runs.
func (l *Loop) Lock() { l.mu.Lock() }

// TryLock takes the lock if it is free. It panics as Lock.
func (l *Loop) TryLock() bool { return l.mu.TryLock() }

// Unlock carries out the jobs that were submitted meanwhile, gives the lock back, and looks
// once more after that, because a caller that failed to get the lock counts on it.
func (l *Loop) Unlock() {
	for {
		if !l.jobs.empty() {
			l.machine.Do(l.jobs.take())
		}
		l.mu.Unlock()
		if l.jobs.empty() || !l.mu.TryLock() {
			return
		}
	}
}

// EnterHandler and LeaveHandler stand around the call of a handler in a poll.
func (l *Loop) EnterHandler() { l.mu.enterHandler() }

// LeaveHandler is called after EnterHandler.
func (l *Loop) LeaveHandler() { l.mu.leaveHandler() }

// InOwnHandler reports whether the calling goroutine is in a handler of the Loop's poll. The
// lock need not be held.
func (l *Loop) InOwnHandler() bool { return l.mu.inOwnHandler() }

// Did counts work of polls and calls, where it is counted.
func (l *Loop) Did(kind engine.Work, k int) {
	if w := l.mu.work; w != nil {
		w.did(kind, k)
	}
}

// Counter returns what counts the engine's work, nil where it is not counted. The lock need
// not be held.
func (l *Loop) Counter() func(kind engine.Work, k int) {
	if l.mu.work == nil {
		return nil
	}
	return l.mu.work.did
}

// A State is what a Loop does at a moment, for statistics and tests.
type State struct {
	Led     bool   // a call leads
	Parked  int    // calls that wait beside it
	Asleep  bool   // the call that leads sleeps in the kernel, or is about to
	Rung    bool   // and was woken since
	WakeUps uint64 // sleeps that ended
}

// State returns what the Loop does now.
func (l *Loop) State() State {
	return State{
		Led: l.leadership.leader != nil, Parked: len(l.leadership.parked), Asleep: l.callParker.asleep(),
		Rung: l.callParker.rung.Load(), WakeUps: l.wakeUps,
	}
}

// Stop ends the background goroutine, see Run. Nobody polls any more.
func (l *Loop) Stop() {
	l.stopped = true
	l.callParker.ring()
	l.ownParker.ring()
	signal(l.backgroundWake)
}

// Stopped waits until Run has returned. The lock is not held.
func (l *Loop) Stopped() { <-l.backgroundDone }

// Close gives the descriptors back that the Loop sleeps with.
func (l *Loop) Close() {
	for _, s := range l.parkers() {
		s.close()
	}
}
