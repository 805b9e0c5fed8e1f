// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// openBoth tries both drivers.
func openBoth(name string) map[string]error {
	all := map[string]error{}
	for _, driver := range []xdp.Driver{xdp.AFPacket, xdp.AFXDP} {
		dev, err := patient.Open(name, &xdp.Config{Driver: driver})
		if all["Open "+driver.String()] = err; err == nil {
			dev.Close()
		}
	}
	p, err := patient.OpenPacket(name, nil)
	if all["OpenPacket"] = err; err == nil {
		p.Close()
	}
	x, err := patient.OpenXSK(name, nil)
	if all["OpenXSK"] = err; err == nil {
		x.Close()
	}
	return all
}

// An interface is found by its alternative names, and the device has the name that was
// asked for, as a bearer of the kernel's has. Fails when InterfaceByName asks for the name
// alone, and when the owner introduces itself by the name it was given.
func TestAlternativeName(t *testing.T) {
	d := newBed(t, 1500)
	const long = "a-name-of-more-than-15-characters"
	d.a.Run("ip", "link", "property", "add", "dev", nameA, "altname", "lan7", "altname", long)
	d.a.Do(func() {
		for how, err := range openBoth("lan7") {
			if err != nil {
				t.Errorf("%s: %v", how, err)
			}
		}
		for how, err := range openBoth(long) {
			if !errors.Is(err, xdp.ErrName) || !strings.Contains(err.Error(), nameA) {
				t.Errorf("%s: got %v, want %v and the name %s", how, err, xdp.ErrName, nameA)
			}
		}
		for how, err := range openBoth("lan8") {
			if !errors.Is(err, xdp.ErrMissing) {
				t.Errorf("%s: got %v, want %v", how, err, xdp.ErrMissing)
			}
		}
	})
	p, _ := open(t, d.a, "lan7", nil)
	if p.Name() != "lan7" {
		t.Errorf("got a device called %s, want lan7", p.Name())
	}
	b, _ := open(t, d.b, nameB, nil)
	flows(t, p, b)
	var owned *xdp.OwnedError
	d.a.Do(func() {
		if _, err := patient.OpenPacket(nameA, nil); !errors.As(err, &owned) || !strings.Contains(owned.Owner, "program") {
			t.Errorf("opened by two names: got %v, want who owns it", err)
		}
	})
	if l := probe(t, d.a, long).Link; l.Name != nameA || len(l.AltNames) != 2 {
		t.Errorf("got %+v, want %s with two alternative names", l, nameA)
	}
}

// A port of a bridge hears nothing by AF_PACKET, and by AF_XDP it takes from the bridge.
// Fails without the master in Link.unusable.
func TestPortOfABridge(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("ip", "link", "add", "br7", "type", "bridge")
	d.a.Run("ip", "link", "set", "dev", nameA, "master", "br7")
	d.a.Do(func() {
		for how, err := range openBoth(nameA) {
			if !errors.Is(err, xdp.ErrPort) || !strings.Contains(err.Error(), "br7 (bridge)") {
				t.Errorf("%s: got %v, want %v and the bridge's name", how, err, xdp.ErrPort)
			}
		}
	})
	if f := probe(t, d.a, nameA); f.Link.Master != "br7" || f.Choose(xdp.Config{}).Unusable == nil {
		t.Errorf("got %+v, which can be used", f.Link)
	}
	d.a.Run("ip", "link", "set", "dev", nameA, "nomaster")
	d.a.Do(func() {
		for how, err := range openBoth(nameA) {
			if err != nil && !errors.Is(err, os.ErrPermission) {
				t.Errorf("%s, no longer a port: %v", how, err)
			}
		}
	})
}

// An open device says that its interface has become a port, carries nothing while it is
// one, and says that its address has changed. Fails without fate.follow, or when a port
// carries on.
func TestWhatADeviceCannotFollow(t *testing.T) {
	for _, driver := range []xdp.Driver{xdp.AFPacket, xdp.AFXDP} {
		t.Run(driver.String(), func(t *testing.T) {
			d := newBed(t, 1500)
			wake := make(chan struct{}, 64)
			var dev xdp.Bearer
			var err error
			d.a.Do(func() {
				dev, err = patient.Open(nameA, &xdp.Config{Driver: driver, XSK: &xdp.XSKConfig{Mode: xdp.ModeGeneric}})
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { dev.Close() })
			if err := dev.Attach(newArena(1500), func() { wake <- struct{}{} }); err != nil {
				t.Fatal(err)
			}
			said := func(want error, mtu int) {
				t.Helper()
				for end := time.After(testTimeout); ; {
					_, err := dev.Receive(make([]*netdev.Buffer, 4))
					if errors.Is(err, want) && dev.MTU() == mtu {
						return
					}
					select {
					case <-wake:
					case <-end:
						t.Fatalf("got %v and an MTU of %d, want %v and %d", err, dev.MTU(), want, mtu)
					}
				}
			}
			d.a.Run("ip", "link", "add", "br7", "type", "bridge")
			d.a.Run("ip", "link", "set", "dev", nameA, "master", "br7")
			said(xdp.ErrPort, 0)
			d.a.Run("ip", "link", "set", "dev", nameA, "nomaster")
			said(nil, 1500)
			d.a.Run("ip", "link", "set", "dev", nameA, "address", "02:00:00:00:aa:01")
			said(xdp.ErrAddress, 1500)
			wantReceive(t, dev, nil) // it is said once
		})
	}
}
