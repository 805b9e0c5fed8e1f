// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"

	"github.com/utipc/utipc/frame"
)

// records adds what a STATE says beyond the numbers in its header, with a guess
// at whether it begins with a record of gap-ack blocks.
func (l *line) records(s frame.State) {
	record := s.GuessRecord()
	g, _, err := s.GapAcks(record)
	if err != nil {
		l.add("record=%v", err)
		return
	}
	for _, x := range [...]struct {
		name string
		l    frame.GapBlocks
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

func (l *line) group(g frame.Group) {
	l.add("group/%v %d>%d", g.Type(), g.From().Port, g.DestPort())
	switch g.Type() {
	case frame.GroupJoin:
		l.add("next=%d window=%d", g.Number(), g.Window())
	case frame.GroupLeave, frame.GroupAck:
		l.add("next=%d", g.Number())
	case frame.GroupAdv:
		l.add("window=%d", g.Window())
	case frame.GroupRemit:
		l.add("window=%d", g.Number())
	}
}

func (l *line) tunnel(t frame.Tunnel) {
	l.add("tunnel/%v bearer=%d", t.Type(), t.Bearer())
	no, of, pieces := t.Piece()
	switch {
	case t.IsSynchPoint():
		point, _ := t.SyncPoint()
		l.add("point=%d", point)
	case pieces:
		l.add("count=%d piece=%d/%d bytes=%d", t.Count(), no, of, len(t.Data()))
	default:
		l.add("count=%d [", t.Count())
		m, err := t.Inner()
		var what string
		if err == nil {
			what, err = kind(m)
		}
		if err != nil {
			what = err.Error()
		}
		l.add("%s ]", what)
	}
}

// encrypted returns one line on the packet: its header.
func encrypted(e frame.Encrypted) string {
	var l line
	from := ""
	if id, ok := e.Identity(); ok {
		from = id.String()
	} else {
		a, _ := e.Source()
		from = a.String()
	}
	f := e.Fields()
	l.add("%s>%s encrypted/%s tx=%d rx=%d", from, map[bool]string{false: "*", true: "."}[f.Destined], Sealed(f.User), f.TX, f.RX)
	l.addIf(f.Keepalive, "keepalive")
	l.addIf(f.Master, "master")
	l.addIf(f.NoKey, "no-key")
	l.add("seq=%d bytes=%d", f.Seq, len(e.Sealed()))
	return l.String()
}

// Sealed says in a word what is inside an encrypted packet that has the user u outside: state,
// disc or message.
func Sealed(u frame.User) string {
	switch u {
	case frame.UserLink:
		return "state"
	case frame.UserDiscovery:
		return "disc"
	}
	return "message"
}
