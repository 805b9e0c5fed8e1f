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
	PID     int    `json:"pid"`
	UID     uint32 `json:"uid"`
	GID     uint32 `json:"gid"`
	Program string `json:"program"` // as it calls itself

	Connections   int `json:"connections"`
	Names         int `json:"names"`
	Subscriptions int `json:"subscriptions"`
	Calls         int `json:"calls"`
	Rings         int `json:"rings"`
	QueuedBytes   int `json:"queued_bytes"` // that wait: for it to read, or to be sent

	Records     uint64   `json:"records"` // that came
	BytesIn     uint64   `json:"bytes_in"`
	Messages    uint64   `json:"messages"` // delivered
	BytesOut    uint64   `json:"bytes_out"`
	Undelivered uint64   `json:"undelivered"` // messages that its socket would not take: datagrams were returned, connections ended
	Failed      uint64   `json:"failed"`      // sends that failed and were not to be answered
	Refused     uint64   `json:"refused"`     // calls it may not make
	OverLimit   uint64   `json:"over_limit"`  // requests beyond a limit
	Slowed      uint64   `json:"slowed"`      // times that it was read more slowly for sending too much
	Stalled     uint64   `json:"stalled"`     // times that it did not read
	OverQueue   uint64   `json:"over_queue"`  // messages, requests and events that were refused, for too much waits already
	Overdrawn   uint64   `json:"overdrawn"`   // connections and groups of it that were ended, for too much waited
	Broken      uint64   `json:"broken"`      // connections that did not keep to the protocol
	SocketPorts []uint32 `json:"socket_ports"`

	Ended  bool     `json:"ended"`            // the process has ended: others hold its connections, which they have by fork, or were passed
	Inodes []uint64 `json:"inodes,omitempty"` // then: of the daemon's ends of the connections
}

// Counters are what a Server has done, and holds.
type Counters struct {
	Clients int `json:"clients"` // processes
	Users   int `json:"users"`

	Connections   int `json:"connections"`
	Names         int `json:"names"`
	Subscriptions int `json:"subscriptions"`
	Calls         int `json:"calls"`
	Rings         int `json:"rings"`
	QueuedBytes   int `json:"queued_bytes"`

	Records     uint64 `json:"records"`
	BytesIn     uint64 `json:"bytes_in"`
	Messages    uint64 `json:"messages"`
	BytesOut    uint64 `json:"bytes_out"`
	Undelivered uint64 `json:"undelivered"`
	Failed      uint64 `json:"failed"`
	Refused     uint64 `json:"refused"`
	OverLimit   uint64 `json:"over_limit"`
	Slowed      uint64 `json:"slowed"`
	Stalled     uint64 `json:"stalled"`
	OverQueue   uint64 `json:"over_queue"`
	Overdrawn   uint64 `json:"overdrawn"`
	Broken      uint64 `json:"broken"`
	Descriptors uint64 `json:"descriptors"` // that came and nobody had asked for
	TurnedAway  uint64 `json:"turned_away"` // connections beyond a limit
	Errors      uint64 `json:"errors"`      // of accepting, and of asking who is there
	RingsMade   uint64 `json:"rings_made"`
	RingFaults  uint64 `json:"ring_faults"` // rings that a program corrupted

	TCPConnections uint64 `json:"tcp_connections"` // of programs' TCP sockets, to other nodes
	TCPDirect      uint64 `json:"tcp_direct"`      // within this node
	TCPBytesIn     uint64 `json:"tcp_bytes_in"`    // to programs, from other nodes
	TCPBytesOut    uint64 `json:"tcp_bytes_out"`
	TCPRefused     uint64 `json:"tcp_refused"` // of other nodes, that said to be from an address that these have not
	TCPWaiting     int    `json:"tcp_waiting"` // now, for room at their listener
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
			if ino, err := x.c.Inode(); all[i].Ended && err == nil {
				all[i].Inodes = append(all[i].Inodes, ino)
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
	queued := c.queued.Stats()
	return Client{
		PID: c.who.PID, UID: c.who.UID, GID: c.who.GID, Program: c.program,
		Connections: c.held[connections], Names: c.held[names], Subscriptions: c.held[subscriptions],
		Calls: c.held[calls], Rings: c.held[rings], QueuedBytes: queued.Held,
		Records: c.records.Load(), BytesIn: c.bytesIn.Load(), Messages: c.messages.Load(), BytesOut: c.bytesOut.Load(), Undelivered: c.undelivered.Load(),
		Failed: c.failed.Load(), Refused: c.refused.Load(), OverLimit: c.overLimit.Load(), Slowed: c.slowed.Load(),
		Stalled: c.stalled.Load(), OverQueue: queued.Refused, Overdrawn: queued.Ended, Broken: c.broken.Load(),
		Ended: c.endedLocked(),
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
	queued, tcp := a.server.queued.Stats(), s.plain.TCPCounters()
	return Counters{
		Clients: clients, Users: users,
		Connections: held[connections], Names: held[names], Subscriptions: held[subscriptions],
		Calls: held[calls], Rings: held[rings], QueuedBytes: queued.Held,
		Records: c.records.Load(), BytesIn: c.bytesIn.Load(), Messages: c.messages.Load(), BytesOut: c.bytesOut.Load(), Undelivered: c.undelivered.Load(),
		Failed: c.failed.Load(), Refused: c.refused.Load(), OverLimit: c.overLimit.Load(), Slowed: c.slowed.Load(),
		Stalled: c.stalled.Load(), OverQueue: queued.Refused, Overdrawn: queued.Ended, Broken: c.broken.Load(),
		Descriptors: c.descriptors.Load(), TurnedAway: c.turnedAway.Load(), Errors: c.acceptErrors.Load() + c.badPeers.Load(),
		RingsMade: c.rings.Load(), RingFaults: c.ringFaults.Load(),
		TCPConnections: tcp.Connections, TCPDirect: tcp.Direct, TCPBytesIn: tcp.BytesIn, TCPBytesOut: tcp.BytesOut,
		TCPRefused: tcp.Refused, TCPWaiting: tcp.Waiting,
	}
}

// serverVerbs are the management calls that tell of the server.
var serverVerbs = map[string]func(*Server) ([]byte, error){
	"clients": func(s *Server) ([]byte, error) { return json.Marshal(s.Clients()) },
	"daemon":  func(s *Server) ([]byte, error) { return json.Marshal(s.Counters()) },
}
