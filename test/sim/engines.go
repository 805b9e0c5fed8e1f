// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

func (w *world) arenaConfig(l *life) netdev.ArenaConfig {
	return netdev.ArenaConfig{
		Small: w.faults.Chunks, Reserve: w.faults.Reserve, Poison: true,
		Refuse: func(netdev.Use) bool { return l.refuses() },
	}
}

func (w *world) engineConfig(l *life) engine.Config {
	return engine.Config{
		Address: l.n.addr, NoBundles: w.faults.NoBundles, FirstSeq: w.first,
		AsKernel: w.cfg.Mutation == EarlySynch, // kernels do not cork a second link: so its mistake can be seen
		Arena:    l.arena, Chance: engine.NewSeeded(w.cfg.Seed, uint64(1000+w.lives)),
		Tolerance: w.faults.Tolerance, Window: w.faults.Window, MaxWindow: w.faults.MaxWindow,
		NamePark: w.park(),
		Did:      l.watchdog.did,
	}
}

// A neighbour is another node as this one sees it over one network.
type neighbour struct {
	engine.Neighbour
	net int
}

// links yields the links an engine has.
func (l *life) links(yield func(n neighbour, link *flowctl.Link) bool) { links(l.eng, yield) }

// links yields the links an engine has.
func (t *term) links(yield func(n neighbour, link *flowctl.Link) bool) { links(t.eng, yield) }

func links(e *engine.Engine, yield func(n neighbour, link *flowctl.Link) bool) {
	for p := range e.Neighbours {
		for i, link := range p.Links {
			if link != nil && !yield(neighbour{p, i}, link) {
				return
			}
		}
	}
}

func (f *flow) engineConfig(i int) engine.Config {
	caps := engine.Capabilities
	if f.NoBlocks {
		caps &^= frame.CapGapAckBlock
	}
	return engine.Config{
		Address: frame.NodeAddr(0x1001001 + i), Capabilities: caps, Arena: f.ends[i].arena,
		Chance:    engine.NewSeeded(f.Seed, uint64(1+i)),
		Tolerance: f.Faults.Tolerance, Window: f.Faults.Window, MaxWindow: f.Faults.MaxWindow,
	}
}

// park is the engines' NamePark. The reference says at once what becomes of a message,
// so it knows no parking; where frames are changed there is none.
func (w *world) park() time.Duration {
	if w.cfg.Hostile {
		return engine.DefaultNamePark
	}
	return -1
}
