// SPDX-License-Identifier: Apache-2.0

package frame

import "fmt"

// records adds what a STATE says beyond the numbers in its header, with a guess
// at whether it begins with a record of gap-ack blocks.
func (l *line) records(s State) {
	record := s.GuessRecord()
	g, _, err := s.GapAcks(record)
	if err != nil {
		l.add("record=%v", err)
		return
	}
	for _, x := range [...]struct {
		name string
		l    GapBlocks
	}{{"bcast-blocks", g.Bcast()}, {"blocks", g.Unicast()}} {
		for i := range min(x.l.Len(), 4) {
			b := x.l.At(i)
			l.addIf(i == 0, "%s=%d/%d", x.name, b.Ack, b.Gap)
			if i > 0 {
				fmt.Fprintf(l, ",%d/%d", b.Ack, b.Gap)
			}
		}
		l.addIf(x.l.Len() > 4, "and %d more", x.l.Len()-4)
	}
	switch d, ok, err := s.Domain(record); {
	case err != nil:
		l.add("domain=%v", err)
	case ok:
		l.add("domain=%d ack=%d members=%d", d.Gen(), d.AckGen(), d.Len())
	}
}

func (l *line) group(g Group) {
	l.add("group/%v %d>%d", g.Type(), g.From().Port, g.DestPort())
	switch g.Type() {
	case GroupJoin:
		l.add("next=%d window=%d", g.Number(), g.Window())
	case GroupLeave, GroupAck:
		l.add("next=%d", g.Number())
	case GroupAdv:
		l.add("window=%d", g.Window())
	case GroupRemit:
		l.add("window=%d", g.Number())
	}
}

func (l *line) tunnel(t Tunnel) {
	l.add("tunnel/%v bearer=%d", t.Type(), t.Bearer())
	no, of, pieces := t.Piece()
	switch {
	case t.IsSynchPoint():
		l.add("point=%d", t.word(9)>>16)
	case pieces:
		l.add("count=%d piece=%d/%d bytes=%d", t.Count(), no, of, len(t.Data()))
	default:
		l.add("count=%d [", t.Count())
		m, err := t.Inner()
		var what string
		if err == nil {
			what, err = m.describe()
		}
		if err != nil {
			what = err.Error()
		}
		l.add("%s ]", what)
	}
}

// String returns one line on the packet: its header.
func (e Encrypted) String() string {
	var l line
	from := ""
	if id, ok := e.Identity(); ok {
		from = id.String()
	} else {
		a, _ := e.Source()
		from = a.String()
	}
	f := e.Fields()
	l.add("%s>%s encrypted/%s tx=%d rx=%d", from, map[bool]string{false: "*", true: "."}[f.Destined], showSealed(uint32(f.User)), f.TX, f.RX)
	l.addIf(f.Keepalive, "keepalive")
	l.addIf(f.Master, "master")
	l.addIf(f.NoKey, "no-key")
	l.add("seq=%d bytes=%d", f.Seq, len(e.Sealed()))
	return l.String()
}
