// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
)

// A recorder notes when its alarm rings, and what else it does then.
type recorder struct {
	alarm
	name string
	log  *[]string
	then func(now time.Duration)
}

func (b *recorder) ring(now time.Duration, a *alarm) {
	*b.log = append(*b.log, fmt.Sprint(b.name, "@", now))
	if b.then != nil {
		b.then(now)
	}
}

func recorders(names string) (log *[]string, all map[string]*recorder) {
	log, all = &[]string{}, map[string]*recorder{}
	for _, c := range names {
		b := &recorder{name: string(c), log: log}
		b.owner = b
		all[b.name] = b
	}
	return log, all
}

func TestAlarmsTranscript(t *testing.T) {
	var s alarms
	log, b := recorders("abcdef")
	s.set(&b["c"].alarm, 30)
	s.set(&b["a"].alarm, 10)
	s.set(&b["b"].alarm, 10) // behind a
	s.set(&b["d"].alarm, 20)
	s.set(&b["d"].alarm, 10) // behind b
	s.set(&b["e"].alarm, 10)
	s.set(&b["f"].alarm, 40)
	s.cancel(&b["f"].alarm)
	s.cancel(&b["f"].alarm)
	b["a"].then = func(now time.Duration) { s.set(&b["a"].alarm, now) } // at once: the next time
	b["b"].then = func(time.Duration) { s.cancel(&b["d"].alarm) }       // it is due, and does not ring
	b["e"].then = func(time.Duration) { s.set(&b["f"].alarm, 25) }
	if s.first() != 10 {
		t.Errorf("first: got %v, want 10", s.first())
	}
	for _, now := range []time.Duration{9, 12, 12, 24, 35} {
		if now == 24 {
			b["a"].then = nil
		}
		s.ringDue(now)
	}
	want := []string{"a@12ns", "b@12ns", "e@12ns", "a@12ns", "a@24ns", "f@35ns", "c@35ns"}
	if !slices.Equal(*log, want) {
		t.Errorf("got %q, want %q", *log, want)
	}
	if s.first() != flowctl.Never || b["a"].isSet() || b["c"].isSet() {
		t.Errorf("left: %v", s.first())
	}
	s.set(&b["a"].alarm, 50)
	if s.set(&b["a"].alarm, flowctl.Never); s.first() != flowctl.Never || b["a"].isSet() {
		t.Error("Never does not cancel")
	}
}

// Against a plain list, by random calls.
func TestAlarmsAgainstList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s alarms
	log, all := recorders("abcdefghijklmnopqrstuvwxyz")
	type entry struct {
		at    time.Duration
		order int
		name  string
	}
	var list []entry
	remove := func(name string) { list = slices.DeleteFunc(list, func(x entry) bool { return x.name == name }) }
	now := time.Duration(0)
	for i := range 20000 {
		name := string(rune('a' + r.IntN(26)))
		switch r.IntN(4) {
		case 0, 1:
			at := now + time.Duration(r.IntN(50))
			s.set(&all[name].alarm, at)
			remove(name)
			list = append(list, entry{at, i, name})
		case 2:
			s.cancel(&all[name].alarm)
			remove(name)
		case 3:
			now += time.Duration(r.IntN(20))
			slices.SortFunc(list, func(a, b entry) int {
				if a.at != b.at {
					return int(a.at - b.at)
				}
				return a.order - b.order
			})
			var want []string
			for len(list) > 0 && list[0].at <= now {
				want = append(want, fmt.Sprint(list[0].name, "@", now))
				list = list[1:]
			}
			*log = nil
			if s.ringDue(now); !slices.Equal(*log, want) {
				t.Fatalf("call %d: got %q, want %q", i, *log, want)
			}
		}
		first := time.Duration(flowctl.Never)
		for _, x := range list {
			first = min(first, x.at)
		}
		if s.first() != first {
			t.Fatalf("call %d: first %v, want %v", i, s.first(), first)
		}
	}
}

func TestAlarmsAllocateNothing(t *testing.T) {
	var s alarms
	log, b := recorders("abc")
	*log = make([]string, 0, 10)
	turn := func() {
		for _, x := range b {
			s.set(&x.alarm, 10)
			s.set(&x.alarm, 5)
		}
		for _, x := range b {
			s.cancel(&x.alarm)
		}
	}
	turn()
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
