// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A groupCall is what a Call about a group says beside its port.
type groupCall struct {
	loopback bool
	way      groupWay
	instance uint32
}

// A groupWay is who of a group is sent to.
type groupWay uint8

const (
	toAll groupWay = iota
	toEach
	toAny
	toMember
)

// join reads PORT TYPE:INSTANCE [loopback] [busy:MILLISECONDS].
func (c *Call) join(a []string) (err error) {
	if err = count(a, 2, 4); err != nil {
		return err
	}
	if err := c.setTo(a[1]); err != nil {
		return err
	}
	if !c.named() {
		return fmt.Errorf("%q is not TYPE:INSTANCE", a[1])
	}
	for _, o := range a[2:] {
		ms, busy := strings.CutPrefix(o, "busy:")
		switch {
		case o == "loopback":
			c.group.loopback = true
		case !busy:
			return fmt.Errorf("%q is none of loopback, busy:MILLISECONDS", o)
		default:
			if c.delay, err = milliseconds(ms, 250); err != nil {
				return err
			}
		}
	}
	return c.setPort(a[0])
}

// groupSend reads PORT all DATA, PORT each|any INSTANCE DATA or PORT member <NODE:PORT>
// DATA.
func (c *Call) groupSend(a []string) (err error) {
	if err = count(a, 3, 4); err != nil {
		return err
	}
	switch {
	case len(a) == 3 && a[1] == "all":
	case len(a) == 4 && (a[1] == "each" || a[1] == "any"):
		if c.group.way = toEach; a[1] == "any" {
			c.group.way = toAny
		}
		var n int
		if n, err = number(a[2], 0, 1<<31-1); err != nil {
			return err
		}
		c.group.instance = uint32(n)
	case len(a) == 4 && a[1] == "member":
		if err = c.setTo(a[2]); err != nil {
			return err
		}
		if c.group.way = toMember; c.named() {
			return fmt.Errorf("%q is not <NODE:PORT>", a[2])
		}
	default:
		return fmt.Errorf("%q is none of all, each INSTANCE, any INSTANCE, member <NODE:PORT>", a[1])
	}
	if err = c.setData(a[len(a)-1]); err != nil {
		return err
	}
	return c.setPort(a[0])
}

// join has a new socket join a group. In a call that takes its time members are told as
// the capture shows it, and what they say waits for the end of the call.
func (r *run) join(c *Call) error {
	r.chance.port = c.port
	r.eng.HoldGroups(r.now, c.delay > 0)
	g, err := r.eng.Join(r.now, engine.GroupConfig{Service: c.service, Loopback: c.group.loopback, Events: true})
	if err != nil {
		return err
	}
	r.ports[c.port] = &socket{group: g}
	return nil
}

// groupSend sends to members of a group. Its program has read what came before.
func (r *run) groupSend(c *Call, s *socket) error {
	if s.group == nil {
		return fmt.Errorf("port %d is in no group", c.port)
	}
	data, err := r.dataFor(c)
	if err != nil {
		return err
	}
	for s.group.Pending() > 0 {
		r.readGroup(s)
	}
	return r.send(s, func() error {
		switch c.group.way {
		case toEach:
			return s.group.SendMulticast(r.now, c.group.instance, data)
		case toAny:
			return s.group.SendAnycast(r.now, c.group.instance, data)
		case toMember:
			return s.group.SendTo(r.now, c.to, data)
		}
		return s.group.Send(r.now, data)
	})
}

// wakeGroup does what a group's socket can do now that something came for it, or
// somebody has room. It reads by itself, when the capture shows that.
func (r *run) wakeGroup(g *engine.Group) {
	s := r.ports[g.Addr().Port]
	if s == nil {
		return
	}
	if s.since == 0 && g.Pending() > 0 {
		s.since = r.now
		r.unread = append(r.unread, s)
	}
	if len(s.waits) > 0 {
		r.retry()
	}
}

// readGroup reads a message, or what became of a member.
func (r *run) readGroup(s *socket) {
	var data [frame.MaxPayload]byte
	s.group.Read(r.now, data[:])
}

// grants reports whether a frame tells a member of a group that there is room, which may
// come of reading.
func grants(m frame.Message) bool {
	x, err := frame.ParseGroup(m)
	return err == nil && (x.Type() == frame.GroupAdv || x.Type() == frame.GroupReclaim)
}
