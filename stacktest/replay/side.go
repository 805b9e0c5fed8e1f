// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
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
	// Keys are given to the node at its beginning, as those in Calls are. All of them open
	// the capture's frames.
	Keys []engine.Key
	// Link is what the links of a node of this implementation begin with, as its stack.Config
	// had it; zero fields are its defaults. A kernel's are set by calls.
	Link engine.LinkConfig
}

// A side is one node of a capture, and what it takes to be it.
type side struct {
	name    string
	station Station
	cfg     engine.Config
	bearers []attachment  // by the node's MACs
	end     time.Duration // of what is replayed
	until   int           // the first frame left out, 0 is none
	own, in []Frame       // what it sent, and what came its way
	queues  [][]int       // of each bearer: the places in in of what came there
	calls   []Call        // of its user, and its bearers' coming up
	hidden  []frame.MAC   // stations whose frames to and from it were not captured
	dropped []drop        // what the node sent and a slow interface dropped
	leaky   bool          // STATE messages of its own were lost before they were captured
	lives   []*drawn      // what the node drew, from each of its beginnings on
	crashes []time.Duration
	keys    []engine.Key // that the node is given
	opener  *opener      // of frames that are sealed

	notes      []string      // of the capture
	overtaking bool          // see Overtakes
	shift      time.Duration // of its clock against the capture's, so that its ticks are at multiples of 4 ms

	frames map[int]*Frame    // by number, for the data of calls
	resent map[int]bool      // own frames that repeat a connection request
	states map[stateKey]bool // own STATE messages
	copies []frame.MAC       // who gets a copy of each broadcast; none: the medium has broadcasts
}

// An attachment is a bearer of the node.
type attachment struct {
	engine.BearerConfig
	start time.Duration
}

// newSide reads off a capture what its node is like. Where calls do not say
// otherwise, the first discovery message tells the configuration, and the first
// RESET or ACTIVATE the bearer's.
func newSide(c *Capture, o Options) (*side, error) {
	c, open, err := c.opened(keysOf(o))
	if err != nil {
		return nil, err
	}
	st, err := c.Station(o.Node, o.Calls)
	if err != nil {
		return nil, err
	}
	s := &side{name: o.Node, station: st, end: c.End, until: o.Until, frames: map[int]*Frame{}, opener: open, notes: c.Notes, keys: slices.Clone(o.Keys)}
	networks := c.networks()
	for i := range c.Frames {
		f := c.Frames[i]
		s.frames[f.No] = &c.Frames[i]
		if o.Until != 0 && f.No >= o.Until {
			s.end = min(s.end, f.At)
			continue
		}
		if f.bearer = slices.Index(st.MACs, f.Src); f.bearer >= 0 {
			s.own = append(s.own, f)
			continue
		}
		f.bearer = slices.Index(st.MACs, f.Dst)
		if f.Dst.IsGroup() {
			f.bearer = s.hears(networks, f.Src)
		}
		if f.bearer >= 0 {
			s.in = append(s.in, f)
		}
	}
	if len(s.own) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrSilent, o.Node)
	}
	for _, mac := range st.MACs {
		s.bearers = append(s.bearers, attachment{BearerConfig: engine.BearerConfig{
			Name: "eth0", MAC: mac, MTU: 1500,
			LinkConfig: engine.LinkConfig{Window: flowctl.DefaultWindow, MaxWindow: flowctl.MaxWindow},
		}})
	}
	if c.UDP != nil {
		b := &s.bearers[0]
		b.Medium = medium{st.MAC, c.UDP}
		b.MaxWindow = b.Window
		s.copies = remotesOf(s.own)
	}
	if err := s.whole(); err != nil {
		return nil, err
	}
	s.configure()
	if !s.cfg.AsKernel {
		for i := range s.bearers {
			s.bearers[i].LinkConfig = o.Link
		}
	}
	if err := s.take(o.Calls); err != nil {
		return nil, err
	}
	s.index()
	s.retime()
	// Nobody hears before the bearer is up.
	s.in = slices.DeleteFunc(s.in, func(f Frame) bool { return f.At < s.bearers[f.bearer].start })
	s.queues = make([][]int, len(s.bearers))
	for i, f := range s.in {
		s.queues[f.bearer] = append(s.queues[f.bearer], i)
	}
	s.live()
	return s, nil
}

// hears returns the bearer on which the node hears a station's broadcasts, or -1.
func (s *side) hears(n network, from frame.MAC) int {
	if len(s.station.MACs) == 1 {
		return 0
	}
	return slices.IndexFunc(s.station.MACs, func(own frame.MAC) bool { return n.of(own) == n.of(from) })
}

// live reads off what the node drew in each of its lives.
func (s *side) live() {
	from := time.Duration(0)
	for _, to := range append(s.crashes, math.MaxInt64) {
		of := func(frames []Frame) (life []Frame) {
			for _, f := range frames {
				if f.At >= from && f.At < to {
					life = append(life, f)
				}
			}
			return life
		}
		own := of(s.own)
		s.lives = append(s.lives, drawnBy(own, heard(own, of(s.in)), s.keys))
		from = to
	}
}

// heard returns what came when the node had an address of its own: before that it
// makes no links.
func heard(own, in []Frame) []Frame {
	i := slices.IndexFunc(own, func(f Frame) bool {
		d, err := discovery(f)
		return err == nil && d.Type() == frame.Request
	})
	if i < 0 {
		return in
	}
	return slices.DeleteFunc(in, func(f Frame) bool { return f.At < own[i].At })
}

// whole checks that the capture has the node's beginning: its own first frame is
// its first discovery message, and each of its links begins with a RESET or an
// ACTIVATE.
func (s *side) whole() error {
	first := s.own[0]
	d, err := discovery(first)
	if err != nil || !first.Dst.IsGroup() && s.bearers[0].Medium == nil || d.Type() != frame.Request && d.Type() != frame.Trial {
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
	s.cfg = engine.Config{
		Identity: d.Identity(), NetID: d.NetID(), Capabilities: d.Capabilities(),
		AsKernel: d.Version() == 0,
	}
	if s.cfg.AsKernel {
		s.cfg.Margin = 32 // the recorded kernels were built with encryption
	}
	if d.Type() == frame.Request {
		s.cfg.Address = d.Prev()
	}
	for i := range s.bearers {
		b := &s.bearers[i]
		began := false
		for _, f := range s.own {
			if f.bearer != i {
				continue
			}
			if !began {
				b.start, began = f.At, true
			}
			if f.Bad != nil {
				continue
			}
			l, err := frame.ParseLink(f.Message)
			if err != nil {
				continue
			}
			if r, ok := l.Reset(); ok {
				b.Name, b.MTU = r.IfName(), max(r.MaxPacket(), frame.MinMTU)
				break
			}
		}
	}
}

// take takes the calls of this node's user. What configures it counts from the
// beginning, whenever it was called.
// Complex: one case for each verb of a list of calls.
//
//gocyclo:ignore
func (s *side) take(calls []Call) error {
	own := func(m frame.MAC) bool { return slices.Contains(s.station.MACs, m) }
	mine := map[string]bool{s.name: true}
	for _, c := range calls { // the name that a bearer's line gives its node
		if c.Verb == "bearer" && own(c.mac) {
			mine[c.Node] = true
		}
	}
	up := make([]bool, len(s.bearers))
	var slow []Call
	for _, c := range calls {
		if m, err := parseMAC(c.Node); !mine[c.Node] && (err != nil || !own(m)) || c.At > s.end {
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
			i := slices.Index(s.station.MACs, c.mac)
			if i < 0 {
				continue // it sends nothing
			}
			if up[i] { // it was taken away before
				s.calls = append(s.calls, c)
				continue
			}
			up[i] = true
			b := &s.bearers[i]
			if b.Name, b.start = c.iface, c.At; c.mtu != 0 {
				b.MTU = c.mtu
			}
		case "key":
			s.keys = append(s.keys, c.key)
		case "hidden":
			s.hidden = append(s.hidden, c.mac)
		case "ticks":
			s.shift = (4*time.Millisecond - c.delay) % (4 * time.Millisecond)
		case "slow":
			slow = append(slow, c)
		case "leaky":
			s.leaky = true
		case "lost", "late", "doubled":
			if err := s.disturb(&c); err != nil {
				return fmt.Errorf("line %d of the calls: %w", c.Line, err)
			}
		default:
			if c.Verb == "crash" {
				s.crashes = append(s.crashes, c.At)
			}
			if slices.Contains(later, c.Verb) {
				return fmt.Errorf("%w: %q, line %d of the calls", ErrNotBuilt, c.Verb, c.Line)
			}
			s.calls = append(s.calls, c)
			if c.Verb == "join" && c.delay > 0 {
				s.calls = append(s.calls, Call{Line: c.Line, At: c.At + c.delay, Verb: "joined", port: c.port})
			}
		}
	}
	if err := s.hasten(slow); err != nil {
		return err
	}
	return s.attach()
}

// attach puts the bearers' coming up among the calls.
func (s *side) attach() error {
	var ups []Call
	for i := range s.bearers {
		b := &s.bearers[i]
		ups = append(ups, Call{Verb: "bearer", At: b.start, iface: b.Name, mac: b.MAC})
	}
	slices.SortStableFunc(ups, byTime)
	if ups[0].At > s.own[0].At {
		return fmt.Errorf("%w: line %d of the calls has the first bearer come up behind frame %d", ErrCalls, ups[0].Line, s.own[0].No)
	}
	s.calls = append(ups, s.calls...)
	slices.SortStableFunc(s.calls, byTime)
	return nil
}

// index looks up what own frames are.
func (s *side) index() {
	s.resent = resent(s.own)
	s.states = map[stateKey]bool{}
	for _, f := range s.own {
		if k, ok := stateOf(f.Data); ok {
			s.states[k] = true
		}
	}
}

// retime has the node's clock be the one everything is counted by.
func (s *side) retime() {
	for i := range s.own {
		s.own[i].At += s.shift
	}
	for i := range s.in {
		s.in[i].At += s.shift
	}
	for i := range s.calls {
		s.calls[i].At += s.shift
	}
	for i := range s.bearers {
		s.bearers[i].start += s.shift
	}
	for i := range s.crashes {
		s.crashes[i] += s.shift
	}
	for i := range s.dropped {
		s.dropped[i].from += s.shift
		s.dropped[i].to += s.shift
	}
	s.end += s.shift
}
