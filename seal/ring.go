// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"math"
	"time"

	"github.com/utipc/utipc/frame"
)

// Times of the switching rules. Source: docs/spec/09-security.md §4.
const (
	// Grace is how long the master key is used beside others after a node has
	// said that it has no key.
	Grace = 5 * time.Second
	// Lasting is how long nobody may have changed keys before the pending one
	// takes the place of the active one.
	Lasting = 10 * time.Second
	// DefaultInterval is the kernel's rekeying interval.
	DefaultInterval = 24 * time.Hour
)

// Never is the deadline of a machine that waits for nothing.
const Never time.Duration = math.MaxInt64

// MasterSlot is the slot of the master key. 0 also stands for no slot.
const MasterSlot = 0

// slots is the number of slots with the master's.
const slots = 4

// next is the slot behind s; behind none it is 1.
func next(s uint8) uint8 { return s%3 + 1 }

// A txKey is one of a node's own keys.
type txKey struct {
	Sender
	key        *Key
	generation frame.Seq
	at         time.Duration // when it came
	told       bool          // that it wears out
}

// A Ring holds the keys that one node sends with: a master key in slot 0, which
// never changes by itself, and in slots 1 to 3 at most one active and one pending.
//
//	        SetKey, Rekey                nodes use pending, none active,
//	none ------------------> pending ------------------------------------> active
//	                            |        nothing new for Lasting             |
//	       SetKey, if no node   |                                            |
//	       uses it: replaced <--+             the next pending becomes active|
//	                                                              deleted <--+
//
// The zero Ring has no keys and seals nothing.
// Source: docs/spec/09-security.md §3, §4.1, §4.2.
type Ring struct {
	tx              [slots]*txKey
	pending, active uint8          // slots, 0 for none
	last            uint8          // slot of the newest key, which flushing leaves
	users           [slots]int     // peers that use the slot's key for receiving
	only            [slots]int     // of these, peers that came with the slot's key, and may know no older one
	changed         time.Duration  // when keys or users last changed
	grace           time.Duration  // until when the master is used beside others; the zero value is over
	legacy          time.Duration  // until when some peer counts as one without a master key
	interval        time.Duration  // of rekeying, 0 for never
	rekeyAt         time.Duration  // when it is due, if interval is not 0
	generation      frame.Seq      // of the newest key
	exchange        bool           // keys are handed out and taken
	replays         bool           // packets may come again
	sequence        *sequence      // of numbers, for all keys; nil before the first
	addr            frame.NodeAddr // this node's, 0 while it has none
	identity        frame.Identity
	scratch         []byte // for trying keys on a packet that must stay as it is
	counters        Counters
}

// NewRing makes a node's ring. generation is random: keys are numbered from the
// one behind it. With exchange the node hands out its keys and takes others'.
func NewRing(generation frame.Seq, exchange bool) *Ring {
	return &Ring{generation: generation, exchange: exchange}
}

// SetSelf tells the node's address, 0 as long as it has none, and identity.
func (r *Ring) SetSelf(a frame.NodeAddr, id frame.Identity) { r.addr, r.identity = a, id }

// Working reports whether there is any key: every packet is sent sealed then.
func (r *Ring) Working() bool { return r.tx[0] != nil || r.pending != 0 || r.active != 0 }

// HasMaster reports whether there is a master key.
func (r *Ring) HasMaster() bool { return r.tx[0] != nil }

// Exchange reports whether keys are handed out and taken.
func (r *Ring) Exchange() bool { return r.exchange }

// SetExchange says whether keys are handed out and taken.
func (r *Ring) SetExchange(on bool) { r.exchange = on }

// AcceptReplays says whether packets that came already are let through, and each key has
// numbers of its own, as kernels do. It is called before there are keys. The ring refuses them
// of a Peer that is required to prove itself, and under keys that came with a message.
func (r *Ring) AcceptReplays(on bool) { r.replays = on }

// SetMaster sets the master key or replaces it; it is used in cluster mode
// whatever the key says. start is a random number. The key is copied. Errors: ErrKey.
func (r *Ring) SetMaster(now time.Duration, k *Key, start uint64) error {
	k = k.Clone()
	k.m.mode = frame.ClusterKey
	t, err := r.newKey(k, start)
	if err != nil {
		k.Wipe()
		return err
	}
	r.drop(0)
	r.tx[0], r.changed = t, now
	return nil
}

// SetKey makes a key the pending one and returns its slot: the cluster's key, or
// this node's own. It takes the place of a pending key that no node uses yet.
// start is a random number. The key is copied. Errors: ErrKey, and ErrBusy while the
// key before it is being taken up.
func (r *Ring) SetKey(now time.Duration, k *Key, start uint64) (slot uint8, err error) {
	switch {
	case r.pending == 0 && r.active == 0:
		slot = next(r.last)
	case r.pending == 0:
		slot = next(r.active)
	case r.users[r.pending] == 0:
		slot = r.pending
	default:
		return 0, ErrBusy
	}
	k = k.Clone()
	t, err := r.newKey(k, start)
	if err != nil {
		k.Wipe()
		return 0, err
	}
	r.drop(slot)
	r.generation++
	t.generation, t.at = r.generation, now
	r.tx[slot], r.pending, r.last, r.changed = t, slot, slot, now
	return slot, nil
}

// newKey takes over k. The numbers go on, but for those of the first key, which begin
// at start.
func (r *Ring) newKey(k *Key, start uint64) (*txKey, error) {
	s, err := NewSender(k, start)
	if err != nil {
		return nil, err
	}
	for _, t := range r.tx {
		if t != nil && t.key.Equal(k) {
			s.numbers = t.numbers
		}
	}
	switch {
	case r.replays:
	case r.sequence == nil:
		r.sequence = s.sequence
	default:
		s.sequence = r.sequence
	}
	return &txKey{Sender: *s, key: k}, nil
}

// drop deletes the key of a slot.
func (r *Ring) drop(slot uint8) {
	if t := r.tx[slot]; t != nil {
		t.key.Wipe()
		r.tx[slot] = nil
	}
}

// Flush deletes all keys, the master key too. What nodes said stays: it is of
// their keys.
func (r *Ring) Flush(now time.Duration) {
	for i := range r.tx {
		r.drop(uint8(i))
	}
	r.pending, r.active, r.changed, r.grace, r.legacy = 0, 0, now, 0, 0
	clear(r.scratch)
}

// SetInterval sets the time between automatic keys, 0 for none of them.
func (r *Ring) SetInterval(now, interval time.Duration) {
	r.interval, r.rekeyAt = interval, now+interval
}

// Interval is the time between automatic keys, 0 for none.
func (r *Ring) Interval() time.Duration { return r.interval }

// RekeyLen is the number of random bytes that Rekey needs now: the length of the
// active key, else of the master or the pending key; 0 without keys.
func (r *Ring) RekeyLen() int {
	for _, s := range [...]uint8{r.active, MasterSlot, r.pending} {
		if t := r.tx[s]; t != nil && (s != 0 || r.active == 0) {
			return t.key.Len()
		}
	}
	return 0
}

// Rekey makes random bytes, RekeyLen of them, the pending key, of this node alone; its owner then
// sends it to all nodes (Distribution). The bytes are copied. It returns
// ErrBusy while there is a pending key, ErrNoKey where there is no key to succeed.
func (r *Ring) Rekey(now time.Duration, random []byte, start uint64) (slot uint8, err error) {
	r.rekeyAt = now + r.interval
	switch {
	case r.active == 0 && r.tx[0] == nil && r.pending == 0:
		return 0, ErrNoKey
	case r.pending != 0:
		return 0, ErrBusy
	}
	k, err := NewKey(frame.NodeKey, random)
	if err != nil {
		return 0, err
	}
	defer k.Wipe()
	return r.SetKey(now, k, start)
}

// Distribution returns what a key message says: the newest key, which the caller
// must not change or wipe, and its generation. ok is false where there is none
// but a master key, which is never sent, or keys are not handed out.
// Source: docs/spec/09-security.md §5.
func (r *Ring) Distribution() (k *Key, generation frame.Seq, ok bool) {
	s := r.pending
	if s == 0 {
		s = r.active
	}
	if s == 0 || !r.exchange {
		return nil, 0, false
	}
	return r.tx[s].key, r.tx[s].generation, true
}
