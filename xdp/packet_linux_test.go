// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// Proves: device.lengths
func TestFramesOfEverySizePass(t *testing.T) {
	for _, mtu := range []int{100, 1500, 3900, 3968, 9000, 65000, 65535} {
		t.Run(fmt.Sprint(mtu), func(t *testing.T) {
			_, a, b := pair(t, mtu)
			if got := a.MTU(); got != mtu {
				t.Errorf("MTU: got %d, want %d", got, mtu)
			}
			var frames [][]byte
			for i, size := range []int{14, 15, 38, 59, 60, 64, mtu - 1, mtu, mtu + 13, mtu + 14} {
				frames = append(frames, raw(b.Addr(), a.Addr(), size, uint32(i)))
			}
			transmit(t, a, frames...)
			for i, got := range await(t, b, len(frames)) {
				if !bytes.Equal(got, frames[i]) {
					t.Errorf("frame %d: got %d bytes, want %d, or contents differ", i, len(got), len(frames[i]))
				}
			}
			silent(t, b)
			silent(t, a)
			for _, p := range []*xdp.Packet{a, b} {
				if in, out := p.Dropped(); in != 0 || out != 0 {
					t.Errorf("%s: dropped %d in, %d out, want none", p.Name(), in, out)
				}
			}
		})
	}
}

// Proves: device.filter
func TestReceiveFilter(t *testing.T) {
	d := newBed(t, 1500)
	b, _ := open(t, d.b, nameB, nil)
	d.b.Run("ip", "link", "set", "dev", nameB, "promisc", "on")
	w := openWire(t, d.a, nameA)
	me, peer, other := b.Addr(), frame.MAC{2, 0, 0, 0, 0, 1}, frame.MAC{2, 0, 0, 0, 0, 9}

	typed := func(hi, lo byte) []byte {
		f := raw(me, peer, 64, 0)
		f[12], f[13] = hi, lo
		return f
	}
	tagged := func(dst frame.MAC, tpid, vlan uint16) []byte {
		f := raw(dst, peer, 64, 0)
		tag := []byte{byte(tpid >> 8), byte(tpid), byte(vlan >> 8), byte(vlan)}
		return append(f[:12:12], append(tag, f[12:]...)...)
	}
	for _, c := range []struct {
		what string
		f    []byte
		want bool
	}{
		{"to the station", raw(me, peer, 64, 0), true},
		{"to all", raw(frame.BroadcastMAC, peer, 64, 0), true},
		{"to a group", raw(frame.MAC{1, 0, 0x5e, 0, 0, 1}, peer, 64, 0), true},
		{"of 38 bytes", raw(me, peer, 38, 0), true},
		{"of a header alone", raw(me, peer, 14, 0), true},
		{"padded to 60", raw(me, peer, 60, 0), true},
		{"to another station", raw(other, peer, 64, 0), false},
		{"of IPv4", typed(0x08, 0x00), false},
		{"of the type before", typed(0x88, 0xc9), false},
		{"of the type after", typed(0x88, 0xcb), false},
		{"of the type in the wrong byte order", typed(0xca, 0x88), false},
		{"of an 802.3 length", typed(0x00, 0x32), false},
		{"tagged, VLAN 5", tagged(me, 0x8100, 5), false},
		{"tagged, VLAN 5, to all", tagged(frame.BroadcastMAC, 0x8100, 5), false},
		{"tagged, VLAN 4094, priority 7", tagged(me, 0x8100, 0xeffe), false},
		{"tagged by a provider", tagged(me, 0x88a8, 5), false},
		{"with a priority alone, VLAN 0", tagged(me, 0x8100, 0xe000), true},
	} {
		// The mark comes behind on the same way, so what is not before it was
		// dropped.
		w.send(c.f)
		mark := raw(me, peer, 99, 0)
		w.send(mark)
		got := false
		for f := await(t, b, 1)[0]; !bytes.Equal(f, mark); f = await(t, b, 1)[0] {
			got = true
			if c.want && (len(f) < 14 || f[12] != 0x88 || f[13] != 0xca) {
				t.Errorf("frame %s: got % x", c.what, f)
			}
		}
		if got != c.want {
			t.Errorf("frame %s: received %v, want %v", c.what, got, c.want)
		}
	}
}

// Proves: device.filter
func TestOwnFramesDoNotComeBack(t *testing.T) {
	_, a, b := pair(t, 1500)
	for _, dst := range []frame.MAC{frame.BroadcastMAC, a.Addr(), b.Addr()} {
		transmit(t, a, raw(dst, a.Addr(), 64, 1))
	}
	await(t, b, 2) // not the one to a's own address
	mark := raw(a.Addr(), b.Addr(), 64, 2)
	transmit(t, b, mark)
	if got := await(t, a, 1)[0]; !bytes.Equal(got, mark) {
		t.Errorf("got % x, want b's frame first", got)
	}
	silent(t, a)
}

// The interface takes more than any chunk of the arena.
func TestLongFramesAreDroppedAndCounted(t *testing.T) {
	d := newBed(t, 9000)
	var b *xdp.Packet
	var err error
	d.b.Do(func() { b, err = patient.OpenPacket(nameB, nil) })
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 16})
	if err := b.Attach(arena, nil); err != nil {
		t.Fatal(err)
	}
	longest := arena.Largest()
	if got, want := b.MTU(), longest-frame.EthernetLen; got != want {
		t.Errorf("MTU: got %d, want what a chunk takes, %d", got, want)
	}
	w := openWire(t, d.a, nameA)
	free := arena.Free()
	for i, size := range []int{longest + 1, 9014, longest} {
		w.send(raw(b.Addr(), frame.MAC{2}, size, uint32(i)))
	}
	if got := await(t, b, 1)[0]; len(got) != longest {
		t.Errorf("got a frame of %d bytes, want the one of %d", len(got), longest)
	}
	if in, out := b.Dropped(); in != 2 || out != 0 {
		t.Errorf("dropped: got %d in, %d out, want 2, 0", in, out)
	}
	if got := arena.Free(); got < free {
		t.Errorf("free chunks: got %d, want at least %d", got, free)
	}
}

// Where frames may be long, a short one does not cost a large chunk.
//
// Proves: device.lengths
func TestShortFramesTakeSmallChunks(t *testing.T) {
	d := newBed(t, 9000)
	a, _ := open(t, d.a, nameA, nil)
	var b *xdp.Packet
	var err error
	d.b.Do(func() { b, err = patient.OpenPacket(nameB, nil) })
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const small, large = 20, 3
	arena := netdev.NewArena(netdev.ArenaConfig{Small: small, Jumbo: large, JumboSize: 9014})
	if err := b.Attach(arena, nil); err != nil {
		t.Fatal(err)
	}
	var sent [][]byte
	for i, size := range []int{64, 9014, 14, arena.SmallFrame(), arena.SmallFrame() + 1, 1500, 1500, 1500, 1500} {
		sent = append(sent, raw(b.Addr(), a.Addr(), size, uint32(i)))
	}
	transmit(t, a, sent...)
	// Nothing is released meanwhile: two long frames and the spare are all large chunks.
	var got []*netdev.Buffer
	for end := time.Now().Add(testTimeout); len(got) < len(sent); {
		if time.Now().After(end) {
			t.Fatalf("got %d frames, want %d: the others find no chunk", len(got), len(sent))
		}
		poll(t, b.FD())
		var bufs [4]*netdev.Buffer
		n, err := b.Receive(bufs[:])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, bufs[:n]...)
	}
	for i, f := range got {
		if !bytes.Equal(f.Bytes(), sent[i]) {
			t.Errorf("frame %d: got %d bytes, want %d, or contents differ", i, f.Len(), len(sent[i]))
		}
		if isSmall := len(f.Space()) == arena.SmallFrame(); isSmall != (len(sent[i]) <= arena.SmallFrame()) {
			t.Errorf("frame %d of %d bytes: in a small chunk: %v", i, len(sent[i]), isSmall)
		}
	}
	// With no large chunk left, frames wait, and come once there is one again.
	extra := raw(b.Addr(), a.Addr(), 9014, 99)
	transmit(t, a, extra, extra)
	poll(t, b.FD())
	if n, err := b.Receive(make([]*netdev.Buffer, 4)); n != 1 || err != nil {
		t.Errorf("into the last large chunk: got %d, %v, want 1", n, err)
	}
	silent(t, b)
	for _, f := range got {
		f.Release()
	}
	if last := await(t, b, 1)[0]; !bytes.Equal(last, extra) {
		t.Errorf("got % x", last[:20])
	}
	if in, _ := b.Dropped(); in != 0 {
		t.Errorf("dropped %d in, want none", in)
	}
}

// A batch of any length goes out whole and in order, alone or together.
func TestBatchesOfEveryLength(t *testing.T) {
	_, a, b := pair(t, 1500)
	for n := 1; n <= 50; n++ {
		var frames [][]byte
		for i := range n {
			frames = append(frames, raw(b.Addr(), a.Addr(), 60+i, uint32(i)))
		}
		transmit(t, a, frames...)
		for i, got := range await(t, b, n) {
			if !bytes.Equal(got, frames[i]) {
				t.Fatalf("batch of %d, frame %d: got %d bytes, want %d, or contents differ", n, i, len(got), len(frames[i]))
			}
		}
		silent(t, b)
	}
}

func TestRefusedFrames(t *testing.T) {
	_, a, b := pair(t, 1500)
	bufs := buffers(t,
		raw(b.Addr(), a.Addr(), 64, 0),
		raw(b.Addr(), a.Addr(), 1515, 1),
		raw(b.Addr(), a.Addr(), 64, 2),
		raw(b.Addr(), a.Addr(), 64, 3)[:13],
		raw(b.Addr(), a.Addr(), 64, 4),
	)
	for _, want := range []struct {
		n    int
		errs unix.Errno
		len  int
	}{{1, unix.EMSGSIZE, 1515}, {1, unix.EINVAL, 13}, {1, 0, 0}} {
		n, err := a.Transmit(bufs)
		var refused *xdp.FrameError
		switch {
		case n != want.n:
			t.Fatalf("got %d, %v, want %d frames taken", n, err, want.n)
		case want.errs == 0 && err != nil:
			t.Errorf("got %v, want no error", err)
		case want.errs != 0 && (!errors.Is(err, want.errs) || !errors.As(err, &refused) || refused.Len != want.len):
			t.Errorf("got %v, want %v about %d bytes", err, want.errs, want.len)
		}
		bufs = bufs[min(len(bufs), n+1):]
	}
	for i, f := range await(t, b, 3) {
		if got, want := f[17], byte(2*i); got != want {
			t.Errorf("frame %d: got number %d, want %d", i, got, want)
		}
	}
	if in, out := a.Dropped(); in != 0 || out != 2 {
		t.Errorf("dropped: got %d in, %d out, want 0, 2", in, out)
	}
}

func TestEmptyArenaLeavesFramesWaiting(t *testing.T) {
	d := newBed(t, 1500)
	a, _ := open(t, d.a, nameA, nil)
	var b *xdp.Packet
	var err error
	d.b.Do(func() { b, err = patient.OpenPacket(nameB, nil) })
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 2})
	if err := b.Attach(arena, nil); err != nil {
		t.Fatal(err)
	}
	for i := range uint32(5) {
		transmit(t, a, raw(b.Addr(), a.Addr(), 64, i))
	}
	var bufs [8]*netdev.Buffer
	for next, want := byte(0), 2; want > 0; {
		n := 0
		for n < want {
			poll(t, b.FD())
			k, err := b.Receive(bufs[n:])
			if n += k; n > want || err != nil {
				t.Fatalf("got %d, %v, want %d", n, err, want)
			}
		}
		if m, err := b.Receive(bufs[n:]); m != 0 || err != nil {
			t.Errorf("without chunks: got %d, %v, want 0", m, err)
		}
		for _, f := range bufs[:n] {
			if f.Bytes()[17] != next {
				t.Errorf("got number %d, want %d", f.Bytes()[17], next)
			}
			next++
			f.Release()
		}
		want = min(2, 5-int(next))
	}
	if in, _ := b.Dropped(); in != 0 {
		t.Errorf("dropped %d in, want none", in)
	}
}

// Proves: device.lengths
func TestFullReceiveBufferIsCounted(t *testing.T) {
	d := newBed(t, 1500)
	a, _ := open(t, d.a, nameA, nil)
	b, _ := open(t, d.b, nameB, &xdp.PacketConfig{ReceiveBuffer: 4096})
	const sent = 500
	for i := range uint32(sent) {
		transmit(t, a, raw(b.Addr(), a.Addr(), 1000, i))
	}
	var first uint64
	until(t, "frames being dropped", func() bool { first, _ = b.Dropped(); return first > 0 })
	received, in := 0, make([]*netdev.Buffer, 64)
	until(t, "all frames", func() bool {
		received += drain(t, b, in)
		first, _ = b.Dropped()
		return received+int(first) >= sent
	})
	if again, _ := b.Dropped(); again != first || received+int(first) != sent {
		t.Errorf("asked again: received %d, dropped %d, want %d as before, and %d in all", received, again, first, sent)
	}
	silent(t, b)
	b.Close()
	if in, _ := b.Dropped(); in != first {
		t.Errorf("after Close: dropped %d, want %d", in, first)
	}
}

// What a receiver that is away for a few milliseconds must not lose.
//
// Proves: device.lengths
func TestReceiveBufferHolds(t *testing.T) {
	for _, c := range []struct{ mtu, size, frames int }{{1500, 64, 16384}, {1500, 1514, 8192}, {65000, 64014, 512}} {
		t.Run(fmt.Sprint(c.size), func(t *testing.T) {
			_, a, b := pair(t, c.mtu)
			f := buffers(t, raw(b.Addr(), a.Addr(), c.size, 0))
			for range c.frames {
				until(t, "room to send", func() bool {
					n, err := a.Transmit(f)
					if err != nil {
						t.Fatalf("Transmit: %v", err)
					}
					return n == 1
				})
			}
			poll(t, b.FD())
			if in, _ := b.Dropped(); in != 0 {
				t.Errorf("dropped %d of %d, want none", in, c.frames)
			}
		})
	}
}

func TestAttach(t *testing.T) {
	d := newBed(t, 9000)
	var p *xdp.Packet
	var err error
	d.a.Do(func() { p, err = patient.OpenPacket(nameA, nil) })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Receive(make([]*netdev.Buffer, 1)); !errors.Is(err, xdp.ErrNotAttached) {
		t.Errorf("Receive before Attach: got %v, want %v", err, xdp.ErrNotAttached)
	}
	empty := netdev.NewArena(netdev.ArenaConfig{Small: 1})
	hold := empty.Get(0, netdev.Control)
	if err := p.Attach(empty, nil); !errors.Is(err, xdp.ErrArena) {
		t.Errorf("arena without a free chunk: got %v, want %v", err, xdp.ErrArena)
	}
	hold.Release()
	if err := p.Attach(newArena(9000), nil); err != nil {
		t.Errorf("Attach: got %v, want nil", err)
	}
	if err := p.Attach(newArena(9000), nil); !errors.Is(err, xdp.ErrAttached) {
		t.Errorf("Attach again: got %v, want %v", err, xdp.ErrAttached)
	}
	if got, want := p.Name(), nameA; got != want {
		t.Errorf("Name: got %v, want %v", got, want)
	}
	if got := p.String(); !strings.Contains(got, nameA) || !strings.Contains(got, "mtu 9000") || !strings.Contains(got, "65536 KiB") {
		t.Errorf("String: got %q, want name, MTU and a receive buffer of 65536 KiB", got)
	}
}

// Proves: poll.allocations
func TestDatapathAllocatesNothing(t *testing.T) {
	for _, mtu := range []int{1500, 9000} {
		t.Run(fmt.Sprint(mtu), func(t *testing.T) { allocatesNothing(t, mtu) })
	}
}

func allocatesNothing(t *testing.T, mtu int) {
	_, a, b := pair(t, mtu)
	var frames [][]byte
	for i, size := range []int{64, 64, mtu + 14, 1514, 64, mtu + 14} {
		frames = append(frames, raw(b.Addr(), a.Addr(), size, uint32(i)))
	}
	out := buffers(t, frames...)
	in := make([]*netdev.Buffer, 8)
	for _, out := range [][]*netdev.Buffer{out[:1], out} {
		allocates0(t, a, b, out, in)
	}
}

func allocates0(t *testing.T, a, b *xdp.Packet, out, in []*netdev.Buffer) {
	if got := testing.AllocsPerRun(1000, func() {
		if n, err := a.Transmit(out); n != len(out) || err != nil {
			t.Fatalf("Transmit: got %d, %v, want %d", n, err, len(out))
		}
		for left := len(out); left > 0; {
			n, err := b.Receive(in)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range in[:n] {
				f.Release()
			}
			left -= n
		}
	}); got != 0 {
		t.Errorf("got %v allocations for %d frames, want 0", got, len(out))
	}
	if got := testing.AllocsPerRun(100, func() { b.Receive(in) }); got != 0 {
		t.Errorf("got %v allocations for an empty Receive, want 0", got)
	}
}
