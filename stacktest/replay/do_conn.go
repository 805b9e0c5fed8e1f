// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// sinkBite is how many bytes of a stream a sink reads at a time: less than a block of
// flow control, so that it reads no more than what the capture shows it has read.
const sinkBite = 512

// listen makes a listening socket.
func (r *run) listen(c *Call) error {
	r.chance.port = c.port
	l := r.eng.Listen(engine.ListenConfig{Stream: c.conn.stream})
	if l == nil {
		return engine.ErrSockets
	}
	r.ports[c.port] = &socket{listener: l}
	return nil
}

// accept makes a connection of the oldest request that a listening socket has.
func (r *run) accept(c *Call, s *socket) error {
	switch {
	case s.listener == nil:
		return fmt.Errorf("port %d does not listen", c.port)
	case r.ports[c.conn.port] != nil:
		return fmt.Errorf("port %d is open", c.conn.port)
	}
	r.chance.port = c.conn.port
	conn, ok := s.listener.Accept(r.now)
	if !ok {
		return fmt.Errorf("no request waits at port %d", c.port)
	}
	r.ports[c.conn.port] = &socket{conn: conn, echo: c.echo, sink: c.conn.sink}
	return nil
}

// connect asks for a connection, as soon as the link has room.
func (r *run) connect(c *Call) error {
	first, err := r.dataFor(c)
	if err != nil {
		return err
	}
	s := &socket{echo: c.echo, sink: c.conn.sink}
	r.ports[c.port] = s
	k := engine.ConnConfig{Importance: c.importance, Stream: c.conn.stream, Timeout: c.delay}
	return r.send(s, func() (err error) {
		r.chance.port = c.port
		if c.named() {
			s.conn, err = r.eng.DialService(r.now, k, c.service, first)
		} else {
			s.conn, err = r.eng.Dial(r.now, k, c.to, first)
		}
		return err
	})
}

// finish closes a socket, in order or as the end of a process. What reads by itself has
// read what has come.
func (r *run) finish(s *socket, inOrder bool) error {
	r.unread = slices.DeleteFunc(r.unread, func(x *socket) bool { return x == s })
	r.blocked = slices.DeleteFunc(r.blocked, func(x *socket) bool { return x == s })
	s.waits = nil
	switch {
	case s.conn != nil:
		if s.sink {
			s.wants = 1 << 30
			r.readWanted(s)
		}
		if inOrder {
			s.conn.Close(r.now)
		} else {
			s.conn.Abort(r.now)
		}
	case s.group != nil:
		s.group.Leave(r.now)
	case inOrder:
		return fmt.Errorf("it has no connection")
	case s.listener != nil:
		s.listener.Close(r.now)
	case s.Port != nil:
		s.Port.Close(r.now)
	}
	return nil
}

// readWanted reads what a call wants, as far as it has come; an echo returns it.
func (r *run) readWanted(s *socket) {
	for s.wants > 0 {
		n := r.readOnce(s, s.wants)
		if n == 0 {
			return
		}
		s.wants = max(0, s.wants-n)
	}
}

// readOnce reads what a connection has, or of a stream at most so many bytes; an echo
// returns it. It returns how many bytes there were.
func (r *run) readOnce(s *socket, most int) int {
	var data [frame.MaxPayload]byte
	b := data[:]
	if s.conn.Stream {
		b = data[:min(most, len(data))]
	}
	n, _, _ := s.conn.Read(r.now, b)
	if s.echo && n > 0 {
		echo := slices.Clone(data[:n])
		r.send(s, func() error { return s.conn.Write(r.now, echo) })
	}
	return n
}

// readConn does what a connection can do now that something came for it.
func (r *run) readConn(c *engine.Conn) {
	s := r.ports[c.Addr().Port]
	if s == nil || s.conn != c {
		return
	}
	r.readWanted(s)
	if (s.echo || s.sink) && s.since == 0 && c.Pending() > 0 {
		s.since = r.now
		r.unread = append(r.unread, s)
	}
	if len(s.waits) > 0 {
		r.retry()
	}
}

// asked returns the place in unread of the socket that is to read so that a frame is
// sent, or -1: of the one it is from, else the echo that waits for longest.
func (r *run) asked(f *Frame) int {
	port, granted := origin(f.Message), grants(f.Message)
	if i := slices.IndexFunc(r.unread, func(s *socket) bool { return s.number() == port && (s.group == nil || granted) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(r.unread, func(s *socket) bool { return s.echo })
}

// origin returns the port that a message is from, in a tunnel or the first of a bundle
// or not; 0 when it is of none.
func origin(m frame.Message) uint32 {
	if p, err := frame.ParsePayload(m); err == nil {
		return p.Fields().OrigPort
	}
	if c, err := frame.ParseConn(m); err == nil {
		return c.Fields().OrigPort
	}
	if g, err := frame.ParseGroup(m); err == nil {
		return g.From().Port
	}
	if t, err := frame.ParseTunnel(m); err == nil {
		if inner, err := t.Inner(); err == nil {
			return origin(inner)
		}
	}
	if u, err := frame.ParseBundle(m); err == nil {
		for inner, err := range u.Messages() {
			if err == nil {
				return origin(inner)
			}
		}
	}
	return 0
}

// retryPause is what a client waits at least before it repeats a request. Source:
// docs/spec/07-sockets.md §4.2.
const retryPause = 100 * time.Millisecond

// pauseBehind returns the random part of the pause before the request is repeated that
// a frame returns, as the capture has it; 0 when it returns none.
func (r *run) pauseBehind(f *Frame) time.Duration {
	if f.Bad != nil {
		return 0
	}
	p, err := frame.ParsePayload(f.Message)
	if err != nil || !p.Syn() || p.Fields().Error != frame.Overload {
		return 0
	}
	for i := range r.own {
		if x := &r.own[i]; x.No > f.No && r.resent[x.No] {
			if origin(x.Message) == p.Fields().DestPort {
				return max(0, x.At-r.now-retryPause)
			}
		}
	}
	return 0
}

// resent returns the numbers of the frames that repeat a connection request of their
// port.
func resent(own []Frame) map[int]bool {
	again := map[int]bool{}
	seen := map[uint32]bool{}
	for _, f := range own {
		if f.Bad != nil {
			continue
		}
		if p, err := frame.ParsePayload(f.Message); err == nil && p.Syn() && p.Type() != frame.McastMsg && p.Fields().Error == frame.OK {
			port := p.Fields().OrigPort
			again[f.No] = seen[port]
			seen[port] = true
		}
	}
	return again
}
