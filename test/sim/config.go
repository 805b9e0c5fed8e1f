// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"io"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Config says what to simulate. All but Seed has defaults.
type Config struct {
	Seed     uint64
	Nodes    int           // 2 to 5; 0: by the seed
	Networks int           // 1 or 2, with a device of every node on each; 0: by the seed
	FirstSeq frame.Seq     // where links begin to count; 0: by the seed, half of them near the wrap
	Duration time.Duration // with workload and faults; default 4 s, of some seeds 12 s
	Calm     time.Duration // after them, until everything must be well, at most; default 90 s
	Steps    uint64        // end after so many turns of nodes, unhealed; 0: when it is over
	Faults   *Faults       // nil: by the seed
	Hostile  bool          // inject frames nobody sent; only 4, 5 and "no panic" hold
	Mutation Mutation      // a deliberate mistake, to see the checks find it
	Trace    io.Writer     // one line a frame and event; nil: none
	Capture  io.Writer     // every frame on its way, as pcapng; nil: none
}

// maxNetworks is how many switches there are at most.
const maxNetworks = 2

// Faults are what a run suffers from. Shares are 0 to 1; a mean time of 0 is never.
type Faults struct {
	Net       [maxNetworks]NetworkFaults
	Crash     time.Duration // mean time between crashes
	Pause     time.Duration // mean time between stops of a node's process
	PauseFor  time.Duration // the longest of them; 0: 3 s
	Starve    time.Duration // mean time between shortages, in which a node gets no chunk
	StarveFor time.Duration // the longest of them
	Refuse    float64       // share of chunks asked for and not given
	Device    DeviceLimits
	Tolerance time.Duration // of links; 0: the default
	Window    int           // of links, the least; 0: the default
	MaxWindow int           // the most: more than Window lets it adapt; 0: as Window
	Chunks    int           // of each node's arena
	Reserve   int           // of them, never for data
	MixedMTU  bool
	// SmallReceive: receive limits low enough to be met.
	SmallReceive bool
	SlowReaders  bool
	Load         float64 // 1 is normal
	Long         float64 // share of bursts of messages too long for a packet
	NoBundles    bool    // every message has a packet to itself
	Hold         float64 // share of bursts whose messages wait for each other
}

// NetworkFaults are what one network does to frames.
type NetworkFaults struct {
	Loss       float64
	LossOneWay float64 // besides, on the way from a node to one of a higher number
	Burst      Burst
	Duplicate  float64
	Reorder    float64       // share of frames that others overtake
	Places     int           // by as many, from 2 on; 0: by time alone
	MaxDelay   time.Duration // of an overtaken frame, at most a third of a timer interval
	Partition  time.Duration // mean time between partitions
	OneWay     float64       // share of partitions that are deaf in one direction only
	Flap       time.Duration // mean time between a node's losses of this network
	FlapFor    time.Duration // the longest of them
	FlapAfter  time.Duration // the first comes later
	Wire       Wire
}

// A Burst is loss after Gilbert: good times without, bad ones with loss, on the way from
// each station to each other.
type Burst struct {
	Every time.Duration // how long a good time is, on average
	For   time.Duration // and a bad one
	Loss  float64       // in it
}

// A Wire is the way to the switch, with what it takes; the zero value takes anything at
// once.
type Wire struct {
	Rate  int64         // bits a second, with what Ethernet adds to a frame
	Delay time.Duration // one way
	Queue int           // frames that may wait for their turn; more are lost; 0: any number
}

// DeviceLimits are what keeps a device from being perfect.
type DeviceLimits struct {
	TxRing, RxRing int           // frames
	Batch          int           // frames one Transmit takes
	Complete       time.Duration // typical time until a frame is let go of
	Late           float64       // share of frames let go of much later
	LateBy         time.Duration
	Stall          time.Duration // mean time between stalls of the transmitter; 0: none
	StallFor       time.Duration // the longest of them
}

// Perfect is networks and devices without faults.
func Perfect() Faults {
	return Faults{
		Chunks: 1024, Reserve: 128, Load: 1, Hold: 0.5, Long: 0.1,
		Device: DeviceLimits{TxRing: 256, RxRing: 512, Batch: 64, Complete: 5 * time.Microsecond},
	}
}

// Everywhere gives all networks the same faults.
func (f *Faults) Everywhere(n NetworkFaults) {
	for i := range f.Net {
		f.Net[i] = n
	}
}

// unharmed reports whether a network, and the nodes on it, never give a reason for
// losing contact.
func (f *Faults) unharmed(net int) bool {
	n := f.Net[net]
	n.Duplicate, n.Wire = 0, Wire{}
	if n.Places == 0 && n.Reorder > 0 {
		n.Reorder, n.MaxDelay = 0, 0
	}
	n.MaxDelay, n.OneWay, n.FlapFor, n.FlapAfter = 0, 0, 0, 0
	return n == NetworkFaults{} && f.Crash == 0 && f.Pause == 0 && f.Starve == 0 && f.Refuse == 0 &&
		f.Device.Stall == 0 && f.Device.Late == 0
}
