// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=State -linecomment

// A State is where a link stands.
//
//	           peer's RESET,                  peer's ACTIVATE,
//	           ACTIVATE                       STATE or packet
//	┌────────┐            ┌──────────────┐                   ┌─────────────┐
//	│ reset  ├───────────►│ establishing ├──────────────────►│ established │
//	└──▲─────┘            └──▲───────────┘                   └──┬───────┬──┘
//	   │ Restart             │ Restart          silence, peer's │       │ peer's RESET
//	┌──┴────────┐         ┌──┴─────────┐        "stopping" …    │       │
//	│ resetting │         │ peer reset │◄──────────────────────────────-┘
//	└──▲────────┘         └────────────┘                        │
//	   └────────────────────────────────────────────────────────┘
//
// In the two lower states the node still has to clean up; they send and accept
// nothing. A link that is up beside another one is held back for a while (synching)
// until the other has delivered what was sent before; one that failed beside another
// is kept down (failing over) until that one has delivered what it still had.
// Source: docs/spec/02-link.md §2.
type State uint8

const (
	Down         State = iota // reset
	Establishing              // establishing
	Established               // established
	Resetting                 // resetting
	PeerReset                 // peer-reset
	FailingOver               // failing over
	Synching                  // synching
)

// An Event is what a Link asks of its node; a set of them.
type Event uint8

const (
	// WantUp: the peer's endpoint is ready. The node calls Up if it agrees.
	WantUp Event = 1 << iota
	// WentDown: the link failed or the peer reset it. The node cleans up and
	// calls Restart.
	WentDown
	// Room: blocked senders may try again.
	Room
	// Stuck: messages between the nodes themselves no longer fit into the
	// backlog; the node resets the link.
	Stuck
	// Ask: packets of the broadcast link are under way and nobody answers. The node
	// probes every member that is Behind, and gives up those that are Overdue.
	Ask
	// Drained: see AskDrained.
	Drained
)

// A Local is what the own ends of all links over one bearer have in common. They share
// it, so it must not change.
type Local struct {
	Self   frame.NodeAddr
	Bearer uint8
	IfName string
	Margin int  // bytes left free in every packet, beside room for a tunnel header
	Alone  bool // every message has a packet to itself
	Spread bool // the first ticks to different peers are not at one time
	Arena  *netdev.Arena
	Pool   *Pool // of what peers can make the node keep; nil: no end

	// Overhead is what sealing adds to a packet whose length is a multiple of 4, in
	// bytes; 0: packets go out as they are. The link's MTU is smaller by so much.
	Overhead int

	Capabilities frame.Capabilities // as this node announces them
	Broadcast    *BroadcastSender   // the node's; nil: it sends no broadcasts

	// Watch says who of the bearer's peers this node supervises; nil: all of them.
	Watch Watch

	// AsKernel makes recovery that of a kernel: by reports and ticks alone. For
	// replays, which compare every frame.
	AsKernel bool
	// FirstSeq is the number of a session's first packet if not 0, else 1: a hook for
	// simulations, which set both ends alike.
	FirstSeq frame.Seq
}

// A Config says what a link is made of. All fields are needed.
type Config struct {
	*Local
	Peer      frame.NodeAddr
	Header    [frame.EthernetLen]byte // in front of every message: peer's station, own station, type
	MTU       int                     // of the own bearer, in bytes
	Tolerance time.Duration
	Priority  uint8
	MinWindow int // packets sent and not acknowledged, at least,
	MaxWindow int // and at most: the same for a window that never changes
	Session   frame.Seq
	Broadcast *BroadcastReceiver // the peer's broadcast link
}

// A Link is one end of a link to a peer over one bearer. Its owner tells it the
// time (since the engine began, never going back), calls HandleTimeout at
// Deadline, and after every call takes out what TakeEvents and NextFrame have.
// Not safe for concurrent use. There are many that idle: it is small, and what only
// some need is made when they need it.
type Link struct {
	cfg   *Local
	bcast *BroadcastReceiver // the peer's
	cast  *BroadcastSender   // of which this is the sending half; nil: of no broadcast link
	out   Queue[*netdev.Buffer]

	cork     cork
	draining draining // here it takes no room
	sender
	receiver
	recovery

	sup        Supervisor
	next       time.Duration // the next tick
	mtu        int32         // of both ends
	ownMTU     int32
	peerIf     string
	peer       frame.NodeAddr
	resets     uint16 // ticks since the endpoint was reset
	pathMTU    uint16 // see usableMTU; 0: not bounded
	header     [frame.EthernetLen]byte
	caps       frame.Capabilities // the peer's
	checkpoint frame.Seq          // sndNxt at the last tick, which a reset keeps (captures 20 and 21)
	session    frame.Seq

	peerSession frame.Seq
	inSession   bool
	state       State
	cause       Cause // of the last end
	events      Event
	priority    uint8
	wanted      uint8 // the priority that the peer asks for and that is held back, 0: none; and heldBit
	peerBearer  uint8
	plane       uint8
	pendTol     bool // the next STATE tells the peer our tolerance
	pendPrio    bool // and our priority

	Counters
	samples uint64   // ticks while it was up
	profile *Profile // nil: in none of them anything was unacknowledged
}

// NewLink makes a link in state Down whose first tick is one interval from now.
func NewLink(now time.Duration, cfg Config, caps frame.Capabilities) *Link {
	l := &Link{
		cfg: cfg.Local, bcast: cfg.Broadcast, peer: cfg.Peer, header: cfg.Header,
		ownMTU: int32(cfg.MTU), priority: cfg.Priority, session: cfg.Session, caps: caps,
	}
	l.plane = cfg.Bearer
	l.sup.tolerance = cfg.Tolerance
	l.clear()
	l.checkpoint = l.first() - 1
	l.SetWindow(now, cfg.MinWindow, cfg.MaxWindow)
	l.next = now + l.firstInterval()
	return l
}

// firstInterval is the time to the first tick of a session.
func (l *Link) firstInterval() time.Duration {
	i := l.sup.Interval()
	if l.cfg.Spread {
		i -= i / 8 * time.Duration(uint32(l.peer)*2654435761>>24) / 256 // a hash
	}
	return i
}

// first is the number of the first packet of a session.
func (l *Link) first() frame.Seq { return max(l.cfg.FirstSeq, 1) }

// State returns where the link stands.
func (l *Link) State() State { return l.state }

// IsUp reports whether the link carries packets.
func (l *Link) IsUp() bool { return l.state == Established || l.state == Synching }

// IsReset reports whether the link is down with nothing left to clean up.
func (l *Link) IsReset() bool {
	return l.state == Down || l.state == Establishing || l.state == FailingOver
}

// blocked states neither send nor accept messages of the link protocol.
func (l *Link) blocked() bool {
	return l.state == Resetting || l.state == PeerReset || l.state == FailingOver
}

// MTU is the largest packet, in bytes, before it is sealed: the smaller of both ends'.
func (l *Link) MTU() int { return int(l.mtu) }

// fits is the largest packet that fits into mtu bytes once it is sealed.
func (l *Link) fits(mtu int) int32 {
	if l.cfg.Overhead == 0 {
		return int32(mtu)
	}
	return int32(mtu&^3 - l.cfg.Overhead)
}

// Tolerance is how long the peer may be silent, in principle.
func (l *Link) Tolerance() time.Duration { return l.sup.tolerance }

// Priority is the link's priority among parallel ones.
func (l *Link) Priority() uint8 { return l.priority }

// ID identifies the link in the bindings that say it is up.
func (l *Link) ID() uint32 { return uint32(l.peerBearer)<<16 | uint32(l.cfg.Bearer) }

// Name is the link's name as tipc(8) shows it.
func (l *Link) Name(self, peer string) string {
	other := l.peerIf
	if other == "" {
		other = "unknown"
	}
	return fmt.Sprintf("%s:%s-%s:%s", self, l.cfg.IfName, peer, other)
}

// SetCapabilities notes what the peer can do, by its latest discovery message.
func (l *Link) SetCapabilities(c frame.Capabilities) { l.caps = c }

// SetTolerance changes the tolerance and tells the peer. Values outside
// MinTolerance to MaxTolerance are moved to the nearest bound.
func (l *Link) SetTolerance(now, tolerance time.Duration) {
	l.adoptTolerance(now, min(max(tolerance, MinTolerance), MaxTolerance))
	if l.IsUp() {
		l.pendTol = true
		l.sendState(now, stateOptions{})
	}
}

// SetPriority changes the priority, 1 to 31, and tells the peer, which resets the
// link. Source: docs/spec/02-link.md §4.5; capture 20, frame 28.
func (l *Link) SetPriority(now time.Duration, priority uint8) {
	l.priority = min(max(priority, 1), 31)
	if l.IsUp() {
		l.pendPrio = true
		l.sendState(now, stateOptions{})
	}
}

// HoldPriority says whether a change of priority that the peer asks for, which resets the
// link, has to wait: until it is no longer held, or the link is reset for another reason.
// Kernels hold none.
func (l *Link) HoldPriority(on bool) {
	if l.wanted &^= heldBit; on {
		l.wanted |= heldBit
	}
}

// heldBit in Link.wanted says that a change of priority has to wait.
const heldBit = 1 << 7

// AskedPriority is the priority that the peer asks for and that was held back; 0: none.
func (l *Link) AskedPriority() uint8 { return l.wanted &^ heldBit }

func (l *Link) adoptTolerance(now, tolerance time.Duration) {
	if tolerance != l.sup.tolerance {
		l.sup.tolerance = tolerance
		l.next = min(l.next, now+l.sup.Interval())
	}
}

// TakeEvents returns what happened since the last call.
func (l *Link) TakeEvents() Event {
	e := l.events
	l.events = 0
	return e
}

// NextFrame returns the next frame to put on the wire, or nil. The caller takes
// over one hold.
func (l *Link) NextFrame() *netdev.Buffer {
	if l.out.Len() == 0 {
		return nil
	}
	return l.out.Pop()
}

// clear puts everything but the session back to the start.
func (l *Link) clear() {
	l.mtu = l.fits(l.usableMTU())
	l.sup.silent, l.resets = 0, 0
	if p := l.AskedPriority(); p != 0 {
		l.priority, l.wanted = p, 0
	}
	l.inSession = false
	l.peerSession-- // so that it cannot match by accident
	l.cork = cork{}
	l.sender.clear(l.first())
	l.receiver.clear(l.first())
	l.recovery.clear()
}

// Up establishes the link and queues the first message of its life, a STATE. It
// reports false when the link is not ready for that.
func (l *Link) Up(now time.Duration) bool {
	if l.state != Establishing || !l.inSession {
		return false
	}
	l.state = Established
	l.sup.silent = 0
	l.sendState(now, stateOptions{})
	return true
}

// Restart ends the cleaning up after WentDown, or throws away a link that was
// only establishing: a new session begins, everything queued is dropped, and the
// peer is told once.
func (l *Link) Restart(now time.Duration) {
	was := l.state
	l.RestartQuietly(now)
	if was == Resetting || was == PeerReset {
		l.sendReset(true)
	}
}

// RestartQuietly is Restart without a word to the peer, which learns it by the
// failover.
func (l *Link) RestartQuietly(now time.Duration) {
	was := l.state
	l.session++
	l.Resets++
	l.unblock(now)
	l.clear()
	switch was {
	case PeerReset:
		l.state = Establishing
	default:
		l.state = Down
	}
	l.next = now + l.firstInterval()
}

// Stop gives back all memory. The link must not be used afterwards, except that
// NextFrame may still be drained.
func (l *Link) Stop() {
	l.state = Resetting
	l.next = Never
	l.clear()
}

// Deadline says when to call HandleTimeout.
func (l *Link) Deadline() time.Duration {
	if l.cfg.AsKernel {
		return l.next
	}
	return min(l.next, l.look)
}

// HandleTimeout does what is due at now. Calling it early is harmless. The next
// tick is an interval after now, however late this one is served, as the kernel
// counts.
func (l *Link) HandleTimeout(now time.Duration) {
	if now >= l.next {
		l.Tick(now)
	}
	if now >= l.look && !l.cfg.AsKernel {
		l.recover(now)
	}
}

// Tick does what is done at every interval, due or not: a replay has its ticks
// when a recorded node had them. Source: docs/spec/02-link.md §3.
func (l *Link) Tick(now time.Duration) {
	l.next = now + l.sup.Interval()
	switch l.state {
	case Down:
		if l.resets++; l.resets == 0 {
			l.resets = 16
		}
		if l.resets <= 5 || l.resets%16 == 0 {
			l.sendReset(false)
		}
	case Establishing:
		l.sendReset(false)
	case Established, Synching:
		if l.cast != nil {
			l.cast.tick()
			return
		}
		if l.Moving() > 0 {
			l.move(now)
		}
		v := l.judge()
		if v.Reset && l.sup.Silent() {
			l.fail(PeerReported)
			return
		}
		silent := l.sup.Silent()
		if l.sup.Tick(v.Count || v.Probe || silent) {
			l.fail(PeerSilent)
			return
		}
		if l.overdue(now) {
			l.fail(Unacknowledged)
			return
		}
		idle := l.sndNxt == l.checkpoint
		if idle {
			l.adapt(0, false)
			l.forget()
		}
		l.takeSample()
		probe := v.Probe || silent || len(l.deferred()) > 0 || idle && v.Count
		l.checkpoint = l.sndNxt
		if probe || l.rcvUnacked > 0 || l.transmit.Len() > 0 || l.bcast.unacked > 0 || l.bcast.owed() {
			l.sendState(now, stateOptions{probe: probe, keepalive: probe})
		}
	}
}
