// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

func init() {
	roles["own xsk"] = ownXSK
}

// ownXSK holds an interface until its standard input ends.
func ownXSK(name string) {
	x, err := patient.OpenXSK(name, nil)
	if err == nil {
		err = x.Attach(newArena(1500), nil)
	}
	fmt.Println("opened:", err)
	io.Copy(io.Discard, os.Stdin)
	if x != nil {
		x.Close()
	}
}

// programs says what ip tells of XDP programs on an interface.
func programs(ns *netns.NS, name string) string {
	out := ns.Run("ip", "link", "show", "dev", name)
	if strings.Contains(out, "xdp") || strings.Contains(out, "prog/") {
		return out
	}
	return ""
}

// vanishes waits until no program is on the interface.
func vanishes(t *testing.T, ns *netns.NS, name string) {
	t.Helper()
	for end := time.Now().Add(testTimeout); programs(ns, name) != ""; {
		if time.Now().After(end) {
			t.Fatalf("the program is still there: %s", programs(ns, name))
		}
	}
}

// A process that is killed leaves nothing on the interface, and the next owner
// gets it, at once but for what the kernel needs to free the queue.
//
// Proves: device.filter
func TestXSKProgramVanishesWithItsProcess(t *testing.T) {
	d := newBed(t, 1500)
	for range 3 {
		cmd := exec.Command("/proc/self/exe", nameA)
		cmd.Env = append(os.Environ(), roleKey+"=own xsk")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		d.a.Do(func() { err = cmd.Start() })
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stdout).ReadString('\n')
		if err != nil || line != "opened: <nil>\n" {
			t.Fatalf("the other process: got %q, %v", line, err)
		}
		if programs(d.a, nameA) == "" {
			t.Error("no program is on the interface while the process lives")
		}
		var owned *xdp.OwnedError
		d.a.Do(func() { _, err = patient.OpenXSK(nameA, nil) })
		if !errors.As(err, &owned) || !strings.Contains(err.Error(), fmt.Sprint("pid ", cmd.Process.Pid)) {
			t.Errorf("while the process lives: got %v, want an OwnedError", err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		x := attachXSK(t, d.a, nameA, nil, newArena(1500))
		x.Close()
		vanishes(t, d.a, nameA)
	}
}

// Small rings and a small arena: frames are lost under overload, never more than
// that.
//
// Proves: device.rings
func TestXSKSmallRings(t *testing.T) {
	for _, mode := range modes {
		for _, c := range []struct {
			name  string
			arena int
			cfg   xdp.XSKConfig
			keeps int // frames a flood leaves
		}{
			{"rings of 64", 512, xdp.XSKConfig{Fill: 64, Receive: 64, Transmit: 64}, 64},
			{"arena of 64 chunks", 64, xdp.XSKConfig{}, 16},
			{"one chunk", 64, xdp.XSKConfig{Fill: 1}, 1},
		} {
			t.Run(fmt.Sprint(mode, " ", c.name), func(t *testing.T) {
				d := newBed(t, 1500)
				cfg := c.cfg
				cfg.Mode = mode
				b := attachXSK(t, d.b, nameB, &cfg, netdev.NewArena(netdev.ArenaConfig{Small: c.arena}))
				arena := netdev.NewArena(netdev.ArenaConfig{Small: c.arena})
				a := attachXSK(t, d.a, nameA, &cfg, arena)
				const sent = 1000
				out := arena.Get(64, netdev.Data)
				out.Extend(64)
				for round := range 3 {
					copy(out.Bytes(), raw(b.Addr(), a.Addr(), 64, uint32(round)))
					var lost uint64
					arrived := func(n int) {
						until(t, "what was sent", func() bool {
							a.Transmit(nil) // what the kernel had no room for is still in the ring
							lost, _ = b.Dropped()
							return int(lost) >= round*(sent-c.keeps)+n-c.keeps
						})
					}
					for n := 0; n < sent; {
						k, err := a.Transmit([]*netdev.Buffer{out, out, out, out}[:min(4, sent-n)])
						if err != nil {
							t.Fatal(err)
						}
						if n += k; k > 0 && n%20 == 0 { // the kernel queues 256 between the ends of a veth, and does not count those beyond
							arrived(n)
						}
					}
					arrived(sent)
					got := 0
					in := make([]*netdev.Buffer, 16)
					for n := 1; n > 0; got += n {
						var err error
						if n, err = b.Receive(in); err != nil {
							t.Fatal(err)
						}
						for _, f := range in[:n] {
							f.Release()
						}
					}
					lost, _ = b.Dropped()
					if got != c.keeps || lost != uint64((round+1)*(sent-c.keeps)) {
						t.Errorf("flood %d of %d frames: received %d, in all %d dropped, want %d, %d",
							round, sent, got, lost, c.keeps, (round+1)*(sent-c.keeps))
					}
				}
				out.Release()
				s := b.Statistics()
				if s.FillRingEmpty == 0 && s.ReceiveRingFull == 0 {
					t.Errorf("after a flood: got %+v, want a ring that was empty or full", s)
				}
				if s.FillInvalid != 0 || s.Corrupt != 0 || a.Statistics().TransmitInvalid != 0 {
					t.Errorf("got %+v, %+v, want nothing invalid", s, a.Statistics())
				}
			})
		}
	}
}

// One call to the kernel sends up to 32 frames, and none is made for nothing.
//
// Proves: device.rings
func TestXSKKicks(t *testing.T) {
	_, a, b := xskPair(t, 1500, xdp.ModeGeneric)
	f := raw(b.Addr(), a.Addr(), 64, 1)
	var frames [][]byte
	for range 100 {
		frames = append(frames, f)
	}
	bufs := buffers(t, frames...)
	before := a.Statistics().Kicks
	for _, c := range []struct{ frames, kicks int }{{0, 0}, {1, 1}, {32, 1}, {33, 2}, {64, 2}, {65, 3}, {100, 4}} {
		if n, err := a.Transmit(bufs[:c.frames]); n != c.frames || err != nil {
			t.Fatalf("Transmit: got %d, %v, want %d", n, err, c.frames)
		}
		if _, err := a.Receive(nil); err != nil {
			t.Fatal(err)
		}
		now := a.Statistics().Kicks
		if got := int(now - before); got != c.kicks {
			t.Errorf("%d frames: got %d calls to the kernel, want %d", c.frames, got, c.kicks)
		}
		before = now
		receiveXSK(t, b, c.frames)
	}
	if got := a.Statistics(); got.KicksRefused != 0 || got.NotSent != 0 {
		t.Errorf("got %+v, want none refused", got)
	}
}

// Proves: device.rings
func TestXSKBusyPolling(t *testing.T) {
	d := newBed(t, 1500)
	cfg := &xdp.XSKConfig{Mode: xdp.ModeNative, BusyPoll: 20 * time.Microsecond, BusyPollBudget: 16}
	a := attachXSK(t, d.a, nameA, cfg, newArena(1500))
	b := attachXSK(t, d.b, nameB, cfg, newArena(1500))
	for range 50 {
		flowsXSK(t, a, b)
	}
}

// Proves: device.contract
func TestXSKSeveralQueues(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("ip", "link", "add", "manyA", "index", "2001", "numrxqueues", "4", "numtxqueues", "4", "type", "veth",
		"peer", "name", "manyB", "index", "2002", "numrxqueues", "4", "numtxqueues", "4", "netns", d.b.Path())
	d.a.Run("ip", "link", "set", "dev", "manyA", "up")
	d.b.Run("ip", "link", "set", "dev", "manyB", "up")
	d.a.WaitCarrier("manyA", true)
	d.b.WaitCarrier("manyB", true)
	for _, mode := range modes {
		b := attachXSK(t, d.b, "manyB", &xdp.XSKConfig{Mode: mode}, newArena(1500))
		if got := b.String(); !strings.Contains(got, "queues 0,1,2,3 of 4") {
			t.Fatalf("got %q, want all four queues", got)
		}
		// On which queue a frame arrives the sender's transmit queue decides.
		for q := range 4 {
			a := attachXSK(t, d.a, "manyA", &xdp.XSKConfig{Mode: mode, Queues: []int{q}}, newArena(1500))
			for i := range uint32(200) {
				f := raw(b.Addr(), a.Addr(), 64, i)
				offer(t, a, f)
				if got := receiveXSK(t, b, 1)[0]; !bytes.Equal(got, f) {
					t.Fatalf("%v, queue %d: got % x, want % x", mode, q, got, f)
				}
			}
			a.Close()
		}
		b.Close()
		if _, err := b.Receive(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v: Receive: got %v, want %v", mode, err, net.ErrClosed)
		}
		if got := b.FD(); got != -1 {
			t.Errorf("%v: FD: got %d, want -1", mode, got)
		}
	}
}

// Proves: device.leaks
func TestXSKDatapathAllocatesNothing(t *testing.T) {
	for _, mode := range modes {
		for _, mtu := range []int{1500, 9000} {
			d := newBed(t, mtu)
			arena := newArena(mtu)
			a := attachXSK(t, d.a, nameA, &xdp.XSKConfig{Mode: mode}, arena)
			b := attachXSK(t, d.b, nameB, &xdp.XSKConfig{Mode: mode}, newArena(mtu))
			var out []*netdev.Buffer
			for i, size := range []int{64, mtu + 14} {
				f := arena.Get(size, netdev.Control)
				copy(f.Extend(size), raw(b.Addr(), a.Addr(), size, uint32(i)))
				out = append(out, f)
			}
			out = append(out, buffers(t, raw(b.Addr(), a.Addr(), 64, 2))...) // to be copied
			in := make([]*netdev.Buffer, 8)
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
				t.Errorf("%v, mtu %d: got %v allocations for three frames, want 0", mode, mtu, got)
			}
			if got := testing.AllocsPerRun(100, func() { b.Receive(in) }); got != 0 {
				t.Errorf("%v, mtu %d: got %v allocations for an empty Receive, want 0", mode, mtu, got)
			}
			for _, f := range out {
				f.Release()
			}
		}
	}
}
