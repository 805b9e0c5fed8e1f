// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

// A Row is a kind of fault and what it is tried on: clusters with every check, and one
// flow at full speed.
type Row struct {
	Name     string
	Networks int
	Faults   Faults
	NoReset  bool // no link goes down for it
}

// Rows are the faults of the table, each by itself, and a few together.
func Rows() []Row {
	var rows []Row
	add := func(name string, networks int, change func(f *Faults)) *Row {
		r := Row{Name: name, Networks: networks, Faults: Perfect()}
		r.Faults.Everywhere(NetworkFaults{Wire: Gigabit})
		change(&r.Faults)
		rows = append(rows, r)
		return &rows[len(rows)-1]
	}
	net := func(change func(n *NetworkFaults)) func(f *Faults) {
		return func(f *Faults) {
			for i := range f.Net {
				change(&f.Net[i])
			}
		}
	}
	lossOf := func(share float64) func(f *Faults) { return net(func(n *NetworkFaults) { n.Loss = share }) }
	placesOf := func(n int) func(f *Faults) {
		return net(func(f *NetworkFaults) { f.Reorder, f.Places, f.MaxDelay = 0.01, n, 5*time.Millisecond })
	}
	// Flapping begins when there are two links.
	flaps := func(n *NetworkFaults) { n.Flap, n.FlapFor, n.FlapAfter = time.Second, time.Second, 3*time.Second }
	stalls := func(f *Faults) { f.Pause, f.PauseFor = time.Second, time.Second }

	add("no faults", 1, func(*Faults) {}).NoReset = true
	add("no faults, two networks", 2, func(*Faults) {}).NoReset = true
	add("loss 0.1 %", 1, lossOf(0.001)).NoReset = true
	add("loss 1 %", 1, lossOf(0.01)).NoReset = true
	add("loss 5 %", 1, lossOf(0.05)).NoReset = true
	add("loss 10 %", 1, lossOf(0.1)).NoReset = true
	add("loss 20 %", 1, lossOf(0.2))
	add("bursts of 120 µs, each 12 ms", 1, net(func(n *NetworkFaults) {
		n.Burst = Burst{Every: 12 * time.Millisecond, For: 120 * time.Microsecond, Loss: 1}
	})).NoReset = true
	add("bursts of 10 ms, each 1 s", 1, net(func(n *NetworkFaults) {
		n.Burst = Burst{Every: time.Second, For: 10 * time.Millisecond, Loss: 1}
	})).NoReset = true
	add("reordering by 2", 1, placesOf(2)).NoReset = true
	add("reordering by up to 8", 1, placesOf(8)).NoReset = true
	add("reordering by up to 64", 1, placesOf(64)).NoReset = true
	add("duplication 5 %", 1, net(func(n *NetworkFaults) { n.Duplicate = 0.05 })).NoReset = true
	add("loss 5 % one way", 1, net(func(n *NetworkFaults) { n.LossOneWay = 0.05 })).NoReset = true
	add("partition for up to 4 s", 1, net(func(n *NetworkFaults) { n.Partition, n.OneWay = 2*time.Second, 0.3 }))
	add("flapping bearer, one of two", 2, func(f *Faults) { flaps(&f.Net[0]) })
	add("flapping bearers, both", 2, net(flaps))
	add("CPU stalls for up to 1 s", 1, stalls).NoReset = true
	add("1 % of chunks refused", 1, func(f *Faults) { f.Refuse = 0.01 })
	add("no chunk for up to 100 ms", 1, func(f *Faults) { f.Starve, f.StarveFor = 500*time.Millisecond, 100*time.Millisecond })
	add("loss 5 %, reordering by 8, duplication", 1, func(f *Faults) {
		lossOf(0.05)(f)
		placesOf(8)(f)
		net(func(n *NetworkFaults) { n.Duplicate = 0.01 })(f)
	}).NoReset = true
	add("loss 1 %, flapping bearers, CPU stalls", 2, func(f *Faults) {
		lossOf(0.01)(f)
		net(flaps)(f)
		stalls(f)
	})
	add("flapping bearer, other loses 5 %", 2, func(f *Faults) {
		flaps(&f.Net[0])
		f.Net[1].Loss = 0.05
	})
	return rows
}

// A Measure is one line of the table of goodput.
type Measure struct {
	Loss    float64
	Targets [len(Windows)]float64 // beside no loss, 0: none
}

// A Window is a way to decide how many packets are under way.
type Window struct {
	Name     string
	Least    int
	Most     int // 0: as Least
	NoBlocks bool
}

// Windows are the columns of the table of goodput.
var Windows = [...]Window{
	{Name: "static 50, go-back-N", Least: 50, NoBlocks: true},
	{Name: "static 50, gap-ack", Least: 50},
	{Name: "adaptive 50…8191, gap-ack", Least: 50, Most: 8191},
}

// Measures are its lines.
var Measures = [...]Measure{
	{Loss: 0},
	{Loss: 0.001},
	{Loss: 0.01, Targets: [...]float64{0.6, 0.8, 0}},
	{Loss: 0.05, Targets: [...]float64{0, 0.4, 0}},
}
