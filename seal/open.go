// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"encoding/binary"
	"time"

	"github.com/utipc/utipc/frame"
)

// legacyFor is how long a peer's word that it has no master key counts, beyond
// the grace period: some timers of a node.
const legacyFor = time.Second

// An Opened says what opening a packet told of keys.
type Opened struct {
	Slot      uint8 // the sender's, of the key that opened it
	Activated bool  // the key of Slot is the sender's active one from now on
	Needs     bool  // the sender is to get this node's newest key: NoKeyFor

	// Number is that of the packet. Of a Peer that is required to prove itself, Fresh says
	// that it was sealed after that, and Strange that it may not have been: of such discovery
	// nothing may be heeded but what HandleEcho takes, and all else has ErrReplay.
	Number  uint64
	Fresh   bool
	Strange bool
}

// Source tells whom a sealed packet claims to be from, for finding the Peer: the
// address, or the identity in discovery. Nothing of it is certain before Open.
// Errors: ErrMalformed.
func Source(b []byte) (a frame.NodeAddr, id frame.Identity, discovery bool, err error) {
	e, err := frame.ParseEncrypted(b)
	if err != nil {
		return 0, id, false, ErrMalformed
	}
	a, ok := e.Source()
	if !ok {
		a = 0
		id, _ = e.Identity()
	}
	return a, id, !ok, nil
}

// Open opens the sealed packet b, which is just what the device received, in
// place, and returns the packet inside, with its padding. p is the node it
// claims to be from, nil if that is not known: then the node's own keys are
// tried. Of a packet that was opened the source is certain, as far as its key is
// its sender's alone. After an error b's content is undefined.
// Errors: ErrMalformed, ErrNoKey, ErrTag, ErrReplay. With the last of them o is good.
// Source: docs/spec/09-security.md §4.3, §4.4.
// Complex: the path of every sealed packet, in the order in which the specification decides; a call costs time there.
//
//gocyclo:ignore
func (r *Ring) Open(now time.Duration, b []byte, p *Peer) (plain []byte, o Opened, err error) {
	e, err := frame.ParseEncrypted(b)
	if err != nil {
		r.counters.Malformed++
		return nil, o, ErrMalformed
	}
	o.Slot = b[1] >> 6
	var k *rxKey
	from := bySlot
	switch {
	case o.Slot == MasterSlot:
		if r.tx[0] == nil {
			r.counters.NoKey++
			return nil, o, ErrNoKey
		}
		plain, err = r.tx[0].Cipher.Open(e, r.addr)
	case p != nil && p.rx[o.Slot-1] != nil && p.rx[o.Slot-1].fresh(now) && !p.waiting(o.Slot):
		k = p.rx[o.Slot-1]
		plain, err = k.Cipher.Open(e, r.addr)
	default:
		k, from, plain, err = r.try(now, e, p, o.Slot)
	}
	if err != nil {
		if err == ErrNoKey {
			r.counters.NoKey++
		} else {
			r.counters.BadTag++
		}
		r.unopened(now, p, o.Slot, err)
		return nil, o, err
	}
	// Kernels do not look whether the inside fits the header.
	_, disc := e.Identity()
	if len(plain) < frame.ShortLen || disc != (frame.User(plain[0]>>1&0xf) == frame.UserDiscovery) ||
		!disc && [4]byte(plain[12:]) != [4]byte(b[12:]) {
		r.counters.Malformed++
		return nil, o, ErrMalformed
	}
	o.Number = e.Seq()
	if p != nil && !r.replays {
		switch {
		case p.Required():
			switch p.proof.look(o.Number) {
			case strange:
				if o.Strange = true; disc {
					return plain, o, nil
				}
				fallthrough
			case repeated:
				return nil, o, r.replayed(p)
			}
			o.Fresh = true
		case k != nil && k.window != nil && !k.window.take(o.Number):
			return nil, o, r.replayed(p)
		}
	}
	if p != nil && k != nil {
		k = p.adopt(now, k, from, o.Slot)
	}
	r.counters.Opened++
	if p == nil {
		if b[1]&4 == 0 {
			r.legacy = max(now, r.grace) + legacyFor
		}
		return plain, o, nil
	}
	p.counters.Opened++
	if k != nil {
		k.at, k.failed, k.worked, k.doubted = now, 0, true, false
		p.noKey = false
		if o.Slot != p.active && o.Slot != p.pending && o.Slot != p.passive { // a copy of one in use elsewhere
			if p.active != 0 && next(o.Slot) == p.active && p.slot(p.active).fresh(now) { // and older than what it uses
				p.retire(o.Slot)
			} else {
				p.activate(o.Slot)
				o.Activated = true
			}
		}
	}
	o.Needs = r.heed(now, p, b, plain)
	return plain, o, nil
}

// heed notes what the bits of an opened packet say of keys, and reports whether
// the sender needs one. Source: docs/spec/09-security.md §4.4.
func (r *Ring) heed(now time.Duration, p *Peer, b, plain []byte) (needs bool) {
	p.master = b[1]&4 != 0
	if b[0]&1 != 0 && p.addr != 0 && int(binary.BigEndian.Uint16(plain)>>5&0xf)*4 >= frame.BasicLen && len(plain) >= frame.BasicLen &&
		frame.NodeAddr(binary.BigEndian.Uint32(plain[28:])) == r.addr {
		if needs = b[1]&2 != 0; needs {
			r.grace = now + Grace
		}
		r.report(now, p, b[1]>>4&3)
		needs = needs || r.remind(now, p)
	}
	if !p.master {
		r.legacy = max(now, r.grace) + legacyFor
	}
	return needs
}

// remind reports whether it is time for a peer to get the pending key again: it has
// not taken it up for long. A kernel waits for its word that it has no key (N); but a
// node that started since, and opens all that comes with the key before, has none to
// say, and the pending key would be pending for ever.
func (r *Ring) remind(now time.Duration, p *Peer) bool {
	wait := Lasting
	if p.reported == 0 {
		wait /= 2 // it has none, and must have this before the master key is for no more than the first words
	}
	if r.pending == 0 || !r.exchange || p.reported == r.pending || now < max(r.tx[r.pending].at, p.reminded)+wait {
		return false
	}
	p.reminded = now
	return true
}

// unopened notes a packet that did not open.
func (r *Ring) unopened(now time.Duration, p *Peer, s uint8, err error) {
	switch {
	case p == nil:
		return
	case err == ErrNoKey:
		p.counters.NoKey++
	default:
		p.counters.BadTag++
	}
	switch {
	case s == MasterSlot:
	case p.slot(s) != nil:
		p.fail(now, s)
	case p.awaits(now): // one is there that it will use
	case next(s) == p.active: // s is an old one
	default:
		p.noKey = true
	}
}

// awaits reports whether a key came lately that has opened nothing yet.
func (p *Peer) awaits(now time.Duration) bool {
	q := p.slot(p.pending)
	return q != nil && !q.worked && now-q.at < Lasting
}

// replayed counts a packet of a peer that may have come before.
func (r *Ring) replayed(p *Peer) error {
	r.counters.Replayed++
	p.counters.Replayed++
	return ErrReplay
}

// An origin says where a key was found that opened a packet.
type origin uint8

const (
	bySlot    origin = iota // in the slot that the packet says
	byWaiting               // it is the pending one, which had not found its slot
	byCopy                  // it is configured
)

// try opens a packet whose slot has no key that works: with the slot's key, with a
// pending key that has not found its slot, with the key the node was configured
// with, and with this node's own, if they are the cluster's. k is the key that opened
// it, nil without p. ErrNoKey where there was none to try.
func (r *Ring) try(now time.Duration, e frame.Encrypted, p *Peer, s uint8) (k *rxKey, from origin, plain []byte, err error) {
	var keys [5]*Cipher
	n, pending := 0, -1
	if p != nil {
		if k := p.slot(s); k != nil {
			keys[n] = k.Cipher
			n++
		}
		if q := p.slot(p.pending); q != nil && p.pending != s && !q.worked && (p.active == 0 || q.told) {
			keys[n], pending = q.Cipher, n
			n++
		}
		if p.configured != nil {
			keys[n] = p.configured.Cipher
			n++
		}
	}
	for _, own := range [...]uint8{r.pending, r.active} {
		if own != 0 && r.tx[own].mode == frame.ClusterKey {
			keys[n] = r.tx[own].Cipher
			n++
		}
	}
	if n == 0 {
		return nil, 0, nil, ErrNoKey
	}
	for i := range n {
		if plain, err = r.attempt(keys[i], e, i == n-1); err != nil {
			continue
		}
		switch {
		case p == nil:
			return nil, 0, plain, nil
		case i == pending:
			return p.slot(p.pending), byWaiting, plain, nil
		case p.slot(s) != nil && p.slot(s).Cipher == keys[i]:
			return p.slot(s), bySlot, plain, nil
		}
		return &rxKey{Cipher: keys[i], at: now}, byCopy, plain, nil
	}
	if p == nil || p.slot(s) == nil {
		err = ErrNoKey
	}
	return nil, 0, nil, err
}

// adopt makes the key that opened a packet the one of slot s from now on. A packet that
// somebody repeats does not come as far.
func (p *Peer) adopt(now time.Duration, k *rxKey, from origin, s uint8) *rxKey {
	switch from {
	case byWaiting:
		p.put(p.pending, nil)
		p.put(s, k)
		p.pending = s
	case byCopy:
		p.put(s, k)
	}
	if c := p.configured; c != nil && c.Cipher == k.Cipher {
		c.worked = true
	}
	return k
}

// attempt opens a packet with one of several keys. All but the last leave it as it
// is when they fail.
func (r *Ring) attempt(c *Cipher, e frame.Encrypted, last bool) ([]byte, error) {
	if last {
		return c.Open(e, r.addr)
	}
	if n := len(e.Sealed()); cap(r.scratch) < n {
		r.scratch = make([]byte, n)
	}
	plain, err := c.open(r.scratch[:0], e, r.addr)
	if err != nil {
		return nil, err
	}
	out := e.Sealed()[:copy(e.Sealed(), plain)]
	clear(plain)
	return out, nil
}
