// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// Frames of every length that the wire carries, up to some that the receiver's
// MTU does not allow. Those it does allow all arrive, whatever comes between.
//
// Proves: device.lengths
func TestReceivingEveryLength(t *testing.T) {
	const mtu = 300
	eachDriver(t, func(t *testing.T, drv driver) {
		d := newBed(t, mtu)
		s := attachEndpoint(t, d.b, nameB, drv.open, mtu)
		d.a.Run("ip", "link", "set", "dev", nameA, "mtu", strconv.Itoa(mtu+200))
		w := openWire(t, d.a, nameA)
		mark := raw(s.Addr(), frame.MAC{2}, 64, 1<<31)
		for size := range mtu + 101 {
			f := raw(s.Addr(), frame.MAC{2}, max(size, frame.EthernetLen), uint32(size))[:size]
			// The kernel itself refuses to send less than a header, and a veth what
			// is far beyond the other end's MTU.
			_, err := unix.Write(w.fd, f)
			fits := size >= frame.EthernetLen && size <= mtu+frame.EthernetLen
			if fits && err != nil {
				t.Fatalf("sending %d bytes: %v", size, err)
			}
			w.send(mark)
			arrived := false
			for got := await(t, s, 1)[0]; !bytes.Equal(got, mark); got = await(t, s, 1)[0] {
				arrived = true
				if !bytes.Equal(got, f) {
					t.Errorf("%d bytes sent, % x arrived", size, got)
				}
			}
			if fits && !arrived {
				t.Errorf("%d bytes did not arrive", size)
			}
		}
		silent(t, s)
	})
}

// Frames of every length are given to the device. Those the wire carries arrive,
// and all others are refused by a FrameError and counted.
//
// Proves: device.lengths
func TestSendingEveryLength(t *testing.T) {
	const mtu = 300
	eachDriver(t, func(t *testing.T, drv driver) {
		d := newBed(t, mtu)
		a, b := attachEndpoint(t, d.a, nameA, drv.open, mtu), attachEndpoint(t, d.b, nameB, drv.open, mtu)
		refused := uint64(0)
		for size := range mtu + 101 {
			f := a.arena.Get(mtu+200, netdev.Control)
			copy(f.Extend(max(size, frame.EthernetLen)), raw(b.Addr(), a.Addr(), max(size, frame.EthernetLen), uint32(size)))
			f.Resize(size)
			want := bytes.Clone(f.Bytes())
			n, err := a.Transmit([]*netdev.Buffer{f})
			f.Release()
			if size >= frame.EthernetLen && size <= mtu+frame.EthernetLen {
				if n != 1 || err != nil {
					t.Fatalf("%d bytes: got %d, %v, want 1", size, n, err)
				}
				if got := await(t, b, 1)[0]; !bytes.Equal(got, want) {
					t.Errorf("%d bytes sent, % x arrived", size, got)
				}
				continue
			}
			var which *xdp.FrameError
			if n != 0 || !errors.As(err, &which) || which.Len != size {
				t.Errorf("%d bytes: got %d, %v, want a FrameError about it", size, n, err)
			}
			refused++
		}
		if _, out := a.Dropped(); out != refused {
			t.Errorf("dropped %d out, want %d", out, refused)
		}
		silent(t, b)
	})
}

// A flood of what is not TIPC's neither reaches the node nor costs it anything.
//
// Proves: device.floods
func TestFloodOfForeignFrames(t *testing.T) {
	eachDriver(t, func(t *testing.T, drv driver) {
		d := newBed(t, 1500)
		s := attachEndpoint(t, d.b, nameB, drv.open, 1500)
		w := openWire(t, d.a, nameA)
		free, heap := s.arena.Free(), heapInUse()
		var bufs [4]*netdev.Buffer
		for i := range 30000 {
			f := raw(s.Addr(), frame.MAC{2}, 60+i%1400, uint32(i))
			kind := []uint16{0x0800, 0x86dd, 0x0806, 0x88cb, 0x0100, 0xca88, uint16(i)}[i%7]
			if kind == frame.EtherType {
				continue
			}
			f[12], f[13] = byte(kind>>8), byte(kind)
			w.send(f)
			if n, err := s.Receive(bufs[:]); n != 0 || err != nil {
				t.Fatalf("frame %d of type %#x: got %d, %v, want nothing", i, kind, n, err)
			}
		}
		if in, out := s.Dropped(); in != 0 || out != 0 {
			t.Errorf("dropped %d in, %d out, want none: they were not ours", in, out)
		}
		if got := s.arena.Free(); got != free {
			t.Errorf("got %d chunks free, want %d", got, free)
		}
		if got := heapInUse(); got > heap+1<<20 {
			t.Errorf("the heap grew by %d bytes", got-heap)
		}
		mark := raw(s.Addr(), frame.MAC{2}, 64, 1)
		w.send(mark)
		if got := await(t, s, 1)[0]; !bytes.Equal(got, mark) {
			t.Errorf("got % x, want the mark", got)
		}
	})
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A receiver that never reads keeps a limited number of frames, counts the others,
// and works again when it reads.
//
// Proves: device.floods, memory.small
func TestReceiverThatNeverReads(t *testing.T) {
	eachDriver(t, func(t *testing.T, drv driver) {
		d := newBed(t, 1500)
		s := attachEndpoint(t, d.b, nameB, drv.small, 1500)
		w := openWire(t, d.a, nameA)
		const sent, kept = 20000, 200 // kept at most
		f, heap := raw(s.Addr(), frame.MAC{2}, 1000, 0), heapInUse()
		var dropped uint64
		for i := range uint64(sent) {
			w.send(f)
			if i%200 == 199 { // the kernel queues 1000 between the ends of a veth, and does not count those beyond
				until(t, "what was sent", func() bool { dropped, _ = s.Dropped(); return dropped+kept > i })
			}
		}
		if got := heapInUse(); got > heap+1<<20 {
			t.Errorf("the heap grew by %d bytes", got-heap)
		}
		received := 0
		until(t, "all frames", func() bool {
			var bufs [16]*netdev.Buffer
			n, err := s.Receive(bufs[:])
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range bufs[:n] {
				b.Release()
			}
			received += n
			dropped, _ = s.Dropped()
			return received+int(dropped) >= sent
		})
		if received == 0 || dropped == 0 || received+int(dropped) != sent {
			t.Fatalf("received %d, dropped %d of %d, want some of each and all counted", received, dropped, sent)
		}
		silent(t, s)
		for i := range uint32(3) {
			mark := raw(s.Addr(), frame.MAC{2}, 64, i)
			w.send(mark)
			if got := await(t, s, 1)[0]; !bytes.Equal(got, mark) {
				t.Errorf("afterwards: got % x, want the mark", got)
			}
		}
		if got, _ := s.Dropped(); got != dropped {
			t.Errorf("afterwards: dropped %d, want %d as before", got, dropped)
		}
	})
}

// Without rights each driver says which it wants.
//
// Proves: device.open
func TestMissingRights(t *testing.T) {
	d := newBed(t, 1500)
	cmd := exec.Command("/proc/self/exe", nameA)
	cmd.Env = append(os.Environ(), roleKey+"=rights")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var out []byte
	var err error
	d.a.Do(func() { out, err = cmd.CombinedOutput() })
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, drv := range drivers {
		_, says, _ := strings.Cut(string(out), drv.name+": ")
		says, _, _ = strings.Cut(says, "\n")
		if !strings.HasPrefix(says, "permission true") || !strings.Contains(says, "CAP_") {
			t.Errorf("%s: got %q, want an os.ErrPermission that names the capability", drv.name, says)
		}
	}
}

// tryEachDriver is the other process of TestMissingRights.
func tryEachDriver(ifname string) {
	for _, drv := range drivers {
		_, err := drv.open(ifname)
		fmt.Printf("%s: permission %v: %v\n", drv.name, errors.Is(err, os.ErrPermission), err)
	}
}
