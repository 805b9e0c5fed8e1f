// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"errors"
	"os"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// wantTransmit offers one frame to a and wants the error.
func wantTransmit(t *testing.T, p device, want error) {
	t.Helper()
	n, err := p.Transmit(buffers(t, raw(frame.BroadcastMAC, p.Addr(), 64, 0)))
	if n != 0 || !errors.Is(err, want) {
		t.Errorf("Transmit: got %d, %v, want 0, %v", n, err, want)
	}
}

func wantReceive(t *testing.T, p device, want error) {
	t.Helper()
	n, err := p.Receive(make([]*netdev.Buffer, 4))
	if n != 0 || !errors.Is(err, want) {
		t.Errorf("Receive: got %d, %v, want 0, %v", n, err, want)
	}
}

// flows sends a frame each way.
func flows(t *testing.T, a, b device) {
	t.Helper()
	transmit(t, a, raw(b.Addr(), a.Addr(), 64, 1))
	await(t, b, 1)
	transmit(t, b, raw(a.Addr(), b.Addr(), 64, 2))
	await(t, a, 1)
}

func TestDownAndUp(t *testing.T) {
	d, a, b := pair(t, 1500)
	flows(t, a, b)
	for range 2 {
		d.a.Run("ip", "link", "set", "dev", nameA, "down")
		poll(t, a.FD())
		wantReceive(t, a, xdp.ErrDown)
		silent(t, a) // it is said once
		wantTransmit(t, a, xdp.ErrDown)
		wantTransmit(t, a, xdp.ErrDown)
		d.b.WaitCarrier(nameB, false)
		wantTransmit(t, b, xdp.ErrNoCarrier)
		silent(t, b)
		d.a.Run("ip", "link", "set", "dev", nameA, "up")
		d.a.WaitCarrier(nameA, true)
		d.b.WaitCarrier(nameB, true)
		flows(t, a, b)
	}
	if _, out := a.Dropped(); out != 4 {
		t.Errorf("dropped %d out, want 4", out)
	}
}

func TestDownIsToldAfterWhatHadArrived(t *testing.T) {
	d, a, b := pair(t, 1500)
	transmit(t, b, raw(a.Addr(), b.Addr(), 64, 1))
	poll(t, a.FD()) // it has arrived
	d.a.Run("ip", "link", "set", "dev", nameA, "down")
	wantReceive(t, a, xdp.ErrDown)
	await(t, a, 1)
	silent(t, a)
}

func TestRemoved(t *testing.T) {
	for _, c := range []struct {
		name     string
		commands [][]string
	}{
		{"removed", [][]string{{"del", "dev", nameA}}},
		{"down, removed", [][]string{{"set", "dev", nameA, "down"}, {"del", "dev", nameA}}},
		{"moved away", [][]string{{"set", "dev", nameA, "netns", "OTHER"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, a, b := pair(t, 1500)
			flows(t, a, b)
			for _, cmd := range c.commands {
				if cmd[len(cmd)-1] == "OTHER" {
					cmd[len(cmd)-1] = d.b.Path()
				}
				d.a.Run("ip", append([]string{"link"}, cmd...)...)
			}
			poll(t, a.FD())
			wantReceive(t, a, xdp.ErrRemoved)
			for range 2 {
				wantTransmit(t, a, xdp.ErrRemoved)
				wantReceive(t, a, os.ErrNotExist)
			}
			// Another interface of that name is another interface.
			d.a.Run("ip", "link", "add", nameA, "type", "veth", "peer", "name", "other")
			d.a.Run("ip", "link", "set", "dev", nameA, "up")
			wantTransmit(t, a, xdp.ErrRemoved)
			a.Close()
			open(t, d.a, nameA, nil)
		})
	}
}

// An interface that goes down and is removed only then: its owner, asleep, is told
// both.
//
// Proves: device.changes
func TestRemovedAfterItWasDown(t *testing.T) {
	eachDriver(t, func(t *testing.T, drv driver) {
		d := newBed(t, 1500)
		s := attachEndpoint(t, d.a, nameA, drv.open, 1500)
		d.a.Run("ip", "link", "set", "dev", nameA, "down")
		s.awaitMTU(t, 0)
		if _, err := s.Receive(nil); err != nil && !errors.Is(err, xdp.ErrDown) {
			t.Errorf("down: got %v, want nothing or %v", err, xdp.ErrDown)
		}
		for range len(s.wake) {
			<-s.wake
		}
		d.a.Run("ip", "link", "del", "dev", nameA)
		for err := error(nil); !errors.Is(err, xdp.ErrRemoved); { // the call of wake for going down may come only now
			s.sleep(t)
			if _, err = s.Receive(make([]*netdev.Buffer, 4)); err != nil && !errors.Is(err, xdp.ErrDown) && !errors.Is(err, xdp.ErrRemoved) {
				t.Fatalf("removed: got %v, want %v", err, xdp.ErrRemoved)
			}
		}
		wantReceive(t, s, xdp.ErrRemoved)
	})
}

func TestRenamedInterfaceWorksOn(t *testing.T) {
	d, a, b := pair(t, 1500)
	d.a.Run("ip", "link", "set", "dev", nameA, "down")
	d.a.Run("ip", "link", "set", "dev", nameA, "name", "another")
	wantReceive(t, a, xdp.ErrDown)
	d.a.Run("ip", "link", "set", "dev", "another", "up")
	d.a.WaitCarrier("another", true)
	d.b.WaitCarrier(nameB, true)
	flows(t, a, b)
}
