// SPDX-License-Identifier: Apache-2.0

package seal

import "github.com/utipc/utipc/frame"

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=State -linecomment

// A State is where a key stands.
type State uint8

const (
	None    State = iota // none
	Pending              // pending
	Active               // active
	Passive              // passive
	Master               // master
)

// A SlotStatus is how a slot stands. It says nothing of the key but its length.
type SlotStatus struct {
	State      State
	Mode       frame.KeyMode
	Bits       int       // of the AES key; 0 of another node's
	Generation frame.Seq // 0 of a key that came without a message
	Users      int       // own keys: nodes that receive with it
	Sealed     uint64    // own keys: packets sealed with it
}

// Status says how the slots of the node's own keys stand; slot 0 is the master's.
func (r *Ring) Status() (all [slots]SlotStatus) {
	for i, t := range r.tx {
		if t == nil {
			continue
		}
		s := SlotStatus{State: Pending, Mode: t.Mode(), Bits: t.key.bits(), Generation: t.generation, Users: r.users[i], Sealed: t.Count()}
		switch uint8(i) {
		case MasterSlot:
			s.State, s.Users = Master, 0
		case r.active:
			s.State = Active
		}
		all[i] = s
	}
	return all
}

// A PeerStatus is how the keys of another node stand, and what it says of ours.
type PeerStatus struct {
	Slots        [slots]SlotStatus // of its keys; 0 is never used
	Reported     uint8             // slot of ours that it receives with, 0 for none
	Master       bool              // it has a master key
	NoKey        bool              // what it sends is not opened
	Given        bool              // its key was given by the owner
	PeerCounters `json:"Counters"` // some have the names of what is above
}

// Status says how the keys of the node stand.
func (p *Peer) Status() PeerStatus {
	all := PeerStatus{Reported: p.reported, Master: p.master, NoKey: p.noKey, Given: p.configured != nil, PeerCounters: p.counters}
	for i := uint8(1); i < slots; i++ {
		k := p.slot(i)
		if k == nil {
			continue
		}
		s := SlotStatus{Mode: k.Mode(), Generation: k.generation}
		switch i {
		case p.pending:
			s.State = Pending
		case p.active:
			s.State = Active
		case p.passive:
			s.State = Passive
		}
		all.Slots[i] = s
	}
	return all
}
