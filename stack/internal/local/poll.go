// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/poll"
)

const (
	handlersPerPoll = 16              // messages that handlers take in a poll; the rest in the next
	batchWidth      = 6               // see batch
	batch           = 1 << batchWidth // frames a poll takes from a device, and gives it
	pollAfterSends  = 16              // sends after which a sender looks at the devices too
)

// A machine is a Node as what its Loop turns.
type machine struct{ n *Node }

// Poll implements poll.Machine.
func (m machine) Poll(now time.Duration, receive bool) (busy bool) { return m.n.pollOnce(now, receive) }

// Due implements poll.Machine.
func (m machine) Due(now time.Duration) time.Duration { return m.n.due(now) }

// Do implements poll.Machine.
func (m machine) Do(first *poll.Job) { m.n.runJobs(first) }

// A port of the node into a network: a device, and the frames it has not taken.
type attachment struct {
	poll.Source
	id       int
	limit    int  // set by SetBearer, bytes of a message; 0: the device's MTU alone
	mtu      int  // as the engine knows it
	width    int  // the next poll asks for 1<<width frames, see receive
	least    int  // width where few wait: 0, of a Prefetcher batchWidth
	level    bool // its descriptor tells of every frame, see LevelTriggered
	unsent   [batch]*netdev.Buffer
	n        int
	troubles        // errors that were logged
	in, out  uint64 // frames
	leaving  bool   // DisableBearer is at it
	held     bool   // it is treated as one that carries nothing, see HoldBearer
	*taps           // nil: nobody captures its frames
}

// pollOnce turns the engine once, and reports whether frames came in. The lock is held.
func (n *Node) pollOnce(now time.Duration, receive bool) (busy bool) {
	return n.poll(now, receive, true)
}

// poll is one bounded pass; only with flush does what a run holds back go out, too.
func (n *Node) poll(now time.Duration, receive, flush bool) (busy bool) {
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
	if (receive || n.loop.Polling()) && !busy && !changed && n.still(now) {
		return false // a spinner's turn, or one before a sleep, mostly
	}
	n.eng.HandleTimeout(now)
	n.eng.ServeHandlers()
	n.deliverLost()
	if len(n.faulted) > 0 {
		n.reapFaulted()
	}
	held := flush && n.eng.Holding()
	if flush {
		n.eng.Flush(now)
	}
	n.flush()
	if held {
		n.loop.Resume(n.loop.Now()) // whoever is in a run has waited for this
	}
	n.deliver()
	n.loop.Polled(now, receive)
	if n.eng.HandlersWait() && !n.loop.Polling() {
		n.loop.PollAgain()
	}
	return busy
}

// follow tells the engine when the interface is not what it was, and reports that.
// A device with a descriptor may say so by its wake alone, which does not end the
// sleep of who had not taken the parker yet: so every turn looks, after that.
func (n *Node) follow(now time.Duration, a *attachment) (changed bool) {
	mtu := a.Device.MTU()
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
// call. Of a Prefetcher it is as many as there may be.
func (n *Node) receive(now time.Duration, a *attachment) (busy bool) {
	k, err := a.Device.Receive(n.in[:1<<a.width])
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
		n.loop.Did(engine.WorkFrames, k)
		a.Came()
		a.in += uint64(k)
	}
	a.More = k == 1<<a.width && !a.level || n.arena.ScarceFor(n.carried(a.mtu)+frame.EthernetLen)
	if k < 1<<a.width {
		a.width = a.least
	} else if a.width < batchWidth {
		a.width++
	}
	if err != nil {
		a.Closed = a.Closed || errors.Is(err, net.ErrClosed)
		n.deviceError(a, "receive", err)
	}
	return k > 0
}

// still reports whether the engine and the devices have nothing to do at now.
func (n *Node) still(now time.Duration) bool {
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

// carried is how much of an interface's MTU the node's chunks can hold.
func (n *Node) carried(mtu int) int { return min(mtu, n.arena.Largest()-frame.EthernetLen) }

// carriedOn is how much a bearer's frames carry.
func (n *Node) carriedOn(a *attachment) int {
	mtu := n.carried(a.mtu)
	if a.limit > 0 {
		mtu = min(mtu, a.limit)
	}
	return mtu
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
				if a.taps != nil {
					a.repeated[a.n] = n.eng.Repeated()
				}
				a.n++
			}
			if a.n == 0 {
				break
			}
			k, err := a.Device.Transmit(a.unsent[:a.n])
			if a.taps != nil {
				a.tapSent(k, err)
			}
			if err != nil {
				n.deviceError(a, "transmit", err)
				k++ // refused for good; the link will repeat it if it matters
			}
			k = min(k, a.n)
			a.out += uint64(k)
			n.loop.Did(engine.WorkFrames, k)
			for i, f := range a.unsent[:k] {
				f.Recycle()
				a.unsent[i] = nil
			}
			if a.n -= k; a.n > 0 {
				a.moveUp(k)
			}
			if k == 0 {
				break // full; offered again in a later poll
			}
		}
	}
}

// moveUp puts the frames that were not taken, behind k that were, in front.
func (a *attachment) moveUp(k int) {
	copy(a.unsent[:], a.unsent[k:k+a.n])
	clear(a.unsent[max(k, a.n) : k+a.n])
	if a.taps != nil {
		copy(a.repeated[:], a.repeated[k:k+a.n])
	}
}

// deliver wakes the calls that have what they wait for.
func (n *Node) deliver() {
	if n.eng.Ready() {
		n.deliverReady()
	}
	if n.eng.NamesReady() {
		n.publishNames()
	}
	n.callWriters()
	if len(n.draining) > 0 && n.eng.Unsent() == 0 {
		n.loop.RouseAll(n.draining)
	}
}

// deliverReady is deliver for all that the engine's Ready tells of.
func (n *Node) deliverReady() {
	n.deliverPackets()
	n.moved = n.eng.TakeReadyConns(n.moved[:0])
	for i, c := range n.moved {
		c.Owner.(connOwner).moved()
		n.moved[i] = nil
	}
	n.deliverRequests()
	n.deliverGroups()
	n.endProbes()
	for ev, ok := n.eng.NextEvent(); ok; ev, ok = n.eng.NextEvent() {
		n.handleEvent(ev)
	}
}

// deliverPackets is deliver for connectionless sockets.
func (n *Node) deliverPackets() {
	n.ready = n.eng.TakeReady(n.ready[:0])
	for _, p := range n.ready {
		p.Owner.(*Packet).wake(n, false)
	}
}

// deliverRequests is deliver for listeners.
func (n *Node) deliverRequests() {
	n.asked = n.eng.TakeReadyListeners(n.asked[:0])
	for i, l := range n.asked {
		if own, ok := l.Owner.(*Listener); ok {
			own.wake(n, false)
		}
		n.asked[i] = nil
	}
}

// deliverGroups is deliver for groups.
func (n *Node) deliverGroups() {
	n.groups = n.eng.TakeReadyGroups(n.groups[:0])
	for i, g := range n.groups {
		g.Owner.(*Group).moved()
		n.groups[i] = nil
	}
}

// A connOwner is whose an engine's connection is.
type connOwner interface{ moved() }

func (n *Node) handleEvent(ev engine.Event) {
	if ev.Kind == engine.Room {
		return // who waits has a ticket
	}
	if ev.Kind == engine.AddressSettled {
		n.loop.RouseAll(n.starting)
	}
	x := ofEngine(ev)
	var claim []slog.Attr
	if ev.Kind == engine.DuplicateAddress {
		x.Bearer, x.Reason, claim = n.claim(&ev.Claim)
	}
	n.logs.event(n.loop.Now(), ev, claim...)
	if len(n.watches) > 0 {
		n.tellWatches(x)
	}
}

// claim describes where another node was seen to claim an address: the bearer, a text, and
// what is logged.
func (n *Node) claim(c *engine.Claim) (bearer, text string, attrs []slog.Attr) {
	name := func(id int) string {
		for _, a := range n.attached {
			if a.id == id {
				return a.Device.Name()
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

// due is when the engine, or a device that could not go on, has to be looked at again, though
// no frame comes.
func (n *Node) due(now time.Duration) time.Duration {
	at := n.eng.Deadline()
	if n.eng.HandlersWait() {
		at = now
	}
	if n.eng.WantsMemory() { // nobody tells of a Buffer that is released
		at = min(at, now+poll.Retry)
	}
	for _, a := range n.attached {
		// The last: it may have had no chunk to receive into.
		if a.n > 0 || !a.Closed && n.arena.ScarceFor(n.carried(a.mtu)+frame.EthernetLen) {
			return min(at, now+poll.Retry)
		}
	}
	return at
}
