// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/internal/quantile"
)

// A Report is what came of a run.
type Report struct {
	Config     Config
	Nodes      int
	Violations int
	Findings   []string // the first of them

	Booted     time.Duration // after the last node started, when all knew all
	Simulated  time.Duration
	Real       time.Duration // of this machine, by Config.Clock
	IdleReal   time.Duration // of that, while all idled
	Ticks      uint64        // times that a node was served for a deadline
	Frames     uint64        // sent
	Bytes      uint64        // of these, without preamble, padding and checksum
	Heard      uint64        // frames handed to nodes
	FramesLost uint64

	Idle   Traffic // of a node when all idle
	Memory Memory
	Kills  []Kill
}

// Traffic is what a node sends, per second.
type Traffic struct{ Messages, Bytes float64 }

// Memory is what nodes take, in bytes, without the arenas that frames lie in.
type Memory struct {
	Node float64 // with all its peers
	Peer float64 // for each other node, names and all
}

// A Kill is a number of nodes dying at once, and how long it took others to notice: over
// all survivors and all that died.
type Kill struct {
	Nodes              int
	Parted             bool // not killed: they lost the others, and those them
	Min, P50, P99, Max time.Duration
	Rejoined           time.Duration // after they started again, when all knew all
}

// distribution sorts times, and fills in how they are distributed.
func (k *Kill) distribution(times []time.Duration) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	k.Min, k.P50, k.P99, k.Max = quantile.Of(times, 0), quantile.Of(times, 0.5), quantile.Of(times, 0.99), quantile.Of(times, 1)
}

func (r *Report) String() string {
	s := fmt.Sprintf("%d nodes: all in contact %v after the last started; idle, a node sends %.1f messages and %.0f bytes a second; %.0f KiB a node, %.0f bytes a peer\n",
		r.Nodes, r.Booted, r.Idle.Messages, r.Idle.Bytes, r.Memory.Node/1024, r.Memory.Peer)
	for _, k := range r.Kills {
		s += fmt.Sprintf("  %d killed: noticed after %v, half %v, 99 %% %v, all %v; back in contact %v after they started again\n",
			k.Nodes, k.Min, k.P50, k.P99, k.Max, k.Rejoined)
	}
	return s + fmt.Sprintf("  %v simulated in %v; %d frames sent, %d heard, %d lost, %d deadlines; violations: %d",
		r.Simulated, r.Real.Round(10*time.Millisecond), r.Frames, r.Heard, r.FramesLost, r.Ticks, r.Violations)
}
