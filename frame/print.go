// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"
	"strings"
)

// Describe returns one line on a message: who sends what to whom, and the fields
// that matter for its kind. It is for logs, tools and failing tests; the line's
// form may change. err is what parsing found, for the caller to count.
func Describe(b []byte) (line string, err error) {
	m, err := Parse(b)
	if err == ErrEncrypted {
		e, err := ParseEncrypted(b)
		if err == nil {
			return e.String(), ErrEncrypted
		}
		return fmt.Sprintf("encrypted: %v (%d bytes)", err, len(b)), err
	}
	if err != nil {
		return fmt.Sprintf("%v (%d bytes)", err, len(b)), err
	}
	what, err := m.describe()
	if err != nil {
		return fmt.Sprintf("%v user=%v type=%d: %v", m.path(), m.User(), m.RawType(), err), err
	}
	return fmt.Sprintf("%v %s", m.path(), what), nil
}

// String returns the line Describe gives.
func (m Message) String() string {
	s, _ := Describe(m.b)
	return s
}

func (m Message) path() string {
	to := "*"
	if d, ok := m.DestNode(); ok && d != 0 {
		to = d.String()
	} else if m.hlen == ShortLen {
		to = "."
	}
	return m.Prev().String() + ">" + to
}

// describe says what the message is, and fails as the kind's parser does.
// Complex: one case of three lines for each kind of message.
//
//gocyclo:ignore
func (m Message) describe() (string, error) {
	var l line
	var err error
	switch u := m.User(); {
	case u.IsPayload():
		var p Payload
		if p, err = ParsePayload(m); err == nil {
			l.payload(p)
		}
	case u == UserLink:
		var k LinkMessage
		if k, err = ParseLink(m); err == nil {
			l.link(k)
		}
	case u == UserDiscovery:
		var d Discovery
		if d, err = ParseMediaDiscovery(m); err == nil {
			l.discovery(d)
		}
	case u == UserName:
		var n Names
		if n, err = ParseNames(m); err == nil {
			l.names(n)
		}
	case u == UserBroadcast && m.NonSeq():
		var n BcastNack
		if n, err = ParseBcastNack(m); err == nil {
			f := n.Fields()
			l.add("bcast/nack ack=%d missing=%d-%d last=%d", f.Ack, f.After+1, f.To, f.LastBcast)
			return l.String(), nil // words 1 and 2 say something else than elsewhere
		}
	case u == UserBroadcast:
		var i BcastInit
		if i, err = ParseBcastInit(m); err == nil {
			l.add("bcast/init last=%d", i.LastBcast())
		}
	case u == UserConn:
		var c Conn
		if c, err = ParseConn(m); err == nil {
			f := c.Fields()
			l.add("conn/%v %d>%d", f.Type, f.OrigPort, f.DestPort)
			l.addIf(f.Type == ConnAck, "acked=%d window=%d", f.Acked, f.Window)
			l.addIf(f.NagleAck, "nagle")
			l.addIf(f.Error != OK, "error=%v", f.Error)
		}
	case u == UserFragment:
		var f Fragment
		if f, err = ParseFragment(m); err == nil {
			l.add("frag/%v no=%d bytes=%d", f.Type(), f.Number(), len(f.Data()))
		}
	case u == UserBundler:
		var b Bundle
		if b, err = ParseBundle(m); err == nil {
			l.bundle(b)
		}
	case u == UserGroup:
		var g Group
		if g, err = ParseGroup(m); err == nil {
			l.group(g)
		}
	case u == UserTunnel:
		var t Tunnel
		if t, err = ParseTunnel(m); err == nil {
			l.tunnel(t)
		}
	case u == UserCrypto:
		var k KeyMessage
		if k, err = ParseKey(m); err == nil {
			l.add("crypto/key generation=%d mode=%d bytes=%d", k.Generation(), k.Mode(), len(k.Key()))
		}
	default:
		err = ErrUnknown
	}
	if err != nil {
		return "", err
	}
	l.sequence(m)
	return l.String(), nil
}

// A line collects words.
type line struct{ strings.Builder }

func (l *line) add(format string, a ...any) {
	if l.Len() > 0 {
		l.WriteByte(' ')
	}
	fmt.Fprintf(l, format, a...)
}

func (l *line) addIf(cond bool, format string, a ...any) {
	if cond {
		l.add(format, a...)
	}
}

func (l *line) payload(p Payload) {
	l.add("data-%v/%v", Importance(p.User()), p.Type())
	if p.NonSeq() { // the network's number is where the port would be
		l.add("%d>*", p.OrigPort())
	} else {
		l.add("%d>%d", p.OrigPort(), p.DestPort())
	}
	if group, instance, ok := p.Group(); ok {
		seq, ack, _ := p.GroupSeq()
		l.add("group=%d", group)
		l.addIf(instance != 0, "instance=%d", instance)
		l.add("group-seq=%d", seq)
		l.addIf(ack, "ack-request")
	}
	if r, ok := p.Range(); ok && r.Lower == r.Upper {
		l.add("name=%d:%d", r.Type, r.Lower)
	} else if ok {
		l.add("name=%v", r)
	}
	l.addIf(p.Error() != OK, "error=%v", p.Error())
	l.addIf(p.Reroute() != 0, "reroute=%d", p.Reroute())
	l.addIf(p.Syn(), "syn")
	l.addIf(p.Type() == ConnMsg && p.SrcDroppable(), "ack-required")
	l.addIf(p.DestDroppable(), "droppable")
	l.add("bytes=%d", len(p.Data()))
}

func (l *line) link(k LinkMessage) {
	i := k.Info()
	if s, ok := k.State(); ok {
		l.add("link/state")
		l.addIf(s.Probe(), "probe")
		l.addIf(s.Keepalive() && !s.Probe(), "keepalive")
		l.addIf(s.Gap() != 0, "gap=%d", s.Gap())
		l.addIf(s.BcastGap() != 0, "bcast-gap=%d", s.BcastGap())
		l.add("next=%d", s.NextSent())
		l.records(s)
	}
	if r, ok := k.Reset(); ok {
		l.add("link/%s if=%s max=%d", map[bool]string{false: "reset", true: "activate"}[r.IsActivate()], r.IfName(), r.MaxPacket())
		if d, ok := r.DestSession(); ok {
			l.add("dest-session=%d", d)
		}
		l.addIf(i.PeerStopping, "stopping")
	}
	l.add("session=%d", i.Session)
	l.addIf(i.RedundantLink, "redundant")
	l.addIf(i.BcastAckInvalid, "bcast-invalid")
	l.addIf(i.LastBcast != 0, "last-bcast=%d", i.LastBcast)
	l.addIf(i.Tolerance != 0, "tolerance=%dms", i.Tolerance)
	l.addIf(i.Priority != 0, "priority=%d", i.Priority)
}

func (l *line) discovery(d Discovery) {
	medium := "mac"
	if d.Media().Type == MediaUDP {
		medium = "udp"
	}
	l.add("disc/%v net=%d %s=%v id=%v sig=%04x caps=%03x", d.Type(), d.NetID(), medium, d.Media(), d.Identity(),
		d.Signature(), uint16(d.Capabilities()))
	l.addIf(d.Dest() != 0, "dest=%v", d.Dest())
	l.addIf(d.Suggested() != 0, "suggested=%v", d.Suggested())
}

func (l *line) names(n Names) {
	l.add("name/%s", map[bool]string{false: "publish", true: "withdraw"}[n.Withdrawal()])
	l.addIf(n.Bulk(), "bulk")
	l.addIf(n.LastBulk(), "last")
	l.addIf(n.NonLegacy(), "update=%d", n.UpdateSeq())
	i := 0
	for it := range n.Items() {
		if i++; i > 4 {
			l.add("and %d more", n.Len()-4)
			break
		}
		l.add("%v=%d/%d", it.Range, it.Port, it.Key)
	}
}

func (l *line) bundle(b Bundle) {
	l.add("bundle of %d [", b.Count())
	for m, err := range b.Messages() {
		if err != nil {
			l.add("%v", err)
			break
		}
		what := ErrMalformed.Error() // bundles do not nest
		if m.User() != UserBundler {
			if what, err = m.describe(); err != nil {
				what = err.Error()
			}
		}
		l.add("%s;", what)
	}
	l.add("]")
}

// sequence adds the link's numbers where the message has them.
func (l *line) sequence(m Message) {
	switch {
	case m.User() == UserDiscovery:
	case m.NonSeq():
		l.add("bcast-seq=%d", m.Seq())
	case m.User() == UserLink && m.RawType() == linkActivate: // the session answered is where bcast-ack would be
		l.add("seq=%d ack=%d", m.Seq(), m.Ack())
	default:
		l.add("seq=%d ack=%d bcast-ack=%d", m.Seq(), m.Ack(), m.BcastAck())
	}
}
