// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"encoding/binary"
	"slices"

	"github.com/utipc/utipc/frame"
)

// contents looks at the messages in a packet, and counts them if it is there for the
// first time. c and own are nil when the packet is of no link.
func (t *Tracker) contents(p Packet, m frame.Message, c *Counters, own *line) {
	if c == nil {
		c, own = &Counters{}, &line{}
	}
	again := t.v.Class == Duplicate || t.v.Class == Retransmitted && t.v.Repeats != 0
	count := !again
	t.v.Users = append(t.v.Users, m.User())
	switch m.User() {
	case frame.UserFragment:
		t.fragment(m, c, own, count)
	case frame.UserBundler:
		b, err := frame.ParseBundle(m)
		if err != nil {
			return
		}
		if count {
			c.Bundles++
		}
		for inner, err := range b.Messages() {
			if err != nil {
				return
			}
			t.v.Users = append(t.v.Users, inner.User())
			if count {
				c.Bundled++
			}
			t.single(inner, len(inner.Data()), c, count)
		}
	case frame.UserTunnel:
		if count {
			c.Tunnelled++
		}
		if x, err := frame.ParseTunnel(m); err == nil {
			if inner, err := x.Inner(); err == nil { // counted on the link it was first sent on
				t.v.Users = append(t.v.Users, inner.User())
				t.single(inner, len(inner.Data()), c, false)
			}
		}
	default:
		t.single(m, len(m.Data()), c, count)
	}
}

// fragment looks at a piece of a message: the first has the message's header.
func (t *Tracker) fragment(m frame.Message, c *Counters, own *line, count bool) {
	f, err := frame.ParseFragment(m)
	if err != nil {
		return
	}
	if count {
		c.Fragments++
	}
	if f.Type() != frame.FirstFragment {
		t.v.Users = append(t.v.Users, own.fragment.users...)
		t.v.Services = append(t.v.Services, own.fragment.services...)
		t.v.Sockets = append(t.v.Sockets, own.fragment.sockets...)
		return
	}
	own.fragment = fragment{}
	inner, size, ok := headOf(f.Data())
	if !ok {
		return
	}
	if count {
		c.Fragmented++
	}
	t.v.Users = append(t.v.Users, inner.User())
	t.single(inner, size, c, count)
	own.fragment = fragment{slices.Clone(t.v.Users[1:]), slices.Clone(t.v.Services), slices.Clone(t.v.Sockets)}
}

// headOf makes a message without data of the header at the head of b, and returns the
// length of the data it should have.
func headOf(b []byte) (m frame.Message, data int, ok bool) {
	if len(b) < frame.ShortLen {
		return m, 0, false
	}
	w := binary.BigEndian.Uint32(b)
	hlen, size := int(w>>21&0xf)*4, int(w&0x1ffff)
	if hlen > len(b) || size < hlen || size > frame.MaxMessage {
		return m, 0, false
	}
	head := slices.Clone(b[:hlen])
	if hlen >= 4 {
		binary.BigEndian.PutUint32(head, w&^0x1ffff|uint32(hlen))
	}
	m, err := frame.Parse(head)
	return m, size - hlen, err == nil
}

// single looks at one whole message, with size bytes of data.
func (t *Tracker) single(m frame.Message, size int, c *Counters, count bool) {
	if count {
		c.Messages++
		c.MessageBytes += uint64(size)
	}
	switch u := m.User(); {
	case u.IsPayload():
		if p, err := frame.ParsePayload(m); err == nil {
			t.payload(p, size, c, count)
		}
	case u == frame.UserName:
		n, err := frame.ParseNames(m)
		if err != nil {
			return
		}
		for it := range n.Items() {
			t.v.Services = append(t.v.Services, it.Range)
			t.v.Sockets = append(t.v.Sockets, frame.SocketAddr{Port: it.Port, Node: n.Orig()})
		}
		switch {
		case !count:
		case n.Withdrawal():
			c.Withdrawals += uint64(n.Len())
		default:
			c.Publications += uint64(n.Len())
		}
	case u == frame.UserConn:
		if x, err := frame.ParseConn(m); err == nil {
			f := x.Fields()
			t.about(frame.SocketAddr{Port: f.OrigPort, Node: f.Orig}, frame.SocketAddr{Port: f.DestPort, Node: f.Dest})
		}
	case u == frame.UserGroup:
		if g, err := frame.ParseGroup(m); err == nil {
			t.v.Sockets = append(t.v.Sockets, g.From())
			if d, ok := m.DestNode(); ok && d != 0 {
				t.v.Sockets = append(t.v.Sockets, frame.SocketAddr{Port: g.DestPort(), Node: d})
			}
		}
	}
}

// about notes two sockets, and the service of their connection.
func (t *Tracker) about(a, b frame.SocketAddr) {
	t.v.Sockets = append(t.v.Sockets, a, b)
	k := pairKey{a, b}
	if b.Node < a.Node || b.Node == a.Node && b.Port < a.Port {
		k = pairKey{b, a}
	}
	if x := t.byPair[k]; x != nil && x.Service != nil {
		t.v.Services = append(t.v.Services, *x.Service)
	}
}

// payload looks at a message of a program.
func (t *Tracker) payload(p frame.Payload, size int, c *Counters, count bool) {
	from := p.From()
	to := frame.SocketAddr{Port: p.DestPort(), Node: t.v.To}
	if d, ok := p.DestNode(); ok && d != 0 {
		to.Node = d
	}
	if p.HeaderLen() == frame.ShortLen {
		from.Node = t.v.From
	}
	back := p.Error() != frame.OK && p.Error() != frame.ConnShutdown
	if count && back {
		c.Returned++
	}
	r, named := p.Range()
	group, instance, grouped := p.Group()
	switch {
	case grouped:
		r = frame.Range{Type: group, Lower: instance, Upper: instance}
		fallthrough
	case named:
		t.v.Services = append(t.v.Services, r)
		if count {
			t.service(r, grouped, back, size)
		}
		if _, known := t.asked[from]; count && p.Syn() && !back && (known || len(t.asked) < t.limits.Pairs) {
			t.asked[from] = r
		}
	}
	if p.NonSeq() || to.Port == 0 || to.Node == 0 || grouped && p.Type() != frame.GroupUcastMsg {
		t.v.Sockets = append(t.v.Sockets, from)
		return
	}
	if count {
		t.pair(from, to, p, size)
	}
	if p.Type() == frame.ConnMsg {
		t.about(from, to)
		return
	}
	t.v.Sockets = append(t.v.Sockets, from, to)
}
