// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A lineModel is senders with messages to send over something that has room for a few,
// in every order in which their calls may run. It knows no time.
type lineModel struct {
	t       testing.TB
	ln      line
	room    int
	serial  uint64
	senders []*modelSender
	woken   []*modelSender // who were called and have not run since
	path    []int          // the moves so far
}

type modelSender struct {
	Ticket
	turn turn
	id   int
	sent int
}

func newLineModel(t testing.TB, senders int) *lineModel {
	m := &lineModel{t: t}
	for i := range senders {
		s := &modelSender{id: i}
		s.need, s.Owner = 1, s
		m.senders = append(m.senders, s)
	}
	return m
}

func (m *lineModel) wake(t *Ticket) {
	m.woken = append(m.woken, t.Owner.(*modelSender))
}

func (m *lineModel) look() { m.ln.invite(m.room, m.wake) }

// try runs a sender's call once, whether it was woken or not.
func (m *lineModel) try(s *modelSender) {
	m.woken = slices.DeleteFunc(m.woken, func(x *modelSender) bool { return x == s })
	may := m.ln.waiting == 0 || m.ln.admits(&s.Ticket, m.room, 1) && (s.line != nil || !m.ln.spent(&s.turn))
	if !may || m.room == 0 {
		if s.line == nil {
			m.serial++
			s.serial = m.serial
			m.ln.enter(&s.Ticket)
		} else if s.invited {
			m.ln.refuse(&s.Ticket)
		}
		if s.spent = 0; m.ln.spent(&s.turn) {
			s.spent = m.ln.round
		}
		m.look()
		return
	}
	// It goes: nobody may wait uninvited who began before it.
	for t := m.ln.first; t != nil; t = t.next {
		if !t.invited && (s.line == nil || t.serial < s.serial) {
			m.t.Fatalf("%v: sender %d overtakes %d", m.path, s.id, t.Owner.(*modelSender).id)
		}
	}
	m.room--
	s.sent++
	if m.ln.waiting > 0 {
		m.ln.took(&s.turn)
	}
	m.leave(s)
}

func (m *lineModel) leave(s *modelSender) {
	if s.line != nil {
		m.ln.leave(&s.Ticket)
	}
	s.serial = 0
	m.look()
}

// check is what must hold between any two steps.
func (m *lineModel) check() {
	waiting, kept := 0, 0
	var next *Ticket
	for t := m.ln.first; t != nil; t = t.next {
		waiting++
		switch {
		case !t.invited && next == nil:
			next = t
		case t.invited && next != nil:
			m.t.Fatalf("%v: %d is invited, and somebody before it is not", m.path, t.Owner.(*modelSender).id)
		}
		if t.invited {
			kept += t.need
			if !slices.Contains(m.woken, t.Owner.(*modelSender)) {
				m.t.Fatalf("%v: %d is invited and asleep", m.path, t.Owner.(*modelSender).id)
			}
		}
		if t.next != nil && t.next.serial <= t.serial {
			m.t.Fatalf("%v: out of order", m.path)
		}
	}
	switch {
	case waiting != m.ln.waiting || kept != m.ln.kept || next != m.ln.next:
		m.t.Fatalf("%v: %d wait and %d is kept; counted %d and %d", m.path, waiting, kept, m.ln.waiting, m.ln.kept)
	case next != nil && next == m.ln.first && m.room > 0:
		m.t.Fatalf("%v: all %d sleep, with room for %d: a lost wake-up", m.path, waiting, m.room)
	}
}

// do makes one move: a sender tries or quits, room for one comes, or somebody takes it
// who is in no line. It reports false for one that cannot be.
func (m *lineModel) do(move int) bool {
	k := len(m.senders)
	switch {
	case move < k:
		m.try(m.senders[move])
	case move < 2*k:
		s := m.senders[move-k]
		m.woken = slices.DeleteFunc(m.woken, func(x *modelSender) bool { return x == s })
		m.leave(s)
	case move == 2*k && m.room < 3:
		m.room++
		m.look()
	case move == 2*k+1 && m.room > 0:
		m.room--
	default:
		return false
	}
	return true
}

// state tells everything that matters for what can follow.
func (m *lineModel) state() string {
	key := fmt.Sprint(m.room)
	for t := m.ln.first; t != nil; t = t.next {
		key += fmt.Sprint(" ", t.Owner.(*modelSender).id, t.invited, t.spent == m.ln.round)
	}
	key += fmt.Sprint(" ", m.ln.share)
	for _, s := range m.senders {
		key += fmt.Sprint(" ", m.ln.spent(&s.turn))
		if s.turn.line != nil && s.turn.round == m.ln.round {
			key += fmt.Sprint(" ", s.turn.count)
		}
	}
	return key
}

// In every state that any order of sends, room and departures leads to: nobody
// overtakes who waits, nobody who is invited sleeps, and not all wait beside room. So
// as long as room comes and those invited run, the first in the line goes next, and by
// induction everyone does.
//
// Proves: link.importance
func TestLineInEveryState(t *testing.T) {
	const senders = 3
	seen := map[string]bool{}
	for todo := [][]int{nil}; len(todo) > 0; {
		path := todo[0]
		todo = todo[1:]
		for move := range 2*senders + 2 {
			m := newLineModel(t, senders)
			m.path = append(slices.Clone(path), move)
			legal := true
			for _, k := range m.path {
				legal = m.do(k)
			}
			if !legal {
				continue
			}
			m.check()
			if key := m.state(); !seen[key] {
				seen[key] = true
				todo = append(todo, m.path)
			}
		}
	}
	if len(seen) < 300 {
		t.Errorf("only %d states were seen", len(seen))
	}
	t.Logf("%d states", len(seen))
}

// Whoever is called runs some time, in any order, and sends all it may; room comes as
// it likes. Each time room comes no sender gets more than twice its share and some, and
// in the end all have sent alike.
//
// Proves: link.importance
func TestLineIsFair(t *testing.T) {
	const senders, burst = 8, 50
	r := rand.New(rand.NewPCG(1, 2))
	m := newLineModel(t, senders)
	for _, s := range m.senders {
		m.try(s)
	}
	least, most := 0, 0
	for range 20_000 {
		var before [senders]int
		for i, s := range m.senders {
			before[i] = s.sent
		}
		m.room += 1 + r.IntN(burst)
		share := m.room / senders
		m.look()
		for len(m.woken) > 0 {
			s := m.woken[r.IntN(len(m.woken))]
			m.try(s)
			for s.line == nil {
				m.try(s)
			}
			m.check()
		}
		least, most = m.senders[0].sent, m.senders[0].sent
		for i, s := range m.senders {
			least, most = min(least, s.sent), max(most, s.sent)
			if got := s.sent - before[i]; got > 2*share+2 {
				t.Fatalf("sender %d sent %d messages, its share is %d", i, got, share)
			}
		}
	}
	if float64(most-least) > 0.01*float64(most) {
		t.Errorf("between %d and %d messages were sent", least, most)
	}
}
