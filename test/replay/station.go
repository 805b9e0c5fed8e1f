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
	MAC  frame.MAC
	Addr frame.NodeAddr // the last it used, on trial or its own
}

func (s Station) String() string { return fmt.Sprintf("%v (%v)", s.Addr, s.MAC) }

// Stations returns the nodes that send discovery messages, in their order.
func (c *Capture) Stations() []Station {
	var all []Station
	for _, f := range c.Frames {
		d, err := discovery(f)
		if err != nil {
			continue
		}
		i := slices.IndexFunc(all, func(s Station) bool { return s.MAC == f.Src })
		if i < 0 {
			all, i = append(all, Station{MAC: f.Src}), len(all)
		}
		all[i].Addr = d.Prev()
	}
	return all
}

// Station finds a node by what a user calls it: its address, in hexadecimal or as
// 1.1.1, its MAC, or the name it has in calls. Errors: ErrNode.
func (c *Capture) Station(name string, calls []Call) (frame.MAC, error) {
	for _, call := range calls {
		if call.Node == name && call.Verb == "bearer" {
			return call.mac, nil
		}
	}
	var hits []Station
	mac, macErr := parseMAC(name)
	addr, addrErr := frame.ParseNodeAddr(name)
	all := c.Stations()
	for _, s := range all {
		if macErr == nil && s.MAC == mac || macErr != nil && addrErr == nil && s.Addr == addr {
			hits = append(hits, s)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0].MAC, nil
	case 0:
		return frame.MAC{}, fmt.Errorf("%w: %q; it has %s", ErrNode, name, listed(all))
	}
	return frame.MAC{}, fmt.Errorf("%w: %q is the address of several, say which MAC: %s", ErrNode, name, listed(hits))
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
