// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// A Feature is something our engine cannot do yet, so that a side is replayed only
// up to the first frame that needs it.
type Feature struct {
	Name  string
	Theme string // of the issue that builds it

	// sent recognizes a frame that a node with the feature sends, received one
	// that only such a node can be given. Either may be nil.
	sent, received func(m frame.Message) bool
}

// Features are what captures show and our engine does not have.
var Features = []Feature{
	{
		Name: "sending on the broadcast link", Theme: "Names",
		sent: func(m frame.Message) bool { return m.NonSeq() && m.User() != frame.UserDiscovery },
	},
	{
		Name: "sending fragments", Theme: "The link",
		sent: func(m frame.Message) bool { return m.User() == frame.UserFragment },
	},
	{
		Name: "connections", Theme: "Sockets",
		sent: connection, received: connection,
	},
	{
		Name: "groups", Theme: "Sockets",
		sent: group, received: group,
	},
	{
		Name: "failover and synchronisation of two links", Theme: "The link",
		sent: tunnel, received: tunnel,
	},
	{
		Name: "blocks in Gap ACK records", Theme: "The link",
		sent: blocks, received: blocks,
	},
}

// several is recognized by a second station that makes the same node known.
var several = Feature{Name: "more than one bearer", Theme: "The link"}

// moving is recognized by a packet that is farther ahead of what was acknowledged
// than a window that stays.
var moving = Feature{Name: "a window that moves", Theme: "The link"}

// A ledger knows what was acknowledged of what a node sends to each station.
type ledger map[frame.MAC]frame.Seq

// far notes a frame that a node sends or receives, and reports whether it is beyond
// the window.
func (l ledger) far(f *Frame, sent bool) bool {
	if f.Message.NonSeq() || f.Message.User() == frame.UserDiscovery {
		return false
	}
	p, err := frame.ParseLink(f.Message)
	switch {
	case err == nil && !p.IsState():
		delete(l, f.Src)
		delete(l, f.Dst)
	case !sent:
		l[f.Src] = f.Message.Ack()
	case err != nil:
		n := l[f.Dst].Distance(f.Message.Seq())
		return n > flowctl.DefaultWindow && n <= flowctl.MaxWindow
	}
	return false
}

func connection(m frame.Message) bool {
	if m.User() == frame.UserConn {
		return true
	}
	p, err := frame.ParsePayload(m)
	return err == nil && (p.Type() == frame.ConnMsg || p.Syn() && p.Type() == frame.NamedMsg)
}

func group(m frame.Message) bool {
	if m.User() == frame.UserGroup {
		return true
	}
	p, err := frame.ParsePayload(m)
	return err == nil && p.Type() > frame.DirectMsg
}

func tunnel(m frame.Message) bool { return m.User() == frame.UserTunnel }

// blocks recognizes a STATE whose Gap ACK record has blocks.
func blocks(m frame.Message) bool {
	if m.User() != frame.UserLink {
		return false
	}
	l, err := frame.ParseLink(m)
	return err == nil && l.IsState() && len(m.Data()) > 4 && m.Data()[1] > 4
}

// Missing returns the first frame of what a station sends and receives that needs
// what is not built, and what that is; nil when there is none.
func (c *Capture) Missing(of frame.MAC) (*Frame, *Feature) {
	var node frame.Discovery
	acked := ledger{}
	for i := range c.Frames {
		f := &c.Frames[i]
		if d, err := discovery(*f); err == nil {
			switch {
			case f.Src == of:
				node = d
			case node.Message.Bytes() != nil && d.Identity() == node.Identity() && d.Signature() == node.Signature() && d.NetHash() == node.NetHash():
				return f, &several
			}
		}
		sent, received := f.Src == of, f.Src != of && (f.Dst == of || f.Dst.IsGroup())
		if f.Bad != nil || !sent && !received {
			continue
		}
		if acked.far(f, sent) {
			return f, &moving
		}
		for k := range Features {
			x := &Features[k]
			if sent && x.sent != nil && x.sent(f.Message) || received && x.received != nil && x.received(f.Message) {
				return f, x
			}
		}
	}
	return nil, nil
}
