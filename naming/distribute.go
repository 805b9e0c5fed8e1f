// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"errors"
	"slices"

	"github.com/utipc/utipc/frame"
)

// A Publisher keeps the own bindings that other nodes are told, and numbers the
// updates. Source: docs/spec/05-naming.md §3.
type Publisher struct {
	list  []frame.NameItem       // oldest first; zero where one was withdrawn
	where map[frame.NameItem]int // in the list
	next  frame.Seq              // the next update's number
}

// Publish adds a binding, unless it is there, and returns the number of the update that
// tells of it.
func (p *Publisher) Publish(it frame.NameItem) frame.Seq {
	if p.where == nil {
		p.where = map[frame.NameItem]int{}
	}
	if _, there := p.where[it]; !there {
		p.where[it] = len(p.list)
		p.list = append(p.list, it)
	}
	p.next++
	return p.next - 1
}

// Withdraw removes a binding and returns the number of the update that tells of it.
func (p *Publisher) Withdraw(it frame.NameItem) frame.Seq {
	if i, there := p.where[it]; there {
		delete(p.where, it)
		p.list[i] = frame.NameItem{}
		if len(p.where) < len(p.list)/2 {
			p.close()
		}
	}
	p.next++
	return p.next - 1
}

// close closes the holes in the list.
func (p *Publisher) close() {
	list := make([]frame.NameItem, 0, len(p.where))
	where := make(map[frame.NameItem]int, len(p.where)) // a map does not shrink
	for _, it := range p.list {
		if it != (frame.NameItem{}) {
			where[it] = len(list)
			list = append(list, it)
		}
	}
	p.list, p.where = list, where
}

// Next is the number of the next update.
func (p *Publisher) Next() frame.Seq { return p.next }

// Bulk returns all bindings, for a peer that has come into contact, and the number of the
// first update that is not among them.
func (p *Publisher) Bulk() ([]frame.NameItem, frame.Seq) {
	list := make([]frame.NameItem, 0, len(p.where))
	for _, it := range p.list {
		if it != (frame.NameItem{}) {
			list = append(list, it)
		}
	}
	return list, p.next
}

// Limits of an Inbox.
const (
	maxHeld      = 4096    // updates kept until their turn
	maxHeldItems = 1 << 16 // items in them
)

// ErrInbox means a peer has more updates under way than an Inbox keeps: the
// tables would differ from then on, so the contact has to start over.
var ErrInbox = errors.New("naming: too many updates ahead of their turn")

// An Inbox puts one peer's name messages in order: they come over the unicast
// link and the broadcast link, which may overtake each other. The zero value is
// ready. Source: docs/spec/05-naming.md §4.
type Inbox struct {
	open  bool      // the bulk is complete
	next  frame.Seq // the update expected
	held  []heldUpdate
	items int
}

type heldUpdate struct {
	seq        frame.Seq
	withdrawal bool
	items      []frame.NameItem
}

// Handle takes a message and calls apply for every item that has its turn, though not
// for those of updates kept until then: see Due. Errors: ErrInbox.
func (x *Inbox) Handle(m frame.Names, apply func(it frame.NameItem, withdrawal bool)) error {
	switch {
	case m.Bulk() || !m.NonLegacy():
		for it := range m.Items() {
			apply(it, m.Withdrawal())
		}
		if m.LastBulk() {
			x.open, x.next = true, m.UpdateSeq()
		}
	case x.open && m.UpdateSeq() == x.next && !x.Due():
		x.next++
		for it := range m.Items() {
			apply(it, m.Withdrawal())
		}
	case x.open && m.UpdateSeq().Before(x.next):
		// Told before, by the other way.
	default:
		return x.hold(m)
	}
	return nil
}

// hold keeps an update until its turn; one that is there already is dropped.
func (x *Inbox) hold(m frame.Names) error {
	i := len(x.held)
	for i > 0 && m.UpdateSeq().Before(x.held[i-1].seq) {
		i--
	}
	if i > 0 && x.held[i-1].seq == m.UpdateSeq() {
		return nil
	}
	if len(x.held) == maxHeld || x.items+m.Len() > maxHeldItems {
		return ErrInbox
	}
	x.items += m.Len()
	x.held = slices.Insert(x.held, i, heldUpdate{m.UpdateSeq(), m.Withdrawal(), slices.Collect(m.Items())})
	return nil
}

// Applied reports whether all of the peer's updates before one have had their turn.
func (x *Inbox) Applied(before frame.Seq) bool { return x.open && before.AtMost(x.next) }

// Due reports whether kept updates have their turn.
func (x *Inbox) Due() bool { return x.open && len(x.held) > 0 && x.held[0].seq.AtMost(x.next) }

// Drain applies kept updates that have their turn, those that come after about n items
// not, and drops older ones. It returns how many items it has applied.
func (x *Inbox) Drain(n int, apply func(frame.NameItem, bool)) (done int) {
	for x.Due() && done < n {
		h := x.held[0]
		x.held[0] = heldUpdate{}
		x.held = x.held[1:]
		x.items -= len(h.items)
		if h.seq != x.next {
			continue
		}
		x.next++
		for _, it := range h.items {
			apply(it, h.withdrawal)
		}
		done += 1 + len(h.items)
	}
	return done
}

// Reset forgets everything: contact was lost.
func (x *Inbox) Reset() { *x = Inbox{} }
