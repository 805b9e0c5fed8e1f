// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/utipc/utipc/frame"
)

// ErrNode means that a capture has no such node, or more than one.
var ErrNode = errors.New("replay: no such node in the capture")

// A Station is a node as a capture shows it.
type Station struct {
	MAC  frame.MAC      // of its first bearer
	MACs []frame.MAC    // of all of them, in the order they show
	Addr frame.NodeAddr // the last it used, on trial or its own

	node frame.Discovery // what makes it known
}

func (s Station) String() string { return fmt.Sprintf("%v (%v)", s.Addr, s.MAC) }

// is reports whether a discovery message from a station is the node's: it comes from
// a bearer known, or shows the same draws.
func (s *Station) is(from frame.MAC, d frame.Discovery) bool {
	return slices.Contains(s.MACs, from) ||
		d.Identity() == s.node.Identity() && d.Signature() == s.node.Signature() && d.NetHash() == s.node.NetHash()
}

// Stations returns the nodes that send discovery messages, in their order.
func (c *Capture) Stations() []Station {
	var all []Station
	for _, f := range c.Frames {
		d, err := discovery(f)
		if err != nil {
			continue
		}
		i := slices.IndexFunc(all, func(s Station) bool { return s.is(f.Src, d) })
		if i < 0 {
			all, i = append(all, Station{MAC: f.Src}), len(all)
		}
		s := &all[i]
		if !slices.Contains(s.MACs, f.Src) {
			s.MACs = append(s.MACs, f.Src)
		}
		s.Addr, s.node = d.Prev(), d
	}
	return all
}

// Station finds a node by what a user calls it: its address, in hexadecimal or as
// 1.1.1, the MAC of one of its bearers, or the name it has in calls. Errors: ErrNode.
func (c *Capture) Station(name string, calls []Call) (Station, error) {
	mac, macErr := parseMAC(name)
	for _, call := range calls {
		if call.Node == name && call.Verb == "bearer" {
			mac, macErr = call.mac, nil
			break
		}
	}
	var hits []Station
	addr, addrErr := frame.ParseNodeAddr(name)
	all := c.Stations()
	for _, s := range all {
		if macErr == nil && slices.Contains(s.MACs, mac) || macErr != nil && addrErr == nil && s.Addr == addr {
			hits = append(hits, s)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		if macErr == nil && name != mac.String() {
			return Station{MAC: mac, MACs: []frame.MAC{mac}}, nil // silent
		}
		return Station{}, fmt.Errorf("%w: %q; it has %s", ErrNode, name, listed(all))
	}
	return Station{}, fmt.Errorf("%w: %q is the address of several, say which MAC: %s", ErrNode, name, listed(hits))
}

func listed(all []Station) string {
	if len(all) == 0 {
		return "no node that makes itself known over Ethernet"
	}
	var s []string
	for _, x := range all {
		s = append(s, x.String())
	}
	return strings.Join(s, ", ")
}

// A network tells which of the captured networks a station is on: those that exchange
// frames are on one.
type network map[frame.MAC]frame.MAC

// networks reads off a capture who is on a network with whom.
func (c *Capture) networks() network {
	n := network{}
	for i := range c.Frames {
		if f := &c.Frames[i]; !f.Dst.IsGroup() {
			n[n.of(f.Src)] = n.of(f.Dst)
		}
	}
	return n
}

// of returns the station that stands for the network.
func (n network) of(m frame.MAC) frame.MAC {
	for {
		up, ok := n[m]
		if !ok || up == m {
			return m
		}
		m = up
	}
}
