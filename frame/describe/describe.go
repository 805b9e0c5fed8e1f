// SPDX-License-Identifier: Apache-2.0

// Package describe prints a message in one line, for logs, tools and failing tests:
//
//	1001001>1001002 conn/probe 7>9 seq=0 ack=0 bcast-ack=0
//
// The line holds printable ASCII alone, whatever bytes the message has. Its form may change.
package describe

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/frame"
)

// Message returns one line on the message b, cut to what was received: who sends what to whom,
// and the fields that matter for its kind. It never has an empty line. err is what parsing found,
// for the caller to count: that of [frame.Parse], [frame.Message.Check] or, for an encrypted
// packet whose header is not sound, [frame.ParseEncrypted]; of another one it is
// [frame.ErrEncrypted].
func Message(b []byte) (line string, err error) {
	m, err := frame.Parse(b)
	if err == frame.ErrEncrypted {
		e, err := frame.ParseEncrypted(b)
		if err == nil {
			return encrypted(e), frame.ErrEncrypted
		}
		return fmt.Sprintf("encrypted: %v (%d bytes)", err, len(b)), err
	}
	if err != nil {
		return fmt.Sprintf("%v (%d bytes)", err, len(b)), err
	}
	what, err := kind(m)
	if err != nil {
		return fmt.Sprintf("%v user=%v type=%d: %v", path(m), m.User(), m.RawType(), err), err
	}
	return fmt.Sprintf("%v %s", path(m), what), nil
}

// path says from which node to which the message is.
func path(m frame.Message) string {
	to := "*"
	if d, ok := m.DestNode(); ok && d != 0 {
		to = d.String()
	} else if m.HeaderLen() == frame.ShortLen {
		to = "."
	}
	return m.Prev().String() + ">" + to
}

// kind says what the message is. It fails as Check does; after that no parser fails.
func kind(m frame.Message) (string, error) {
	if err := m.Check(); err != nil {
		return "", err
	}
	var l line
	switch u := m.User(); {
	case u.IsPayload():
		p, _ := frame.ParsePayload(m)
		l.payload(p)
	case u == frame.UserLink:
		k, _ := frame.ParseLink(m)
		l.link(k)
	case u == frame.UserDiscovery:
		d, _ := frame.ParseMediaDiscovery(m)
		l.discovery(d)
	case u == frame.UserName:
		n, _ := frame.ParseNames(m)
		l.names(n)
	case u == frame.UserBroadcast && m.NonSeq():
		n, _ := frame.ParseBcastNack(m)
		f := n.Fields()
		l.add("bcast/nack ack=%d missing=%d-%d last=%d", f.Ack, f.After+1, f.To, f.LastBcast)
		return l.String(), nil // words 1 and 2 say something else than elsewhere
	case u == frame.UserBroadcast:
		i, _ := frame.ParseBcastInit(m)
		l.add("bcast/init last=%d", i.LastBcast())
	case u == frame.UserConn:
		c, _ := frame.ParseConn(m)
		l.conn(c.Fields())
	case u == frame.UserFragment:
		f, _ := frame.ParseFragment(m)
		l.add("frag/%v no=%d bytes=%d", f.Type(), f.Number(), len(f.Data()))
	case u == frame.UserBundler:
		b, _ := frame.ParseBundle(m)
		l.bundle(b)
	case u == frame.UserGroup:
		g, _ := frame.ParseGroup(m)
		l.group(g)
	case u == frame.UserTunnel:
		t, _ := frame.ParseTunnel(m)
		l.tunnel(t)
	case u == frame.UserCrypto:
		k, _ := frame.ParseKey(m)
		l.add("crypto/key generation=%d mode=%d bytes=%d", k.Generation(), k.Mode(), len(k.Key()))
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

func (l *line) payload(p frame.Payload) {
	l.add("data-%v/%v", frame.Importance(p.User()), p.Type())
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
	l.addIf(p.Error() != frame.OK, "error=%v", p.Error())
	l.addIf(p.Reroute() != 0, "reroute=%d", p.Reroute())
	l.addIf(p.Syn(), "syn")
	l.addIf(p.Kind() != frame.AnyKind, "kind=%v", p.Kind())
	l.addIf(p.Type() == frame.ConnMsg && p.SrcDroppable(), "ack-required")
	l.addIf(p.DestDroppable(), "droppable")
	l.add("bytes=%d", len(p.Data()))
}

func (l *line) link(k frame.LinkMessage) {
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

func (l *line) discovery(d frame.Discovery) {
	medium := "mac"
	if d.Media().Type == frame.MediaUDP {
		medium = "udp"
	}
	l.add("disc/%v net=%d %s=%v id=%v sig=%04x caps=%03x", d.Type(), d.NetID(), medium, d.Media(), d.Identity(),
		d.Signature(), uint16(d.Capabilities()))
	l.addIf(d.Dest() != 0, "dest=%v", d.Dest())
	l.addIf(d.Suggested() != 0, "suggested=%v", d.Suggested())
}

func (l *line) conn(f frame.ConnFields) {
	l.add("conn/%v %d>%d", f.Type, f.OrigPort, f.DestPort)
	l.addIf(f.Type == frame.ConnAck, "acked=%d window=%d", f.Acked, f.Window)
	l.addIf(f.NagleAck, "nagle")
	l.addIf(f.Error != frame.OK, "error=%v", f.Error)
}

func (l *line) names(n frame.Names) {
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

func (l *line) bundle(b frame.Bundle) {
	l.add("bundle of %d [", b.Count())
	for m, err := range b.Messages() {
		if err != nil {
			l.add("%v", err)
			break
		}
		what := frame.ErrMalformed.Error() // bundles do not nest
		if m.User() != frame.UserBundler {
			if what, err = kind(m); err != nil {
				what = err.Error()
			}
		}
		l.add("%s;", what)
	}
	l.add("]")
}

// sequence adds the link's numbers where the message has them.
func (l *line) sequence(m frame.Message) {
	switch {
	case m.User() == frame.UserDiscovery:
	case m.NonSeq():
		l.add("bcast-seq=%d", m.Seq())
	case isActivate(m): // the session answered is where bcast-ack would be
		l.add("seq=%d ack=%d", m.Seq(), m.Ack())
	default:
		l.add("seq=%d ack=%d bcast-ack=%d", m.Seq(), m.Ack(), m.BcastAck())
	}
}

func isActivate(m frame.Message) bool {
	k, err := frame.ParseLink(m)
	return err == nil && k.IsActivate()
}
