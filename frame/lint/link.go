// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"fmt"

	"github.com/utipc/utipc/frame"
)

func (l *linter) link(m frame.Message) {
	k := frame.LinkMessage{Message: m} // its data may be too short for a name
	i := k.Info()
	l.addIf(i.Bearer > 2, "bearer", "w5 11:9", "%d, want 0 to 2", i.Bearer)
	l.addIf(i.Tolerance != 0 && (i.Tolerance < 50 || i.Tolerance > 30000), "tolerance", "w9 15:0", "%d ms, want 50 to 30000, or 0", i.Tolerance)
	if s, ok := k.State(); ok {
		l.state(s, i)
	}
	if r, ok := k.Reset(); ok {
		l.reset(r, i)
	}
}

func (l *linter) reset(r frame.Reset, i frame.LinkInfo) {
	l.addIf(r.Seq() != i.NextSent+32767, "reset-seq", "w2 15:0", "%d, want %d, which is next sent + 32767", r.Seq(), i.NextSent+32767)
	l.addIf(r.IsActivate() && !flag(r.Message, 1, 16), "dest-session", "w1 16", "an ACTIVATE that answers no session")
	l.addIf(r.IsActivate() && i.PeerStopping, "peer-stopping", "w5 13", "an ACTIVATE that stops")
	l.addIf(r.MaxPacket() < frame.MinMTU, "max-packet", "w9 31:16", "%d bytes, want %d or more", r.MaxPacket(), frame.MinMTU)
	d := r.Data()
	l.addIf(len(d) != frame.IfNameLen, "if-name", "+40", "%d bytes for the name, want %d", len(d), frame.IfNameLen)
	if len(d) < frame.IfNameLen {
		return
	}
	n := bytes.IndexByte(d[:frame.IfNameLen], 0)
	l.addIf(n < 0, "if-name", "+40", "not ended by a zero")
	l.addIf(n == 0, "if-name", "+40", "no name")
	if n < 0 {
		n = frame.IfNameLen
	}
	for _, c := range d[:n] {
		if c <= ' ' || c > '~' {
			l.add("if-name", "+40", "byte %02x does not print", c)
			break
		}
	}
	l.addIf(len(bytes.Trim(d[n:frame.IfNameLen], "\x00")) != 0, "pad", fmt.Sprint("+", frame.IntLen+n+1), "bytes behind the name are not 0")
}

func (l *linter) state(s frame.State, i frame.LinkInfo) {
	l.addIf(s.Probe() && !s.Keepalive(), "keepalive", "w0 19", "a probe without it")
	l.addIf(i.BcastAckInvalid == i.RedundantLink, "redundant", "w5 12", "%v with an invalid broadcast acknowledge %v, want one the reverse of the other", i.RedundantLink, i.BcastAckInvalid)
	if len(s.Data()) == 0 {
		return
	}
	record := s.GuessRecord()
	g, d, err := s.GapAcks(record)
	if err != nil {
		l.add("gap-record", "+40", "%v", err)
		return
	}
	if record {
		l.gapAcks(s, g)
	}
	if len(d) != 0 {
		l.domain(s, d)
	}
}

func (l *linter) gapAcks(s frame.State, g frame.GapAcks) {
	if g.Form() == frame.GapNone {
		l.add("gap-record", "+40", "length %d and the numbers of blocks disagree", len(g.Bytes()))
		return
	}
	for _, x := range [...]struct {
		name string
		l    frame.GapBlocks
		ack  frame.Seq
		gap  int
	}{{"broadcast", g.Bcast(), s.BcastAck(), s.BcastGap()}, {"unicast", g.Unicast(), s.Ack(), s.Gap()}} {
		if x.l.Len() == 0 {
			continue
		}
		l.addIf(x.l.Len() > frame.MaxGapBlocks, "gap-count", "+42", "%d %s blocks, want at most %d", x.l.Len(), x.name, frame.MaxGapBlocks)
		l.addIf(x.gap == 0, "gap-header", "+44", "%s blocks without a gap in the header", x.name)
		l.addIf(x.l.Len() <= frame.MaxGapBlocks && !x.l.Monotonic(x.ack, x.gap), "gap-order", "+44", "%s blocks do not continue acknowledge %d, gap %d", x.name, x.ack, x.gap)
	}
}

func (l *linter) domain(s frame.State, b []byte) {
	at := fmt.Sprint("+", frame.IntLen+len(s.Data())-len(b))
	d, err := frame.ParseDomain(b)
	if err != nil {
		l.add("domain", at, "%v", err)
		return
	}
	if d.Len() == 0 {
		return // a dummy, whose map is undefined
	}
	l.addIf(d.Len() < frame.MaxDomain && d.UpMap()>>d.Len() != 0, "domain-map", at, "%016x has bits for more than %d members", d.UpMap(), d.Len())
	last := uint32(0) // the way round the ring
	for i, a := range d.Members() {
		way := uint32(a - s.Prev())
		if way <= last || a == 0 {
			l.add("domain-order", at, "member %d, %v, is not behind the one before in the ring", i, a)
			return
		}
		last = way
	}
}

func (l *linter) broadcast(m frame.Message) {
	l.addIf(len(m.Data()) != 0, "no-data", "+40", "%d bytes of data", len(m.Data()))
	if m.NonSeq() {
		f := frame.BcastNack{Message: m}.Fields()
		l.addIf(!f.To.After(f.After) || f.After != f.Ack, "bcast-nack", "w2", "missing %d to %d with acknowledge %d", f.After+1, f.To, f.Ack)
		l.addIf(f.Dest == 0, "dest-node", "w7", "for no node")
		return
	}
	l.addIf(m.Seq() != 1, "bcast-init", "w2 15:0", "packet %d, want the link's first", m.Seq())
	l.addIf(!flag(m, 5, 14), "bcast-init", "w5 14", "its broadcast acknowledge is not marked as invalid")
}
