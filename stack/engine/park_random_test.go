// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A peer that sends to unknown names at line rate, and makes some appear and vanish,
// gets its rejects; what waits stays within the limits, and holds no chunk.
//
// Proves: names.limits, hostile.docs
func TestHostileUnknownNames(t *testing.T) {
	p := newScriptedPeer(t, alone).up()
	defer p.done()
	const rounds, burst = 200, 100
	update := frame.Seq(1)
	rejects := 0
	for i := range rounds {
		for j := range burst {
			p.packet(data(0, named(18888, uint32(j)), "x"))
		}
		it := nameItem(18888, 0, 9, 99)
		p.publishes(update, false, it)
		p.publishes(update+1, true, it)
		update += 2
		for range 2 { // the window opens, and what waited behind it goes
			p.collect()
			p.report(nil)
		}
		if n := p.byAddr[popAddr]; n.parked.messages > maxParked || len(p.parking.queue) != n.parked.messages || cap(p.parking.queue) > 2*maxParked {
			t.Fatalf("round %d: %+v parked, %d places", i, n.parked, cap(p.parking.queue))
		}
		for _, l := range p.drain() {
			if strings.Contains(l, "error=no name") {
				rejects++
			}
		}
		p.wait(p.now + time.Millisecond)
	}
	c := p.Counters()
	if got := c.Parked - c.ParkReleased - c.ParkExpired; c.Parked+c.ParkRefused != rounds*burst || got != uint64(p.Parked()) {
		t.Errorf("counted %d parked, %d refused; %d wait, want %d", c.Parked, c.ParkRefused, p.Parked(), got)
	}
	if c.ParkReleased == 0 || c.ParkExpired == 0 || c.ParkRefused < rounds*burst/2 {
		t.Errorf("released %d, expired %d, refused %d", c.ParkReleased, c.ParkExpired, c.ParkRefused)
	}
	if p.byAddr[popAddr].contact != UpUp || c.Returned != c.ParkExpired+c.ParkRefused || c.Drops != (Drops{}) {
		t.Errorf("contact %v, %d returned of %d, dropped %v", p.byAddr[popAddr].contact, c.Returned, c.ParkExpired+c.ParkRefused, c.Drops)
	}
	if rejects == 0 {
		t.Error("no reject was sent")
	}
}

// Random calls beside a model: a message is read at the first moment at which its name
// is bound here, in the order of arrival of those to that name, or comes back 100 ms
// after it came.
//
// Proves: names.late
func TestParkingUnderRandomCalls(t *testing.T) {
	seeds := 200
	if raceEnabled || testing.Short() {
		seeds = 40
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 6))
		p := newScriptedPeer(t, alone).up()
		type waiting struct {
			text  string
			until time.Duration
		}
		model := map[uint32][]waiting{} // by instance
		ports := map[uint32]*Port{}     // who has bound it
		var log []string
		expect := func(what string, got, want []string) {
			if log = append(log, what); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s: got %q, want %q", seed, strings.Join(log, ", "), got, want)
			}
		}
		for i := range 120 {
			x := uint32(r.IntN(4))
			text := fmt.Sprint(seed, "/", i)
			switch op := r.IntN(10); {
			case op < 5:
				p.says(uint32(r.IntN(2))*4711, 18888, x, nil, text)
				switch {
				case ports[x] != nil:
					expect("take "+text, read(ports[x]), []string{"<1001002:77> " + text})
				default:
					model[x] = append(model[x], waiting{text, p.now + DefaultNamePark})
				}
			case op < 7 && ports[x] == nil:
				var want []string
				for _, m := range model[x] {
					want = append(want, "<1001002:77> "+m.text)
				}
				delete(model, x)
				ports[x] = p.bound(t, PortConfig{}, 18888, x)
				expect(fmt.Sprint("bind ", x), read(ports[x]), want)
			case op < 8 && ports[x] != nil:
				ports[x].Close(p.now)
				delete(ports, x)
			default:
				end := p.now + time.Duration(r.IntN(60))*time.Millisecond
				var due []waiting
				for x, w := range model {
					for len(w) > 0 && w[0].until <= end {
						due = append(due, w[0])
						w = w[1:]
					}
					model[x] = w
				}
				slices.SortStableFunc(due, func(a, b waiting) int { return int(a.until - b.until) })
				var want, got []string
				for _, m := range due {
					want = append(want, fmt.Sprint(m.until))
				}
				for _, l := range p.wait(end) {
					if at, rest, _ := strings.Cut(l, " "); strings.Contains(rest, "error=no name") {
						got = append(got, at)
					}
				}
				expect(fmt.Sprint("until ", end), got, want)
			}
			p.collect()
			p.sent = nil
			p.report(nil)
		}
		left := 0
		for _, w := range model {
			left += len(w)
		}
		if p.Parked() != left {
			t.Fatalf("seed %d: %d wait, want %d", seed, p.Parked(), left)
		}
		p.done()
	}
}

// What a new binding costs while messages wait: none, all that may for another type, or
// for another instance of its own.
func BenchmarkBindingBesideParked(b *testing.B) {
	for _, c := range []struct {
		name string
		wait int
		typ  uint32
	}{{"none", 0, 0}, {"other type", maxAllParked, 18889}, {"same type", maxAllParked, 18888}} {
		b.Run(c.name, func(b *testing.B) {
			p := newScriptedPeer(b)
			m, _ := frame.Parse(data(0, named(c.typ, 17), "x"))
			pl, _ := frame.ParsePayload(m)
			var n *node
			for i := range c.wait {
				if i%maxParked == 0 {
					n = &node{}
				}
				p.park(p.now, n, pl)
			}
			for b.Loop() {
				p.Engine.bound(naming.Binding{Range: frame.Range{Type: 18888, Lower: 18, Upper: 18}})
				p.unpark(p.now)
			}
			if p.Parked() != c.wait {
				b.Fatalf("%d wait", p.Parked())
			}
		})
	}
}
