// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/sim"
	"github.com/utipc/utipc/test/tier"
)

// mistaken runs a few seeds with a deliberate mistake and wants the first
// violation of one of them to be of the invariant. Without the mistake there is none; the
// first tier leaves that out.
func mistaken(t *testing.T, m sim.Mutation, change func(*sim.Faults), invariants ...string) {
	t.Helper()
	t.Parallel()
	var first []string
	for seed := uint64(1); seed <= 4; seed++ {
		f := sim.Perfect()
		f.SlowReaders = true
		if change != nil {
			change(&f)
		}
		c := sim.Config{Seed: seed, Nodes: 3, Networks: 1 + int(seed%2), Duration: 6 * time.Second, Calm: 70 * time.Second, Faults: &f}
		if !tier.First() {
			if r := sim.Run(c); len(r.Violations) > 0 {
				t.Fatalf("without the mistake: %s", r.Violations[0])
			}
		}
		c.Mutation = m
		r := sim.Run(c)
		if len(r.Violations) == 0 {
			continue
		}
		for _, i := range invariants {
			if strings.HasPrefix(r.Violations[0], "invariant "+i+",") {
				t.Logf("%s", r.Violations[0])
				return
			}
		}
		first = append(first, r.Violations[0])
	}
	t.Errorf("got %q, want a violation of invariant %v first", first, invariants)
}

func noRoom(f *sim.Faults) {
	f.Load, f.Window, f.NoBundles = 4, 8, true
	lossyNet(f)
}

func parted(f *sim.Faults) {
	f.Tolerance = 200 * time.Millisecond
	f.Everywhere(sim.NetworkFaults{Partition: 2 * time.Second})
}

func lateDone(f *sim.Faults) { f.Device.Complete = 200 * time.Microsecond }

func lossyNet(f *sim.Faults) { f.Everywhere(sim.NetworkFaults{Loss: 0.05}) }

// Proves: link.simulated
func TestInvariant1SeesPayloadTwice(t *testing.T) { mistaken(t, sim.DeliverTwice, nil, "1") }

// Proves: link.simulated
func TestInvariant1SeesChangedPayload(t *testing.T) { mistaken(t, sim.ChangePayload, nil, "1") }

// Proves: link.simulated
func TestInvariant2SeesAcceptedMessageDropped(t *testing.T) { mistaken(t, sim.DropAccepted, nil, "2") }

// Proves: link.simulated
func TestInvariant2SeesUncountedDrop(t *testing.T) { mistaken(t, sim.DropUncounted, nil, "2") }

// Proves: link.bundles, link.simulated
func TestInvariant2SeesMessageLeftOutOfBundle(t *testing.T) {
	mistaken(t, sim.OmitBundled, nil, "2")
}

// Proves: link.bundles, link.simulated
func TestInvariant1SeesMessageTwiceInBundle(t *testing.T) {
	mistaken(t, sim.RepeatBundled, nil, "1", "2")
}

// Proves: link.bundles, link.simulated
func TestInvariant2SeesOrderWithinBundle(t *testing.T) { mistaken(t, sim.SwapBundled, nil, "2") }

// Proves: link.bundles, link.simulated
func TestInvariant4SeesForgottenFlush(t *testing.T) { mistaken(t, sim.ForgetFlush, nil, "4") }

// Proves: link.simulated
func TestInvariant3SeesMessageAgainAfterLoss(t *testing.T) { mistaken(t, sim.ReadAgain, parted, "3") }

// Proves: link.simulated
func TestInvariant4SeesSuppressedRoom(t *testing.T) { mistaken(t, sim.SuppressRoom, noRoom, "4") }

// Proves: link.simulated
func TestInvariant5SeesLeakedChunk(t *testing.T) { mistaken(t, sim.LeakChunk, nil, "5") }

// Proves: link.simulated
func TestInvariant6SeesAckOfPacketThatDidNotCome(t *testing.T) {
	mistaken(t, sim.AckTooMuch, lossyNet, "6")
}

// Proves: link.simulated
func TestInvariant6SeesBrokenFrame(t *testing.T) { mistaken(t, sim.BreakFrame, nil, "6") }

// Proves: link.order, link.simulated
func TestInvariant6SeesLentFrameChanged(t *testing.T) { mistaken(t, sim.RewriteLent, lateDone, "6") }

// Proves: link.simulated
func TestInvariant7SeesSuppressedWithdrawal(t *testing.T) { mistaken(t, sim.SuppressName, nil, "7") }

// Proves: link.simulated
func TestInvariant7SeesBindingThatStays(t *testing.T) { mistaken(t, sim.KeepBinding, nil, "7") }

// parallel runs with two networks, of which one comes and goes.
func parallel(f *sim.Faults) {
	f.Load, f.Tolerance = 2, 200*time.Millisecond
	f.Net[0] = sim.NetworkFaults{Loss: 0.05, Flap: time.Second, FlapFor: 2 * time.Second}
	f.Net[1] = sim.NetworkFaults{Loss: 0.05}
}

// Proves: link.simulated
func TestInvariant1SeesMessagesSwapped(t *testing.T) { mistaken(t, sim.ReadSwapped, nil, "1") }

// Proves: link.simulated
func TestInvariant2SeesContactLostForNoReason(t *testing.T) {
	mistaken(t, sim.LoseContact, nil, "2")
}

// Proves: link.simulated
func TestInvariant1SeesSpoiltFragment(t *testing.T) { mistaken(t, sim.SpoilFragment, nil, "1", "6") }

// Proves: link.simulated
func TestInvariant6SeesTunnelledPacketMissing(t *testing.T) {
	mistaken(t, sim.OmitTunnelled, parallel, "6")
}

// Proves: link.simulated
func TestInvariant6SeesTunnelledPacketChanged(t *testing.T) {
	mistaken(t, sim.SpoilTunnelled, parallel, "6", "1")
}

// Proves: link.failover, link.simulated
func TestInvariant1SeesSecondLinkOvertake(t *testing.T) {
	mistaken(t, sim.EarlySynch, func(f *sim.Faults) {
		parallel(f)
		f.Load, f.Window, f.Net[1].Loss = 6, 10, 0.15
	}, "1")
}

// Proves: link.failover, link.simulated
func TestInvariant6SeesWrongSynchPoint(t *testing.T) { mistaken(t, sim.MoveSynch, parallel, "6") }
