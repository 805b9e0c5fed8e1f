// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"math/rand/v2"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A fate is what becomes of a frame. Above pass it is how many others may
// overtake it: so no throw of the dice depends on what became of frames before,
// nor on how many came at a time.
type fate int

const (
	lose   fate = -2
	repeat fate = -1
	pass   fate = 0
)

// A direction is one way through an Injector.
type direction struct {
	faults  Faults
	dice    *rand.Rand
	longest int // frames the device would refuse meet no fault
	counts  Counts
	held    *netdev.Buffer // held back, or nil
	before  int            // how many may still overtake it
}

// set begins anew with other faults. A frame held back goes by next.
func (d *direction) set(f Faults, seed, stream uint64) {
	if f.Span <= 0 {
		f.Span = 3
	}
	d.faults, d.before = f, 0
	d.dice = rand.New(rand.NewPCG(seed, stream))
}

// decide decides about one frame.
func (d *direction) decide(b []byte) fate {
	f := &d.faults
	switch {
	case len(b) < frame.EthernetLen || len(b) > d.longest:
		return pass
	case f.Loss <= 0 && f.Duplicate <= 0 && f.Reorder <= 0:
		return pass
	case f.Match != nil && !f.Match(b):
		return pass
	case d.hit(f.Loss):
		return lose
	case d.hit(f.Duplicate):
		return repeat
	case d.hit(f.Reorder):
		return 1 + fate(d.dice.IntN(f.Span))
	}
	return pass
}

// hit throws for one fault. What cannot happen takes no throw.
func (d *direction) hit(share float64) bool { return share > 0 && d.dice.Float64() < share }

// hold keeps b until f others have overtaken it.
func (d *direction) hold(b *netdev.Buffer, f fate) {
	d.held, d.before = b, int(f)
	d.counts.Reordered++
}

// went notes that n frames are past the dice, overtaking the one held back.
func (d *direction) went(n int) {
	d.counts.Seen += uint64(n)
	d.before = max(0, d.before-n)
}
