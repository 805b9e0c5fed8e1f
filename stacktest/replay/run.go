// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/arenapool"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A plan says which received frames arrive later than they were recorded: by
// their place among what was received, the number of own frames that are sent
// before. Later frames on the same bearer queue behind them.
type plan map[int]int

// A stream is what keeps its order: the frames to one station, and discovery
// messages to it by themselves.
type stream struct {
	from, to  frame.MAC
	discovery bool
}

func streamOf(data []byte) stream {
	eth, b, err := frame.ParseEthernet(data)
	if err != nil {
		return stream{}
	}
	if m, err := frame.Parse(b); err == nil && m.User() == frame.UserDiscovery {
		return stream{eth.Src(), eth.Dst(), true}
	}
	return stream{from: eth.Src(), to: eth.Dst()}
}

// An emission is a frame our engine has sent and that was not compared yet.
type emission struct {
	data   []byte // as it was before it was sealed
	sealed *Envelope
	at     time.Duration
}

// A feeding is a received frame that was fed: its place among what was received, and
// the number of own frames compared before it.
type feeding struct{ in, compared int }

// A run is one replay, from the beginning, by one plan.
type run struct {
	*side
	plan  plan
	eng   *engine.Engine
	arena *netdev.Arena
	frees []func() // give back the memory of each life
	now   time.Duration
	sent  map[stream][]emission
	ports map[uint32]*socket
	ready []*engine.Port
	conns []*engine.Conn

	chance  *drawn
	blocked []*socket // that wait to send
	unread  []*socket // that have something to read, and read by themselves

	ids   []int  // of the bearers, as the engine numbers them; -1: it is not up
	isCut []bool // of each bearer: the network carries nothing

	fed      []feeding
	heads    []int // of each bearer: frames fed, or past
	compared int
	nextCall int
	timers   map[timerKey]*timer
	ticks    map[frame.NodeAddr]time.Duration // between the ticks of a node's links
	last     []byte                           // the newest frame of ours
	stats    stats
}

// A socket has a Port, or it listens, or it has a connection, which may have to wait
// for room until it asks for it.
type socket struct {
	*engine.Port
	listener *engine.Listener
	conn     *engine.Conn
	group    *engine.Group

	echo  bool           // returns what it reads
	sink  bool           // a connection that reads
	since time.Duration  // when one that reads by itself had something to read, or read last; 0: nothing
	wants int            // bytes that a connection is to read when they come
	waits []func() error // sends that have no room yet
}

func (s *socket) number() uint32 {
	switch {
	case s.Port != nil:
		return s.Addr().Port
	case s.conn != nil:
		return s.conn.Addr().Port
	case s.group != nil:
		return s.group.Addr().Port
	}
	return 0
}

// pending is how many messages wait in it, or more.
func (s *socket) pending() int {
	if s.conn != nil {
		return s.conn.Pending()
	}
	if s.group != nil {
		return s.group.Pending()
	}
	return s.Port.Pending()
}

type stats struct {
	timers  int
	latest  time.Duration // the timer that rang latest
	allowed map[string]int
	calls   int
	sealed  int // frames compared that were sealed
	whole   int // of them, those that agree on the wire, too
}

// newRun makes the node, without a bearer.
func newRun(s *side, p plan) (*run, error) {
	of := *s
	r := &run{
		side: &of, plan: p, sent: map[stream][]emission{}, isCut: make([]bool, len(s.bearers)), heads: make([]int, len(s.bearers)), stats: stats{allowed: map[string]int{}},
	}
	r.now = s.calls[0].At
	return r, r.live()
}

// live begins the next life of the node, which is the first or begins with a crash: it
// has no bearer yet, and nothing of the life before.
func (r *run) live() (err error) {
	memory := netdev.ArenaConfig{Small: 512}
	mtu := 0
	r.ids = nil
	for _, b := range r.bearers {
		mtu = max(mtu, b.MTU)
		r.ids = append(r.ids, -1)
	}
	if n := frame.EthernetLen + mtu; n > netdev.SmallChunk-netdev.Headroom {
		memory.Jumbo, memory.JumboSize = 512, n
	}
	arena, free := arenapool.New(memory)
	r.arena, r.frees = arena, append(r.frees, free)
	r.chance, r.lives = r.lives[0].fresh(), r.lives[1:]
	r.cfg.Arena, r.cfg.Chance = r.arena, r.chance
	r.ports, r.timers, r.blocked, r.unread = map[uint32]*socket{}, map[timerKey]*timer{}, nil, nil
	if r.eng, err = engine.New(r.cfg); err != nil {
		return err
	}
	for _, k := range r.keys {
		if err := r.eng.SetKey(r.now, k); err != nil {
			return err
		}
	}
	return nil
}

// free gives back the memory of all lives; the engine is not used after it.
func (r *run) free() {
	for _, f := range r.frees {
		f()
	}
	r.frees, r.arena = nil, nil
}

// all replays everything and returns the first difference, or nil.
func (r *run) all() *Difference {
	for k := range r.own {
		f := &r.own[k]
		if d := r.until(f.At, f.No); d != nil {
			return d
		}
		r.collect()
		if d := r.expect(f); d != nil {
			return d
		}
		r.compared++
		if d := r.unasked(f.At); d != nil {
			return d
		}
	}
	if d := r.until(r.end, int(^uint(0)>>1)); d != nil {
		return d
	}
	return r.unasked(r.end)
}

// until does what happens before frame no, recorded at a time: users' calls,
// frames that arrive, and timers that must have rung.
func (r *run) until(at time.Duration, no int) *Difference {
	for {
		i, f := r.nextIn(at, no)
		c := r.call(at)
		arrives := at // just before the own frame, or the call, that follows
		switch {
		case f != nil && !r.late(i):
			arrives = f.At
		case c != nil:
			arrives = min(at, c.At)
		}
		switch {
		case f != nil && (c == nil || arrives <= c.At):
			if d := r.overdue(arrives); d != nil {
				return d
			}
			r.clock(arrives)
			r.feed(i, f)
		case c != nil:
			if d := r.overdue(c.At); d != nil {
				return d
			}
			r.clock(c.At)
			if err := r.do(c); err != nil {
				return &Difference{At: c.At, Why: fmt.Sprintf("line %d of the calls, %s: %v", c.Line, c.Verb, err), compared: r.compared}
			}
			r.nextCall++
			if c.Verb != "bearer" && c.Verb != "joined" {
				r.stats.calls++
			}
		default:
			d := r.overdue(at)
			r.clock(at)
			r.dawdle(at)
			return d
		}
		r.collect()
		r.queue()
	}
}

func (r *run) clock(t time.Duration) { r.now = max(r.now, t) }

// nextIn returns the next frame that has arrived before frame no, and its place, or
// nil. Frames keep their order on each bearer.
func (r *run) nextIn(at time.Duration, no int) (place int, first *Frame) {
	for b, q := range r.queues {
		if r.heads[b] == len(q) {
			continue
		}
		i := q[r.heads[b]]
		f := &r.in[i]
		if f.No > no || f.At > at || r.plan[i] > r.compared || first != nil && i > place {
			continue
		}
		place, first = i, f
	}
	return place, first
}

// late reports whether a received frame has waited for the own frame that follows.
func (r *run) late(i int) bool { return r.plan[i] != 0 && r.plan[i] == r.compared }

func (r *run) call(at time.Duration) *Call {
	if r.nextCall == len(r.calls) || r.calls[r.nextCall].At > at {
		return nil
	}
	return &r.calls[r.nextCall]
}

// feed gives the engine a frame.
func (r *run) feed(i int, f *Frame) {
	r.fed = append(r.fed, feeding{i, r.compared})
	r.heads[f.bearer]++
	if f.Cut || r.ids[f.bearer] < 0 || r.isCut[f.bearer] {
		return
	}
	wire := f.wire()
	b := r.arena.Get(len(wire), netdev.Data)
	if b == nil {
		return // longer than the bearer takes
	}
	r.chance.pause = r.pauseBehind(f)
	copy(b.Extend(len(wire)), wire)
	r.eng.HandleFrame(r.now, r.ids[f.bearer], b)
	b.Release()
}

// collect takes what the engine has sent, and what waits for its user.
func (r *run) collect() {
	for {
		r.take()
		r.events()
		r.callInside()
		r.ready = r.eng.TakeReady(r.ready[:0])
		r.conns = r.eng.TakeReadyConns(r.conns[:0])
		r.eng.TakeReadyListeners(nil)
		groups := r.eng.TakeReadyGroups(nil)
		for _, g := range groups {
			r.wakeGroup(g)
		}
		if len(r.ready) == 0 && len(r.conns) == 0 && len(groups) == 0 {
			break
		}
		for _, p := range r.ready {
			r.read(p)
		}
		for _, c := range r.conns {
			r.readConn(c)
		}
	}
	r.take()
	r.eng.TakeNameEvents(nil)
	r.look()
}

// events notes what the engine tells of.
func (r *run) events() {
	for {
		ev, ok := r.eng.NextEvent()
		if !ok {
			return
		}
		if ev.Kind == engine.Room {
			r.retry()
		}
	}
}

// take takes what the engine has to send.
func (r *run) take() {
	for i, id := range r.ids {
		if id < 0 {
			continue
		}
		for b := r.eng.NextFrame(id); b != nil; b = r.eng.NextFrame(id) {
			data := bytes.Clone(b.Bytes())
			b.Release()
			var sealed *Envelope
			if plain, e, ok := r.opener.open(data); ok {
				data, sealed = plain, e
			}
			if r.unrecorded(i, data) {
				continue
			}
			r.last = data
			if to := frame.MAC(data); !to.IsGroup() || len(r.copies) == 0 {
				r.emit(data, sealed)
				continue
			}
			for _, to := range r.copies {
				copied := bytes.Clone(data)
				copy(copied, to[:])
				r.emit(copied, sealed)
			}
		}
	}
}

func (r *run) emit(data []byte, sealed *Envelope) {
	k := streamOf(data)
	r.sent[k] = append(r.sent[k], emission{data, sealed, r.now})
}

// expect compares an own frame with what the engine has sent, or sends when the
// timer it waits for rings.
func (r *run) expect(f *Frame) *Difference {
	k := streamOf(f.Data)
	if !k.discovery && f.Bad == nil && f.Message.User() != frame.UserLink {
		r.clock(f.At)
		for len(r.sent[k]) == 0 && r.answer(f) {
		}
	}
	for range 3 { // a timer may ring without a word, as at the end of a trial
		if len(r.sent[k]) > 0 {
			break
		}
		if late := r.ring(f); late != "" {
			return &Difference{No: f.No, At: f.At, Recorded: f.Data, Why: late, compared: r.compared}
		}
	}
	if len(r.sent[k]) == 0 {
		return &Difference{No: f.No, At: f.At, Recorded: f.Data, Why: "it was sent, and we send nothing", compared: r.compared}
	}
	place := r.overtakes(f, r.sent[k])
	ours := r.sent[k][place]
	r.sent[k] = slices.Delete(r.sent[k], place, place+1)
	rules, same := same(f, ours.data)
	if place > 0 {
		rules = append(rules, Overtakes)
	}
	if !same {
		return &Difference{No: f.No, At: f.At, Recorded: f.Data, Ours: ours.data, Why: differ(f.Data, ours.data), compared: r.compared}
	}
	if why := differSealed(f.Sealed, ours.sealed); why != "" {
		return &Difference{No: f.No, At: f.At, Recorded: f.Data, Ours: ours.data, Why: why, compared: r.compared}
	}
	if f.Sealed != nil {
		r.stats.sealed++
		if bytes.Equal(f.Sealed.Wire, ours.sealed.Wire) {
			r.stats.whole++
		}
	}
	if d := f.At - ours.at; d > AnswersWithin {
		return &Difference{
			No: f.No, At: f.At, Recorded: f.Data, Ours: ours.data, compared: r.compared,
			Why: fmt.Sprintf("it was sent %v later than we send it", d.Round(time.Microsecond)),
		}
	}
	for _, rule := range rules {
		r.stats.allowed[rule]++
	}
	return nil
}

// overtakes returns the place among what we have sent of a message of the link
// protocol that was recorded before packets sent before it, where that is allowed;
// else 0.
func (r *run) overtakes(f *Frame, sent []emission) int {
	if !r.overtaking || f.Bad != nil || f.Message.User() != frame.UserLink {
		return 0
	}
	place := slices.IndexFunc(sent, func(e emission) bool { return bytes.Equal(e.data, f.Data) })
	return max(place, 0)
}

// unasked finds frames that we sent and the node did not.
func (r *run) unasked(at time.Duration) *Difference {
	var first *emission
	for _, q := range r.sent {
		if len(q) == 0 || q[0].at+AnswersWithin >= at {
			continue
		}
		if first == nil || q[0].at < first.at || q[0].at == first.at && bytes.Compare(q[0].data, first.data) < 0 {
			first = &q[0]
		}
	}
	if first == nil {
		return nil
	}
	return &Difference{At: first.at, Ours: first.data, Why: "we send it, and it was not sent", compared: r.compared}
}
