// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"cmp"
	"slices"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/engine"
)

// A reportedState is what a line has told that the end of its daemon makes untrue: bindings, and
// members of a group. Contact with all nodes is lost then, this one among them, and who was told
// that something is there is told that it is not. The line's lock guards it.
type reportedState interface {
	// note is called with each record that is to be read.
	note(r *clientRecord)
	// takeBack gives the records that take back what was told.
	takeBack(put func(clientRecord))
}

// reportedBindings are bindings that were published and not withdrawn.
type reportedBindings struct {
	told   map[attach.Event]attach.Event // by what tells one from another
	ranges bool                          // only ranges are told of
}

// key is what the events of one binding have in common.
func (s reportedBindings) key(ev attach.Event) attach.Event {
	ev.Kind = 0
	if s.ranges {
		return attach.Event{Range: ev.Range}
	}
	return ev
}

func (s reportedBindings) note(r *clientRecord) {
	if r.Op != attach.OpEvent {
		return
	}
	all, err := attach.ParseEvents(r.data, nil)
	if err != nil {
		return // who reads it finds out
	}
	for _, ev := range all {
		switch ev.Kind {
		case attach.EventPublished:
			s.told[s.key(ev)] = ev
		case attach.EventWithdrawn:
			delete(s.told, s.key(ev))
		}
	}
}

func (s reportedBindings) takeBack(put func(clientRecord)) {
	if len(s.told) == 0 {
		return
	}
	all := make([]attach.Event, 0, len(s.told))
	for _, ev := range s.told {
		ev.Kind = attach.EventWithdrawn
		all = append(all, ev)
	}
	clear(s.told)
	slices.SortFunc(all, func(a, b attach.Event) int {
		return cmp.Or(cmp.Compare(a.Range.Type, b.Range.Type), cmp.Compare(a.Range.Lower, b.Range.Lower), cmp.Compare(a.Range.Upper, b.Range.Upper),
			cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Key, b.Key))
	})
	r := clientRecord{Header: attach.Header{Op: attach.OpEvent}}
	for i := range all {
		r.data = all[i].Append(r.data)
	}
	put(r)
}

// reportedMembers are the members of a group that have joined and not left, by the address and the
// instance that tell of them.
type reportedMembers map[[2]attach.Sockaddr]attach.Header

func (s reportedMembers) note(r *clientRecord) {
	if r.Op != attach.OpMessage {
		return
	}
	who := [2]attach.Sockaddr{r.Addr, r.Addr2}
	switch engine.GroupKind(r.Arg0 >> 8 & 0xff) {
	case engine.MemberJoined:
		s[who] = r.Header
	case engine.MemberLeft:
		delete(s, who)
	}
}

func (s reportedMembers) takeBack(put func(clientRecord)) {
	all := make([]attach.Header, 0, len(s))
	for _, h := range s {
		h.Arg0 = h.Arg0&^0xff00 | uint32(engine.MemberLeft)<<8
		all = append(all, h)
	}
	clear(s)
	slices.SortFunc(all, func(a, b attach.Header) int {
		x, _ := a.Addr.Socket()
		y, _ := b.Addr.Socket()
		return cmp.Or(cmp.Compare(x.Node, y.Node), cmp.Compare(x.Port, y.Port))
	})
	for _, h := range all {
		put(clientRecord{Header: h})
	}
}
