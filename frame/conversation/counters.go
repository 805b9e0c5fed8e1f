// SPDX-License-Identifier: Apache-2.0

package conversation

import "time"

// Counters are what one node has sent to another over one link, or to all. What is
// sent again counts among packets and bytes each time, among messages once.
type Counters struct {
	Packets  uint64 `json:"packets"`  // of all kinds
	Bytes    uint64 `json:"bytes"`    // of their frames
	Numbered uint64 `json:"numbered"` // packets in the link's sequence

	Messages       uint64 `json:"messages"`        // whole ones, of programs and of the stacks
	MessageBytes   uint64 `json:"message_bytes"`   // what is in them behind the headers
	Fragments      uint64 `json:"fragments"`       // packets
	Fragmented     uint64 `json:"fragmented"`      // messages that came in them
	Bundles        uint64 `json:"bundles"`         // packets
	Bundled        uint64 `json:"bundled"`         // messages that came in them
	Tunnelled      uint64 `json:"tunnelled"`       // packets of another link, and words on them
	Returned       uint64 `json:"returned"`        // messages that went back to who sent them
	Publications   uint64 `json:"publications"`    // names
	Withdrawals    uint64 `json:"withdrawals"`     // names
	Retransmitted  uint64 `json:"retransmitted"`   // packets whose receiver had missed them
	Needless       uint64 `json:"needless"`        // of them, those it had acknowledged meanwhile
	Duplicates     uint64 `json:"duplicates"`      // packets that nobody had missed
	Late           uint64 `json:"late"`            // packets behind others, for the first time
	Gaps           uint64 `json:"gaps"`            // places where numbers are left out
	Skipped        uint64 `json:"skipped"`         // numbers left out
	Unseen         uint64 `json:"unseen"`          // packets acknowledged and not captured
	Lost           uint64 `json:"lost"`            // packets of which the capture says so
	States         uint64 `json:"states"`          // STATE messages
	Probes         uint64 `json:"probes"`          // of them, those that ask for one
	Naks           uint64 `json:"naks"`            // of them, those that report a gap
	BroadcastNaks  uint64 `json:"broadcast_naks"`  // messages that report missing broadcasts
	Reported       uint64 `json:"reported"`        // packets they report as missing, each time anew
	Resets         uint64 `json:"resets"`          // RESET messages
	Activates      uint64 `json:"activates"`       // ACTIVATE messages
	Acks           uint64 `json:"acks"`            // packets with news of what arrived
	Sealed         uint64 `json:"sealed"`          // encrypted packets that were not opened
	InFlight       int    `json:"in_flight_max"`   // the most packets sent behind the last one acknowledged in order
	AckTime        Times  `json:"ack_time"`        // from a packet to its acknowledgement, never of one sent twice
	ProbeRoundTrip Times  `json:"probe_roundtrip"` // from a probe to the answer
}

// Times are how long something took. In JSON they are nanoseconds.
type Times struct {
	Samples uint64        `json:"samples"`
	Min     time.Duration `json:"min_ns"`
	Sum     time.Duration `json:"sum_ns"`
	Max     time.Duration `json:"max_ns"`
}

// Mean is the arithmetic mean, and 0 without a sample.
func (t Times) Mean() time.Duration {
	if t.Samples == 0 {
		return 0
	}
	return t.Sum / time.Duration(t.Samples)
}

func (t *Times) add(d time.Duration) {
	if t.Samples == 0 || d < t.Min {
		t.Min = d
	}
	t.Max = max(t.Max, d)
	t.Samples++
	if t.Sum += d; t.Sum < 0 { // a capture may claim anything
		t.Sum = 1<<63 - 1
	}
}

func (c *Counters) classify(v Class, skipped int) {
	c.Numbered++
	switch v {
	case Late:
		c.Late++
	case Retransmitted:
		c.Retransmitted++
	case Duplicate:
		c.Duplicates++
	}
	if skipped > 0 {
		c.Gaps++
		c.Skipped += uint64(skipped)
	}
}
