// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/fault"
)

var _ netdev.Device = (*fault.Injector)(nil)

// A line is a device that does what it is told: what is sent comes to sent, and
// what is in arrivals is received.
type line struct {
	arena    *netdev.Arena
	sent     []byte // the mark of each frame sent
	arrivals []byte // the marks of frames to be received
	room     int    // frames it still takes; negative is any number
	lends    bool   // keeps what it is sent until Close
	lent     []*netdev.Buffer
	err      error // what Receive says once arrivals are through
	closed   bool
}

func (l *line) Name() string                           { return "line" }
func (l *line) Addr() frame.MAC                        { return frame.MAC{2, 0, 0, 0, 0, 1} }
func (l *line) MTU() int                               { return 1500 }
func (l *line) FD() int                                { return -1 }
func (l *line) Dropped() (in, out uint64)              { return 3, 4 }
func (l *line) Attach(a *netdev.Arena, _ func()) error { l.arena = a; return nil }

func (l *line) Close() error {
	l.closed = true
	for _, b := range l.lent {
		b.Complete()
	}
	l.lent = nil
	return nil
}

func (l *line) Receive(bufs []*netdev.Buffer) (n int, err error) {
	if l.closed {
		return 0, net.ErrClosed
	}
	for n < len(bufs) && len(l.arrivals) > 0 {
		bufs[n] = build(l.arena, 60, l.arrivals[0])
		l.arrivals = l.arrivals[1:]
		n++
	}
	if n == 0 {
		err, l.err = l.err, nil
	}
	return n, err
}

var errTooLong = errors.New("too long")

func (l *line) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	for _, b := range bufs {
		switch {
		case l.closed:
			return n, net.ErrClosed
		case b.Len() > 1514:
			return n, errTooLong
		case l.room == 0:
			return n, nil
		}
		l.room--
		l.sent = append(l.sent, mark(b))
		if l.lends {
			b.Lend()
			l.lent = append(l.lent, b)
		}
		n++
	}
	return n, nil
}

// build makes a frame with a mark behind its header.
func build(a *netdev.Arena, n int, mark byte) *netdev.Buffer {
	b := a.Get(n, netdev.Control)
	if b == nil {
		panic("no chunk")
	}
	frame.PutEthernet(b.Extend(n), frame.BroadcastMAC, frame.MAC{2})
	b.Bytes()[frame.EthernetLen] = mark
	return b
}

func mark(b *netdev.Buffer) byte { return b.Bytes()[frame.EthernetLen] }

// wrap makes an injector over a line, attached.
func wrap(t testing.TB, c fault.Config) (*fault.Injector, *line, *netdev.Arena) {
	t.Helper()
	l := &line{room: -1}
	j := fault.New(l, c)
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 512})
	if err := j.Attach(arena, nil); err != nil {
		t.Fatal(err)
	}
	return j, l, arena
}

// marked makes one frame for each mark.
func marked(a *netdev.Arena, marks []byte) (bufs []*netdev.Buffer) {
	for _, m := range marks {
		bufs = append(bufs, build(a, 60, m))
	}
	return bufs
}

func release(bufs []*netdev.Buffer) {
	for _, b := range bufs {
		b.Release()
	}
}

// send transmits frames with the marks, all at once.
func send(t testing.TB, j *fault.Injector, a *netdev.Arena, marks ...byte) {
	t.Helper()
	bufs := marked(a, marks)
	defer release(bufs)
	if n, err := j.Transmit(bufs); n != len(bufs) || err != nil {
		t.Fatalf("Transmit: got %v, %v, want %v, nil", n, err, len(bufs))
	}
}

// receive takes all there is in batches of the given size.
func receive(t testing.TB, j *fault.Injector, size int) (marks []byte) {
	t.Helper()
	for bufs := make([]*netdev.Buffer, size); ; {
		n, err := j.Receive(bufs)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range bufs[:n] {
			marks = append(marks, mark(b))
		}
		release(bufs[:n])
		if n < size {
			return marks
		}
	}
}

// count gives the marks 0 to n-1.
func count(n int) (marks []byte) {
	for i := range n {
		marks = append(marks, byte(i))
	}
	return marks
}

// through passes the marks in both directions and returns what came out.
func through(t testing.TB, c fault.Config, marks []byte, size int) (in, out []byte, j *fault.Injector) {
	t.Helper()
	j, l, arena := wrap(t, c)
	l.arrivals = slices.Clone(marks)
	in = receive(t, j, size)
	for part := range slices.Chunk(marks, size) {
		send(t, j, arena, part...)
	}
	return in, l.sent, j
}

func TestNoFaults(t *testing.T) {
	marks := count(200)
	for _, size := range []int{1, 7, 64, 200} {
		in, out, j := through(t, fault.Config{}, marks, size)
		if !bytes.Equal(in, marks) || !bytes.Equal(out, marks) {
			t.Errorf("batches of %d: got %v in, %v out, want all in order", size, in, out)
		}
		want := fault.Counts{Seen: 200}
		if cin, cout := j.Counts(); cin != want || cout != want {
			t.Errorf("batches of %d: got %v, %v, want %v", size, cin, cout, want)
		}
		if in, out := j.Dropped(); in != 3 || out != 4 {
			t.Errorf("Dropped: got %v, %v, want the device's 3, 4", in, out)
		}
	}
}

func TestDirections(t *testing.T) {
	marks, odd := count(10), func(f []byte) bool { return f[frame.EthernetLen]%2 == 1 }
	even := []byte{0, 2, 4, 6, 8}
	twice := []byte{0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9}
	swapped := []byte{0, 2, 1, 4, 3, 6, 5, 8, 7}
	tests := []struct {
		name    string
		config  fault.Config
		in, out []byte
	}{
		{"all lost out", fault.Config{Out: fault.Faults{Loss: 1}}, marks, nil},
		{"all lost in", fault.Config{In: fault.Faults{Loss: 1}}, nil, marks},
		{"odd lost out", fault.Config{Out: fault.Faults{Loss: 1, Match: odd}}, marks, even},
		{"odd lost in", fault.Config{In: fault.Faults{Loss: 1, Match: odd}}, even, marks},
		{"odd twice out", fault.Config{Out: fault.Faults{Duplicate: 1, Match: odd}}, marks, twice},
		{"odd twice in", fault.Config{In: fault.Faults{Duplicate: 1, Match: odd}}, twice, marks},
		{"odd late out", fault.Config{Out: fault.Faults{Reorder: 1, Span: 1, Match: odd}}, marks, swapped},
		{"odd late in", fault.Config{In: fault.Faults{Reorder: 1, Span: 1, Match: odd}}, swapped, marks},
	}
	for _, tt := range tests {
		for _, size := range []int{1, 3, 64} {
			in, out, _ := through(t, tt.config, marks, size)
			if !bytes.Equal(in, tt.in) {
				t.Errorf("%s, batches of %d: got in %v, want %v", tt.name, size, in, tt.in)
			}
			if !bytes.Equal(out, tt.out) {
				t.Errorf("%s, batches of %d: got out %v, want %v", tt.name, size, out, tt.out)
			}
		}
	}
}

// One seed gives one outcome, whatever the batches; another seed another.
func TestSeed(t *testing.T) {
	some := fault.Faults{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1}
	marks := count(250)
	run := func(seed uint64, size int) string {
		in, out, _ := through(t, fault.Config{Seed: seed, In: some, Out: some}, marks, size)
		return fmt.Sprint(in, out)
	}
	want := run(1, 64)
	for _, size := range []int{1, 2, 5, 250} {
		if got := run(1, size); got != want {
			t.Errorf("batches of %d: got %v, want %v", size, got, want)
		}
	}
	if run(2, 64) == want {
		t.Error("another seed: got the same outcome")
	}
}

func TestShares(t *testing.T) {
	j, l, arena := wrap(t, fault.Config{Seed: 7, Out: fault.Faults{Loss: 0.1, Duplicate: 0.2}})
	const all = 20000
	for range all / 50 {
		send(t, j, arena, make([]byte, 50)...)
	}
	_, out := j.Counts()
	if want := uint64(all / 10); out.Lost < want*9/10 || out.Lost > want*11/10 {
		t.Errorf("got %d lost, want about %d", out.Lost, want)
	}
	if want := uint64(all * 18 / 100); out.Duplicated < want*9/10 || out.Duplicated > want*11/10 {
		t.Errorf("got %d duplicated, want about %d", out.Duplicated, want)
	}
	if got, want := len(l.sent), all-int(out.Lost)+int(out.Duplicated); got != want {
		t.Errorf("got %d frames sent, want %d", got, want)
	}
}

// No frame is overtaken by more than Span others.
func TestSpan(t *testing.T) {
	for span := range 6 {
		late := fault.Faults{Reorder: 0.3, Span: span}
		in, out, j := through(t, fault.Config{Seed: 3, In: late, Out: late}, count(250), 16)
		if span == 0 {
			span = 3
		}
		for _, got := range [][]byte{in, out} {
			for i, m := range got {
				if moved := i - int(m); moved < -1 || moved > span {
					t.Errorf("span %d: frame %d moved %d places", span, m, moved)
				}
			}
			if slices.IsSorted(got) {
				t.Errorf("span %d: got %v, want another order", span, got)
			}
		}
		if cin, cout := j.Counts(); cin.Reordered == 0 || cout.Reordered == 0 {
			t.Errorf("span %d: got counts %v, %v, want some reordered", span, cin, cout)
		}
	}
}

// A frame for which the device has no room meets its fate once. Its repetition
// is left out where there was room for one.
func TestFullDevice(t *testing.T) {
	some := fault.Faults{Loss: 0.2, Duplicate: 0.2, Reorder: 0.2}
	_, want, _ := through(t, fault.Config{Seed: 5, Out: some}, count(100), 100)
	j, l, arena := wrap(t, fault.Config{Seed: 5, Out: some})
	bufs := marked(arena, count(100))
	defer release(bufs)
	for left := bufs; len(left) > 0; {
		l.room = 2
		n, err := j.Transmit(left)
		if err != nil {
			t.Fatal(err)
		}
		left = left[n:]
	}
	l.room = 2
	j.Transmit(nil)
	if got, want := slices.Compact(l.sent), slices.Compact(want); !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRefusedFrame(t *testing.T) {
	for _, f := range []fault.Faults{{}, {Loss: 1}, {Duplicate: 1}, {Reorder: 1}} {
		j, _, arena := wrap(t, fault.Config{Out: f})
		bufs := []*netdev.Buffer{build(arena, 60, 0), build(arena, 1515, 1), build(arena, 60, 2)}
		if n, err := j.Transmit(bufs); n != 1 || !errors.Is(err, errTooLong) {
			t.Errorf("%+v: got %v, %v, want 1, %v", f, n, err, errTooLong)
		}
		if n, err := j.Transmit(bufs[2:]); n != 1 || err != nil {
			t.Errorf("%+v: got %v, %v, want 1, nil", f, n, err)
		}
	}
}

func TestHolds(t *testing.T) {
	j, l, arena := wrap(t, fault.Config{Out: fault.Faults{Reorder: 1}, In: fault.Faults{Reorder: 1}})
	l.lends = true
	bufs := marked(arena, []byte{0})
	j.Transmit(bufs)
	if !bufs[0].Lent() {
		t.Error("a frame held back: got not lent, want lent")
	}
	release(bufs)
	l.arrivals = []byte{0}
	if got := receive(t, j, 4); got != nil {
		t.Errorf("got %v, want it held back", got)
	}
	if got, want := arena.Free(), arena.Total()-2; got != want {
		t.Errorf("got %d chunks free, want %d", got, want)
	}
	j.Close()
	j.Close()
	if got, want := arena.Free(), arena.Total(); got != want {
		t.Errorf("closed: got %d chunks free, want %d", got, want)
	}
}

func TestDuplicateIsACopy(t *testing.T) {
	j, l, arena := wrap(t, fault.Config{In: fault.Faults{Duplicate: 1}})
	l.arrivals = []byte{7}
	var bufs [2]*netdev.Buffer
	if n, err := j.Receive(bufs[:]); n != 2 || err != nil {
		t.Fatalf("Receive: got %v, %v, want 2, nil", n, err)
	}
	if !bytes.Equal(bufs[0].Bytes(), bufs[1].Bytes()) || bufs[0] == bufs[1] {
		t.Errorf("got %v, %v, want two with the same bytes", bufs[0], bufs[1])
	}
	release(bufs[:])
	// Without a chunk for the copy the frame arrives once.
	var all []*netdev.Buffer
	for b := arena.Get(60, netdev.Control); b != nil; b = arena.Get(60, netdev.Control) {
		all = append(all, b)
	}
	all[0].Release()
	l.arrivals = []byte{8}
	if got, want := receive(t, j, 4), []byte{8}; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSet(t *testing.T) {
	lossy := fault.Config{Seed: 9, Out: fault.Faults{Loss: 0.5}}
	_, want, _ := through(t, lossy, count(40), 8)
	j, l, arena := wrap(t, fault.Config{Out: fault.Faults{Reorder: 1, Span: 100}})
	send(t, j, arena, 1, 2)
	j.Set(fault.Config{})
	send(t, j, arena, 3)
	if want := []byte{2, 1, 3}; !bytes.Equal(l.sent, want) {
		t.Errorf("no faults any more: got %v, want %v", l.sent, want)
	}
	l.sent = nil
	j.Set(lossy)
	send(t, j, arena, count(40)...)
	if !bytes.Equal(l.sent, want) {
		t.Errorf("set anew: got %v, want %v", l.sent, want)
	}
}

// An error behind frames comes alone, one call later.
func TestReceiveError(t *testing.T) {
	down := errors.New("down")
	first := true
	j, l, _ := wrap(t, fault.Config{In: fault.Faults{Loss: 1, Match: func([]byte) bool {
		defer func() { first = false }()
		return first
	}}})
	l.arrivals, l.err = []byte{1, 2}, down
	bufs := make([]*netdev.Buffer, 2)
	if n, err := j.Receive(bufs); n != 1 || err != nil {
		t.Errorf("got %v, %v, want 1, nil", n, err)
	}
	if n, err := j.Receive(bufs); n != 0 || err != down {
		t.Errorf("got %v, %v, want 0, %v", n, err, down)
	}
	if n, err := j.Receive(bufs); n != 0 || err != nil {
		t.Errorf("got %v, %v, want 0, nil", n, err)
	}
	j.Close()
	if n, err := j.Receive(bufs); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, %v, want 0, %v", n, err, net.ErrClosed)
	}
	if n, err := j.Transmit(bufs[:1]); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, %v, want 0, %v", n, err, net.ErrClosed)
	}
}

func TestNoAllocation(t *testing.T) {
	some := fault.Faults{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1}
	j, l, arena := wrap(t, fault.Config{Seed: 1, In: some, Out: some, Linger: 4})
	out, in, marks := marked(arena, count(64)), make([]*netdev.Buffer, 64), count(64)
	l.sent = make([]byte, 0, 1<<20)
	if got := testing.AllocsPerRun(100, func() {
		j.Transmit(out)
		l.sent, l.arrivals = l.sent[:0], marks
		n, _ := j.Receive(in)
		release(in[:n])
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}
