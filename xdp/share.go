// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"fmt"
	"slices"
)

// An Around is who uses an interface besides a node.
type Around struct {
	// Users says why others are held to use it, as "it has the address 10.0.0.1/24"; empty:
	// it is the node's alone. They do where it has an address, is a master or a port, or
	// another interface lies on it.
	Users string
	Above []string // VLANs and macvlans that lie on it: frames that belong to them are not heard on the interface, see AF_PACKET's filter
}

// A Cost is what a way costs both who use an interface.
type Cost struct {
	Takes  bool   // it takes offloads from the TCP of others
	Others string // what others lose
	Ours   string // what the node has of it
}

// A cost is the Cost of ways on one sort of device.
type cost struct {
	device string // in words
	is     func(l Link) bool
	ways   []Method
	Cost
}

// costs are looked at from the top; the first that fits holds. The figures are those of
// "utipc-lab bench datapath --only attached" and of preferences; docs/reference/drivers.md shows the
// table.
var costs = []cost{
	{
		"any", func(Link) bool { return true },
		[]Method{packet},
		Cost{
			false, "nothing: the socket hears frames of TIPC alone, and no offload changes",
			"a packet of the kernel and a copy for each frame: on a veth a 64 B round trip of 3.4 µs",
		},
	},
	{
		"veth", func(l Link) bool { return isVeth(l.Kind) },
		[]Method{generic},
		Cost{
			true, "every segment that TCP receives is copied into one piece before the program sees it: 0.6 to 0.7 of its rate at MTU 1500",
			"a 64 B round trip of 2.4 µs",
		},
	},
	{
		"veth", func(l Link) bool { return isVeth(l.Kind) },
		[]Method{native},
		Cost{
			true, "the other end sends without segmentation offload, each frame by itself",
			"a 64 B round trip of 3.0 µs",
		},
	},
	{
		"network card of a virtual machine", func(l Link) bool { return isCard(l.Kind) && l.Driver.Value == "virtio_net" },
		[]Method{native},
		Cost{true, "the card no longer receives joined segments", "frames before the kernel makes packets of them"},
	},
	{
		"network card with LRO on", func(l Link) bool { return isCard(l.Kind) && l.Offloads.Value.LRO },
		[]Method{native},
		Cost{true, "LRO goes off, or the driver refuses", "frames before the kernel makes packets of them"},
	},
	{
		"network card", func(l Link) bool { return isCard(l.Kind) },
		[]Method{native},
		Cost{
			false, "a program of a few instructions for each frame; many cards stop for a moment when it comes or goes",
			"frames before the kernel makes packets of them, without a copy where the driver can",
		},
	},
	{
		"any other", func(Link) bool { return true },
		[]Method{generic, native},
		Cost{true, "joined segments are copied into one piece, or no longer joined, before the program sees them", "no packet socket's copy"},
	},
}

// Cost is what a way would cost both who use the interface.
func (l Link) Cost(w Method) Cost {
	for _, c := range costs {
		if slices.Contains(c.ways, w) && c.is(l) {
			return c.Cost
		}
	}
	panic("xdp: the costs do not fit everything")
}

// order is in which order ways are tried: that of the table preferences, but where others use
// the interface, and which driver is left open, ways that take nothing from them come first.
func (l Link) order(cfg Config) []Method {
	all := preferred(l).order
	if l.Users == "" || !cfg.decides() {
		return all
	}
	harmless := slices.DeleteFunc(slices.Clone(all), func(w Method) bool { return l.Cost(w).Takes })
	return append(harmless, slices.DeleteFunc(slices.Clone(all), func(w Method) bool { return !l.Cost(w).Takes })...)
}

// decides reports whether the choice between the drivers is Open's, and it would attach a
// program.
func (c Config) decides() bool { return c.Driver == Auto && !c.readyMap() }

// best is the way of a plan that would be tried first if nobody else used the interface.
func (p Plan) best() Method {
	all := preferred(p.link).order
	return all[slices.IndexFunc(all, func(w Method) bool { return slices.Contains(p.open, w) })]
}

// holds says for how long a way is the right one of a plan: only as long as nobody else uses
// the interface, only as long as others do, or, with neither, whoever does.
func (p Plan) holds(w Method) (alone, shared bool) {
	if !p.config.decides() || len(p.open) == 0 {
		return false, false
	}
	takes, used := p.link.Cost(w).Takes, p.link.Users != ""
	return takes && !used, used && !takes && p.link.Cost(p.best()).Takes
}

// why is why the first way of a plan is the first.
func (p Plan) why() string {
	c := preferred(p.link)
	switch {
	case p.config.Driver != Auto:
		return fmt.Sprintf("%v is asked for", p.config.Driver)
	case len(p.open) == 0:
		return c.reason
	}
	w := p.open[0]
	if _, shared := p.holds(w); shared {
		return fmt.Sprintf("others use the interface (%s), and %v would take offloads from their TCP", p.link.Users, p.best())
	}
	for _, r := range p.Refused {
		if r.Method == c.order[0] {
			return without(r)
		}
	}
	return c.reason
}
