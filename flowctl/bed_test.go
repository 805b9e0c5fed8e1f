// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A bed is two links and the wires between them. Each end agrees to everything its link
// asks for, as a node does.
type bed struct {
	t     testing.TB
	now   time.Duration
	ends  [2]*Link
	wires [2]wire // from each end
	arena *netdev.Arena
	sent  int // of carry's packets
	got   int

	// With a transcript, every frame and event is a line, and an end that goes down begins
	// anew. Without one it may not go down.
	transcript bool
	lines      []string
	lose       func(from int, line string) bool
}

// A wire carries frames one way, in order. The zero wire takes no time and loses none.
type wire struct {
	busy   time.Duration // until then it sends what it has
	frames Queue[arrival]
	delay  time.Duration
	slow   bool // 1 Gbit/s
	loss   float64
	chance *rand.Rand
}

type arrival struct {
	at time.Duration
	b  *netdev.Buffer
}

// newBed makes both ends, the second one late later.
func newBed(t testing.TB, a netdev.ArenaConfig, late time.Duration, change func(*Config)) *bed {
	d := &bed{t: t, arena: netdev.NewArena(a)}
	for i, a := range []frame.NodeAddr{self, peer} {
		c := Config{
			Local: &Local{Self: a, IfName: "eth0", Arena: d.arena}, Peer: self ^ peer ^ a, MTU: 1500, Tolerance: DefaultTolerance, Priority: 10,
			MinWindow: DefaultWindow, MaxWindow: DefaultWindow, Session: frame.Seq(100 + 100*i), Broadcast: NewBroadcastReceiver(a),
		}
		change(&c)
		d.ends[i] = NewLink(late*time.Duration(i), c, allCaps|c.Capabilities)
	}
	return d
}

// put sends a frame, with preamble, FCS and gap; a lost one takes its time.
func (w *wire) put(now time.Duration, b *netdev.Buffer) {
	if w.busy = max(w.busy, now); w.slow {
		w.busy += time.Duration(b.Len()+24) * 8
	}
	if w.loss > 0 && w.chance.Float64() < w.loss {
		b.Release()
		return
	}
	w.frames.Push(arrival{w.busy + w.delay, b})
}

// next is when the next frame arrives.
func (w *wire) next() time.Duration {
	if w.frames.Len() == 0 {
		return Never
	}
	return w.frames.At(0).at
}

func (d *bed) next() time.Duration {
	return min(d.ends[0].Deadline(), d.ends[1].Deadline(), d.wires[0].next(), d.wires[1].next())
}

// step goes on to the next arrival or deadline.
func (d *bed) step() {
	d.now = max(d.now, d.next())
	d.turn()
}

// run lets time pass until end, deadline by deadline.
func (d *bed) run(end time.Duration) {
	for d.turn(); d.next() <= end; {
		d.step()
	}
}

// turn does what is due now: each end hears, then speaks.
func (d *bed) turn() {
	for i, l := range d.ends {
		for w := &d.wires[1-i]; w.next() <= d.now; {
			b := w.frames.Pop().b
			d.receive(i, b)
			b.Release()
		}
		l.HandleTimeout(d.now)
		for e := l.TakeEvents(); e != 0; e = l.TakeEvents() {
			d.say(i, eventText(e))
			if e&WentDown != 0 {
				if !d.transcript {
					d.t.Fatalf("%v: end %d goes down: %v", d.now, i, l.Cause())
				}
				l.Restart(d.now)
			}
			if e&WantUp != 0 {
				l.Up(d.now)
			}
		}
	}
	for i, l := range d.ends {
		for b := l.NextFrame(); b != nil; b = l.NextFrame() {
			if d.lost(i, b) {
				b.Release()
			} else {
				d.wires[i].put(d.now, b)
			}
		}
	}
}

func (d *bed) say(i int, line string) {
	if d.transcript {
		d.lines = append(d.lines, fmt.Sprintf("%v %c %s", d.now, 'a'+i, line))
	}
}

// lost writes a frame down and reports whether the test loses it.
func (d *bed) lost(from int, b *netdev.Buffer) bool {
	if !d.transcript {
		return false
	}
	line := strings.TrimSuffix(summary(b), " bcast-ack=0")
	if d.lose != nil && d.lose(from, line) {
		d.say(from, line+" LOST")
		return true
	}
	d.say(from, line)
	return false
}

func (d *bed) receive(i int, b *netdev.Buffer) {
	l := d.ends[i]
	p, err := frame.Parse(b.Bytes()[frame.EthernetLen:])
	if err != nil {
		d.t.Fatal(err)
	}
	if p.User() == frame.UserLink {
		if s := parseLink(d.t, p.Bytes()); l.Accept(s) {
			l.HandleLink(d.now, s)
		} else {
			d.say(i, "refuses")
		}
		return
	}
	if l.HandlePacket(d.now, p, b) == Deliver {
		d.got = deliver(d.t, d.got, p)
		for q, ok := l.Next(d.now); ok; q, ok = l.Next(d.now) {
			d.got = deliver(d.t, d.got, q.Message)
			q.Release()
		}
	}
}

// take returns the transcript and begins a new one.
func (d *bed) take() []string {
	l := d.lines
	d.lines = nil
	return l
}
