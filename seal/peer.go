// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// Rules of the keys of another node. A kernel deletes a passive key after 15 s. A node
// sends to all with its old key until the last node has taken up the new one, though,
// and may be silent for longer in between. Source: docs/spec/09-security.md §4.3.
const (
	quietActive  = 3 * time.Second  // an active key that has not worked for so long is pending again
	quietPassive = 10 * time.Minute // a passive one is deleted
	failures     = 10               // a pending or passive key that failed so often is deleted
)

// An rxKey is a copy of another node's key at one of its slots.
type rxKey struct {
	*Cipher                  // may be shared: with the ring's, with Peer.configured
	window     *window       // of a key that its sender made for itself, as far as is known; else nil
	at         time.Duration // when it last worked, else when it came
	generation frame.Seq     // of the message, if told
	failed     uint8         // packets it did not open since it last opened one
	told       bool          // came with a message
	worked     bool          // has opened a packet
	doubted    bool          // has opened none since contact was lost: the node may have started again
}

// fresh reports whether the key opened a packet lately.
func (k *rxKey) fresh(now time.Duration) bool {
	return k.worked && !k.doubted && now-k.at < quietActive
}

// A Peer is what a node with keys keeps of another node: the other's keys, at the
// slots they have there, and what the other says of ours.
//
//	                      opened a packet             another one became active
//	HandleKey -> pending -----------------> active ---------------------> passive
//	                |   ^                     |  ^                           |
//	                |   | silent for 3 s,     |  |  opened a packet,         |
//	                |   | contact lost        |  +--none is active-----------+
//	                |   +---------------------+
//	                |                   to passive if one is pending         |
//	     deleted: 10 failures and        deleted: idle for 10 min, or 10 failures
//	     nothing opened for 3 s                  and nothing opened for 3 s
//
// Failures need the 3 s so that packets a stranger makes up take away no key that
// works. A new key takes the place of a pending one that never worked.
// Source: docs/spec/09-security.md §4.3, §4.4.
type Peer struct {
	addr                     frame.NodeAddr
	pending, active, passive uint8 // slots, 0 for none
	reported                 uint8 // slot of ours that it receives with
	only                     uint8 // the same, if it may know no older key; 0 if it does
	master                   bool  // has a master key
	noKey                    bool  // we cannot open what it sends
	send                     bool  // our key is due to it at sendAt
	sendAt                   time.Duration
	reminded                 time.Duration // when it last was to get our pending key again
	configured               *rxKey        // tried on what its slots do not open
	proof                    *proof        // nil: none was asked for
	rx                       [slots - 1]*rxKey
	counters                 PeerCounters
}

// PeerCounters are of one node, since its Peer was made.
type PeerCounters struct {
	Opened, NoKey, BadTag, Replayed uint64
}

// NewPeer makes the record of a node; with the address 0, of one that is known by its
// identity alone, whose word on our keys is not heeded.
func NewPeer(a frame.NodeAddr) *Peer { return &Peer{addr: a} }

// Addr is the node's address.
func (p *Peer) Addr() frame.NodeAddr { return p.addr }

// Counters returns what happened since the Peer was made.
func (p *Peer) Counters() PeerCounters { return p.counters }

// slot returns the key of slot 1, 2 or 3; nil where there is none, and for 0.
func (p *Peer) slot(s uint8) *rxKey {
	if s == 0 {
		return nil
	}
	return p.rx[s-1]
}

// waiting reports whether a key that came with a message, or was given, has yet to find its
// slot, which may be s, though that has a key: a node that gives up a pending key puts the next
// one in its slot, and may not have heard that its peer had taken up the one before.
func (p *Peer) waiting(s uint8) bool {
	if c := p.configured; c != nil && !c.worked {
		return true
	}
	q := p.slot(p.pending)
	return q != nil && p.pending != s && !q.worked && q.told && q.Cipher != p.slot(s).Cipher
}

// put puts a key, nil for none, in the place of what is in slot s.
func (p *Peer) put(s uint8, k *rxKey) {
	switch s {
	case p.pending:
		p.pending = 0
	case p.active:
		p.active = 0
	case p.passive:
		p.passive = 0
	}
	p.rx[s-1] = k
}

// Configure sets the node's own key, as the node was given it, or takes it away
// with nil. It is tried on packets that the keys in their slots do not open, in
// whatever slot they say. The key may be wiped afterwards. Errors: ErrKey.
func (p *Peer) Configure(k *Key) error {
	if k == nil {
		p.configured = nil
		return nil
	}
	k = k.Clone()
	k.m.mode = frame.NodeKey
	c, err := NewCipher(k)
	k.Wipe()
	if err != nil {
		return err
	}
	p.configured = &rxKey{Cipher: c}
	p.noKey = false
	for _, k := range p.rx {
		if k != nil && k.same(c) {
			k.window = nil // its numbers begin again when the node does
		}
	}
	return nil
}

// HandleKey takes the key of a message from this node, which came sealed and on
// its link or broadcast link. It tells Open to use it as soon as the node does. A key
// that came before, under another generation, is that of a node that started again, or was
// given the same key twice: it may have it in another slot now.
// Errors: ErrNoKey where the ring takes no keys, ErrDouble for one that is known,
// ErrKey. Source: docs/spec/09-security.md §5.
func (r *Ring) HandleKey(now time.Duration, p *Peer, m frame.KeyMessage) error {
	if !r.exchange || !r.Working() {
		return ErrNoKey
	}
	for _, k := range p.rx {
		if k != nil && k.told && k.generation == m.Generation() {
			return ErrDouble
		}
	}
	key, err := keyOf(m)
	if err != nil {
		return err
	}
	c, err := NewCipher(key)
	key.Wipe()
	if err != nil {
		return err
	}
	if p.configured != nil && p.configured.same(c) {
		return ErrDouble
	}
	k := &rxKey{Cipher: c, generation: m.Generation(), told: true, at: now}
	if m.Mode() == frame.NodeKey { // the cluster's is each member's
		k.window = &window{}
	}
	for _, old := range p.rx {
		if old != nil && old.told && old.same(c) {
			k.Cipher, old.window, old.generation = old.Cipher, k.window, k.generation
		}
	}
	p.attach(now, k)
	return nil
}

// attach makes k the pending key.
func (p *Peer) attach(now time.Duration, k *rxKey) {
	s := p.pending
	switch old := p.slot(s); {
	case old == nil:
		if s = p.active; s == 0 {
			s = p.passive
		}
		s = next(s)
	case old.worked: // it was active, and is still the best there is
		if p.passive != 0 {
			p.put(p.passive, nil)
		}
		p.passive, p.pending = s, 0
		s = next(s)
		if s == p.active {
			s = next(s)
		}
	}
	p.put(s, k)
	p.pending, p.noKey = s, false
}

// activate makes the key of slot s, which opened a packet, the active one.
func (p *Peer) activate(s uint8) {
	switch s {
	case p.pending:
		p.pending = 0
	case p.passive:
		p.passive = 0
	}
	if p.active != 0 {
		p.retire(p.active)
	}
	p.active = s
}

// retire makes the key of slot s the passive one.
func (p *Peer) retire(s uint8) {
	if p.passive != 0 {
		p.put(p.passive, nil)
	}
	p.passive = s
}

// HandleTimeout makes the key that worked last the active one and lets keys age:
// the owner calls it with the timers of the node's links, at least once a second.
// It returns the slot of a key that became active, else 0. As kernels do it here
// and not with the packet, a key is reported a fraction of a second after
// it worked first (capture 25, frames 63 to 71).
func (p *Peer) HandleTimeout(now time.Duration) (activated uint8) {
	if k := p.slot(p.pending); k != nil && k.fresh(now) {
		activated = p.pending
	} else if k := p.slot(p.passive); k != nil && p.active == 0 && k.fresh(now) {
		activated = p.passive
	}
	if activated != 0 {
		p.activate(activated)
	}
	p.rest(now)
	if k := p.slot(p.passive); k != nil && now-k.at >= quietPassive {
		p.put(p.passive, nil)
	}
	return activated
}

// rest makes the active key, unless it works, the pending one, or the passive one where
// another is pending.
func (p *Peer) rest(now time.Duration) {
	s := p.active
	if k := p.slot(s); k == nil || k.fresh(now) {
		return
	}
	p.active = 0
	if p.pending == 0 {
		p.pending = s
	} else {
		p.retire(s)
	}
}

// doubt lets no key count as one that works until it opens a packet. The node may have
// started again, with other keys in the same slots: to say that its active key is in use
// would have it seal for this node with nothing but a key that is not known here.
func (p *Peer) doubt() {
	for _, k := range p.rx {
		if k != nil {
			k.doubted = true
		}
	}
	p.rest(0) // whenever: none is fresh
}

// fail counts a packet that the key of slot s did not open.
func (p *Peer) fail(now time.Duration, s uint8) {
	k := p.slot(s)
	k.failed = min(k.failed, failures-1) + 1
	if k.failed == failures && s != p.active && now-k.at >= quietActive {
		p.put(s, nil)
	}
}

// NoKeyFor schedules this node's key for the peer, which said that it has none:
// random, between 500 and 2500 ms, from now, unless it is scheduled already.
// Open says when. Source: docs/spec/09-security.md §4.4.
func (p *Peer) NoKeyFor(now, random time.Duration) {
	if !p.send {
		p.send, p.sendAt = true, now+random
	}
}

// KeyDeadline is when this node's key is due to the peer; Never when it is not.
func (p *Peer) KeyDeadline() time.Duration {
	if !p.send {
		return Never
	}
	return p.sendAt
}

// TakeKeyDue reports, once, that this node's key is due to the peer.
func (p *Peer) TakeKeyDue(now time.Duration) bool {
	due := p.send && now >= p.sendAt
	p.send = p.send && !due
	return due
}

// Lost forgets what the peer said: contact was lost, or the node is removed.
// Its keys stay, for it may be back in a moment, but none is relied on.
func (r *Ring) Lost(now time.Duration, p *Peer) {
	r.report(now, p, 0)
	p.master, p.send = false, false
	p.doubt()
}

// report notes that the peer receives with slot s.
func (r *Ring) report(now time.Duration, p *Peer, s uint8) {
	if p.reported == s {
		return
	}
	r.users[p.reported]--
	r.users[s]++
	if p.only != 0 {
		r.only[p.only]--
		p.only = 0
	}
	if p.reported == 0 && s != 0 && s == r.pending && r.active != 0 {
		p.only = s
		r.only[s]++
	}
	p.reported, r.changed = s, now
}

// Forget drops all keys of the peer and what it said.
func (r *Ring) Forget(now time.Duration, p *Peer) {
	r.Lost(now, p)
	*p = Peer{addr: p.addr, configured: p.configured, counters: p.counters}
}
