// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

var (
	// ErrMiddle means a capture that does not have a node's beginning.
	ErrMiddle = errors.New("replay: the capture starts in the middle")
	// ErrNotBuilt means a call that our engine cannot carry out yet.
	ErrNotBuilt = errors.New("replay: not built yet")
	// ErrSilent means that a node sends nothing that could be compared.
	ErrSilent = errors.New("replay: the node sends no TIPC frame")
)

// Options say what is replayed.
type Options struct {
	Node  string // an address, a MAC, or the name it has in Calls
	Calls []Call // what the users of all nodes did
	Until int    // the first frame that is left out, by its number; 0 is none
}

// A side is one node of a capture, and what it takes to be it.
type side struct {
	name    string
	mac     frame.MAC
	cfg     engine.Config
	bearer  engine.BearerConfig
	start   time.Duration // of the bearer
	end     time.Duration // of what is replayed
	own, in []Frame       // what it sent, and what came its way
	calls   []Call        // of its user, behind the bearer
	chance  *drawn
	frames  map[int]*Frame // by number, for the data of calls
	copies  []frame.MAC    // who gets a copy of each broadcast; none: the medium has broadcasts
}

// newSide reads off a capture what its node is like. Where calls do not say
// otherwise, the first discovery message tells the configuration, and the first
// RESET or ACTIVATE the bearer's.
func newSide(c *Capture, o Options) (*side, error) {
	mac, err := c.Station(o.Node, o.Calls)
	if err != nil {
		return nil, err
	}
	s := &side{name: o.Node, mac: mac, end: c.End, frames: map[int]*Frame{}}
	s.bearer = engine.BearerConfig{Name: "eth0", MAC: mac, MTU: 1500}
	for i := range c.Frames {
		f := &c.Frames[i]
		s.frames[f.No] = f
		if o.Until != 0 && f.No >= o.Until {
			s.end = min(s.end, f.At)
			continue
		}
		switch {
		case f.Src == mac:
			s.own = append(s.own, *f)
		case f.Dst == mac || f.Dst.IsGroup():
			s.in = append(s.in, *f)
		}
	}
	if c.UDP != nil {
		s.bearer.Medium = medium{mac, c.UDP}
		s.copies = remotesOf(s.own)
	}
	if len(s.own) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrSilent, o.Node)
	}
	if err := s.whole(); err != nil {
		return nil, err
	}
	s.configure()
	if err := s.take(o.Calls); err != nil {
		return nil, err
	}
	// Nobody hears before the bearer is up.
	s.in = slices.DeleteFunc(s.in, func(f Frame) bool { return f.At < s.start })
	s.chance = drawnBy(s.own, s.heard())
	return s, nil
}

// heard returns what came when the node had an address of its own: before that it
// makes no links.
func (s *side) heard() []Frame {
	from := s.start
	for _, f := range s.own {
		if d, err := discovery(f); err == nil && d.Type() == frame.Request {
			from = f.At
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(s.in), func(f Frame) bool { return f.At < from })
}

// whole checks that the capture has the node's beginning: its own first frame is
// its first discovery message, and each of its links begins with a RESET or an
// ACTIVATE.
func (s *side) whole() error {
	first := s.own[0]
	d, err := discovery(first)
	if err != nil || !first.Dst.IsGroup() && s.bearer.Medium == nil || d.Type() != frame.Request && d.Type() != frame.Trial {
		return fmt.Errorf("%w: frame %d, the first of %s, is not the broadcast request or trial every node begins with", ErrMiddle, first.No, s.name)
	}
	begun := map[frame.MAC]bool{}
	for _, f := range s.own {
		if f.Bad != nil || f.Message.NonSeq() || begun[f.Dst] {
			continue
		}
		if l, err := frame.ParseLink(f.Message); err != nil || l.IsState() {
			return fmt.Errorf("%w: frame %d of %s is of a link that is up, and nothing before it has brought that up", ErrMiddle, f.No, s.name)
		}
		begun[f.Dst] = true
	}
	return nil
}

// remotesOf returns the stations that a node with a UDP bearer and no group sends its
// requests to, one by one.
func remotesOf(own []Frame) (all []frame.MAC) {
	for _, f := range own {
		d, err := discovery(f)
		if err == nil && (d.Type() == frame.Request || d.Type() == frame.Trial) && !f.Dst.IsGroup() && !slices.Contains(all, f.Dst) {
			all = append(all, f.Dst)
		}
	}
	return all
}

// discovery reads a discovery message of any medium.
func discovery(f Frame) (frame.Discovery, error) {
	if f.Bad != nil {
		return frame.Discovery{}, f.Bad
	}
	return frame.ParseMediaDiscovery(f.Message)
}

func (s *side) configure() {
	d, _ := discovery(s.own[0])
	s.cfg = engine.Config{Identity: d.Identity(), NetID: d.NetID(), Capabilities: d.Capabilities(),
		Margin: 32} // the recorded kernels were built with encryption
	if d.Type() == frame.Request {
		s.cfg.Address = d.Prev()
	}
	s.start = s.own[0].At
	for _, f := range s.own {
		if f.Bad != nil {
			continue
		}
		l, err := frame.ParseLink(f.Message)
		if err != nil {
			continue
		}
		if r, ok := l.Reset(); ok {
			s.bearer.Name, s.bearer.MTU = r.IfName(), max(r.MaxPacket(), frame.MinMTU)
			break
		}
	}
}

// take takes the calls of this node's user. What configures it counts from the
// beginning, whenever it was called.
func (s *side) take(calls []Call) error {
	mine := func(c Call) bool {
		if c.Node == s.name {
			return true
		}
		m, err := parseMAC(c.Node)
		return err == nil && m == s.mac
	}
	for _, c := range calls { // the name that a bearer's line gives its node
		if c.Verb == "bearer" && c.mac == s.mac && c.Node != s.name {
			other, was := c.Node, mine
			mine = func(c Call) bool { return c.Node == other || was(c) }
		}
	}
	for _, c := range calls {
		if !mine(c) || c.At > s.end {
			continue
		}
		switch c.Verb {
		case "address":
			s.cfg.Address, s.cfg.Identity = c.addr, frame.AddrIdentity(c.addr)
		case "identity":
			s.cfg.Address, s.cfg.Identity = 0, c.identity
		case "netid":
			s.cfg.NetID = uint32(c.number)
		case "bearer":
			if s.bearer.Name, s.start = c.iface, c.At; c.mtu != 0 {
				s.bearer.MTU = c.mtu
			}
		default:
			if slices.Contains(later, c.Verb) {
				return fmt.Errorf("%w: %q, line %d of the calls", ErrNotBuilt, c.Verb, c.Line)
			}
			s.calls = append(s.calls, c)
		}
	}
	return nil
}
