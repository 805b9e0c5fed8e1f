// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"log/slog"
	"net"
	"runtime"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// The engine is turned in polls: take a batch from the devices, read the clock
// once, feed, drain, write a batch, kick once. The rules:
//
//	(a) the node's lock is held for one bounded poll, never while sleeping
//	(b) at every moment exactly one leader is responsible (leadership)
//	(c) only the leader spins or sleeps in the kernel; all others park
//	(d) who finds the lock taken copies, appends, tries once more (submit);
//	    who unlocks looks again (unlock)
//	(e) a poll that makes the next deadline earlier, delivers to a leader that
//	    sleeps, or leaves frames in a device, rings for it
//	(f) a spinner gives way where others of its process must make the progress
//	    it waits for (yieldLock)
const (
	batch          = 64               // frames a poll takes from a device, and gives it
	doze           = time.Millisecond // how long a background goroutine waits for calls to come back
	retry          = time.Millisecond // when to look again at a device that cannot go on
	idle           = time.Hour        // the longest sleep
	pollAfterSends = 16               // sends after which a sender looks at the devices too

	looks      = 32 // of a spinning leader at the devices, between two at the clock
	yieldAfter = 16 // polls, or looks at the clock, after which one gives way on a single P
)

// A port of the node into a network: a device, and the frames it has not taken.
type attachment struct {
	dev      netdev.Device
	id       int
	limit    int  // set by SetBearer, bytes of a message; 0: the device's MTU alone
	mtu      int  // as the engine knows it
	width    int  // the next poll asks for 1<<width frames, see receive
	more     bool // the last poll may have left frames of which nobody is told
	level    bool // its descriptor tells of every frame, see LevelTriggered
	unsent   [batch]*netdev.Buffer
	n        int
	troubles        // errors that were logged
	gone     bool   // closed; its descriptor is somebody else's
	in, out  uint64 // frames
	wakes    falseWakes
	leaving  bool // DisableBearer is at it
	held     bool // it is treated as one that carries nothing, see HoldBearer
	*taps         // nil: nobody captures its frames
}

// now is the engine's time.
func (n *localNode) now() time.Duration { return time.Since(n.start) }

// pollOnce turns the engine once, and reports whether frames came in. The lock is held.
func (n *localNode) pollOnce(now time.Duration, receive bool) (busy bool) {
	return n.poll(now, receive, true)
}

// poll is one bounded pass; only with flush does what a run holds back go out, too.
func (n *localNode) poll(now time.Duration, receive, flush bool) (busy bool) {
	if n.closed {
		return false // the bearers are closed, or about to be
	}
	n.latest = now
	n.eng.LetHandle(handlersPerPoll)
	n.eng.ServeHandlers() // what the last poll has left
	changed := len(n.faulted) > 0
	for _, a := range n.attached {
		changed = n.follow(now, a) || changed
	}
	if receive {
		for _, a := range n.attached {
			busy = n.receive(now, a) || busy
		}
		n.sends = 0
	}
	if (receive || n.polling) && !busy && !changed && n.still(now) {
		return false // a spinner's turn, or one before a sleep, mostly
	}
	n.eng.HandleTimeout(now)
	n.eng.ServeHandlers()
	if len(n.faulted) > 0 {
		n.reapFaulted()
	}
	held := flush && n.eng.Holding()
	if flush {
		n.eng.Flush(now)
	}
	n.flush()
	if held {
		n.resume(n.now()) // whoever is in a run has waited for this
	}
	n.deliver()
	if s := n.leaderParker(); s.until > 0 && (n.due(now) < s.until || receive && n.more()) {
		s.rouse()
	}
	if n.eng.HandlersWait() && !n.polling {
		n.pollAgain()
	}
	return busy
}

// pollAgain makes whoever leads turn the engine once more.
func (n *localNode) pollAgain() {
	if n.leadership.leader != nil {
		n.callParker.rouse()
	} else {
		n.askFlush()
	}
}

// follow tells the engine when the interface is not what it was, and reports that.
// A device with a descriptor may say so by its wake alone, which does not end the
// sleep of who had not taken the parker yet: so every turn looks, after that.
func (n *localNode) follow(now time.Duration, a *attachment) (changed bool) {
	mtu := a.dev.MTU()
	if a.held {
		mtu = 0
	}
	if mtu == a.mtu {
		return false
	}
	if (a.mtu == 0) != (mtu == 0) {
		n.bearerTurned(a, mtu > 0)
	}
	a.mtu = mtu
	n.eng.SetMTU(now, a.id, n.carriedOn(a))
	return true
}

// receive feeds the engine a batch of frames. The batch is one frame, and twice the
// last one when that came in full: to find out that no more wait may cost a system
// call.
func (n *localNode) receive(now time.Duration, a *attachment) (busy bool) {
	k, err := a.dev.Receive(n.in[:1<<a.width])
	for i, f := range n.in[:k] {
		if a.taps != nil {
			n.handleTapped(now, a, f)
		} else {
			n.eng.HandleFrame(now, a.id, f)
		}
		f.Recycle()
		n.in[i] = nil
	}
	if k > 0 {
		n.did(engine.WorkFrames, k)
		a.wakes.came()
		a.in += uint64(k)
	}
	a.more = k == 1<<a.width && !a.level || n.arena.ScarceFor(n.carried(a.mtu)+frame.EthernetLen)
	if k < 1<<a.width {
		a.width = 0
	} else if 1<<a.width < batch {
		a.width++
	}
	if err != nil {
		a.gone = a.gone || errors.Is(err, net.ErrClosed)
		n.deviceError(a, "receive", err)
	}
	return k > 0
}

// still reports whether the engine and the devices have nothing to do at now.
func (n *localNode) still(now time.Duration) bool {
	if now >= n.eng.Deadline() || n.eng.Ready() || n.eng.HandlersWait() || n.eng.Holding() || n.eng.Output() || n.eng.WantsMemory() {
		return false
	}
	for _, a := range n.attached {
		if a.n > 0 {
			return false
		}
	}
	return true
}

// more reports whether frames may wait in a device that tells of none but the next
// one to come: it does so only after a Receive that filled less than it was given.
func (n *localNode) more() bool {
	for _, a := range n.attached {
		if a.more {
			return true
		}
	}
	return false
}

// carried is how much of an interface's MTU the node's chunks can hold.
func (n *localNode) carried(mtu int) int { return min(mtu, n.arena.Largest()-frame.EthernetLen) }

// carriedOn is how much a bearer's frames carry.
func (n *localNode) carriedOn(a *attachment) int {
	mtu := n.carried(a.mtu)
	if a.limit > 0 {
		mtu = min(mtu, a.limit)
	}
	return mtu
}

// flush gives the devices what the engine has for them.
func (n *localNode) flush() {
	for _, a := range n.attached {
		for {
			for a.n < batch {
				f := n.eng.NextFrame(a.id)
				if f == nil {
					break
				}
				a.unsent[a.n] = f
				if a.taps != nil {
					a.repeated[a.n] = n.eng.Repeated()
				}
				a.n++
			}
			if a.n == 0 {
				break
			}
			k, err := a.dev.Transmit(a.unsent[:a.n])
			if a.taps != nil {
				a.tapSent(k, err)
			}
			if err != nil {
				n.deviceError(a, "transmit", err)
				k++ // refused for good; the link will repeat it if it matters
			}
			k = min(k, a.n)
			a.out += uint64(k)
			n.did(engine.WorkFrames, k)
			for _, f := range a.unsent[:k] {
				f.Recycle()
			}
			if a.taps != nil {
				copy(a.repeated[:], a.repeated[k:a.n])
			}
			copy(a.unsent[:], a.unsent[k:a.n])
			clear(a.unsent[a.n-k : a.n])
			a.n -= k
			if k == 0 {
				break // full; offered again in a later poll
			}
		}
	}
}

// deliver wakes the calls that have what they wait for.
func (n *localNode) deliver() {
	n.ready = n.eng.TakeReady(n.ready[:0])
	for _, p := range n.ready {
		p.Owner.(*localPacket).wake(n, false)
	}
	n.moved = n.eng.TakeReadyConns(n.moved[:0])
	for i, c := range n.moved {
		c.Owner.(connOwner).moved()
		n.moved[i] = nil
	}
	n.asked = n.eng.TakeReadyListeners(n.asked[:0])
	for i, l := range n.asked {
		if own, ok := l.Owner.(*localListener); ok {
			own.wake(n, false)
		}
		n.asked[i] = nil
	}
	n.groups = n.eng.TakeReadyGroups(n.groups[:0])
	for i, g := range n.groups {
		g.Owner.(*localGroup).moved()
		n.groups[i] = nil
	}
	n.endProbes()
	for ev, ok := n.eng.NextEvent(); ok; ev, ok = n.eng.NextEvent() {
		n.handleEvent(ev)
	}
	n.publishNames()
	n.callWriters()
	if len(n.draining) > 0 && n.eng.Unsent() == 0 {
		n.rouseAll(n.draining)
	}
}

// A connOwner is whose an engine's connection is.
type connOwner interface{ moved() }

func (n *localNode) handleEvent(ev engine.Event) {
	if ev.Kind == engine.Room {
		return // who waits has a ticket
	}
	if ev.Kind == engine.AddressSettled {
		n.rouseAll(n.starting)
	}
	x := ofEngine(ev)
	var claim []slog.Attr
	if ev.Kind == engine.DuplicateAddress {
		x.Bearer, x.Reason, claim = n.claim(&ev.Claim)
	}
	n.logs.event(n.now(), ev, claim...)
	if len(n.watches) > 0 {
		n.tellWatches(x)
	}
}

// claim describes where another node was seen to claim an address: the bearer, a text, and
// what is logged.
func (n *localNode) claim(c *engine.Claim) (bearer, text string, attrs []slog.Attr) {
	name := func(id int) string {
		for _, a := range n.attached {
			if a.id == id {
				return a.dev.Name()
			}
		}
		return ""
	}
	bearer, text = name(c.Bearer), "station "+c.Station.String()
	attrs = []slog.Attr{slog.String("station", c.Station.String()), slog.String("bearer", bearer)}
	if c.Own >= 0 {
		text += ", which is this node's own bearer " + name(c.Own)
		attrs = append(attrs, slog.String("own_bearer", name(c.Own)))
	}
	return bearer, text, attrs
}

// leaderParker is where whoever leads sleeps.
func (n *localNode) leaderParker() *parker {
	if n.leadership.leader != nil {
		return &n.callParker
	}
	return &n.backgroundParker
}

// wakeDevices is what devices without a descriptor call when frames have come.
func (n *localNode) wakeDevices() {
	n.callParker.rouse()
	n.backgroundParker.rouse()
}

// yieldLock lets go of the lock between two polls of one leader.
func (n *localNode) yieldLock() {
	n.yields++
	yield := n.yield > 0 && n.yields%n.yield == 0
	n.unlock()
	if yield {
		runtime.Gosched()
	}
	n.mu.Lock()
}

// lead is one turn of the leader, the waiter w or the background goroutine (nil): a poll, and if
// that brought nothing, a spin or a sleep in s until frames come, something is due,
// w is roused, or its deadline (zero: none).
func (n *localNode) lead(s *parker, w *waiter, deadline time.Time) {
	s.take()
	defer s.state.Store(parkerEmpty)
	now := n.now()
	spin, look := false, true
	since, p := n.waitingSince(w, now)
	if since > 0 {
		spin = p.look(now, since)
		look = spin || w == nil || w.polls > 1 || !n.polled || n.more() || anyReady(n.readyDevices) // if not, the sleep ends at once should there be something
	}
	n.polling = true
	busy := n.pollOnce(now, look)
	n.polling = false
	if busy || w != nil && w.roused {
		if since > 0 {
			p.came(now)
		}
		return
	}
	if spin && n.readyDevices == nil {
		return // the next look is a poll
	}
	until := min(n.due(now), now+idle)
	if !deadline.IsZero() {
		until = min(until, now+min(time.Until(deadline), idle))
	}
	if until <= now {
		return
	}
	s.until = until
	if spin {
		readyDevices, yield := n.readyDevices, n.yield
		n.unlock()
		ready := n.watch(s, p, since, until, readyDevices, yield)
		n.mu.Lock()
		s.until = 0
		if ready && (w == nil || !w.roused) {
			n.fetch(since, p)
		}
		return
	}
	if s.fitted != n.generation {
		s.fit(n.generation, n.attached)
	}
	b := *s.waker.Load()
	for i, a := range s.on {
		b.listen(i, !a.gone && a.wakes.deaf == 0)
	}
	s.inside = true
	n.unlock()
	slept := s.prepareSleep()
	if slept {
		b.wait(now, until)
	}
	n.mu.Lock()
	n.wakeups++
	s.until, s.inside = 0, false
	heard := false
	for i, a := range s.on {
		if slept && b.heard(i) {
			a.wakes.woke()
			heard = true
		}
	}
	if len(n.closingDevices) > 0 {
		n.reapClosed()
	}
	if heard && (w == nil || !w.roused) {
		n.fetch(since, p)
	}
}

// fetch is the shortest way from the wire to who leads: a poll as soon as a device has
// told that there are frames. since and p are what waitingSince has returned.
func (n *localNode) fetch(since time.Duration, p *spinPolicy) {
	now := n.now()
	n.polling = true
	busy := n.pollOnce(now, true)
	n.polling = false
	if busy && since > 0 {
		p.came(now)
	}
}

// waitingSince is when what the leader waits for began to be waited for, w by its call or
// messages to active ports by the background goroutine, and how long it spins then. 0: the background goroutine has
// nothing to wait for.
func (n *localNode) waitingSince(w *waiter, now time.Duration) (time.Duration, *spinPolicy) {
	if w == nil {
		if n.actives > 0 && n.attended == 0 {
			n.attended = now
		}
		return n.attended, &n.attendance
	}
	n.attended = 0 // the background goroutine's waiting begins anew after this
	if w.since == 0 {
		w.since = now
	}
	return w.since, &n.spinPolicy
}

// watch spins, without the lock, until one of the devices has frames, which it reports,
// the parker is roused, or it has been long enough. yield is the node's.
func (n *localNode) watch(s *parker, p *spinPolicy, since, until time.Duration, devices []netdev.Peeker, yield int) (ready bool) {
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
			if now := n.now(); now >= until || !p.look(now, since) {
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

// due is when the engine or a device has to be looked at again, though no frame
// comes.
func (n *localNode) due(now time.Duration) time.Duration {
	at := n.eng.Deadline()
	if n.eng.HandlersWait() {
		at = now
	}
	if n.eng.WantsMemory() { // nobody tells of a Buffer that is released
		at = min(at, now+retry)
	}
	for _, a := range n.attached {
		// The last: it may have had no chunk to receive into.
		if a.n > 0 || !a.gone && n.arena.ScarceFor(n.carried(a.mtu)+frame.EthernetLen) {
			return min(at, now+retry)
		}
		if !a.gone && !a.wakes.listens(now) {
			at = min(at, a.wakes.deaf)
		}
	}
	return at
}

// background is the node's own goroutine: it leads when no call does.
func (n *localNode) background() {
	defer close(n.backgroundDone)
	timer := time.NewTimer(doze)
	n.mu.Lock()
	for polls := 0; !n.closed; {
		if n.flushAsked {
			n.flushAsked = false
			n.pollOnce(n.now(), false)
		}
		switch n.leadership.look(n.callParker.state.Load() == parkerSleeping, n.batching()) {
		case backgroundPolling:
			if polls > 0 {
				n.yieldLock()
			}
			polls++
			if !n.closed && n.leadership.leader == nil {
				n.flushAsked = false // this turn does it; who asks from now on finds the parker taken
				n.lead(&n.backgroundParker, nil, time.Time{})
			}
			continue
		case backgroundDozing:
			n.unlock()
			timer.Reset(doze)
			select {
			case <-n.backgroundWake:
			case <-timer.C:
			}
		case backgroundParked:
			n.unlock()
			<-n.backgroundWake
		}
		polls = 0
		n.mu.Lock()
		n.wakeups++
	}
	n.unlock()
}
