// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"
)

// chances draws faults.
type chances struct{ *rand.Rand }

func (r chances) pick(v ...float64) float64 { return v[r.IntN(len(v))] }

// often draws a mean time near the one given, or, unless lucky, never.
func (r chances) often(chance float64, mean time.Duration) time.Duration {
	if r.Float64() >= chance {
		return 0
	}
	return mean/2 + time.Duration(r.Int64N(int64(mean)))
}

// Mix draws a run's faults from its seed: one seed in eight has none.
func Mix(rng *rand.Rand) Faults {
	r := chances{rng}
	f := Perfect()
	if r.IntN(8) == 0 {
		return f
	}
	if r.IntN(3) == 0 {
		f.Tolerance = time.Duration(200+r.IntN(2000)) * time.Millisecond
	}
	for i := range f.Net {
		if r.IntN(4) > 0 {
			f.Net[i] = mixNetwork(r)
		}
	}
	f.Crash = r.often(0.3, 8*time.Second)
	f.Pause = r.often(0.3, 4*time.Second)
	if r.IntN(2) == 0 {
		f.Device = mixDevice(r)
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
	f.Load = r.pick(0.5, 1, 1, 3)
	f.Long = r.pick(0, 0.1, 0.3)
	f.NoBundles = r.IntN(6) == 0
	f.Hold = r.pick(0, 0.3, 0.7, 1)
	if r.IntN(6) == 0 {
		f.Window = 1 + r.IntN(20) // less than fills what may be held
	}
	if r.IntN(3) == 0 {
		f.MaxWindow = max(f.Window, 50) * (2 + r.IntN(20))
	}
	if r.IntN(6) == 0 {
		f.Starve = r.often(1, 3*time.Second)
		f.StarveFor = time.Duration(1+r.IntN(1000)) * time.Millisecond
	}
	if r.IntN(8) == 0 {
		f.Refuse = r.pick(0.001, 0.01, 0.1)
	}
	return f
}

func mixNetwork(r chances) (n NetworkFaults) {
	n.Loss = r.pick(0, 0, 0.001, 0.01, 0.05, 0.2)
	n.LossOneWay = r.pick(0, 0, 0, 0, 0.05, 0.3)
	if r.IntN(4) == 0 {
		n.Burst = Burst{
			Every: time.Duration(10+r.IntN(1000)) * time.Millisecond,
			For:   time.Duration(1+r.IntN(50)) * time.Millisecond, Loss: r.pick(0.5, 1),
		}
	}
	n.Duplicate = r.pick(0, 0, 0.01, 0.1)
	n.Reorder = r.pick(0, 0, 0.01, 0.1, 0.4)
	if r.IntN(2) == 0 {
		n.Places = 2 << r.IntN(6)
	}
	n.MaxDelay = time.Duration(1+r.IntN(15)) * time.Millisecond
	n.Partition = r.often(0.4, 5*time.Second)
	n.OneWay = r.pick(0, 0.3, 1)
	n.Flap = r.often(0.3, 3*time.Second)
	n.FlapFor = time.Duration(1+r.IntN(4000)) * time.Millisecond
	return n
}

func mixDevice(r chances) (d DeviceLimits) {
	d.TxRing = 1 << (1 + r.IntN(8))
	d.RxRing = 1 << (2 + r.IntN(8))
	d.Batch = 1 + r.IntN(32)
	d.Complete = time.Duration(1+r.IntN(2000)) * time.Microsecond
	d.Late = r.pick(0, 0.01, 0.2)
	d.LateBy = time.Duration(1+r.IntN(300)) * time.Millisecond
	d.Stall = r.often(0.5, 3*time.Second)
	d.StallFor = time.Duration(1+r.IntN(4000)) * time.Millisecond
	return d
}
