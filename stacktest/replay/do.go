// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// do carries out a call of the node's user.
// Complex: one case for each verb of a list of calls.
//
//gocyclo:ignore
func (r *run) do(c *Call) error {
	s := r.ports[c.port]
	if s != nil && slices.Contains([]string{"open", "listen", "connect", "join"}, c.Verb) {
		return fmt.Errorf("port %d is open", c.port)
	}
	switch c.Verb {
	case "listen":
		return r.listen(c)
	case "connect":
		return r.connect(c)
	case "join":
		return r.join(c)
	case "crash":
		return r.live()
	case "open":
		r.chance.port = c.port
		p := r.eng.OpenPort(engine.PortConfig{Importance: c.importance, Returnable: c.returnable, SrcDroppable: c.gram})
		if p == nil {
			return errors.New("the node has no address yet")
		}
		r.ports[c.port] = &socket{Port: p, echo: c.echo}
		return nil
	case "set":
		return r.set(c)
	case "rekey":
		return r.eng.Rekey(r.now)
	case "bearer":
		return r.attach(c)
	case "disable", "cut", "heal", "mtu":
		return r.ofBearer(c)
	}
	if s == nil {
		return fmt.Errorf("port %d is not open", c.port)
	}
	switch c.Verb {
	case "bind", "unbind":
		return r.name(c, s)
	case "accept":
		return r.accept(c, s)
	case "read":
		if s.conn == nil {
			return fmt.Errorf("port %d has no connection", c.port)
		}
		s.wants += c.conn.bytes
		r.readWanted(s)
		return nil
	case "nodelay":
		if s.conn == nil {
			return fmt.Errorf("port %d has no connection", c.port)
		}
		s.conn.SetNoDelay(r.now, !c.conn.off)
		return nil
	case "joined":
		r.eng.HoldGroups(r.now, false)
		return nil
	case "group-send":
		return r.groupSend(c, s)
	case "leave":
		if s.group == nil {
			return fmt.Errorf("port %d is in no group", c.port)
		}
		s.group.Leave(r.now)
		return nil
	case "shutdown":
		return r.finish(s, true)
	case "close":
		delete(r.ports, c.port)
		return r.finish(s, false)
	}
	if connected := s.Port == nil && s.listener == nil && s.group == nil; s.group != nil || connected != c.conn.is || s.listener != nil {
		return fmt.Errorf("port %d is no socket for that", c.port)
	}
	if c.Verb == "method" {
		s.SetMethod(c.method)
		return nil
	}
	data, err := r.dataFor(c) // it is something to send
	if err != nil {
		return err
	}
	return r.send(s, func() error {
		switch {
		case s.conn != nil:
			return s.conn.Write(r.now, data)
		case c.Verb == "mcast":
			return s.SendRange(r.now, c.rng, data)
		case !c.named():
			return s.Send(r.now, c.to, data)
		}
		return s.SendService(r.now, c.service, data)
	})
}

// name binds a socket to names, or takes them away.
func (r *run) name(c *Call, s *socket) error {
	var of interface {
		Bind(time.Duration, frame.Range, frame.Scope) error
		Unbind(time.Duration, frame.Range, frame.Scope) error
	}
	switch {
	case s.Port != nil:
		of = s.Port
	case s.listener != nil:
		of = s.listener
	default:
		return fmt.Errorf("port %d can have no names", c.port)
	}
	if c.Verb == "bind" {
		return of.Bind(r.now, c.rng, c.scope)
	}
	return of.Unbind(r.now, c.rng, c.scope)
}

// passes reports whether a call failed for what passes, so that it waits.
func passes(err error) bool {
	return errors.Is(err, flowctl.ErrCongested) || errors.Is(err, engine.ErrWindow) || errors.Is(err, engine.ErrConnecting)
}

// send has a socket send something, behind what it waits to send.
func (r *run) send(s *socket, do func() error) error {
	if len(s.waits) == 0 {
		if err := do(); !passes(err) {
			return err
		}
		r.blocked = append(r.blocked, s)
	}
	s.waits = append(s.waits, do)
	return nil
}

// retry has the sockets that wait to send try again, in the order they began to wait.
// What cannot be sent shows as a frame that is missing.
func (r *run) retry() {
	was := r.blocked
	r.blocked = nil
	for _, s := range was {
		for len(s.waits) > 0 && !passes(s.waits[0]()) {
			s.waits = s.waits[1:]
		}
		if len(s.waits) > 0 {
			r.blocked = append(r.blocked, s)
		}
	}
}

// attach has a bearer come up.
func (r *run) attach(c *Call) error {
	i := slices.Index(r.station.MACs, c.mac)
	id, err := r.eng.AddBearer(r.now, r.bearers[i].BearerConfig)
	if err == nil {
		r.ids[i] = id
	}
	return err
}

// ofBearer does something to a bearer, or to the network it is on.
func (r *run) ofBearer(c *Call) error {
	i := slices.IndexFunc(r.bearers, func(b attachment) bool { return b.Name == c.iface })
	if i < 0 || r.ids[i] < 0 {
		return fmt.Errorf("bearer %s is not up", c.iface)
	}
	switch c.Verb {
	case "disable":
		r.eng.RemoveBearer(r.now, r.ids[i])
		r.take()
		r.ids[i] = -1
	case "mtu":
		r.eng.SetMTU(r.now, r.ids[i], c.number)
	default:
		r.isCut[i] = c.Verb == "cut"
	}
	return nil
}

// dataFor returns the data of a call.
func (r *run) dataFor(c *Call) ([]byte, error) {
	if c.dataFrame == 0 {
		return c.data, nil
	}
	return r.dataOf(c)
}

// dataOf returns the data that a call takes from a frame of the capture.
func (r *run) dataOf(c *Call) ([]byte, error) {
	if c.dataLength != 0 {
		return r.streamOf(c)
	}
	m, err := r.messageOf(c)
	return m.Data(), err
}

// streamOf returns data out of what a connection has sent from a frame on, whatever
// messages it went out in.
func (r *run) streamOf(c *Call) ([]byte, error) {
	var all []byte
	port := uint32(0)
	for i := range r.own {
		f := &r.own[i]
		if f.No < c.dataFrame || f.Bad != nil {
			continue
		}
		p, err := frame.ParsePayload(f.Message)
		if err != nil || p.Type() != frame.ConnMsg || port != 0 && p.Fields().OrigPort != port {
			continue
		}
		port = p.Fields().OrigPort
		if all = append(all, p.Data()...); len(all) >= c.dataOffset+c.dataLength {
			return all[c.dataOffset:][:c.dataLength], nil
		}
	}
	return nil, fmt.Errorf("from frame %d on no connection sends %d bytes", c.dataFrame, c.dataOffset+c.dataLength)
}

// messageOf returns the message of the frame that a call names: the one it carries,
// through a tunnel or not, or the first fragment of; or one in a bundle.
func (r *run) messageOf(c *Call) (m frame.Message, err error) {
	f := r.frames[c.dataFrame]
	if f == nil || f.Bad != nil {
		return m, fmt.Errorf("frame %d has no message", c.dataFrame)
	}
	if m, err = r.whole(f); err != nil {
		return m, err
	}
	if t, err := frame.ParseTunnel(m); err == nil {
		if m, err = t.Inner(); err != nil {
			return m, err
		}
	}
	if c.dataPart == 0 {
		return m, nil
	}
	u, err := frame.ParseBundle(m)
	if err != nil {
		return m, fmt.Errorf("frame %d is no bundle", c.dataFrame)
	}
	n := 0
	for m, err := range u.Messages() {
		if n++; err == nil && n == c.dataPart {
			return m, nil
		}
	}
	return m, fmt.Errorf("frame %d has no message %d", c.dataFrame, c.dataPart)
}

// whole returns the message that a frame carries, or is the first fragment of.
func (r *run) whole(f *Frame) (frame.Message, error) {
	first, err := frame.ParseFragment(f.Message)
	if err != nil {
		return f.Message, nil
	}
	if first.Type() != frame.FirstFragment {
		return frame.Message{}, frame.ErrUnknown
	}
	b := bytes.Clone(first.Data())
	seq := f.Message.Seq()
	for i := range r.own {
		x := &r.own[i]
		if x.No <= f.No || x.Dst != f.Dst || x.Bad != nil || x.Message.User() != frame.UserFragment || x.Message.Seq() != seq+1 {
			continue
		}
		seq++
		next, _ := frame.ParseFragment(x.Message)
		if b = append(b, next.Data()...); next.Type() == frame.LastFragment {
			return frame.Parse(b)
		}
	}
	return frame.Message{}, fmt.Errorf("frame %d begins a message of which the rest is not there", f.No)
}

// set changes a property of the link to a node, on the bearer that is named, or the
// first.
func (r *run) set(c *Call) error {
	i := max(0, slices.IndexFunc(r.bearers, func(b attachment) bool { return b.Name == c.iface }))
	switch id := r.ids[i]; c.what {
	case "priority":
		return r.eng.SetPriority(r.now, c.addr, id, uint8(c.number))
	case "window":
		return r.eng.SetLink(r.now, c.addr, id, engine.LinkConfig{Window: flowctl.DefaultWindow, MaxWindow: c.number})
	default:
		return r.eng.SetTolerance(r.now, c.addr, id, time.Duration(c.number)*time.Millisecond)
	}
}

// read takes what waits in a port. A socket that returns its messages does so when it
// is expected to, see answer.
func (r *run) read(p *engine.Port) {
	s := r.ports[p.Addr().Port]
	if s != nil && s.echo {
		if s.since == 0 {
			s.since = r.now
			r.unread = append(r.unread, s)
		}
		return
	}
	var data [frame.MaxPayload]byte
	for {
		if _, _, ok := p.Read(data[:]); !ok {
			return
		}
	}
}

// answer has the sockets that read by themselves do so, one, as a program does that
// runs at last: the one that a frame waits for. It reports whether there was one.
func (r *run) answer(f *Frame) bool {
	if f.Message.User() == frame.UserGroup && r.eng.TellGroup(r.now) {
		r.collect()
		return true
	}
	i := r.asked(f)
	if i < 0 {
		return false
	}
	r.giveBack(i)
	r.queue()
	return true
}

func (r *run) giveBack(i int) {
	s := r.unread[i]
	switch {
	case s.Port != nil:
		r.givePort(s)
	case s.group != nil:
		r.readGroup(s)
	case s.sink:
		r.readOnce(s, sinkBite)
	default:
		r.readOnce(s, frame.MaxPayload)
	}
	if s.since = r.now; s.pending() == 0 {
		s.since = 0
		r.unread = slices.Delete(r.unread, i, i+1)
	}
	r.collect()
}

// givePort has a socket return a message. What cannot be sent shows as a frame that is
// missing.
func (r *run) givePort(s *socket) {
	var data [frame.MaxPayload]byte
	n, m, ok := s.Read(data[:])
	if ok && m.Error == frame.OK {
		echo := bytes.Clone(data[:n])
		r.send(s, func() error { return s.Send(r.now, m.From, echo) })
	}
}

// queue has the sockets answer while a window is full: what is sent has to wait then,
// and when it was sent shows by its company alone.
func (r *run) queue() {
	for r.full() {
		i := slices.IndexFunc(r.unread, func(s *socket) bool { return s.echo })
		if i < 0 {
			return
		}
		r.giveBack(i)
	}
}

// full reports whether the window of a link is.
func (r *run) full() bool {
	for n := range r.eng.Neighbours {
		for _, l := range n.Links {
			if l != nil && l.IsUp() && !l.Open() {
				return true
			}
		}
	}
	return false
}

// dawdle has the sockets answer that were given time enough.
func (r *run) dawdle(at time.Duration) {
	for i := 0; i < len(r.unread); {
		if s := r.unread[i]; at-s.since > AnswersWithin {
			r.giveBack(i)
		} else {
			i++
		}
	}
}
