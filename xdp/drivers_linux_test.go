// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// A device is netdev.Device, which xdp does not know.
type device interface {
	Name() string
	Addr() frame.MAC
	MTU() int
	Attach(arena *netdev.Arena, wake func()) error
	FD() int
	Receive(bufs []*netdev.Buffer) (int, error)
	Transmit(bufs []*netdev.Buffer) (n int, err error)
	Dropped() (in, out uint64)
	Close() error
}

// A driver is a way to open an interface. Every driver has to stand the same
// tests.
type driver struct {
	name string
	open func(ifname string) (device, error)
	most int // the largest MTU it serves, in bytes
	// small opens with the least room for frames that wait to be received.
	small func(ifname string) (device, error)
}

var drivers = []driver{
	{
		name: "packet",
		open: func(ifname string) (device, error) { return orNil(patient.OpenPacket(ifname, nil)) },
		most: 65535,
		small: func(ifname string) (device, error) {
			return orNil(patient.OpenPacket(ifname, &xdp.PacketConfig{ReceiveBuffer: 4096}))
		},
	},
	{
		name: "xsk",
		open: func(ifname string) (device, error) { return orNil(patient.OpenXSK(ifname, nil)) },
		most: 3822,
		small: func(ifname string) (device, error) {
			return orNil(patient.OpenXSK(ifname, &xdp.XSKConfig{Fill: 64, Receive: 64, Transmit: 64}))
		},
	},
}

// orNil keeps a nil pointer from becoming a device.
func orNil[D device](d D, err error) (device, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// eachDriver runs f once for each driver.
func eachDriver(t *testing.T, f func(t *testing.T, d driver)) {
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) { f(t, d) })
	}
}

// A endpoint is a device with its arena and the wake it was attached with.
type endpoint struct {
	device
	arena *netdev.Arena
	wake  chan struct{} // holds one when wake was called since it was last looked at
}

// attachEndpoint opens and attaches an interface with chunks for frames of an MTU; the test
// closes it, and wants all chunks back.
func attachEndpoint(t *testing.T, ns *netns.NS, name string, open func(string) (device, error), mtu int) *endpoint {
	t.Helper()
	s := &endpoint{arena: newArena(mtu), wake: make(chan struct{}, 1)}
	var err error
	ns.Do(func() { s.device, err = open(name) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if got, want := s.arena.Free(), s.arena.Total(); got != want {
			t.Errorf("%s: after Close %d chunks of %d are free", name, got, want)
		}
	})
	err = s.Attach(s.arena, func() {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// awaitMTU sleeps until wake is called and the MTU is what is wanted.
func (s *endpoint) awaitMTU(t *testing.T, want int) {
	t.Helper()
	for end := time.After(testTimeout); s.MTU() != want; {
		select {
		case <-s.wake:
		case <-end:
			t.Fatalf("%s: MTU %d, want %d", s.Name(), s.MTU(), want)
		}
	}
}

// sleep returns when something wakes the owner: the descriptor or a call of wake.
func (s *endpoint) sleep(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(testTimeout); time.Now().Before(end); {
		select {
		case <-s.wake:
			return
		default:
		}
		p := []unix.PollFd{{Fd: int32(s.FD()), Events: unix.POLLIN}}
		if n, _ := unix.Poll(p, 10); n > 0 {
			return
		}
	}
	t.Fatalf("%s: nothing wakes its owner", s.Name())
}
