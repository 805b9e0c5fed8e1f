// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"cmp"
	"encoding/json"
	"slices"
)

// A Client is a process that has connections, and what it has and did. Processes that the
// daemon cannot see, PID 0, count together by user.
type Client struct {
	PID     int
	UID     uint32
	GID     uint32
	Program string // as it calls itself

	Connections   int
	Names         int
	Subscriptions int
	Calls         int
	Rings         int
	QueuedBytes   int // messages that wait because it does not read

	Records     uint64 // that came
	BytesIn     uint64
	Messages    uint64 // delivered
	BytesOut    uint64
	Failed      uint64 // sends that failed and were not to be answered
	Refused     uint64 // calls it may not make
	OverLimit   uint64 // requests beyond a limit
	Slowed      uint64 // times that it was read more slowly for sending too much
	Stalled     uint64 // times that it did not read
	OverQueue   uint64 // times that a socket of it was made to refuse what comes
	Broken      uint64 // connections that did not keep to the protocol
	SocketPorts []uint32
}

// Counters are what a Server has done, and holds.
type Counters struct {
	Clients int // processes
	Users   int

	Connections   int
	Names         int
	Subscriptions int
	Calls         int
	Rings         int
	QueuedBytes   int

	Records     uint64
	BytesIn     uint64
	Messages    uint64
	BytesOut    uint64
	Failed      uint64
	Refused     uint64
	OverLimit   uint64
	Slowed      uint64
	Stalled     uint64
	OverQueue   uint64
	Broken      uint64
	Descriptors uint64 // that came and nobody had asked for
	TurnedAway  uint64 // connections beyond a limit
	Errors      uint64 // of accepting, and of asking who is there
	RingsMade   uint64
	RingFaults  uint64 // rings that their program scribbled over
}

// Clients returns the processes that have connections, by number.
func (s *Server) Clients() []Client {
	a := s.accounts
	a.mu.Lock()
	var all []Client
	var of [][]*session
	for _, c := range a.procs {
		all = append(all, c.snapshotLocked())
		var xs []*session
		for x := range c.sessions {
			xs = append(xs, x)
		}
		of = append(of, xs)
	}
	a.mu.Unlock()
	for i := range all {
		for _, x := range of[i] {
			if own, ok := x.socket(); ok {
				all[i].SocketPorts = append(all[i].SocketPorts, own)
			}
		}
		slices.Sort(all[i].SocketPorts)
	}
	slices.SortFunc(all, func(a, b Client) int { return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.UID, b.UID)) })
	return all
}

// socket is the number of the session's socket.
func (x *session) socket() (port uint32, ok bool) {
	x.mu.Lock()
	p := x.port
	x.mu.Unlock()
	if p == nil {
		return 0, false
	}
	a := p.is().socket()
	return a.A, a.A != 0
}

func (c *client) snapshotLocked() Client {
	return Client{
		PID: c.who.PID, UID: c.who.UID, GID: c.who.GID, Program: c.program,
		Connections: c.held[connections], Names: c.held[names], Subscriptions: c.held[subscriptions],
		Calls: c.held[calls], Rings: c.held[rings], QueuedBytes: c.held[queuedBytes],
		Records: c.records.Load(), BytesIn: c.bytesIn.Load(), Messages: c.messages.Load(), BytesOut: c.bytesOut.Load(),
		Failed: c.failed.Load(), Refused: c.refused.Load(), OverLimit: c.overLimit.Load(), Slowed: c.slowed.Load(),
		Stalled: c.stalled.Load(), OverQueue: c.overQueue.Load(), Broken: c.broken.Load(),
	}
}

// named notes what the process calls itself.
func (c *client) named(program string) {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.program = program
}

// Counters returns a snapshot.
func (s *Server) Counters() Counters {
	a, c := s.accounts, &s.counters
	a.mu.Lock()
	held, clients, users := a.server.held, len(a.procs), len(a.users)
	a.mu.Unlock()
	return Counters{
		Clients: clients, Users: users,
		Connections: held[connections], Names: held[names], Subscriptions: held[subscriptions],
		Calls: held[calls], Rings: held[rings], QueuedBytes: held[queuedBytes],
		Records: c.records.Load(), BytesIn: c.bytesIn.Load(), Messages: c.messages.Load(), BytesOut: c.bytesOut.Load(),
		Failed: c.failed.Load(), Refused: c.refused.Load(), OverLimit: c.overLimit.Load(), Slowed: c.slowed.Load(),
		Stalled: c.stalled.Load(), OverQueue: c.overQueue.Load(), Broken: c.broken.Load(),
		Descriptors: c.descriptors.Load(), TurnedAway: c.turnedAway.Load(), Errors: c.acceptErrors.Load() + c.badPeers.Load(),
		RingsMade: c.rings.Load(), RingFaults: c.ringFaults.Load(),
	}
}

// serverVerbs are the management calls that tell of the server.
var serverVerbs = map[string]func(*Server) ([]byte, error){
	"clients": func(s *Server) ([]byte, error) { return json.Marshal(s.Clients()) },
	"daemon":  func(s *Server) ([]byte, error) { return json.Marshal(s.Counters()) },
}
