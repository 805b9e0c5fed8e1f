// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"fmt"
	"time"
)

// An EventKind says what a NodeEvent tells of: a text such as "link up".
type EventKind string

// Kinds of events; the lines in the log have the same texts.
const (
	AddressSettled   EventKind = "address settled"
	LinkUp           EventKind = "link up"
	LinkDown         EventKind = "link down"
	PeerUp           EventKind = "peer up"
	PeerLost         EventKind = "peer lost"
	DuplicateAddress EventKind = "duplicate address"
	NamesRefused     EventKind = "names refused"
	TooManyNames     EventKind = "too many names"
	KeyInUse         EventKind = "key in use"
	PeerKeyInUse     EventKind = "peer's key in use"
	KeyReceived      EventKind = "key received"
	KeyWearsOut      EventKind = "key wears out"
	PlainDropped     EventKind = "plain frames dropped"
	NotOpened        EventKind = "sealed frames not opened"
	LinkImpaired     EventKind = "link impaired"  // Reason is what the network has not done for it for 10 s
	LinkRecovered    EventKind = "link recovered" // and does again

	BearerEnabled  EventKind = "bearer enabled"
	BearerDisabled EventKind = "bearer disabled"
	BearerUp       EventKind = "bearer up"      // its interface carries again
	BearerDown     EventKind = "bearer down"    // and carries nothing
	BearerChanged  EventKind = "bearer changed" // what becomes of a bearer that is kept as it is wanted; Reason is its state, and why

	DaemonLost EventKind = "daemon lost" // of an attached node; Node is the address that it had
	DaemonBack EventKind = "daemon back" // the node is attached to the next one; Node is its address
)

func (k EventKind) String() string { return string(k) }

// A NodeEvent is something that happened to the node, its bearers, links and peers. For
// names and services there are subscriptions.
type NodeEvent struct {
	Time   time.Time `json:"time"`
	Kind   EventKind `json:"event"`
	Node   NodeAddr  `json:"node,omitempty"`   // the peer, or who the event is about
	Link   string    `json:"link,omitempty"`   // its name, of the link events
	Bearer string    `json:"bearer,omitempty"` // its device's name, of the bearer events and DuplicateAddress
	Reason string    `json:"reason,omitempty"` // of LinkDown, PeerLost and LinkImpaired; of DuplicateAddress the station, and whose it is
	Count  int       `json:"count,omitempty"`  // of what there was more than one of since the last such event
	Lost   uint64    `json:"lost,omitempty"`   // events before this one for which there was no room
}

// String returns the event as a line, without the time.
func (ev NodeEvent) String() string {
	s := string(ev.Kind)
	if ev.Node != 0 {
		s += " " + ev.Node.String()
	}
	if ev.Bearer != "" {
		s += " " + ev.Bearer
	}
	if ev.Link != "" {
		s += " " + ev.Link
	}
	if ev.Reason != "" {
		s += ": " + ev.Reason
	}
	if ev.Count > 0 {
		s += fmt.Sprintf(", %d times", ev.Count)
	}
	return s
}

// A Watch is a queue of what happens to a node, since it was made. Its methods may be called
// by any number of goroutines.
type Watch interface {
	// Next returns the next event; it waits for one until ctx is done. Events beyond 1024
	// that wait are lost, and counted in the next. Errors: net.ErrClosed after Close and,
	// once all events are read, after the node's end; the context's.
	Next(ctx context.Context) (NodeEvent, error)
	// Close ends it. It always returns nil.
	Close() error
}

// Watch begins to watch the node; ctx ends the wait for the daemon of an attached one. The
// watch goes on with the next daemon. Errors: a *Refusal with EUSERS for more than 256;
// net.ErrClosed; the context's.
func (a *Admin) Watch(ctx context.Context) (Watch, error) { return a.b.Watch(ctx) }
