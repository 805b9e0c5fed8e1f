// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=EventKind -linecomment

// An EventKind says what an Event tells of.
type EventKind uint8

const (
	AddressSettled   EventKind = iota // address settled
	LinkUp                            // link up
	LinkDown                          // link down
	PeerUp                            // peer up
	PeerLost                          // peer lost
	DuplicateAddress                  // duplicate address
	BadNames                          // names refused
	TooManyNames                      // too many names
	Room                              // room for blocked senders
	KeyInUse                          // key in use
	PeerKeyInUse                      // peer's key in use
	KeyTaken                          // key received
	KeyWearing                        // key wears out
	PlainDropped                      // plain frames dropped
	NotOpened                         // sealed frames not opened
	LinkImpaired                      // link impaired
	LinkRecovered                     // link recovered
)

// An Event tells the owner of something that happened.
type Event struct {
	Kind  EventKind
	Node  frame.NodeAddr
	Link  string        // the link's name, of LinkUp, LinkDown, LinkImpaired and LinkRecovered
	Cause flowctl.Cause // of LinkDown and PeerLost
	Fault Impairment    // of LinkImpaired and LinkRecovered
	MTU   int           // of LinkImpaired by a NarrowPath: of the link now, in bytes
	Claim Claim         // of DuplicateAddress
	Count int           // of BadNames, TooManyNames, PlainDropped and NotOpened: how often since the last such event
}

// A Claim is where another node was seen to claim an address, or an identity.
type Claim struct {
	Station frame.MAC // the sender's
	Bearer  int       // that it was heard on
	Own     int       // the bearer of this node that the station is, which hears its own network twice; -1: none
}

// A Conflict is the last node that was seen to claim an address, or an identity, of another.
type Conflict struct {
	Node  frame.NodeAddr // 0: there was none
	Claim Claim
	At    time.Duration // when it was seen last
	Times uint64        // that any was seen
}

// Conflict returns the last conflict.
func (e *Engine) Conflict() Conflict { return e.conflict }

// NextEvent returns the next event that the owner has not seen.
func (e *Engine) NextEvent() (Event, bool) {
	if e.events.Len() == 0 {
		return Event{}, false
	}
	return e.events.Pop(), true
}

// NamesReady reports whether TakeNameEvents or TakeSubscriptions has something to do. If not, it
// ends the turn as the latter does.
func (e *Engine) NamesReady() bool {
	s := &e.watches
	if e.table != nil && e.table.Changed() || s.pending.Len()+len(s.news)+len(s.ready) > 0 {
		return true
	}
	e.work.done = 0
	return false
}

// TakeNameEvents appends the changes of the binding table to dst.
func (e *Engine) TakeNameEvents(dst []naming.Event) []naming.Event {
	e.tellWatches()
	if len(e.watches.news) == 0 {
		return dst
	}
	dst = append(dst, e.watches.news...)
	e.watches.news = e.watches.news[:0]
	return dst
}

// Ready reports whether somebody is to be woken: one of NextEvent, TakeReady, TakeReadyConns,
// TakeReadyListeners, TakeReadyGroups, TakeProbes and TakeCalled has something.
func (e *Engine) Ready() bool {
	s := &e.conns
	return len(e.ready)+len(e.exclusive.told)+len(s.ready)+len(s.listeners)+len(e.groups.ready)+len(e.probes.ended)+len(e.queues.called)+e.events.Len() > 0
}

// TakeReady appends the ports that were given messages, each once, to dst.
func (e *Engine) TakeReady(dst []*Port) []*Port {
	if len(e.ready) == 0 {
		return dst // every poll asks: to append and clear nothing takes a hundred instructions
	}
	for i, p := range e.ready {
		p.readied = false
		dst = append(dst, p)
		e.ready[i] = nil
	}
	e.ready = e.ready[:0]
	return dst
}
