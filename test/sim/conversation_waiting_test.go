// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/sim"
)

// A speaker is a node, 1001001, that says to another, 1001002, what a test wants, in two
// networks; of what the observer finds it counts one rule.
type speaker struct {
	c       *sim.Conversation
	rule    string
	now     time.Duration
	session frame.Seq
	found   int
}

const (
	speakerAddr = frame.NodeAddr(0x1001001)
	listenAddr  = frame.NodeAddr(0x1001002)
)

func newSpeaker(rule string, change func(*sim.Conversation)) *speaker {
	s := &speaker{c: sim.NewConversation(frame.DefaultNetID), rule: rule, session: 100}
	change(s.c)
	return s
}

func (s *speaker) say(net byte, to frame.MAC, msg []byte) {
	for _, f := range s.c.Frame(s.now, frame.MAC{2, 0, 0, 0, net, 1}, to, msg) {
		if f.Rule == s.rule {
			s.found++
		}
	}
}

// link says a message of the link protocol in a network.
func (s *speaker) link(net byte, msg []byte) { s.say(net, frame.MAC{2, 0, 0, 0, net, 2}, msg) }

func (s *speaker) info() frame.LinkInfo {
	return frame.LinkInfo{NextSent: 1, Session: s.session, Orig: speakerAddr, Dest: listenAddr, RedundantLink: true}
}

// state says that a packet of the link comes next, and which broadcast was the last.
func (s *speaker) state(net byte, next, last frame.Seq) {
	f := frame.StateFields{Common: frame.Common{Prev: speakerAddr}, LinkInfo: s.info()}
	f.NextSent, f.LastBcast = next, last
	s.link(net, f.Append(nil, nil))
}

func (s *speaker) reset() {
	f := frame.ResetFields{Common: frame.Common{Prev: speakerAddr}, LinkInfo: s.info(), MaxPacket: 1500}
	s.link(0, f.Append(nil))
}

// opening is packet 1 of the link.
func (s *speaker) opening() {
	f := frame.BcastInitFields{Common: frame.Common{Seq: 1, Prev: speakerAddr}, BcastAckInvalid: true, Orig: speakerAddr, Dest: listenAddr}
	s.link(0, f.Append(nil))
}

func (s *speaker) broadcast(q frame.Seq) {
	b := (&frame.NamesFields{Common: frame.Common{Prev: speakerAddr}, UpdateSeq: q, NonLegacy: true, Orig: speakerAddr}).Append(nil)
	frame.StampBroadcast(b, q, frame.DefaultNetID)
	s.say(0, frame.BroadcastMAC, b)
}

// want checks how often the rule was found since the last time.
func (s *speaker) want(t *testing.T, what string, count int) {
	t.Helper()
	if s.found != count {
		t.Errorf("%s: found %s %d times, want %d", what, s.rule, s.found, count)
	}
	s.found = 0
}

// What waited for the device of one network says that nothing was broadcast, while a packet is
// heard in the other: nobody began anew. What is never sent is found all the same. Mutation:
// lastBcast that restarts there.
//
// Proves: link.simulated
func TestConversationStateWaited(t *testing.T) {
	s := newSpeaker("last-bcast", func(c *sim.Conversation) { c.Slack = 15 * time.Millisecond })
	s.state(0, 1, 0)
	s.state(1, 1, 0)
	s.broadcast(1)
	s.state(1, 1, 0)
	s.state(0, 1, 1)
	s.now += 100 * time.Millisecond
	s.state(0, 1, 1)
	s.want(t, "an old STATE", 0)
	s.state(0, 1, 2)
	s.now += 100 * time.Millisecond
	s.state(0, 1, 2)
	s.want(t, "one that was never sent", 1)
}

// It may have begun anew: then its first packet is another one. Mutation: broadcast without mayBegin.
//
// Proves: link.simulated
func TestConversationBeganAnew(t *testing.T) {
	s := newSpeaker("bcast-repeat", func(c *sim.Conversation) { c.Slack = 15 * time.Millisecond })
	s.state(0, 1, 0)
	s.state(1, 1, 0)
	s.broadcast(1)
	s.broadcast(2)
	s.state(1, 1, 0)
	b := (&frame.NamesFields{Common: frame.Common{Prev: speakerAddr}, UpdateSeq: 7, NonLegacy: true, Orig: speakerAddr}).Append(nil)
	frame.StampBroadcast(b, 1, frame.DefaultNetID)
	s.say(0, frame.BroadcastMAC, b)
	s.want(t, "another first packet", 0)
	frame.StampBroadcast(b, 2, frame.DefaultNetID)
	s.say(0, frame.BroadcastMAC, b)
	s.want(t, "the next", 0)
	s.broadcast(2)
	s.want(t, "that again, changed", 1)
}

// Several STATEs that waited for a device tell of packets that were taken back when the link
// went down; one that cannot have waited is a mistake. Mutations: goesOn without Slack; that finds nothing.
//
// Proves: link.simulated
func TestConversationPacketsTakenBack(t *testing.T) {
	s := newSpeaker("next-sent", func(c *sim.Conversation) { c.Slack, c.TakesBack = 15*time.Millisecond, true })
	s.state(0, 1, 0)
	s.state(0, 9, 0)
	s.now += 10 * time.Millisecond
	s.state(0, 9, 0)
	s.want(t, "within the wait", 0)
	s.now += 10 * time.Millisecond
	s.state(0, 9, 0)
	s.want(t, "after it", 1)
}

// A STATE tells of packets that wait for their device: the other end may say that it misses
// them, and no others. Mutations: announced without what was told; without a limit.
//
// Proves: link.simulated
func TestConversationGapOfPacketsThatWait(t *testing.T) {
	s := newSpeaker("gap", func(c *sim.Conversation) { c.Slack, c.TakesBack = 15*time.Millisecond, true })
	misses := func(gap int) {
		f := frame.StateFields{Common: frame.Common{Prev: listenAddr}, LinkInfo: s.info(), Gap: gap}
		f.Orig, f.Dest = listenAddr, speakerAddr
		for _, x := range s.c.Frame(s.now, frame.MAC{2, 0, 0, 0, 0, 2}, frame.MAC{2, 0, 0, 0, 0, 1}, f.Append(nil, nil)) {
			if x.Rule == s.rule {
				s.found++
			}
		}
	}
	s.state(0, 1, 0)
	misses(1)
	s.want(t, "nothing was told", 1)
	s.state(0, 5, 0)
	s.state(0, 9, 0)
	misses(8)
	s.want(t, "what was told", 0)
	misses(9)
	s.want(t, "more than that", 1)
}

// A sender whose RESET finds no memory says later that it lost whom it waited for; one that
// goes on in the session went beyond its window. Mutations: overruns that does not wait for
// either; wentOn that is not called for packets, or STATEs.
//
// Proves: link.simulated
func TestConversationOverrunWithoutMemory(t *testing.T) {
	for _, c := range []struct {
		what  string
		next  func(*speaker)
		count int
	}{
		{"a new session", func(s *speaker) { s.session++; s.reset() }, 0},
		{"the same session", func(s *speaker) { s.state(0, 2, 51) }, 1},
		{"a packet", func(s *speaker) { s.opening() }, 1},
	} {
		s := newSpeaker("bcast-window", func(c *sim.Conversation) { c.Owed = true })
		s.reset()
		s.state(0, 1, 0)
		s.opening()
		for q := range frame.Seq(51) {
			s.broadcast(q + 1)
		}
		s.now += 10 * time.Millisecond
		s.broadcast(52)
		s.want(t, c.what+", before", 0)
		c.next(s)
		s.now += 10 * time.Millisecond
		s.broadcast(53)
		s.want(t, c.what, c.count)
	}
}
