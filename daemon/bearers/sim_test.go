// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A world is a host whose interfaces change by chance, on a virtual clock. Its actions
// take time, and what an action finds is what holds when it ends.
type world struct {
	rand  *rand.Rand
	r     *Reconciler
	now   time.Duration
	links map[string]*link
	ids   []string
	later []due
	told  time.Duration // when the last change that is announced was
	quiet time.Duration // when the last one that is not was
	trace []string
}

// A link is an interface, and the device of the bearer on it.
type link struct {
	wish    Wish
	is      Facts
	dev     Standing
	open    bool
	held    bool
	group   int // interface on which the group is joined; 0: none
	status  Status
	remotes map[netip.AddrPort]bool
	numbers int
}

// A due is something that happens at a time.
type due struct {
	at time.Duration
	do func()
}

func (w *world) after(d time.Duration, do func()) {
	w.later = append(w.later, due{w.now + d, do})
}

func newWorld(seed uint64) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 0)), r: New(0), links: map[string]*link{}}
	for i := range 4 {
		l := &link{numbers: 1, remotes: map[netip.AddrPort]bool{}}
		l.is = Facts{Exists: true, Index: 1, MAC: frame.MAC{2, 0, 0, 0, byte(i), 1}, MTU: 1500, Up: true, Carrier: true, Queues: 2}
		l.wish = Wish{ID: fmt.Sprintf("eth:eth%d", i), Device: fmt.Sprintf("eth%d", i)}
		switch i {
		case 2: // over UDP, with a group
			l.wish = Wish{ID: "udp:UDP1", Local: remote(1).Addr()}
		case 3: // over UDP, by the interface's address, with remotes
			l.wish = Wish{ID: "udp:UDP2", Device: "eth3", Remotes: []netip.AddrPort{remote(2)}}
		}
		if l.wish.UDP() {
			l.is.MAC, l.is.Queues, l.is.Local = frame.MAC{}, 0, remote(1).Addr()
		}
		w.ids = append(w.ids, l.wish.ID)
		w.links[l.wish.ID] = l
	}
	w.want()
	return w
}

func (w *world) want() {
	var all []Wish
	for _, id := range w.ids {
		all = append(all, w.links[id].wish)
	}
	w.r.Want(w.now, all)
	w.told = w.now
}

func (w *world) logf(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%v ", w.now)+fmt.Sprintf(format, args...))
}

// change changes something by chance.
func (w *world) change() {
	l := w.links[w.ids[w.rand.IntN(len(w.ids))]]
	f := &l.is
	said := true
	what := w.rand.IntN(13)
	switch what {
	case 0: // vanishes
		f.Exists, f.Program, l.group = false, 0, 0
	case 1: // returns, or is made anew
		l.numbers++
		f.Exists, f.Index, f.Up, f.Carrier, f.Downs, f.Program, l.group, f.Master = true, l.numbers, true, true, 0, 0, 0, ""
	case 2:
		f.MAC[5]++
		if l.wish.UDP() {
			f.MAC = frame.MAC{}
		}
	case 3:
		f.MTU = []int{1500, 9000, 100}[w.rand.IntN(3)]
	case 4:
		f.Master = []string{"", "br0"}[w.rand.IntN(2)]
	case 5:
		f.Queues = 1 + w.rand.IntN(4)
		said = false
	case 6:
		if f.Up = !f.Up; !f.Up {
			f.Carrier = false
			f.Downs++
		} else {
			f.Carrier = true
		}
	case 7: // flaps
		if f.Up {
			f.Downs++
			f.Carrier = !f.Carrier
		}
	case 8:
		f.Program, said = 0, false
	case 9:
		l.group, said = 0, false
	case 12:
		f.Users = []string{"", "it has the address 10.0.0.1/24"}[w.rand.IntN(2)]
	case 11:
		f.Above = []string{"", "eth0.184"}[w.rand.IntN(2)]
	case 10: // the settings
		switch {
		case len(l.wish.Remotes) > 0:
			l.wish.Remotes = []netip.AddrPort{remote(byte(2 + w.rand.IntN(3))), remote(byte(2 + w.rand.IntN(3)))}
			f.Local = remote(byte(20 + w.rand.IntN(3))).Addr()
		default:
			l.wish.Rest = fmt.Sprint(w.rand.IntN(2))
		}
		w.want()
	}
	w.logf("change %d of %s: %+v", what, l.wish.ID, *f)
	if said {
		w.told = w.now
		w.after(time.Duration(w.rand.IntN(30))*time.Millisecond, func() { w.r.News(w.now) })
	} else {
		w.quiet = w.now
	}
}

// look is what a look finds.
func (l *link) look() Facts {
	f := l.is
	f.Attached, f.Noted, f.On = l.open, true, l.dev
	f.Group = len(l.wish.Remotes) > 0 || l.group == f.Index
	return f
}

// act carries out what the Reconciler asks for.
func (w *world) act() {
	for a, ok := w.r.NextAction(); ok; a, ok = w.r.NextAction() {
		l := w.links[a.ID]
		switch a.Act {
		case Look:
			for _, id := range w.ids {
				w.r.See(w.now, id, w.links[id].look())
			}
			continue
		case Report:
			l.status = a.Status
			w.logf("%s %v %s", a.ID, a.Status.State, a.Status.Reason.Text)
			continue
		}
		w.after(time.Duration(w.rand.IntN(60))*time.Millisecond, func() {
			err := l.carryOut(a, w.rand)
			w.logf("%s %v: %v", a.ID, a.Act, err)
			w.r.Done(w.now, a.ID, a.Act, err)
		})
	}
}

func (l *link) carryOut(a Action, chance *rand.Rand) error {
	f := &l.is
	switch a.Act {
	case Open:
		if l.open {
			panic("opened twice")
		}
		if why := f.lacks(&l.wish).Text; why != "" {
			return errors.New(why)
		}
		if chance.IntN(8) == 0 {
			return errors.New("busy")
		}
		l.open, l.held, l.group, f.Program = true, false, f.Index, 7
		l.dev = Standing{Index: f.Index, MAC: f.MAC, Queues: f.Queues, Program: 7, Local: f.Local, Alone: f.Users == "", Shared: f.Users != ""}
		clear(l.remotes)
		for _, r := range l.wish.Remotes {
			l.remotes[r] = true
		}
	case Close:
		l.open = false
		if l.dev.Index == f.Index {
			f.Program = 0
		}
	case Rejoin:
		if !f.Exists {
			return errors.New("no such device")
		}
		l.group, l.dev.Index = f.Index, f.Index
	case AddRemote:
		l.remotes[a.Remote] = true
	case RemoveRemote:
		delete(l.remotes, a.Remote)
	case Hold, Release:
		l.held = a.Act == Hold
	}
	return nil
}

// wrong says what is not as it has to be; "" is right.
func (l *link) wrong() string {
	f := l.look()
	lacks := f.lacks(&l.wish).Text
	if lacks != "" && (!l.wish.UDP() && (!f.Exists || f.Master != "") || !l.open) {
		if l.open || l.status.State != Waiting {
			return fmt.Sprintf("open %v, %v, though %s", l.open, l.status, lacks)
		}
		return ""
	}
	want := Up
	switch {
	case l.wish.UDP() && !f.Exists:
		if !l.held || l.status.State != Down {
			return fmt.Sprintf("held %v, %v, though %s", l.held, l.status, lacks)
		}
		return ""
	case lacks != "" || !f.Carrier:
		want = Down
	}
	switch {
	case l.status.Above != f.Above:
		return fmt.Sprintf("below %q, though %q is there", l.status.Above, f.Above)
	case !l.open:
		return "not open"
	case f.differs(&l.wish) != "" || f.adrift(&l.wish) != "":
		return f.differs(&l.wish) + f.adrift(&l.wish)
	case f.On.Alone && f.unsuited(&l.wish) != "": // the way back is not urgent
		return f.unsuited(&l.wish)
	case l.held:
		return "held"
	case l.status.State != want:
		return fmt.Sprintf("%v, want %v", l.status, want)
	case len(difference(l.wish.Remotes, keys(l.remotes))) > 0 || len(difference(keys(l.remotes), l.wish.Remotes)) > 0:
		return fmt.Sprintf("remotes %v, want %v", l.remotes, l.wish.Remotes)
	}
	return ""
}

func keys(m map[netip.AddrPort]bool) (all []netip.AddrPort) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

// step goes on to the next thing that happens, at most to limit.
func (w *world) step(limit time.Duration) bool {
	next, which := w.r.Deadline(), -1
	for i, d := range w.later {
		if d.at < next {
			next, which = d.at, i
		}
	}
	if next > limit {
		w.now = limit
		return false
	}
	w.now = max(w.now, next)
	if which >= 0 {
		do := w.later[which].do
		w.later = append(w.later[:which], w.later[which+1:]...)
		do()
	} else {
		w.r.HandleTimeout(w.now)
	}
	w.act()
	return true
}

// Whatever happens to interfaces in whatever order, every bearer is right 2 s after the
// last change that is announced and 12 s after one that is not, and stays so. Fails when
// settle, a retry or the damper takes longer, when a look is not asked for after an
// action, or when an action is given out for what is no longer so.
func TestSeededChanges(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		w := newWorld(seed)
		w.act()
		for range 12 {
			for range 1 + w.rand.IntN(12) {
				w.change()
				w.act()
				for end := w.now + time.Duration(w.rand.IntN(400))*time.Millisecond; w.step(end); {
				}
			}
			right := max(w.told+2*time.Second, w.quiet+12*time.Second)
			for steps := 0; w.step(right); steps++ {
				if steps > 10000 {
					t.Fatalf("seed %d: no end of steps at %v\n%s", seed, w.now, tail(w.trace))
				}
			}
			for _, id := range w.ids {
				if why := w.links[id].wrong(); why != "" {
					t.Fatalf("seed %d, at %v, announced until %v, the rest until %v: %s: %s\n%s", seed, w.now, w.told, w.quiet, id, why, tail(w.trace))
				}
			}
		}
	}
}

func tail(all []string) (s string) {
	for _, line := range all[max(0, len(all)-40):] {
		s += line + "\n"
	}
	return s
}
