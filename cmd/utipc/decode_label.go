// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/conversation"
)

// A label is what stands on an arrow of a ladder.
type label struct {
	kind   string // what is said; arrows of one kind in a row are drawn as one
	number string // its numbers: "seq 14 ack 1"
	seq    frame.Seq
	inLine bool // it has a number in a sequence
	link   bool // it is of the link protocol, or of discovery
}

func (l label) String() string {
	if l.number == "" {
		return l.kind
	}
	return l.kind + " " + l.number
}

// labelOf puts a message into few words.
func labelOf(b []byte, v *conversation.Verdict) label {
	m, err := frame.Parse(b)
	if err != nil {
		return label{kind: "sealed"}
	}
	u := m.User()
	l := label{kind: u.String(), seq: m.Seq()}
	switch {
	case u == frame.UserDiscovery:
		if d, err := frame.ParseMediaDiscovery(m); err == nil {
			l.kind = fmt.Sprintf("disc/%v", d.Type())
		}
		l.link = true
		return l
	case u == frame.UserLink:
		l.link = true
		k, err := frame.ParseLink(m)
		if err != nil {
			return l
		}
		l.kind, l.number = stateLabel(k)
		return l
	case u == frame.UserBroadcast && m.NonSeq():
		l.kind = "bcast/nack"
		return l
	case u == frame.UserBroadcast:
		l.kind = "bcast/init"
	case u == frame.UserFragment:
		l.kind = "frag"
		if len(v.Users) > 1 {
			l.kind += " of " + userName(v.Users[1])
		}
		if len(v.Services) > 0 {
			l.kind += " " + shortRange(v.Services[0])
		}
	case u == frame.UserBundler:
		if x, err := frame.ParseBundle(m); err == nil {
			l.kind = fmt.Sprintf("bundle of %d", x.Count())
		}
	case u == frame.UserTunnel:
		if x, err := frame.ParseTunnel(m); err == nil {
			l.kind = fmt.Sprintf("tunnel/%v", x.Type())
		}
	case u == frame.UserGroup:
		if x, err := frame.ParseGroup(m); err == nil {
			l.kind = fmt.Sprintf("group/%v", x.Type())
		}
	case u == frame.UserConn:
		if x, err := frame.ParseConn(m); err == nil {
			l.kind = fmt.Sprintf("conn/%v", x.Fields().Type)
		}
	case u == frame.UserName:
		if x, err := frame.ParseNames(m); err == nil {
			l.kind = namesLabel(x)
		}
	case u == frame.UserCrypto:
		l.kind = "key"
	default:
		l.kind = dataLabel(m, v)
	}
	l.inLine = true
	l.number = fmt.Sprintf("seq %d ack %d", m.Seq(), m.Ack())
	if m.NonSeq() {
		l.number = fmt.Sprintf("bseq %d", m.Seq())
	}
	return l
}

func userName(u frame.User) string {
	if u.IsPayload() {
		return "data"
	}
	return u.String()
}

func stateLabel(k frame.LinkMessage) (kind, number string) {
	s, ok := k.State()
	switch {
	case !ok && k.IsReset():
		return "reset", ""
	case !ok:
		return "activate", ""
	case s.Probe():
		kind = "probe"
	case s.Keepalive():
		kind = "state, answer"
	default:
		kind = "state"
	}
	number = fmt.Sprintf("ack %d", s.Ack())
	if s.Gap() > 0 {
		kind = "NAK"
		number += fmt.Sprintf(" gap %d", s.Gap())
		if g, _, err := s.GapAcks(s.GuessRecord()); err == nil {
			for x := range g.Unicast().All() {
				if x.Gap > 0 {
					number += fmt.Sprintf(" %d/%d", x.Ack, x.Gap)
				}
			}
		}
	}
	if s.BcastGap() > 0 && !s.BcastAckInvalid() {
		number += fmt.Sprintf(" back %d bgap %d", s.BcastAck(), s.BcastGap())
	}
	return kind, number
}

func namesLabel(n frame.Names) string {
	kind := "publish"
	if n.Withdrawal() {
		kind = "withdraw"
	}
	for it := range n.Items() {
		kind += " " + shortRange(it.Range)
		break
	}
	if n.Len() > 1 {
		kind += fmt.Sprintf(" and %d", n.Len()-1)
	}
	return kind
}

// shortRange is a range, or the one instance it has.
func shortRange(r frame.Range) string {
	if r.Lower == r.Upper {
		return fmt.Sprintf("%d:%d", r.Type, r.Lower)
	}
	return r.String()
}

func dataLabel(m frame.Message, v *conversation.Verdict) string {
	p, err := frame.ParsePayload(m)
	if err != nil {
		return "data"
	}
	var b strings.Builder
	b.WriteString("data")
	switch {
	case p.Type() == frame.ConnMsg:
		b.Reset()
		b.WriteString("conn")
	case p.Type() == frame.DirectMsg:
		fmt.Fprintf(&b, " to %d", p.DestPort())
	}
	if len(v.Services) > 0 {
		b.WriteString(" " + shortRange(v.Services[0]))
	}
	if p.Syn() {
		b.WriteString(" syn")
	}
	if p.Error() != frame.OK {
		fmt.Fprintf(&b, ", %v", p.Error())
	}
	fmt.Fprintf(&b, " %dB", len(p.Data()))
	return b.String()
}
