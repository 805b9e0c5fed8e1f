// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"sync/atomic"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// mapped is what Mapped returns.
var mapped atomic.Int64

// Mapped is the number of bytes that nodes of this process have mapped for frames.
func Mapped() int64 { return mapped.Load() }

// jumboChunks is how many chunks are there for frames that need more than 4 KiB.
const jumboChunks = 512

// lateMTU is the MTU of the bearers that a node opened with NoBearers has memory for:
// those of a kernel's over UDP.
const lateMTU = 14000

// newArena makes the memory for a node's frames: one mapping. unmap is for
// netdev.Arena.Retire, so that the mapping lives until the last chunk has come back,
// which may be after Close. With UTIPC_POISON=1 in the environment use after release
// is found (netdev.Poison). Errors: the system's.
func newArena(cfg Config) (a *netdev.Arena, unmap func(), err error) {
	c := netdev.ArenaConfig{Small: cfg.Chunks, Poison: os.Getenv("UTIPC_POISON") == "1"}
	mtu := cfg.MTU
	if mtu == 0 && cfg.NoBearers {
		mtu = lateMTU
	}
	for _, d := range cfg.Bearers {
		mtu = max(mtu, d.MTU())
	}
	if size := mtu + frame.EthernetLen; size > netdev.SmallChunk-netdev.Headroom {
		c.Jumbo, c.JumboSize = jumboChunks, size
	}
	if c.Memory, unmap, err = mapMemory(c.MemorySize()); err != nil {
		return nil, nil, err
	}
	return netdev.NewArena(c), unmap, nil
}

// retire ends the arena: the frames no device will take any more go back, and the
// mapping goes when those have come back that devices and readers still hold. The keys
// are wiped, and so those frames need no chunks to be sealed into.
func (n *Node) retire() {
	if n.eng != nil {
		n.eng.FlushKeys(n.loop.Now())
	}
	for _, a := range n.attached {
		n.abandon(a)
	}
	n.arena.Retire(n.unmap)
}
