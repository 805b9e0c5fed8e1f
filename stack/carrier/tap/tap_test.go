// SPDX-License-Identifier: Apache-2.0

package tap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/tap"
)

var _ netdev.Device = (*tap.Tap)(nil)

func TestWriter(t *testing.T) {
	frames := []struct {
		n       int
		dir     tap.Direction
		comment string
	}{
		{1, tap.Unknown, ""},
		{14, tap.In, ""},
		{15, tap.Out, "a"},
		{16, tap.In, "ab"},
		{17, tap.Out, "abc"},
		{60, tap.In, "abcd"},
		{1514, tap.Out, "window full"},
		{1515, tap.Out, "too long"},
		{2000, tap.In, strings.Repeat("x", 70000)},
	}
	var p pen
	w := tap.NewWriter(&p, "eth0", 1500)
	var want []string
	for i, f := range frames {
		data := bytes.Repeat([]byte{byte(i)}, f.n)
		if err := w.WriteFrame(time.Unix(1_700_000_000, int64(i)), f.dir, data, f.comment); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%d dir=%d %d/%d %x %q", 1_700_000_000_000_000_000+int64(i), f.dir, min(f.n, 1514), f.n,
			[]byte{byte(i)}, f.comment[:min(len(f.comment), 65532)]))
	}
	if err := w.Close(); err != nil {
		t.Errorf("Close: got %v, want nil", err)
	}
	c := read(t, p.Bytes())
	if c.ifname != "eth0" || c.tsresol != 9 || c.snap != 1514 || c.link != 1 {
		t.Errorf("interface: got %q, resolution %d, snap %d, link %d", c.ifname, c.tsresol, c.snap, c.link)
	}
	for i := range want {
		if got := c.packets[i].String(); got != want[i] {
			t.Errorf("frame %d: got %.100s, want %.100s", i, got, want[i])
		}
	}
	if len(c.packets) != len(want) || p.calls != 1+len(want) {
		t.Errorf("got %d frames in %d writes, want %d in one more", len(c.packets), p.calls, len(want))
	}
}

func TestWriterWithoutLimit(t *testing.T) {
	var p pen
	w := tap.NewWriter(&p, "sim", 0)
	w.WriteFrame(time.Unix(0, 5), tap.In, make([]byte, 65014), "")
	c := read(t, p.Bytes())
	if got, want := fmt.Sprint(c.snap, c.packets), `0 [5 dir=1 65014/65014 00 ""]`; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWriterKeepsFirstError(t *testing.T) {
	for _, fails := range []int{1, 2, 3} {
		p := pen{fails: fails}
		w := tap.NewWriter(&p, "eth0", 1500)
		for i := range 4 {
			err := w.WriteFrame(time.Unix(0, 0), tap.In, make([]byte, 60), "")
			if want := i+2 >= fails; errors.Is(err, io.ErrShortWrite) != want {
				t.Errorf("write %d failing, frame %d: got %v, want an error %v", fails, i, err, want)
			}
		}
		if p.calls != fails {
			t.Errorf("write %d failing: got %d writes", fails, p.calls)
		}
		if err := w.Close(); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("Close: got %v, want %v", err, io.ErrShortWrite)
		}
		if err := w.Close(); err != nil {
			t.Errorf("Close again: got %v, want nil", err)
		}
	}
}

func TestWriterConcurrent(t *testing.T) {
	var p pen
	w := tap.NewWriter(&p, "eth0", 1500)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 200 {
				w.WriteFrame(time.Unix(0, 0), tap.Out, make([]byte, 60+i), "")
			}
		})
	}
	all.Wait()
	if got := len(read(t, p.Bytes()).packets); got != 800 {
		t.Errorf("got %d frames, want 800", got)
	}
}

func TestNoAllocation(t *testing.T) {
	w := tap.NewWriter(io.Discard, "eth0", 1500)
	f := make([]byte, 1514)
	if got := testing.AllocsPerRun(100, func() { w.WriteFrame(time.Unix(0, 0), tap.In, f, "dropped") }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// A line is a device that refuses frames longer than 1514 bytes, takes two at a
// time and receives the frames in arrivals.
type line struct {
	arrivals []*netdev.Buffer
	closed   int
}

var (
	errTooLong = errors.New("too long")
	errClose   = errors.New("close")
)

func (l *line) Name() string                       { return "line" }
func (l *line) Addr() frame.MAC                    { return frame.MAC{2, 0, 0, 0, 0, 1} }
func (l *line) MTU() int                           { return 1500 }
func (l *line) FD() int                            { return 5 }
func (l *line) Dropped() (in, out uint64)          { return 3, 4 }
func (l *line) Attach(*netdev.Arena, func()) error { return nil }
func (l *line) Close() error                       { l.closed++; return errClose }

func (l *line) Receive(bufs []*netdev.Buffer) (int, error) {
	n := copy(bufs, l.arrivals)
	l.arrivals = l.arrivals[n:]
	return n, nil
}

func (l *line) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	if l.closed > 0 {
		return 0, net.ErrClosed
	}
	for n < min(2, len(bufs)) {
		if bufs[n].Len() > 1514 {
			return n, errTooLong
		}
		n++
	}
	return n, nil
}

func TestTap(t *testing.T) {
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 16})
	build := func(n int, mark byte) *netdev.Buffer {
		b := arena.Get(n, netdev.Control)
		clear(b.Extend(n))
		b.Bytes()[n-1] = mark
		return b
	}
	clock := time.Unix(0, 0)
	now := func() time.Time { clock = clock.Add(1); return clock }
	var p pen
	l := &line{arrivals: []*netdev.Buffer{build(60, 1), build(61, 2)}}
	d := tap.New(l, &p, tap.Config{Now: now})
	if d.Name() != l.Name() || d.Addr() != l.Addr() || d.MTU() != l.MTU() || d.FD() != l.FD() {
		t.Error("got another identity than the device's")
	}

	in := make([]*netdev.Buffer, 8)
	d.Receive(in)
	d.Receive(in) // nothing
	out := []*netdev.Buffer{build(62, 3), build(63, 4), build(64, 5), build(2000, 6), build(65, 7)}
	var calls []string
	for left := out; len(left) > 0; {
		n, err := d.Transmit(left)
		calls = append(calls, fmt.Sprint(n, " ", err))
		if left = left[n:]; err != nil {
			left = left[1:]
		}
	}
	if want := []string{"2 <nil>", "1 too long", "1 <nil>"}; !slices.Equal(calls, want) {
		t.Errorf("Transmit: got %v, want %v", calls, want)
	}
	d.Transmit(nil)
	if err := d.Close(); !errors.Is(err, errClose) {
		t.Errorf("Close: got %v, want %v", err, errClose)
	}
	if _, err := d.Transmit(out); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: got %v, want %v", err, net.ErrClosed)
	}

	var got []string
	for _, p := range read(t, p.Bytes()).packets {
		got = append(got, p.String())
	}
	want := []string{
		`1 dir=1 60/60 01 ""`,
		`1 dir=1 61/61 02 ""`,
		`2 dir=2 62/62 03 ""`,
		`2 dir=2 63/63 04 ""`,
		`3 dir=2 64/64 05 ""`,
		`3 dir=2 1514/2000 00 "refused: too long"`,
		`4 dir=2 65/65 07 ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTapReportsTheFile(t *testing.T) {
	d := tap.New(&line{}, &pen{fails: 1}, tap.Config{})
	if err := d.Close(); !errors.Is(err, errClose) || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Close: got %v, want %v and %v", err, errClose, io.ErrShortWrite)
	}
	if err := d.Close(); !errors.Is(err, errClose) || errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Close again: got %v, want %v", err, errClose)
	}
}
