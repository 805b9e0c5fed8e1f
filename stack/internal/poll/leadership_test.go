// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// The model: three calls that wait for messages, the first one twice, the background goroutine, and a
// sender that polls now and then without waiting. Every step is what the
// code does under the Loop's lock; all orders of steps are tried. Frames arrive at
// any time. What must hold: at the end nobody waits for a message that has come,
// and at no time is progress nobody's business.

const callers = 3

type callerState uint8

const (
	callAway      callerState = iota // not waiting
	callLooking                      // holds the lock next: looks, then blocks
	callBreathing                    // leads, and has let go of the lock between two polls
	callParked                       // sleeps on its channel
	callSlept                        // leads, and sleeps in the calls' parker
)

type world struct {
	h       leadership
	w       [callers]*Waiter
	call    [callers]callerState
	rounds  [callers]int  // waits still to come
	frames  [callers]int  // messages still to arrive
	pending [callers]bool // in the device
	has     [callers]bool // in the port's queue
	wake    [callers]bool // a signal on the waiter's channel
	roused  [callers]bool // as a leader, since it last looked

	backgroundSlept bool // the background goroutine sleeps in its parker
	backgroundLooks bool // the background goroutine holds the lock next
	backgroundTimed bool // the background goroutine sleeps on its channel with a timer
	backgroundWoken bool // a signal on the background goroutine's channel
	backgroundRing  bool // a ring on the background goroutine's parker
	callRing        bool // a ring on the calls' parker
	callAsleep      bool
	polls           int // the sender's, still to come

	flaw string // a mistake built in, to show that the model finds it
}

func (s *world) clone() *world {
	c := *s
	c.h.parked = slices.Clone(s.h.parked)
	return &c
}

func (s *world) key() string {
	var b strings.Builder
	id := func(w *Waiter) int { return slices.Index(s.w[:], w) }
	fmt.Fprint(&b, id(s.h.leader), s.h.background, s.h.seen == s.h.arrivals, s.call, s.rounds, s.frames, s.pending, s.has,
		s.wake, s.roused, s.backgroundSlept, s.backgroundLooks, s.backgroundTimed, s.backgroundWoken, s.backgroundRing, s.callRing, s.callAsleep, s.polls)
	for _, w := range s.h.parked {
		fmt.Fprint(&b, id(w))
	}
	return b.String()
}

// pollOnce delivers what is in the device, as Machine.Poll does; own says that the leader
// turns it.
func (s *world) pollOnce(own bool) (busy bool) {
	for i := range callers {
		if !s.pending[i] {
			continue
		}
		busy, s.pending[i], s.has[i] = true, false, true
		switch {
		case s.call[i] == callAway:
		case s.h.leader == s.w[i]:
			s.roused[i] = true
			s.callRing = s.callRing || !own && s.callAsleep && s.flaw != "a poll does not ring"
		default:
			s.wake[i] = true
		}
	}
	return busy
}

func (s *world) anyPending() bool { return slices.Contains(s.pending[:], true) }

// steps returns every state that one step leads to.
func (s *world) steps() map[string]*world {
	next := map[string]*world{}
	add := func(name string, f func(*world)) {
		c := s.clone()
		f(c)
		next[name] = c
	}
	for i := range callers {
		if s.frames[i] > 0 && !s.pending[i] && !s.has[i] {
			add(fmt.Sprint("frame for ", i), func(c *world) { c.frames[i]--; c.pending[i] = true })
		}
		switch s.call[i] {
		case callAway:
			if s.rounds[i] > 0 {
				add(fmt.Sprint("arrive ", i), func(c *world) {
					c.rounds[i]--
					c.wake[i] = false
					if c.has[i] { // the fast path: a message is there
						c.has[i] = false
						return
					}
					_, ring := c.h.arrive(c.w[i])
					c.backgroundRing = c.backgroundRing || ring && c.backgroundSlept && c.flaw != "the background goroutine is not rung"
					c.call[i] = callLooking
				})
			}
		case callLooking:
			add(fmt.Sprint("look ", i), func(c *world) { c.look(i) })
		case callBreathing:
			add(fmt.Sprint("turn ", i), func(c *world) { c.turn(i) })
		case callParked:
			if s.wake[i] {
				add(fmt.Sprint("unpark ", i), func(c *world) { c.wake[i] = false; c.call[i] = callLooking })
			}
		case callSlept:
			if s.callRing || s.anyPending() {
				add(fmt.Sprint("wake ", i), func(c *world) { c.callRing, c.callAsleep, c.call[i] = false, false, callLooking })
			}
		}
	}
	if s.polls > 0 {
		add("sender", func(c *world) { c.polls--; c.pollOnce(false) })
	}
	switch {
	case s.backgroundLooks:
		for _, sendsInRow := range []bool{false, true} {
			if sendsInRow && s.polls == 0 {
				continue // whoever sends without pause polls
			}
			add(fmt.Sprint("background goroutine looks, a run: ", sendsInRow), func(c *world) {
				c.backgroundLooks = false
				switch c.h.look(c.callAsleep, sendsInRow) {
				case backgroundPolling:
					c.backgroundLooks = c.pollOnce(true)
					c.backgroundSlept = !c.backgroundLooks
				case backgroundDozing:
					c.backgroundTimed = true
				}
			})
		}
	case s.backgroundSlept:
		if s.backgroundRing || s.anyPending() {
			add("background goroutine wakes", func(c *world) { c.backgroundRing, c.backgroundSlept, c.backgroundLooks = false, false, true })
		}
	case s.backgroundTimed:
		add("background goroutine's doze ends", func(c *world) { c.backgroundWoken, c.backgroundTimed, c.backgroundLooks = false, false, true })
	case s.backgroundWoken:
		add("background goroutine is woken", func(c *world) { c.backgroundWoken, c.backgroundLooks = false, true })
	}
	return next
}

// look is a call's turn with the lock: it has its message, or blocks.
func (s *world) look(i int) {
	switch {
	case s.has[i]:
		s.has[i] = false
		s.call[i] = callAway
		next, wakeBackground := s.h.leave(s.w[i])
		if next != nil && s.flaw != "the role is not handed on" {
			s.wake[slices.Index(s.w[:], next)] = true
		}
		s.backgroundWoken = s.backgroundWoken || wakeBackground && s.flaw != "the background goroutine is not woken"
	case s.h.leader != s.w[i]:
		s.call[i] = callParked
	default:
		s.roused[i] = false
		s.call[i] = callBreathing
	}
}

// turn is a leader's next poll, and its sleep if that brings nothing.
func (s *world) turn(i int) {
	s.call[i] = callLooking
	if s.roused[i] && s.flaw != "a leader forgets what came while it yielded" {
		return
	}
	s.callAsleep = true
	if s.pollOnce(true) {
		s.callAsleep = false
		return
	}
	s.call[i] = callSlept
}

// broken says what is wrong with a state.
func (s *world) broken() string {
	for i := range callers {
		if s.h.leader == s.w[i] && s.call[i] == callParked && !s.wake[i] {
			return fmt.Sprintf("call %d drives and nobody tells it", i)
		}
		if s.call[i] == callSlept && s.h.leader != s.w[i] {
			return fmt.Sprintf("call %d sleeps in the kernel and does not drive", i)
		}
	}
	if s.h.leader == nil && !s.backgroundSlept && !s.backgroundTimed && !s.backgroundWoken && !s.backgroundLooks {
		return "nobody drives and the background goroutine is parked"
	}
	if s.backgroundSlept && !s.backgroundRing && s.h.leader != nil {
		return "the background goroutine stays in the kernel while a call drives"
	}
	return ""
}

// stuck says what is wrong with a state that no step leads out of.
func (s *world) stuck() string {
	for i := range callers {
		if s.has[i] && s.call[i] != callAway {
			return fmt.Sprintf("call %d waits and its message is there", i)
		}
		if s.pending[i] {
			return fmt.Sprintf("the frame for %d stays in the device", i)
		}
	}
	return ""
}

// explore visits every state and returns the first that is wrong, with the way
// that leads there.
func explore(start *world) (states int, wrong string, path []string) {
	type visit struct {
		from string
		step string
	}
	seen := map[string]visit{start.key(): {}}
	queue := []*world{start}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		next := s.steps()
		wrong := s.broken()
		if wrong == "" && onlyDozes(next) {
			wrong = s.stuck()
		}
		if wrong != "" {
			for k := s.key(); seen[k].step != ""; k = seen[k].from {
				path = append(path, seen[k].step)
			}
			slices.Reverse(path)
			return len(seen), wrong, path
		}
		for name, c := range next {
			k := c.key()
			if _, ok := seen[k]; !ok {
				seen[k] = visit{s.key(), name}
				queue = append(queue, c)
			}
		}
	}
	return len(seen), "", nil
}

// onlyDozes reports whether nothing can happen: no step, or none but new calls.
func onlyDozes(next map[string]*world) bool {
	for name := range next {
		if !strings.HasPrefix(name, "arrive") && !strings.HasPrefix(name, "frame") && name != "sender" {
			return false
		}
	}
	return true
}

func newWorld() *world {
	s := &world{backgroundLooks: true, polls: 1}
	for i := range callers {
		s.w[i] = &Waiter{}
		s.rounds[i], s.frames[i] = 1, 1
	}
	s.rounds[0], s.frames[0] = 2, 2
	return s
}

// Proves: poll.leader
func TestLeadershipInAllOrders(t *testing.T) {
	s := newWorld()
	if tier.First() {
		s.rounds[0], s.frames[0] = 1, 1
	}
	states, wrong, path := explore(s)
	if wrong != "" {
		t.Fatalf("%s, after:\n%s", wrong, strings.Join(path, "\n"))
	}
	t.Logf("%d states", states)
}

// Proves: poll.leader
func TestLeadershipModelFindsMistakes(t *testing.T) {
	for _, flaw := range []string{
		"a leader forgets what came while it yielded", "a poll does not ring", "the role is not handed on", "the background goroutine is not woken", "the background goroutine is not rung",
	} {
		s := newWorld()
		s.flaw = flaw
		if _, wrong, path := explore(s); wrong == "" {
			t.Errorf("not found: %s", flaw)
		} else {
			t.Logf("%s: %s after %d steps", flaw, wrong, len(path))
		}
	}
}
