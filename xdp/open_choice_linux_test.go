// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
	contract "github.com/utipc/utipc/test/device"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

var _ netdev.Device = xdp.Bearer(nil)

func init() { roles["little memory"] = openWithLittleMemory }

// choose opens what is best; the test closes it.
func choose(t *testing.T, ns *netns.NS, name string, cfg *xdp.Config) (xdp.Bearer, error) {
	t.Helper()
	return chooseWithin(t, ns, name, cfg, patient)
}

// chooseWithin is choose with timeouts.
func chooseWithin(t *testing.T, ns *netns.NS, name string, cfg *xdp.Config, timeouts xdp.Timeouts) (xdp.Bearer, error) {
	t.Helper()
	var b xdp.Bearer
	var err error
	ns.Do(func() { b, err = timeouts.Open(name, cfg) })
	if err == nil {
		t.Cleanup(func() { b.Close() })
	}
	return b, err
}

// Proves: device.choice
func TestOpenChooses(t *testing.T) {
	netns.Require(t)
	for _, c := range []struct {
		mtu  int
		cfg  *xdp.Config
		want string
	}{
		{1500, nil, "af_xdp generic"},
		{2048, nil, "af_xdp generic"},
		{2049, nil, "af_packet"},
		{65000, nil, "af_packet"},
		{1500, &xdp.Config{Driver: xdp.AFPacket, Packet: &xdp.PacketConfig{ReceiveBuffer: 1 << 20}}, "af_packet"},
		{3000, &xdp.Config{Driver: xdp.AFXDP}, "af_xdp generic"},
		{1500, &xdp.Config{XSK: &xdp.XSKConfig{Mode: xdp.ModeNative, Fill: 64}}, "af_xdp native"},
	} {
		d := newBed(t, c.mtu)
		b, err := choose(t, d.a, nameA, c.cfg)
		if err != nil {
			t.Errorf("MTU %d, %+v: %v", c.mtu, c.cfg, err)
			continue
		}
		if got := b.Method().String(); got != c.want || b.Name() != nameA || b.Reason() == "" {
			t.Errorf("MTU %d, %+v: got %s, want %s", c.mtu, c.cfg, got, c.want)
		}
		kind := fmt.Sprintf("%T", b.Driver())
		if want := map[bool]string{true: "*xdp.Packet", false: "*xdp.XSK"}[c.want == "af_packet"]; kind != want || !strings.Contains(b.String(), nameA) {
			t.Errorf("MTU %d: got a %s, %s, want a %s", c.mtu, kind, b, want)
		}
		// A frame goes out, whatever takes it at the other end.
		p, _ := open(t, d.b, nameB, nil)
		if err := b.Attach(newArena(c.mtu), nil); err != nil {
			t.Errorf("MTU %d: Attach: %v", c.mtu, err)
			continue
		}
		if n, err := b.Transmit(buffers(t, raw(p.Addr(), b.Addr(), 64, 1))); n != 1 && b.Method().Driver == xdp.AFPacket || err != nil {
			t.Errorf("MTU %d: Transmit: got %d, %v", c.mtu, n, err)
		}
		b.Close()
		p.Close()
	}
}

// What is chosen keeps the device contract.
//
// Proves: device.choice
func TestChosenDevice(t *testing.T) {
	netns.Require(t)
	contract.Run(t, func(t *testing.T) (a, b netdev.Device) {
		d := newBed(t, 1500)
		x, err := choose(t, d.a, nameA, nil)
		if err != nil {
			t.Fatal(err)
		}
		y, err := choose(t, d.b, nameB, &xdp.Config{Driver: xdp.AFPacket})
		if err != nil {
			t.Fatal(err)
		}
		return x, y
	})
}

func TestOpenRefusesAsTheDriversDo(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("ip", "link", "add", "down0", "type", "veth", "peer", "name", "down1")
	for name, want := range map[string]error{"lo": xdp.ErrLoopback, "down0": xdp.ErrDown, "eth9": xdp.ErrMissing, "": xdp.ErrMissing} {
		_, err := choose(t, d.a, name, nil)
		_, plain := choosePacket(d.a, name)
		if !errors.Is(err, want) || plain == nil || err.Error() != plain.Error() {
			t.Errorf("%q: got %v, want %v", name, err, plain)
		}
	}
	open(t, d.a, nameA, nil)
	var owned *xdp.OwnedError
	if _, err := choose(t, d.a, nameA, nil); !errors.As(err, &owned) || !strings.Contains(owned.Owner, fmt.Sprint("pid ", os.Getpid())) {
		t.Errorf("owned: got %v", err)
	}
}

func choosePacket(ns *netns.NS, name string) (p *xdp.Packet, err error) {
	ns.Do(func() { p, err = patient.OpenPacket(name, nil) })
	if p != nil {
		p.Close()
	}
	return p, err
}

// attachPass puts a program on the interface that lets everything pass.
func attachPass(t *testing.T, ns *netns.NS, name string) link.Link {
	t.Helper()
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.XDP, License: "Apache-2.0", Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var l link.Link
	ns.Do(func() {
		var f xdp.Facts
		if f, err = patient.Probe(name); err == nil {
			l, err = link.AttachXDP(link.XDPOptions{Program: p, Interface: f.Link.Index, Flags: link.XDPGenericMode})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Proves: device.choice
func TestOpenBesideAnotherProgram(t *testing.T) {
	d := newBed(t, 1500)
	l := attachPass(t, d.a, nameA)
	hasty := xdp.Timeouts{Program: 100 * time.Millisecond}
	b, err := chooseWithin(t, d.a, nameA, nil, hasty)
	if err != nil {
		t.Fatal(err)
	}
	why := b.Why()
	if b.Method().Driver != xdp.AFPacket || len(why) != 2 || !errors.Is(why[0], xdp.ErrProgram) || !strings.Contains(b.String(), "another XDP program is attached (generic, id ") {
		t.Errorf("got %v, %v", b, why)
	}
	b.Close()
	_, err = chooseWithin(t, d.a, nameA, &xdp.Config{Driver: xdp.AFXDP}, hasty)
	var none *xdp.ChoiceError
	if !errors.As(err, &none) || !errors.Is(err, xdp.ErrProgram) || none.Interface != nameA || len(none.Refused) != 3 {
		t.Errorf("AF_XDP alone: got %v", err)
	}
	// A program that is about to go is waited for.
	done := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() { l.Close(); close(done) })
	b, err = choose(t, d.a, nameA, nil)
	<-done
	if err != nil || b.Method().String() != "af_xdp generic" {
		t.Errorf("after the program has gone: got %v, %v", b, err)
	}
}

// A driver that refuses at Attach makes way for the next, which is opened in the
// namespace of the first although Attach is called elsewhere.
//
// Proves: device.choice
func TestAttachFallsBackInItsNamespace(t *testing.T) {
	d := newBed(t, 1500)
	b, err := chooseWithin(t, d.a, nameA, nil, xdp.Timeouts{Queue: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	// Its queue becomes another's.
	thief := stealQueue(t, d.a, nameA, b)
	arena := newArena(1500)
	if err := b.Attach(arena, nil); err != nil {
		t.Fatal(err)
	}
	unix.Close(thief)
	if b.Method().Driver != xdp.AFPacket || !strings.Contains(b.String(), "not af_xdp generic: ") {
		t.Fatalf("got %v, want AF_PACKET instead of AF_XDP", b)
	}
	p, _ := open(t, d.b, nameB, nil)
	if n, err := b.Transmit(buffers(t, raw(p.Addr(), b.Addr(), 64, 1))); n != 1 || err != nil {
		t.Errorf("Transmit: got %d, %v", n, err)
	}
	await(t, p, 1)
	b.Close()
	if got := arena.Free(); got != arena.Total() {
		t.Errorf("after Close %d chunks of %d are free", got, arena.Total())
	}
}

// stealQueue binds a socket to the interface's first queue, with memory of its own.
func stealQueue(t *testing.T, ns *netns.NS, name string, b xdp.Bearer) (fd int) {
	t.Helper()
	var err error
	ns.Do(func() {
		var f xdp.Facts
		if f, err = patient.Probe(name); err == nil {
			fd, err = xdp.TakeQueue(f.Link.Index, 0)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// Memory that may not be locked is found out at Attach when the arena is larger
// than was said.
//
// Proves: device.choice
func TestLittleMemory(t *testing.T) {
	d := newBed(t, 1500)
	const netAdmin, netRaw, bpf = 12, 13, 39 // linux/capability.h
	cmd := exec.Command("/proc/self/exe", nameA)
	cmd.Env = append(os.Environ(), roleKey+"=little memory")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		// Locked memory is counted for a user, so this one is of no other process.
		Credential: &syscall.Credential{Uid: uint32(100000 + os.Getpid()), Gid: 65534}, AmbientCaps: []uintptr{netRaw, netAdmin, bpf},
	}
	var out []byte
	var err error
	d.a.Do(func() { out, err = cmd.CombinedOutput() })
	got := string(out)
	if err != nil || !strings.Contains(got, "told: af_packet of 2; too little memory may be locked: true") ||
		!strings.Contains(got, "opened: af_xdp generic\nattached: af_packet <nil>\n") || !strings.Contains(got, "locked memory (RLIMIT_MEMLOCK)") {
		t.Errorf("got %s, %v", got, err)
	}
}

// openWithLittleMemory is the other process of TestLittleMemory.
func openWithLittleMemory(name string) {
	// Enough to try a queue with, and too little for 512 chunks.
	limit := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		fmt.Println(err)
		return
	}
	b, err := patient.Open(name, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	why := b.Why()
	fmt.Printf("told: %v of %d; too little memory may be locked: %v\n", b.Method(), len(why), errors.Is(why[0], xdp.ErrMemory))
	b.Close()
	if b, err = patient.Open(name, &xdp.Config{Memory: 4096}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("opened:", b.Method())
	err = b.Attach(netdev.NewArena(netdev.ArenaConfig{Small: 512}), nil)
	fmt.Println("attached:", b.Method(), err)
	fmt.Println(b)
	b.Close()
}

// Mutation it catches: openText that forgets the driver.
func TestOpenText(t *testing.T) {
	netns.Require(t)
	bed := newBed(t, 1500)
	open, _ := netdev.Registered("eth")
	for _, c := range []struct{ driver, want string }{{"", "af_xdp generic"}, {"af_packet", "af_packet"}} {
		x := &netdev.Text{Place: nameA, Options: url.Values{}}
		if c.driver != "" {
			x.Options.Set("driver", c.driver)
		}
		var d netdev.Device
		var err error
		bed.a.Do(func() { d, err = open(x) })
		if err != nil {
			t.Fatal(err)
		}
		if got := d.(xdp.Bearer).Method().String(); got != c.want {
			t.Errorf("driver %q: got %s, want %s", c.driver, got, c.want)
		}
		d.Close()
	}
	for _, bad := range []string{"driver=fast", "colour=red"} {
		q, _ := url.ParseQuery(bad)
		if _, err := open(&netdev.Text{Place: nameA, Options: q}); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
