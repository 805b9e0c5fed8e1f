// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"net"
	"runtime"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// The engine is turned in laps: take a batch from the devices, read the clock
// once, feed, drain, write a batch, kick once. The rules:
//
//	(a) the lap lock is held for one bounded lap, never while sleeping
//	(b) at every moment exactly one driver is responsible (handover)
//	(c) only the driver spins or sleeps in the kernel; all others park
//	(d) who finds the lock taken copies, appends, tries once more (submit);
//	    who unlocks looks again (unlock)
//	(e) a lap that makes the next deadline earlier, or delivers to a driver
//	    that sleeps, rings for it
//	(f) a spinner gives way where others of its process must make the progress
//	    it waits for (breathe)
const (
	batch     = 64                    // frames a lap takes from a device, and gives it
	spinFor   = 30 * time.Microsecond // how long an adaptive driver spins
	doze      = time.Millisecond      // how long a pump waits for calls to come back
	retry     = time.Millisecond      // when to look again at a device that cannot go on
	inVain    = 8                     // calls of a device that gives no frames until it is not listened to
	idle      = time.Hour             // the longest sleep
	sendLaps  = 16                    // sends after which a sender looks at the devices too
	spinTries = 16                    // waits without spinning until spinning is tried again
)

// A port of the node into a network: a device, and the frames it has not taken.
type attachment struct {
	dev      Device
	id       int
	unsent   [batch]*frame.Buffer
	n        int
	troubles      // errors that were logged
	gone     bool // closed; its descriptor is somebody else's
	vain     int  // times it called since it last gave a frame
}

// now is the engine's time.
func (n *Node) now() time.Duration { return time.Since(n.start) }

// lap turns the engine once, and reports whether frames came in. The lock is held.
func (n *Node) lap(receive bool) (busy bool) {
	if n.closed {
		return false // the bearers are closed, or about to be
	}
	now := n.now()
	if receive {
		for _, a := range n.attached {
			k, err := a.dev.Receive(n.in[:])
			for i, f := range n.in[:k] {
				n.eng.HandleFrame(now, a.id, f)
				f.Release()
				n.in[i] = nil
			}
			if k > 0 {
				busy, a.vain = true, 0
			}
			a.gone = a.gone || errors.Is(err, net.ErrClosed)
			n.deviceError(a, "receive", err)
		}
		n.sends = 0
	}
	n.eng.HandleTimeout(now)
	n.flush()
	n.deliver()
	if s := n.driverSeat(); n.due(now) < s.until {
		s.rouse()
	}
	return busy
}

// afterSend ends a sender's turn: out with the frames; now and then a full lap,
// so that a sender that never waits hears acknowledgements too.
func (n *Node) afterSend() {
	n.sends++
	n.lap(n.sends >= sendLaps)
}

// flush gives the devices what the engine has for them.
func (n *Node) flush() {
	for _, a := range n.attached {
		for {
			for a.n < batch {
				f := n.eng.NextFrame(a.id)
				if f == nil {
					break
				}
				a.unsent[a.n] = f
				a.n++
			}
			if a.n == 0 {
				break
			}
			k, err := a.dev.Transmit(a.unsent[:a.n])
			n.deviceError(a, "transmit", err)
			if err != nil {
				k++ // refused for good; the link will repeat it if it matters
			}
			k = min(k, a.n)
			for _, f := range a.unsent[:k] {
				f.Release()
			}
			copy(a.unsent[:], a.unsent[k:a.n])
			clear(a.unsent[a.n-k : a.n])
			a.n -= k
			if k == 0 {
				break // full; offered again in a later lap
			}
		}
	}
}

// deliver wakes the calls that have what they wait for.
func (n *Node) deliver() {
	n.ready = n.eng.TakeReady(n.ready[:0])
	for _, p := range n.ready {
		n.rouseFirst(p.Owner.(*PacketConn).readers)
	}
	for ev, ok := n.eng.NextEvent(); ok; ev, ok = n.eng.NextEvent() {
		n.handleEvent(ev)
	}
	n.publishNames()
	if len(n.short) > 0 && !n.arena.Scarce() {
		n.rouseAll(n.short)
	}
	if len(n.draining) > 0 && n.eng.Unsent() == 0 {
		n.rouseAll(n.draining)
	}
}

func (n *Node) handleEvent(ev engine.Event) {
	if ev.Kind == engine.Room {
		if l := n.writers[ev.Node]; l != nil {
			n.rouseAll(*l)
		}
		return
	}
	if ev.Kind == engine.AddressSettled {
		n.rouseAll(n.starting)
	}
	n.logs.event(ev)
}

// driverSeat is where whoever drives sleeps.
func (n *Node) driverSeat() *seat {
	if n.hand.driver != nil {
		return &n.callSeat
	}
	return &n.pumpSeat
}

// wakeDevices is what devices without a descriptor call when frames have come.
func (n *Node) wakeDevices() {
	n.callSeat.rouse()
	n.pumpSeat.rouse()
}

// breathe lets go of the lock between two laps of one driver.
func (n *Node) breathe() {
	n.unlock()
	if n.giveWay {
		runtime.Gosched()
	}
	n.mu.Lock()
}

// drive is one turn of the driver, the waiter w or the pump (nil): a lap, and if
// that brought nothing, a sleep in s until frames come, something is due, w is
// roused, or its deadline (zero: none).
func (n *Node) drive(s *seat, w *waiter, deadline time.Time) {
	s.asleep.Store(true) // whatever comes after the next look rings
	defer s.asleep.Store(false)
	n.turning = true
	busy := n.lap(true)
	n.turning = false
	if w != nil && (busy || w.roused) {
		n.spun(w.since, true)
		return
	}
	now := n.now()
	if busy || w != nil && n.spins(now-w.since) {
		return
	}
	until := min(n.due(now), now+idle)
	if !deadline.IsZero() {
		until = min(until, now+min(time.Until(deadline), idle))
	}
	if w != nil {
		n.spun(w.since, false)
	}
	if until <= now {
		return
	}
	for i, a := range n.attached {
		s.listen(i, !a.gone && a.vain < inVain)
	}
	s.until = until
	n.unlock()
	s.wait(until - now)
	n.mu.Lock()
	s.until = 0
	for i, a := range n.attached {
		if s.heard(i) {
			a.vain++ // unless a lap finds frames
		}
	}
}

// due is when the engine or a device has to be looked at again, though no frame
// comes.
func (n *Node) due(now time.Duration) time.Duration {
	at := n.eng.Deadline()
	for _, a := range n.attached {
		if a.n > 0 || !a.gone && a.vain >= inVain {
			at = min(at, now+retry)
		}
	}
	if n.arena.Scarce() { // a device may have had no chunk to receive into
		at = min(at, now+retry)
	}
	return at
}

// spins decides whether a driver that has waited for so long looks again at once.
func (n *Node) spins(waited time.Duration) bool {
	switch n.cfg.Wait {
	case Spin:
		return true
	case Adaptive:
		return waited < spinFor && (n.spinScore >= 0 || n.skipped >= spinTries)
	}
	return false
}

// spun learns whether spinning pays off here: frames that came within the time a
// driver would spin speak for it.
func (n *Node) spun(since time.Duration, came bool) {
	if n.cfg.Wait != Adaptive {
		return
	}
	if came && n.now()-since <= 2*spinFor {
		n.spinScore = min(n.spinScore+2, 8)
		n.skipped = 0
	} else if !came {
		n.spinScore = max(n.spinScore-1, -8)
		if n.skipped++; n.skipped > spinTries {
			n.skipped = 0
		}
	}
}

// pump is the node's own goroutine: it drives when no call does.
func (n *Node) pump() {
	defer close(n.pumpDone)
	timer := time.NewTimer(doze)
	n.mu.Lock()
	for laps := 0; !n.closed; {
		switch n.hand.look(n.callSeat.asleep.Load()) {
		case pumpPolling:
			if laps > 0 {
				n.breathe()
			}
			laps++
			if !n.closed && n.hand.driver == nil {
				n.drive(&n.pumpSeat, nil, time.Time{})
			}
			continue
		case pumpDozing:
			n.unlock()
			timer.Reset(doze)
			select {
			case <-n.pumpWake:
			case <-timer.C:
			}
		case pumpParked:
			n.unlock()
			<-n.pumpWake
		}
		laps = 0
		n.mu.Lock()
	}
	n.unlock()
}
