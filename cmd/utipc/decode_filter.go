// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/conversation"
	"github.com/utipc/utipc/frame/layers"
)

// A decodeFilter says which frames are shown: those that pass one of the conditions of
// each kind that is given. Without any all pass.
type decodeFilter struct {
	nodes    []nodeCondition
	links    []linkCondition
	users    []frame.User
	services []frame.Range
}

// A nodeCondition is a node, one of its sockets, or a station.
type nodeCondition struct {
	node   frame.NodeAddr
	socket frame.SocketAddr // when Port is not 0
	mac    frame.MAC        // when node is 0
}

// A linkCondition is two nodes, with their interfaces if they were given, or the
// broadcasts.
type linkCondition struct {
	broadcast bool
	nodes     [2]frame.NodeAddr
	names     [2]string
}

func (f *decodeFilter) empty() bool {
	return len(f.nodes)+len(f.links)+len(f.users)+len(f.services) == 0
}

// each calls add for each of the words that commas part.
func each(text string, add func(word string) error) error {
	for w := range strings.SplitSeq(text, ",") {
		if err := add(strings.TrimSpace(w)); err != nil {
			return err
		}
	}
	return nil
}

// addNode takes NODE, <NODE:PORT> or a MAC.
func (f *decodeFilter) addNode(text string) error {
	return each(text, func(w string) error {
		if m, err := net.ParseMAC(w); err == nil && len(m) == len(frame.MAC{}) {
			f.nodes = append(f.nodes, nodeCondition{mac: frame.MAC(m)})
			return nil
		}
		if strings.HasPrefix(w, "<") {
			a, err := frame.ParseAddr(w)
			s, ok := a.(frame.SocketAddr)
			if err != nil || !ok || s.Port == 0 || s.Node == 0 {
				return fmt.Errorf("%q is no socket, as <1001001:123> is", w)
			}
			f.nodes = append(f.nodes, nodeCondition{node: s.Node, socket: s})
			return nil
		}
		a, err := frame.ParseNodeAddr(w)
		if err != nil || a == 0 {
			return fmt.Errorf("%q is no node (1001001, 1.1.1), socket (<1001001:123>) or MAC", w)
		}
		f.nodes = append(f.nodes, nodeCondition{node: a})
		return nil
	})
}

// addLink takes NODE[:IF]-NODE[:IF] or broadcast-link.
func (f *decodeFilter) addLink(text string) error {
	return each(text, func(w string) error {
		if w == "broadcast-link" {
			f.links = append(f.links, linkCondition{broadcast: true})
			return nil
		}
		wrong := fmt.Errorf("%q is no link, as 1001001-1001002, 1001001:eth0-1001002:eth0 and broadcast-link are", w)
		// An interface's name may hold a hyphen: both ends must be read for a place to
		// be the right one.
		for i, c := range w {
			if c != '-' {
				continue
			}
			var l linkCondition
			ok := true
			for k, end := range [...]string{w[:i], w[i+1:]} {
				node, name, named := strings.Cut(end, ":")
				a, err := frame.ParseNodeAddr(node)
				ok = ok && err == nil && a != 0 && (!named || name != "")
				l.nodes[k], l.names[k] = a, name
			}
			if ok {
				f.links = append(f.links, l)
				return nil
			}
		}
		return wrong
	})
}

// wireUsers are those that come from the wire.
var wireUsers = [...]frame.User{
	frame.UserLow, frame.UserMedium, frame.UserHigh, frame.UserCritical, frame.UserBroadcast,
	frame.UserBundler, frame.UserLink, frame.UserConn, frame.UserGroup, frame.UserTunnel, frame.UserName,
	frame.UserFragment, frame.UserDiscovery, frame.UserCrypto,
}

// addUser takes the users as lines have them, without the type, and data for those of
// programs.
func (f *decodeFilter) addUser(text string) error {
	return each(text, func(w string) error {
		if w == "data" {
			f.users = append(f.users, frame.UserLow, frame.UserMedium, frame.UserHigh, frame.UserCritical)
			return nil
		}
		all := []string{"data"}
		for _, u := range wireUsers {
			name := u.String()
			if u.IsPayload() {
				name = "data-" + name
			}
			if w == name {
				f.users = append(f.users, u)
				return nil
			}
			all = append(all, name)
		}
		return fmt.Errorf("%q is none of %s", w, strings.Join(all, ", "))
	})
}

// addService takes TYPE, TYPE:INSTANCE or TYPE:LOWER-UPPER.
func (f *decodeFilter) addService(text string) error {
	return each(text, func(w string) error {
		if t, err := strconv.ParseUint(w, 10, 32); err == nil {
			f.services = append(f.services, frame.Range{Type: uint32(t), Upper: 1<<32 - 1})
			return nil
		}
		a, _ := frame.ParseAddr(w)
		switch a := a.(type) {
		case frame.Service:
			if a.Node == 0 {
				f.services = append(f.services, a.Range())
				return nil
			}
		case frame.Range:
			f.services = append(f.services, a)
			return nil
		}
		return fmt.Errorf("%q is no service, as 18888, 18888:17 and 18888:0-99 are", w)
	})
}

// passes reports whether a frame is shown.
func (f *decodeFilter) passes(w layers.Wrapping, v *conversation.Verdict) bool {
	return (len(f.nodes) == 0 || slices.ContainsFunc(f.nodes, func(c nodeCondition) bool { return c.passes(w, v) })) &&
		(len(f.links) == 0 || slices.ContainsFunc(f.links, func(c linkCondition) bool { return c.passes(v) })) &&
		(len(f.users) == 0 || slices.ContainsFunc(f.users, func(u frame.User) bool { return slices.Contains(v.Users, u) })) &&
		(len(f.services) == 0 || slices.ContainsFunc(v.Services, f.wants))
}

// wants reports whether a service is one of those asked for.
func (f *decodeFilter) wants(r frame.Range) bool {
	return slices.ContainsFunc(f.services, r.Overlaps)
}

func (c nodeCondition) passes(w layers.Wrapping, v *conversation.Verdict) bool {
	switch {
	case c.node == 0:
		return w.Src == c.mac || w.Dst == c.mac
	case c.socket.Port != 0:
		return slices.Contains(v.Sockets, c.socket)
	}
	return v.From == c.node || v.To == c.node
}

func (c linkCondition) passes(v *conversation.Verdict) bool {
	if c.broadcast {
		return v.Broadcast
	}
	if v.Link != nil {
		return c.is(v.Link)
	}
	// Discovery between two nodes is of no link yet.
	return c.names == [2]string{} && (v.From == c.nodes[0] && v.To == c.nodes[1] || v.From == c.nodes[1] && v.To == c.nodes[0])
}

// is reports whether l is the link asked for.
func (c linkCondition) is(l *conversation.Link) bool {
	end := func(e conversation.End, i int) bool {
		return e.Node == c.nodes[i] && (c.names[i] == "" || c.names[i] == e.Interface)
	}
	return !c.broadcast && (end(l.Ends[0], 0) && end(l.Ends[1], 1) || end(l.Ends[0], 1) && end(l.Ends[1], 0))
}

// keepsLink reports whether the numbers of a link are shown.
func (f *decodeFilter) keepsLink(l *conversation.Link) bool {
	return f.keepsEnds(l.Ends[0], l.Ends[1]) &&
		(len(f.links) == 0 || slices.ContainsFunc(f.links, func(c linkCondition) bool { return c.is(l) }))
}

func (f *decodeFilter) keepsSender(s *conversation.Sender) bool {
	return f.keepsEnds(s.End) && (len(f.links) == 0 || slices.ContainsFunc(f.links, func(c linkCondition) bool { return c.broadcast }))
}

func (f *decodeFilter) keepsEnds(ends ...conversation.End) bool {
	return len(f.nodes) == 0 || slices.ContainsFunc(f.nodes, func(c nodeCondition) bool {
		return slices.ContainsFunc(ends, func(e conversation.End) bool {
			return c.node != 0 && e.Node == c.node || c.node == 0 && e.Station.MAC == c.mac
		})
	})
}

func (f *decodeFilter) keepsPair(p *conversation.Pair) bool {
	of := func(c nodeCondition) bool {
		return slices.ContainsFunc(p.Sockets[:], func(s frame.SocketAddr) bool {
			return c.socket.Port != 0 && s == c.socket || c.socket.Port == 0 && c.node != 0 && s.Node == c.node
		})
	}
	between := func(c linkCondition) bool {
		a, b := p.Sockets[0].Node, p.Sockets[1].Node
		return !c.broadcast && (c.nodes == [2]frame.NodeAddr{a, b} || c.nodes == [2]frame.NodeAddr{b, a})
	}
	return (len(f.nodes) == 0 || slices.ContainsFunc(f.nodes, of)) &&
		(len(f.links) == 0 || slices.ContainsFunc(f.links, between)) &&
		(len(f.services) == 0 || p.Service != nil && f.wants(*p.Service))
}
