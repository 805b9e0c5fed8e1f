// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

func init() { roles["probe"] = tellFacts }

// tellFacts is the other process of TestProbeWithFewRights.
func tellFacts(name string) {
	f, err := patient.Probe(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	json.NewEncoder(os.Stdout).Encode(f)
}

func probe(t *testing.T, ns *netns.NS, name string) xdp.Facts {
	t.Helper()
	var f xdp.Facts
	var err error
	ns.Do(func() { f, err = patient.Probe(name) })
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// openFiles counts the open files of this process, but for events: dead descriptors of devices
// of other tests are such, and may vanish at any time.
func openFiles(t *testing.T) (n int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && to != "anon_inode:[eventfd]" {
			n++
		}
	}
	return n
}

func TestProbeVeth(t *testing.T) {
	netns.Require(t)
	a, b := netns.New(t), netns.New(t)
	netns.VethQueues(t, a, b, nameA, nameB, 9000, 3)
	d := &bed{a, b, 9000}
	f := probe(t, d.a, nameA)
	before := openFiles(t)
	f = probe(t, d.a, nameA)
	if now := openFiles(t); now != before {
		t.Errorf("probing left %d descriptors", now-before)
	}
	l := f.Link
	if l.Name != nameA || l.MTU != 9000 || !l.Ethernet || l.Loopback || !l.Up || !l.Carrier || l.Kind != "veth" ||
		l.KernelBearer || l.Owner != "" || l.Program != (xdp.Program{}) {
		t.Errorf("got %+v", l)
	}
	if l.Driver.Value != "veth" || !l.Driver.Known() || l.Queues.Value.RX != 3 || l.Queues.Value.TX != 3 || !l.Offloads.Known() || !l.Steering.Known() {
		t.Errorf("got driver %v, queues %v, offloads %v, steering %v", l.Driver, l.Queues, l.Offloads, l.Steering)
	}
	if x := l.XDP; x.Known() && (!x.Value.Native || !x.Value.Redirect || x.Value.ZeroCopy) {
		t.Errorf("got XDP %v, want native without zero-copy", x)
	}
	if h := f.Host; h.PacketSocket.Result != xdp.Works || !h.Capabilities.Value.NetRaw || h.CPUs.Value < 1 || !h.Quota.Known() || !h.LockedMemory.Known() {
		t.Errorf("got %+v", h)
	}
	var u unix.Utsname
	if unix.Uname(&u); f.Host.Kernel.Value != unix.ByteSliceToString(u.Release[:]) {
		t.Errorf("got kernel %v", f.Host.Kernel)
	}
	// Changes show.
	d.b.Run("ip", "link", "set", "dev", nameB, "down")
	d.a.WaitCarrier(nameA, false)
	if l := probe(t, d.a, nameA).Link; !l.Up || l.Carrier {
		t.Errorf("the other end down: got up %v, carrier %v", l.Up, l.Carrier)
	}
	d.b.Run("ip", "link", "set", "dev", nameB, "up")
	d.a.WaitCarrier(nameA, true)
	d.a.Run("ip", "link", "set", "dev", nameA, "mtu", "1500")
	p, _ := open(t, d.a, nameA, nil)
	l = probe(t, d.a, nameA).Link
	if l.MTU != 1500 || !strings.Contains(l.Owner, fmt.Sprintf("pid %d", os.Getpid())) || l.Address != p.Addr().String() {
		t.Errorf("opened: got MTU %d, owner %q, address %s", l.MTU, l.Owner, l.Address)
	}
	p.Close()
	if l := probe(t, d.a, nameA).Link; l.Owner != "" {
		t.Errorf("closed: got owner %q", l.Owner)
	}
	var x *xdp.XSK
	var err error
	d.a.Do(func() { x, err = patient.OpenXSK(nameA, &xdp.XSKConfig{Mode: xdp.ModeGeneric}) })
	if err != nil {
		t.Fatal(err)
	}
	if l := probe(t, d.a, nameA).Link; l.Program.Mode != "generic" || l.Program.ID == 0 {
		t.Errorf("with a program: got %+v", l.Program)
	}
	x.Close()
}

func TestProbeOtherInterfaces(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("ip", "link", "set", "dev", "lo", "up")
	d.a.Run("ip", "link", "add", "link", nameA, "name", "mac0", "type", "macvlan", "mode", "bridge")
	d.a.Run("ip", "tuntap", "add", "dev", "tun0", "mode", "tun")
	if l := probe(t, d.a, "lo").Link; !l.Loopback || l.Ethernet {
		t.Errorf("lo: got %+v", l)
	}
	if l := probe(t, d.a, "tun0").Link; l.Loopback || l.Ethernet || l.Kind != "tun" || l.Address != "" {
		t.Errorf("tun0: got %+v", l)
	}
	if l := probe(t, d.a, "mac0").Link; !l.Ethernet || l.Kind != "macvlan" || l.Up {
		t.Errorf("mac0: got %+v", l)
	}
	for _, name := range []string{"eth9", "", "a/b", "sixteen-letters-"} {
		var err error
		d.a.Do(func() { _, err = patient.Probe(name) })
		if !errors.Is(err, xdp.ErrMissing) {
			t.Errorf("%q: got %v, want %v", name, err, xdp.ErrMissing)
		}
	}
	var names []string
	var err error
	d.a.Do(func() { names, err = xdp.Interfaces() })
	if slices.Sort(names); err != nil || !slices.Equal(names, []string{"mac0", nameA}) {
		t.Errorf("Interfaces: got %v, %v", names, err)
	}
}

func TestProbeWithFewRights(t *testing.T) {
	d := newBed(t, 1500)
	const netAdmin, netRaw = 12, 13 // linux/capability.h
	for _, c := range []struct {
		what string
		caps []uintptr
		want string // the ways that are left
	}{
		{"none", nil, "[]"},
		{"CAP_NET_RAW", []uintptr{netRaw}, "[af_packet]"},
		{"CAP_NET_RAW and CAP_NET_ADMIN", []uintptr{netRaw, netAdmin}, "[af_packet]"},
	} {
		cmd := exec.Command("/proc/self/exe", nameA)
		cmd.Env = append(os.Environ(), roleKey+"=probe")
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: c.caps}
		var out []byte
		var err error
		d.a.Do(func() { out, err = cmd.Output() })
		var f xdp.Facts
		if err != nil || json.Unmarshal(out, &f) != nil {
			t.Fatalf("%s: got %s, %v", c.what, out, err)
		}
		// What concerns the interface needs no right.
		if l := f.Link; l.Driver.Value != "veth" || !l.Queues.Known() || !l.Offloads.Known() || !l.Steering.Known() || !l.Up || l.Kind != "veth" {
			t.Errorf("%s: got %+v", c.what, l)
		}
		if got := f.Host.Capabilities.Value; got.NetRaw != slices.Contains(c.caps, netRaw) || got.NetAdmin != slices.Contains(c.caps, netAdmin) || got.BPF || got.IPCLock {
			t.Errorf("%s: got capabilities %+v", c.what, got)
		}
		if f.Host.XDPProgram.Result != xdp.Denied || (f.Host.PacketSocket.Result == xdp.Works) != (len(c.caps) > 0) {
			t.Errorf("%s: got %+v, %+v", c.what, f.Host.PacketSocket, f.Host.XDPProgram)
		}
		p := f.Choose(xdp.Config{})
		if got := fmt.Sprint(p.Methods); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
		for _, r := range p.Refused {
			if !errors.Is(r, os.ErrPermission) {
				t.Errorf("%s: %v is not a missing right", c.what, r)
			}
		}
	}
}
