// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
)

// A sentFrame is a frame of the engine and the bearer that it was sent on.
type sentFrame struct {
	bearer int
	bytes  []byte
}

// line is the message described, without from whom to whom it is and what most have.
func (f sentFrame) line() string {
	line, err := describe.Message(f.bytes[frame.EthernetLen:])
	if err != nil {
		return "UNSOUND " + line
	}
	_, line, _ = strings.Cut(line, " ")
	for _, s := range []string{" if=eth0", " max=1500", " bcast-ack=0"} {
		line = strings.ReplaceAll(line, s, "")
	}
	return line
}

// to is whom the frame is for: a peer's number from 1, or "all" for the broadcast address.
func (f sentFrame) to() string {
	if to := frame.MAC(f.bytes); to != frame.BroadcastMAC {
		return fmt.Sprint(to[5])
	}
	return "all"
}

// drain takes what was sent on the link's bearer, described.
func (x *peerLink) drain() (lines []string) {
	x.t.Helper()
	x.collect()
	x.sent = slices.DeleteFunc(x.sent, func(f sentFrame) bool {
		if f.bearer == x.bearer {
			lines = append(lines, f.line())
		}
		return f.bearer == x.bearer
	})
	return lines
}

// drain takes what was sent, "bearer>who message".
func (c *peers) drain() (lines []string) {
	c.t.Helper()
	c.collect()
	for _, f := range c.sent {
		lines = append(lines, fmt.Sprintf("%d>%s %s", f.bearer, f.to(), f.line()))
	}
	c.sent = nil
	return lines
}

// forget forgets what was said and counted so far.
func (c *peers) forget() {
	c.collect()
	c.sent = nil
	c.eventList()
	c.TakeNameEvents(nil)
	c.count.Drops = Drops{}
}

// eventList takes the events.
func (c *peers) eventList() (s []string) {
	for ev, ok := c.NextEvent(); ok; ev, ok = c.NextEvent() {
		line := fmt.Sprint(ev.Kind, " ", ev.Node)
		if ev.Count > 0 {
			line += fmt.Sprint(" times ", ev.Count)
		}
		s = append(s, line)
	}
	return s
}

// drops returns the reasons counted since the last call, "reason=n".
func (c *peers) drops() string {
	s := c.count.Drops.String()
	c.count.Drops = Drops{}
	return s
}

func (c *peers) wantDrops(what, want string) {
	c.t.Helper()
	if got := c.drops(); got != want {
		c.t.Errorf("%s: dropped %q, want %q", what, got, want)
	}
}

// casts takes what was sent and returns the packets of the broadcast link, "bearer:number".
func (c *peers) casts() (s []string) {
	c.t.Helper()
	c.collect()
	for _, f := range c.sent {
		eth, payload, _ := frame.ParseEthernet(f.bytes)
		if m, err := frame.Parse(payload); err == nil && f.to() == "all" && m.User() != frame.UserDiscovery {
			if eth.Src() != bearerMAC(f.bearer) {
				c.t.Errorf("packet %d on bearer %d is from %v", m.Seq(), f.bearer, eth.Src())
			}
			s = append(s, fmt.Sprintf("%d:%d", f.bearer, m.Seq()))
		}
	}
	c.sent = nil
	return s
}
