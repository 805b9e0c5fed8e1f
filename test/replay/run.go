// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bytes"
	"fmt"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A plan says which received frames arrive later than they were recorded: by
// their place among what was received, the number of own frames that are sent
// before. Later frames queue behind them.
type plan map[int]int

// A stream is what keeps its order: the frames to one station, and discovery
// messages to it by themselves.
type stream struct {
	to        frame.MAC
	discovery bool
}

func streamOf(data []byte) stream {
	eth, b, err := frame.ParseEthernet(data)
	if err != nil {
		return stream{}
	}
	if m, err := frame.Parse(b); err == nil && m.User() == frame.UserDiscovery {
		return stream{eth.Dst(), true}
	}
	return stream{to: eth.Dst()}
}

// An emission is a frame our engine has sent and that was not compared yet.
type emission struct {
	data []byte
	at   time.Duration
}

// A run is one replay, from the beginning, by one plan.
type run struct {
	*side
	plan  plan
	eng   *engine.Engine
	arena *frame.Arena
	now   time.Duration
	sent  map[stream][]emission
	ports map[uint32]*socket
	ready []*engine.Port

	fed      []int // for each received frame: own frames compared before it
	compared int
	nextCall int
	timers   map[frame.NodeAddr]*timer // 0: discovery
	last     []byte                    // the newest frame of ours
	stats    stats
}

type socket struct {
	*engine.Port
	echo bool
}

type stats struct {
	timers  int
	latest  time.Duration // the timer that rang latest
	allowed map[string]int
	calls   int
}

// newRun makes the node; its bearer comes up at s.start.
func newRun(s *side, p plan) (*run, error) {
	of := *s
	of.chance = s.chance.fresh()
	r := &run{
		side: &of, plan: p, sent: map[stream][]emission{}, ports: map[uint32]*socket{},
		timers: map[frame.NodeAddr]*timer{}, stats: stats{allowed: map[string]int{}},
	}
	memory := frame.ArenaConfig{Small: 512}
	if n := frame.EthernetLen + s.bearer.MTU; n > frame.SmallChunk-frame.Headroom {
		memory.Jumbo, memory.JumboSize = 512, n
	}
	r.arena = frame.NewArena(memory)
	of.cfg.Arena, of.cfg.Chance = r.arena, of.chance
	var err error
	if r.eng, err = engine.New(of.cfg); err != nil {
		return nil, err
	}
	r.now = s.start
	if _, err = r.eng.AddBearer(r.now, s.bearer); err != nil {
		return nil, err
	}
	r.collect()
	return r, nil
}

// all replays everything and returns the first difference, or nil.
func (r *run) all() *Difference {
	for k := range r.own {
		f := &r.own[k]
		if d := r.until(f.At, f.No); d != nil {
			return d
		}
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
		f, c := r.nextIn(at, no), r.call(at)
		switch {
		case f != nil && (c == nil || f.At <= c.At):
			if d := r.overdue(f.At); d != nil {
				return d
			}
			r.clock(f.At)
			r.feed(f)
		case c != nil:
			if d := r.overdue(c.At); d != nil {
				return d
			}
			r.clock(c.At)
			if err := r.do(c); err != nil {
				return &Difference{At: c.At, Why: fmt.Sprintf("line %d of the calls, %s: %v", c.Line, c.Verb, err), compared: r.compared}
			}
			r.nextCall++
			r.stats.calls++
		default:
			d := r.overdue(at)
			r.clock(at)
			return d
		}
		r.collect()
	}
}

func (r *run) clock(t time.Duration) { r.now = max(r.now, t) }

// nextIn returns the next frame that has arrived before frame no, or nil.
func (r *run) nextIn(at time.Duration, no int) *Frame {
	i := len(r.fed)
	if i == len(r.in) || r.in[i].No > no || r.in[i].At > at || r.plan[i] > r.compared {
		return nil
	}
	return &r.in[i]
}

func (r *run) call(at time.Duration) *Call {
	if r.nextCall == len(r.calls) || r.calls[r.nextCall].At > at {
		return nil
	}
	return &r.calls[r.nextCall]
}

// feed gives the engine a frame.
func (r *run) feed(f *Frame) {
	r.fed = append(r.fed, r.compared)
	if f.Cut {
		return
	}
	b := r.arena.Get(len(f.Data), frame.Data)
	if b == nil {
		return // longer than the bearer takes
	}
	copy(b.Extend(len(f.Data)), f.Data)
	r.eng.HandleFrame(r.now, 0, b)
	b.Release()
}

// collect takes what the engine has sent, and what waits for its user.
func (r *run) collect() {
	for {
		r.take()
		r.ready = r.eng.TakeReady(r.ready[:0])
		if len(r.ready) == 0 {
			break
		}
		for _, p := range r.ready {
			r.read(p)
		}
	}
	for {
		if _, ok := r.eng.NextEvent(); !ok {
			break
		}
	}
	r.eng.TakeNameEvents(nil)
	r.look()
}

func (r *run) take() {
	for b := r.eng.NextFrame(0); b != nil; b = r.eng.NextFrame(0) {
		r.last = bytes.Clone(b.Bytes())
		b.Release()
		if to := frame.MAC(r.last); !to.IsGroup() || len(r.copies) == 0 {
			r.emit(r.last)
			continue
		}
		for _, to := range r.copies {
			data := bytes.Clone(r.last)
			copy(data, to[:])
			r.emit(data)
		}
	}
}

func (r *run) emit(data []byte) {
	k := streamOf(data)
	r.sent[k] = append(r.sent[k], emission{data, r.now})
}

// expect compares an own frame with what the engine has sent, or sends when the
// timer it waits for rings.
func (r *run) expect(f *Frame) *Difference {
	k := streamOf(f.Data)
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
	ours := r.sent[k][0]
	r.sent[k] = r.sent[k][1:]
	rules, same := same(f, ours.data)
	if !same {
		return &Difference{No: f.No, At: f.At, Recorded: f.Data, Ours: ours.data, Why: differ(f.Data, ours.data), compared: r.compared}
	}
	if d := f.At - ours.at; d > AnswersWithin {
		return &Difference{No: f.No, At: f.At, Recorded: f.Data, Ours: ours.data, compared: r.compared,
			Why: fmt.Sprintf("it was sent %v later than we send it", d.Round(time.Microsecond))}
	}
	for _, rule := range rules {
		r.stats.allowed[rule]++
	}
	return nil
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

// links yields the neighbours that have a link.
func (r *run) links(yield func(engine.Neighbour) bool) {
	for n := range r.eng.Neighbours {
		if n.Link != nil && n.Link.Deadline() != flowctl.Never && !yield(n) {
			return
		}
	}
}
