// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"io"
	"math/rand/v2"
	"time"
)

// A Config says what to simulate. All but Seed has defaults.
type Config struct {
	Seed     uint64
	Nodes    int           // 2 to 5; 0: by the seed
	Duration time.Duration // with workload and faults; default 20 s
	Calm     time.Duration // after them, until everything must be well; default 90 s
	Faults   *Faults       // nil: by the seed
	Hostile  bool          // inject frames nobody sent; only 4, 5 and "no panic" hold
	Mutation Mutation      // a deliberate mistake, to see the checks find it
	Trace    io.Writer     // one line a frame and event; nil: none
}

// Faults are what a run suffers from. Shares are 0 to 1.
type Faults struct {
	Loss, Duplicate, Reorder float64
	MaxDelay                 time.Duration // of a reordered frame, at most a third of a timer interval
	Partition                time.Duration // mean time between partitions; 0: none
	OneWay                   float64       // share of partitions that are deaf in one direction only
	Crash                    time.Duration // mean time between crashes; 0: none
	Pause                    time.Duration // mean time between stops of a node's process; 0: none
	Device                   DeviceLimits
	Tolerance                time.Duration // of links; 0: the default
	Window                   int           // of links; 0: the default
	Chunks                   int           // of each node's arena
	Reserve                  int           // of them, never for data
	MixedMTU                 bool
	SmallReceive             bool // receive limits low enough to be met
	SlowReaders              bool
	Load                     float64 // 1 is normal
	NoBundles                bool    // every message has a packet to itself
	Hold                     float64 // share of bursts whose messages wait for each other
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

// Perfect is a network and devices without faults.
func Perfect() Faults {
	return Faults{
		Chunks: 1024, Reserve: 128, Load: 1, Hold: 0.5,
		Device: DeviceLimits{TxRing: 256, RxRing: 512, Batch: 64, Complete: 5 * time.Microsecond},
	}
}

// Mix draws a run's faults from its seed: one seed in eight has none.
func Mix(r *rand.Rand) Faults {
	f := Perfect()
	if r.IntN(8) == 0 {
		return f
	}
	pick := func(v ...float64) float64 { return v[r.IntN(len(v))] }
	often := func(chance float64, mean time.Duration) time.Duration {
		if r.Float64() >= chance {
			return 0
		}
		return mean/2 + time.Duration(r.Int64N(int64(mean)))
	}
	f.Loss = pick(0, 0, 0.001, 0.01, 0.05, 0.2)
	f.Duplicate = pick(0, 0, 0.01, 0.1)
	f.Reorder = pick(0, 0, 0.01, 0.1, 0.4)
	if r.IntN(3) == 0 {
		f.Tolerance = time.Duration(200+r.IntN(2000)) * time.Millisecond
	}
	f.MaxDelay = time.Duration(1+r.IntN(15)) * time.Millisecond
	f.Partition = often(0.5, 5*time.Second)
	f.OneWay = pick(0, 0.3, 1)
	f.Crash = often(0.3, 8*time.Second)
	f.Pause = often(0.3, 4*time.Second)
	if r.IntN(2) == 0 {
		f.Device.TxRing = 1 << (1 + r.IntN(8))
		f.Device.RxRing = 1 << (2 + r.IntN(8))
		f.Device.Batch = 1 + r.IntN(32)
		f.Device.Complete = time.Duration(1+r.IntN(2000)) * time.Microsecond
		f.Device.Late = pick(0, 0.01, 0.2)
		f.Device.LateBy = time.Duration(1+r.IntN(300)) * time.Millisecond
		f.Device.Stall = often(0.5, 3*time.Second)
		f.Device.StallFor = time.Duration(1+r.IntN(4000)) * time.Millisecond
	}
	if r.IntN(3) == 0 {
		f.Window = 50 + r.IntN(300)
	}
	if r.IntN(2) == 0 {
		f.Chunks = 160 + r.IntN(400)
		f.Reserve = 64
	}
	f.MixedMTU = r.IntN(4) == 0
	f.SmallReceive = r.IntN(2) == 0
	f.SlowReaders = r.IntN(2) == 0
	f.Load = pick(0.5, 1, 1, 3)
	f.NoBundles = r.IntN(6) == 0
	f.Hold = pick(0, 0.3, 0.7, 1)
	if r.IntN(6) == 0 {
		f.Window = 1 + r.IntN(20) // less than fills what may be held
	}
	return f
}

// Mutation is a deliberate mistake, made by the simulation in the place of the
// stack, to prove that a check can fail.
type Mutation uint8

const (
	NoMutation    Mutation = iota
	DeliverTwice           // a packet's payload comes again under the next number
	DropAccepted           // an accepted message is never sent
	ReadAgain              // after contact was lost a message is read once more
	SuppressRoom           // event Room is not given
	LeakChunk              // a chunk is taken and forgotten
	AckTooMuch             // a frame acknowledges a packet that did not come
	BreakFrame             // a frame does not build back
	SuppressName           // a withdrawal is not told
	ChangePayload          // a byte of a message changes in the port
	KeepBinding            // a binding of a closed port stays
	RewriteLent            // a frame changes while a device has it
	DropUncounted          // a message disappears at the receiver and is not counted
	OmitBundled            // a message is left out of a bundle
	RepeatBundled          // a message stands twice in a bundle, in the place of another
	SwapBundled            // two messages of a bundle change places
	ForgetFlush            // what was held is not sent at the end of a turn
)
