// SPDX-License-Identifier: Apache-2.0

package seal

// A node that has just started cannot tell what another one seals from what it sealed
// before: keys outlive nodes. So a Peer that its owner knows to number all that it seals
// in one sequence, whatever the key, is asked for a proof: it has to send back a number
// that was drawn for it, in discovery. What it seals later has higher numbers; all else
// is old, or of another life of that node.
//
//	Require ──► unproven ──(HandleEcho)──► proven ──(HandleEcho of other numbers)──┐
//	               │                         │ ▲                                   │
//	          nothing is taken      what is fresh is taken                         │
//	               ▲                         └───────── the node started again ◄───┘
//	            Excuse: a kernel, whose numbers tell nothing
//
// Source: docs/explanation/security.md, "Replays".
type proof struct {
	required  bool   // only what is fresh is taken
	done      bool   // the node has answered: the window is of its present life
	challenge uint64 // that it is to answer; 0: none is made
	window
}

// furthest is how far numbers may be ahead of the highest that came. A node of this
// implementation that starts again draws a start of 62 bits, which is that near to those
// of a life before with a chance of 2^-29.
const furthest = 1 << 32

// An arrival is what a number says of a packet.
type arrival uint8

const (
	fresh    arrival = iota
	repeated         // it came already
	strange          // too old to tell, or of another life
)

// look says what a number is, and notes it when it is fresh.
func (f *proof) look(n uint64) arrival {
	w := &f.window
	switch {
	case !f.done, n > w.top && n-w.top > furthest, n <= w.top && w.top/64-n/64 >= windowWords:
		return strange
	case !w.take(n):
		return repeated
	}
	return fresh
}

// begin makes n the last number of which none is taken.
func (w *window) begin(n uint64) {
	for i := range w.seen {
		w.seen[i] = ^uint64(0)
	}
	w.top = n
	w.seen[n/64%windowWords] = 2<<(n%64) - 1
}

// Require makes the ring take nothing from the node but what it sealed after it has
// answered the challenge, which must be random and not 0. One that was asked already keeps
// its challenge. It has no effect on a ring that accepts replays.
func (p *Peer) Require(challenge uint64) {
	p.Ask(challenge)
	p.proof.required = true
}

// Ask makes a challenge, unless there is one. Until the node answers, packets are taken
// as before.
func (p *Peer) Ask(challenge uint64) {
	if p.proof == nil {
		p.proof = &proof{challenge: challenge}
	}
}

// Excuse takes the node for one that proves nothing: a kernel.
func (p *Peer) Excuse() { p.proof = nil }

// Required reports whether nothing is taken but what is fresh.
func (p *Peer) Required() bool { return p.proof != nil && p.proof.required }

// Proven reports whether the node has answered.
func (p *Peer) Proven() bool { return p.proof != nil && p.proof.done }

// Challenge is what the node is to send back; 0 where it was not asked.
func (p *Peer) Challenge() uint64 {
	if p.proof == nil {
		return 0
	}
	return p.proof.challenge
}

// HandleEcho takes what the node sent back, in a packet of the number that Open told. If
// it is the challenge, what the node seals later is fresh; next, random and not 0, is the
// challenge after this. again says that it had answered before: it is another life, and
// its numbers are nowhere near.
func (p *Peer) HandleEcho(echo, number, next uint64) (ok, again bool) {
	f := p.proof
	if f == nil || echo == 0 || echo != f.challenge {
		return false, false
	}
	if again = f.done; again && number <= f.top && f.top-number <= furthest {
		return false, false // of the life that is known: it was held back, or comes again
	}
	if again {
		p.doubt()
	}
	f.required, f.done, f.challenge = true, true, next
	f.begin(number)
	return true, again
}

// Answered makes next the challenge, if echo, of a packet that was fresh, is the one before:
// none is answered twice.
func (p *Peer) Answered(echo, next uint64) {
	if f := p.proof; f != nil && echo != 0 && echo == f.challenge {
		f.challenge = next
	}
}

// TakeProof makes the proof of o, which is the same node under another address, that of p.
func (p *Peer) TakeProof(o *Peer) { p.proof, o.proof = o.proof, nil }
