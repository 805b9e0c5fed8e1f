// SPDX-License-Identifier: Apache-2.0

package device

import (
	"testing"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A Segment makes two stations that no one has attached yet, alone on a segment
// of their own. It is called several times. The suite closes the devices; what
// else there is to clean up is for t.Cleanup.
type Segment func(t *testing.T) (a, b netdev.Device)

// checks are the suite, each on a fresh segment with both stations attached.
var checks = []struct {
	name string
	run  func(t *testing.T, a, b *station)
}{
	{"Identity", identity},
	{"AttachOnce", attachOnce},
	{"EmptyBatches", emptyBatches},
	{"Bytes", deliverBytes},
	{"BytesAnywhereInChunk", deliverPrepended},
	{"Filter", filter},
	{"Order", order},
	{"PartialBatches", partialBatches},
	{"CallersHold", callersHold},
	{"ReleasedAtOnce", releasedAtOnce},
	{"SentTwice", sentTwice},
	{"Refused", refused},
	{"WakeForOne", func(t *testing.T, a, b *station) { wakes(t, a, b, 1) }},
	{"WakeForFew", func(t *testing.T, a, b *station) { wakes(t, a, b, 4) }},
	{"WakeForMany", func(t *testing.T, a, b *station) { wakes(t, a, b, 100) }},
	{"Echo", echo},
	{"NoAllocation", noAllocation},
	{"Flood", flood},
	{"ExhaustedArena", exhaustedArena},
	{"Closed", closed},
	{"ClosedWithFrames", closedWithFrames},
	{"ClosedPeer", closedPeer},
	{"CloseWakes", closeWakes},
	{"CloseMeanwhile", closeMeanwhile},
}

// Run holds the devices that make gives to the contract, in a subtest for each
// part of it. After each, both devices are closed and all chunks must be back.
func Run(t *testing.T, make func(t *testing.T) (a, b netdev.Device)) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			a, b := attach(t, make)
			c.run(t, a, b)
		})
	}
}

// attach makes a segment and attaches its stations.
func attach(t *testing.T, s Segment) (a, b *station) {
	t.Helper()
	x, y := s(t)
	a, b = newStation(t, x), newStation(t, y)
	if isMedium(x) {
		from, to := x.Addr(), y.Addr()
		a.sender, b.sender = &to, &from
	}
	return a, b
}

// isMedium reports whether a device's network is no Ethernet, so that the device
// makes up the headers of what it receives.
func isMedium(d any) bool {
	for {
		if _, ok := d.(engine.Medium); ok {
			return true
		}
		w, ok := d.(interface{ Unwrap() any })
		if !ok {
			return false
		}
		d = w.Unwrap()
	}
}
