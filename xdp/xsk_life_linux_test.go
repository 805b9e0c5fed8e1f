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
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

func init() {
	roles["own xsk"] = ownXSK
}

// ownXSK holds an interface until its standard input ends.
func ownXSK(name string) {
	x, err := xdp.OpenXSK(name, nil)
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
		d.a.Do(func() { _, err = xdp.OpenXSK(nameA, nil) })
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

// Devices that share an arena share its registration; one goes, the other works
// on, and another one comes.
//
// Proves: device.contract
func TestXSKSharedArena(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d := newBed(t, 1500)
			netns.Veth(t, d.a, d.b, "otherA", "otherB", 1500)
			arena := newArena(1500)
			cfg := &xdp.XSKConfig{Mode: mode, Fill: 64}
			t.Cleanup(func() {
				if got, want := arena.Free(), arena.Total(); got != want && !t.Failed() {
					t.Errorf("all closed: got %d chunks free, want %d", got, want)
				}
			})
			join := func(name string) *xdp.XSK {
				x := openXSK(t, d.a, name, cfg)
				if err := x.Attach(arena, nil); err != nil {
					t.Fatal(err)
				}
				return x
			}
			a, o := join(nameA), join("otherA")
			peerA := attachXSK(t, d.b, nameB, cfg, newArena(1500))
			peerO := attachXSK(t, d.b, "otherB", cfg, newArena(1500))
			one := arena.Get(64, netdev.Data)
			defer one.Release()
			// One buffer through both devices: no copy, and no mixing up.
			talk := func(devices ...[2]*xdp.XSK) {
				t.Helper()
				for round := range uint32(500) {
					for _, p := range devices {
						out := raw(p[1].Addr(), p[0].Addr(), 64, round)
						one.Resize(64)
						copy(one.Bytes(), out)
						if n, err := p[0].Transmit([]*netdev.Buffer{one}); n != 1 || err != nil {
							t.Fatalf("Transmit: got %d, %v", n, err)
						}
						if got := receiveXSK(t, p[1], 1)[0]; !bytes.Equal(got, out) {
							t.Fatalf("round %d: got % x, want % x", round, got, out)
						}
						back := raw(p[0].Addr(), p[1].Addr(), 64, round)
						offer(t, p[1], back)
						if got := receiveXSK(t, p[0], 1)[0]; !bytes.Equal(got, back) {
							t.Fatalf("round %d: got % x, want % x", round, got, back)
						}
					}
				}
			}
			if got := xdp.Registrations(arena); got != 1 {
				t.Errorf("two devices: got %d registrations, want 1", got)
			}
			talk([2]*xdp.XSK{a, peerA}, [2]*xdp.XSK{o, peerO})
			a.Close() // whose socket had registered the memory
			if got, want := arena.Free(), arena.Total()-64-1; got != want {
				t.Errorf("one of two closed: got %d chunks free, want %d", got, want)
			}
			talk([2]*xdp.XSK{o, peerO})
			a = join(nameA)
			talk([2]*xdp.XSK{a, peerA}, [2]*xdp.XSK{o, peerO})
			if got := xdp.Registrations(arena); got != 1 {
				t.Errorf("another device: got %d registrations, want 1", got)
			}
			a.Close()
			o.Close()
			if got := xdp.Registrations(arena); got != 0 {
				t.Errorf("all closed: got %d registrations, want 0", got)
			}
		})
	}
}

// Three devices leave chunks for data of an arena in which as many are large: only small
// ones are in the fill ring.
//
// Proves: memory.small
func TestXSKDevicesLeaveChunks(t *testing.T) {
	d := newBed(t, 1500)
	netns.Veth(t, d.a, d.b, "secondA", "secondB", 1500)
	netns.Veth(t, d.a, d.b, "thirdA", "thirdB", 1500)
	const small, most = 512, 3 * 512 / 4
	arena := netdev.NewArena(netdev.ArenaConfig{Small: small, Jumbo: 512, JumboSize: 14000})
	for _, name := range []string{nameA, "secondA", "thirdA"} {
		if err := openXSK(t, d.a, name, nil).Attach(arena, nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if inFill := arena.Total() - arena.Free(); inFill > most {
		t.Errorf("%d chunks of %d in the fill ring, want at most %d", inFill, small, most)
	}
	b := arena.Get(64, netdev.Control)
	if b == nil || b.Index() >= small {
		t.Fatal("no small chunk is free")
	}
	b.Release()
}

// Devices with and without frames in pieces cannot share a registration, but the
// memory.
//
// Proves: device.contract
func TestXSKSharedArenaOfUnlikeDevices(t *testing.T) {
	d := newBed(t, 1500)
	netns.Veth(t, d.a, d.b, "otherA", "otherB", 9000)
	arena := newArena(9000)
	t.Cleanup(func() {
		if got, want := arena.Free(), arena.Total(); got != want && !t.Failed() {
			t.Errorf("all closed: got %d chunks free, want %d", got, want)
		}
	})
	peers := []*xdp.XSK{
		attachXSK(t, d.b, nameB, nil, newArena(1500)),
		attachXSK(t, d.b, "otherB", nil, newArena(9000)),
	}
	for i, name := range []string{nameA, "otherA"} {
		x := openXSK(t, d.a, name, &xdp.XSKConfig{Fill: 64})
		if err := x.Attach(arena, nil); err != nil {
			t.Fatal(err)
		}
		if got := xdp.Registrations(arena); got != i+1 {
			t.Errorf("%s: got %d registrations, want %d", name, got, i+1)
		}
		for range 3 {
			f := raw(peers[i].Addr(), x.Addr(), x.MTU()+14, 1)
			offer(t, x, f)
			if got := receiveXSK(t, peers[i], 1)[0]; !bytes.Equal(got, f) {
				t.Errorf("%s: got another frame", name)
			}
			f = raw(x.Addr(), peers[i].Addr(), x.MTU()+14, 2)
			offer(t, peers[i], f)
			if got := receiveXSK(t, x, 1)[0]; !bytes.Equal(got, f) {
				t.Errorf("%s: got another frame", name)
			}
		}
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

// When the arena is empty, frames are lost and counted; when chunks are back they
// arrive again.
//
// Proves: device.rings
func TestXSKEmptyArena(t *testing.T) {
	d := newBed(t, 1500)
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 64})
	b := attachXSK(t, d.b, nameB, nil, arena)
	a := attachXSK(t, d.a, nameA, nil, newArena(1500))
	var taken []*netdev.Buffer
	for x := arena.Get(1, netdev.Control); x != nil; x = arena.Get(1, netdev.Control) {
		taken = append(taken, x)
	}
	in := make([]*netdev.Buffer, 64)
	for i := range uint32(40) {
		offer(t, a, raw(b.Addr(), a.Addr(), 64, i))
	}
	var lost uint64
	until(t, "all frames", func() bool {
		a.Transmit(nil) // what the kernel had no room for is still in the ring
		lost, _ = b.Dropped()
		return lost >= 24
	})
	n, err := b.Receive(in)
	if n != 16 || err != nil {
		t.Fatalf("got %d, %v, want the 16 that had a chunk", n, err)
	}
	if lost, _ = b.Dropped(); lost != 24 {
		t.Errorf("got %d dropped, want 24", lost)
	}
	for _, x := range append(taken, in[:n]...) {
		x.Release()
	}
	silentXSK(t, b) // takes the chunks
	for i := range uint32(16) {
		offer(t, a, raw(b.Addr(), a.Addr(), 64, i))
	}
	for i, f := range receiveXSK(t, b, 16) {
		if f[17] != byte(i) {
			t.Errorf("got number %d, want %d", f[17], i)
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

// descriptors counts the descriptors of the process. Tombstones of other tests are
// among them, and may vanish.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Proves: device.leaks
func TestXSKOpenAndCloseLeaveNothing(t *testing.T) {
	d := newBed(t, 1500)
	b := attachXSK(t, d.b, nameB, nil, newArena(1500))
	arena := newArena(1500)
	cycle := func(i int) {
		x := openXSK(t, d.a, nameA, &xdp.XSKConfig{Mode: modes[i%2]})
		if i%5 == 4 {
			x.Close() // before Attach
			return
		}
		if err := x.Attach(arena, nil); err != nil {
			t.Fatal(err)
		}
		offer(t, x, raw(b.Addr(), x.Addr(), 64, uint32(i)))
		receiveXSK(t, b, 1)
		for range 20 {
			offer(t, b, raw(x.Addr(), b.Addr(), 64, uint32(i)))
		}
		receiveXSK(t, x, i%20)
		for range 2 {
			if err := x.Close(); err != nil {
				t.Errorf("Close: got %v", err)
			}
		}
		if got, want := arena.Free(), arena.Total(); got != want {
			t.Fatalf("cycle %d: got %d chunks free, want %d", i, got, want)
		}
		if _, err := x.Receive(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Receive: got %v, want %v", err, net.ErrClosed)
		}
	}
	cycle(0)
	fds, routines := descriptors(t), runtime.NumGoroutine()
	cycles := 100
	if testing.Short() {
		cycles = 20
	}
	for i := range cycles {
		cycle(i)
	}
	if got := descriptors(t); got > fds {
		t.Errorf("after %d cycles: got %d descriptors, want %d", cycles, got, fds)
	}
	waitGoroutines(t, routines)
	vanishes(t, d.a, nameA)
}

// An engine sleeps on the device while somebody closes it: the chunks are back
// when Close returns, although the sleeper had the socket.
func TestXSKCloseBesideASleeper(t *testing.T) {
	d := newBed(t, 1500)
	peer := attachXSK(t, d.b, nameB, nil, newArena(1500))
	for round := range 20 {
		wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			t.Fatal(err)
		}
		x := openXSK(t, d.a, nameA, nil)
		arena := newArena(1500)
		if err := x.Attach(arena, func() { unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }); err != nil {
			t.Fatal(err)
		}
		var engine sync.WaitGroup
		asleep := make(chan struct{})
		engine.Go(func() {
			in := make([]*netdev.Buffer, 4)
			for turn := 0; ; turn++ {
				if turn == 1 {
					close(asleep)
				}
				both := []unix.PollFd{{Fd: int32(x.FD()), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
				if n, err := unix.Poll(both, int(testTimeout.Milliseconds())); n == 0 || both[0].Revents&unix.POLLNVAL != 0 {
					t.Errorf("round %d: poll: %d, %v, %#x", round, n, err, both[0].Revents)
				}
				n, err := x.Receive(in)
				for _, b := range in[:n] {
					b.Release()
				}
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			}
		})
		offer(t, peer, raw(x.Addr(), peer.Addr(), 64, 1))
		<-asleep
		x.Close() // wakes the engine, whose poll reports an error otherwise
		if got, want := arena.Free(), arena.Total(); got != want {
			t.Errorf("round %d: %d chunks of %d are free", round, got, want)
		}
		engine.Wait()
		unix.Close(wake)
	}
}

// As long as the kernel has the socket, and may write into its chunks, none is
// given back: here a poll that nobody wakes has it.
//
// Proves: memory.lent
func TestXSKChunksWaitForTheKernel(t *testing.T) {
	d := newBed(t, 1500)
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(wake)
	x := openXSK(t, d.a, nameA, nil)
	arena := newArena(1500)
	if err := x.Attach(arena, nil); err != nil {
		t.Fatal(err)
	}
	both := []unix.PollFd{{Fd: int32(x.FD()), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
	thread, woken, closed := make(chan int, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(woken)
		runtime.LockOSThread()
		thread <- unix.Gettid()
		unix.Ppoll(both, &unix.Timespec{Sec: int64(testTimeout.Seconds())}, nil)
	}()
	inKernel(t, <-thread, unix.SYS_PPOLL)
	go func() {
		x.Close()
		close(closed)
	}()
	until(t, "the device being closed", func() bool {
		_, err := x.Receive(nil)
		return err != nil
	})
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); runtime.Gosched() {
		if arena.Free() == arena.Total() {
			t.Fatal("chunks are back while the kernel has the socket")
		}
	}
	unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-woken
	<-closed
	if got, want := arena.Free(), arena.Total(); got != want {
		t.Errorf("closed: got %d chunks free, want %d", got, want)
	}
}

// inKernel waits until a thread of this process sleeps in a system call.
func inKernel(t *testing.T, thread, call int) {
	t.Helper()
	until(t, "a thread that sleeps", func() bool {
		said, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", thread)) // "running" while it does not sleep
		if err != nil {
			t.Fatal(err)
		}
		return strings.HasPrefix(string(said), fmt.Sprint(call, " "))
	})
}
