// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/stack"
)

// limit is how long a run may take.
const limit = 10 * time.Minute

// tolerance is how long a rank may be silent: one that computes beside others may get no
// processor for a while. That one has ended is seen otherwise.
const tolerance = 20 * time.Second

// MostRanks is how many there may be.
const MostRanks = 16

// waits are the ways to wait, by name.
var waits = map[string]stack.WaitMode{"adaptive": stack.Adaptive, "sleep": stack.Sleep, "spin": stack.Spin}

// What carries messages.
const (
	UTIPC = "utipc"
	TCP   = "tcp"
)

// Options are of one run. Zero fields mean: the kernel's own ranks, steps and size;
// UTIPC; adaptive.
type Options struct {
	Kernel kernel.Kernel
	Over   string // UTIPC or TCP
	Wait   string // "adaptive": look for 50 µs, then sleep; "spin", "sleep"
	Ranks  int
	Config kernel.Config
	Burn   bool // a busy process on each core meanwhile; not InProcess
	Nice   int  // priority of all processes, -20 (first) to 19
}

func (o Options) withDefaults() (Options, error) {
	if o.Ranks == 0 {
		o.Ranks = o.Kernel.Ranks
	}
	if o.Config.Steps == 0 {
		o.Config.Steps = o.Kernel.Defaults.Steps
	}
	if o.Config.Size == 0 {
		o.Config.Size = o.Kernel.Defaults.Size
	}
	if o.Over == "" {
		o.Over = UTIPC
	}
	if o.Wait == "" {
		o.Wait = "adaptive"
	}
	_, known := waits[o.Wait]
	switch {
	case o.Ranks < o.Kernel.Ranks || o.Ranks > MostRanks:
		return o, fmt.Errorf("launch: %d ranks, not %d to %d", o.Ranks, o.Kernel.Ranks, MostRanks)
	case o.Config.Steps < 1 || o.Config.Size < 1:
		return o, fmt.Errorf("launch: %d steps of size %d", o.Config.Steps, o.Config.Size)
	case o.Over != UTIPC && o.Over != TCP:
		return o, fmt.Errorf("launch: messages do not go over %q", o.Over)
	case !known:
		return o, fmt.Errorf("launch: no way to wait is called %q", o.Wait)
	}
	return o, nil
}

// A Report is what a run has found.
type Report struct {
	Name  string `json:"name"`
	Over  string `json:"over"`
	Wait  string `json:"wait"`
	Where string `json:"where"` // namespaces, loopback, memory
	Ranks int    `json:"ranks"`
	Burn  bool   `json:"burn"`
	What  string `json:"what"` // Value is
	Unit  string `json:"unit"`
	Size  int    `json:"size"`
	kernel.Result
}

func (o Options) report(where string, r kernel.Result) Report {
	return Report{
		Name: o.Kernel.Name, Over: o.Over, Wait: o.Wait, Where: where, Ranks: o.Ranks, Burn: o.Burn,
		What: o.Kernel.Value, Unit: o.Kernel.Unit, Size: o.Config.Size, Result: r,
	}
}

// loopback is an address of this host for each rank. They are another run's by chance only:
// ports are fixed, and runs may stand side by side.
func loopback(n int) (hosts []string) {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], 127<<24|(1<<16+rand.Uint32N(1<<23))&^0xff)
	for i := range n {
		a[3] = byte(i + 1)
		hosts = append(hosts, netip.AddrFrom4(a).String())
	}
	return hosts
}
