// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/netdev"
)

// A dummy is a driver that opens, and attaches or not.
type dummy struct {
	Device
	way      Method
	refuses  error // what Attach says
	attached int
	closed   int
}

func (d *dummy) Attach(*netdev.Arena, func()) error { d.attached++; return d.refuses }
func (d *dummy) Close() error                       { d.closed++; return nil }
func (d *dummy) String() string                     { return "dummy " + d.way.String() }
func (d *dummy) MTU() int                           { return 1500 }
func (d *dummy) Receive(b []*netdev.Buffer) (int, error) {
	return len(b), nil
}

// A peeking dummy is a peeker that says no.
type peekingDummy struct{ *dummy }

func (peekingDummy) Ready() bool { return false }

// A shop opens dummies and keeps account.
type shop struct {
	opens    map[Method]error // what opening says; nil is a dummy
	attaches map[Method]error // what attaching says
	made     []*dummy
	freed    int
}

func (s *shop) open(w Method) (Device, error) {
	if err := s.opens[w]; err != nil {
		return nil, err
	}
	d := &dummy{way: w, refuses: s.attaches[w]}
	s.made = append(s.made, d)
	if w.Driver == AFXDP {
		return peekingDummy{d}, nil
	}
	return d, nil
}

// get lets newChoice try all three ways.
func (s *shop) get() (Bearer, error) {
	p := Plan{Interface: "eth5", Reason: "because", Methods: []Method{native, generic, packet}}
	return newChoice(p, s.open, func() { s.freed++ })
}

var (
	errNo    = errors.New("xdp: interface eth5: no")
	errQueue = &OwnedError{"eth5", "whoever has the queue"}
	errDown  = &InterfaceError{"eth5", ErrDown, "bring it up"}
)

// Proves: device.choice
func TestOpenTriesInOrder(t *testing.T) {
	for _, c := range []struct {
		what  string
		opens map[Method]error
		want  string // the way, or the error
		why   string
	}{
		{"the first", nil, "af_xdp native", ""},
		{"the second", map[Method]error{native: errNo}, "af_xdp generic", "af_xdp native: no"},
		{
			"the third, the queue being somebody's",
			map[Method]error{native: errNo, generic: errQueue},
			"af_packet",
			"af_xdp native: no; af_xdp generic: " + errQueue.Error(),
		},
		{"none", map[Method]error{native: errNo, generic: errNo, packet: errNo}, "no driver can be had: af_xdp native: no; af_xdp generic: no; af_packet: no; ", ""},
		{"none, by another node", map[Method]error{native: errQueue, generic: errQueue, packet: errQueue}, "belongs to another node", ""},
		{"the interface", map[Method]error{native: errDown}, "is down", ""},
		{"the kernel", map[Method]error{native: &KernelError{"eth5"}}, "tipc module", ""},
	} {
		s := &shop{opens: c.opens}
		b, err := s.get()
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || s.freed != 1 || len(s.made) != 0 {
				t.Errorf("%s: got %v, freed %d times, want %q, once", c.what, err, s.freed, c.want)
			}
			continue
		}
		var why []string
		for _, r := range b.Why() {
			why = append(why, r.Error())
		}
		if got := b.Method().String(); got != c.want || strings.Join(why, "; ") != c.why || b.Reason() != "because" {
			t.Errorf("%s: got %s, %q, want %s, %q", c.what, got, why, c.want, c.why)
		}
		b.Close()
		if s.freed != 1 || s.made[0].closed != 1 {
			t.Errorf("%s: freed %d times, closed %d times, want once", c.what, s.freed, s.made[0].closed)
		}
	}
}

// Proves: device.choice
func TestAttachGoesOnToTheNext(t *testing.T) {
	s := &shop{opens: map[Method]error{generic: errNo}, attaches: map[Method]error{native: errQueue}}
	b, err := s.get()
	if err != nil {
		t.Fatal(err)
	}
	if b.Method() != native || s.freed != 0 {
		t.Fatalf("opened %v, freed %d times, want %v, not yet", b.Method(), s.freed, native)
	}
	for range 2 {
		err := b.Attach(nil, nil)
		if b.Method() != packet || s.freed != 1 || b.Driver() != Device(s.made[1]) {
			t.Errorf("attached %v, freed %d times, want %v, once", b.Method(), s.freed, packet)
		}
		if s.made[0].closed != 1 || s.made[1].closed != 0 || s.made[1].attached != 1 {
			t.Errorf("the first closed %d times, want once; the last %d, attached %d, want never, once", s.made[0].closed, s.made[1].closed, s.made[1].attached)
		}
		if want := error(nil); err != want && !errors.Is(err, ErrAttached) {
			t.Errorf("Attach: got %v", err)
		}
	}
	if err := b.Attach(nil, nil); !errors.Is(err, ErrAttached) {
		t.Errorf("Attach again: got %v, want %v", err, ErrAttached)
	}
	if got, want := b.String(), "dummy af_packet; not af_xdp native: "+errQueue.Error()+"; not af_xdp generic: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// It was a peeker when it was opened; what it has become cannot peek.
	if p, ok := b.(peeker); !ok || !p.Ready() {
		t.Error("a driver that cannot tell whether it is ready is not looked at")
	}
	b.Close()
	if err := b.Attach(nil, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Attach after Close: got %v, want %v", err, net.ErrClosed)
	}
}

func TestAttachRefusedByAll(t *testing.T) {
	s := &shop{attaches: map[Method]error{native: errNo, generic: errQueue, packet: ErrArena}}
	b, err := s.get()
	if err != nil {
		t.Fatal(err)
	}
	err = b.Attach(nil, nil)
	var all *ChoiceError
	if !errors.As(err, &all) || len(all.Refused) != 3 || !errors.Is(err, ErrArena) || !errors.Is(err, errNo) {
		t.Errorf("got %v, want all three", err)
	}
	if err := b.Attach(nil, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Attach again: got %v, want %v", err, net.ErrClosed)
	}
	for _, d := range s.made {
		if d.closed != 1 {
			t.Errorf("%v: closed %d times, want once", d.way, d.closed)
		}
	}
	if b.Close(); s.freed != 1 {
		t.Errorf("freed %d times, want once", s.freed)
	}
}

// What the interface refuses leaves the choice open.
func TestAttachRefusedByTheInterface(t *testing.T) {
	s := &shop{attaches: map[Method]error{native: errDown}}
	b, err := s.get()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Attach(nil, nil); !errors.Is(err, ErrDown) || b.Method() != native || s.made[0].closed != 0 {
		t.Errorf("got %v, %v, want %v, %v", err, b.Method(), ErrDown, native)
	}
	s.made[0].refuses = nil
	if err := b.Attach(nil, nil); err != nil {
		t.Errorf("Attach again: %v", err)
	}
}

func TestPeeking(t *testing.T) {
	s := &shop{}
	b, err := s.get()
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := b.(peeker); !ok || p.Ready() {
		t.Error("the driver's Ready is not asked")
	}
	s = &shop{opens: map[Method]error{native: errNo, generic: errNo}}
	if b, err = s.get(); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.(peeker); ok {
		t.Error("a driver that cannot peek makes a bearer that can")
	}
}

func TestChoiceAllocatesNothing(t *testing.T) {
	b, err := (&shop{}).get()
	if err != nil {
		t.Fatal(err)
	}
	var bufs [4]*netdev.Buffer
	if n := testing.AllocsPerRun(100, func() {
		b.Receive(bufs[:])
		b.MTU()
		b.(peeker).Ready()
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func TestAwaitedProgram(t *testing.T) {
	taken := func(kind string, mtu int) Facts {
		return with(able(kind, mtu), func(f *Facts) { f.Link.Program = Program{"native", 3} })
	}
	for _, c := range []struct {
		what  string
		facts Facts
		cfg   Config
		want  bool
	}{
		{"free", able("", 1500), Config{}, false},
		{"taken", taken("", 1500), Config{}, true},
		{"taken, AF_PACKET is better", taken("veth", 9000), Config{}, false},
		{"taken, AF_PACKET is better and not asked for", taken("veth", 9000), Config{Driver: AFXDP}, true},
		{"taken, AF_PACKET is asked for", taken("", 1500), Config{Driver: AFPacket}, false},
		{"taken and unusable", with(taken("", 1500), func(f *Facts) { f.Link.Up = false }), Config{}, false},
	} {
		if got := c.facts.Choose(c.cfg).awaitsProgram(c.facts.Link); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}

func TestWaysOfPreferences(t *testing.T) {
	for _, p := range preferences {
		if s := slices.Clone(p.order); len(s) != 3 || !slices.Contains(s, native) || !slices.Contains(s, generic) || !slices.Contains(s, packet) {
			t.Errorf("%s: got %v, want each way once", p.device, fmt.Sprint(s))
		}
	}
}
