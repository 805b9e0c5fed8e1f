// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/tap"
	"github.com/utipc/utipc/test/interop/rig"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// rawEnd opens the interface's frames as a descriptor for a guest, whose
// interface then is this one.
func rawEnd(t *testing.T, ns *netns.NS, name string) rig.Link {
	t.Helper()
	ns.Run("ip", "link", "set", "dev", name, "address", kernelMAC.String())
	var link rig.Link
	ns.Do(func() {
		ifi, err := net.InterfaceByName(name)
		if err != nil {
			t.Fatal(err)
		}
		proto := uint16(frame.EtherType)
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
		if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: proto<<8 | proto>>8, Ifindex: ifi.Index}); err != nil {
			t.Fatal(err)
		}
		link = rig.Link{MAC: kernelMAC[:], File: os.NewFile(uintptr(fd), name)}
	})
	t.Cleanup(func() { link.Close() })
	return link
}

// TestPacketWithKernel has a node on AF_PACKET at one end of a veth pair and a
// kernel at the other, and lets another reader judge every frame.
//
// Proves: device.tshark
func TestPacketWithKernel(t *testing.T) {
	netns.Require(t)
	tshark := need(t, "tshark")
	rig.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	t.Cleanup(cancel)
	a, z := netns.New(t), netns.New(t)
	netns.Veth(t, a, z, "ours", "theirs", 1500)
	var dev netdev.Device
	a.Do(func() {
		var err error
		if dev, err = xdp.OpenPacket("ours", nil); err != nil {
			t.Fatal(err)
		}
	})
	b := &bed{t: t, ctx: ctx, link: rawEnd(t, z, "theirs"), shut: func() {}}
	var wire bytes.Buffer
	b.open(tap.New(dev, &wire, tap.Config{}), stack.Config{})
	b.boot()
	b.contact()
	b.echoed(ourService)
	b.theirs(ourService)
	for _, size := range echoSizes {
		j, _ := b.job("rdm-send", "18888", "17", "-n", "3", "-s", fmt.Sprint(size), "-q")
		b.expect(j, "done sent=3 echoed=3 rejects=0 bad=0")
	}
	b.run("peer rdm-send @1001001:3333 -D -n 1 -s 1300")
	b.job("mcast-send", "18888", "17", "17", "-n", "20", "-b")
	if err := b.node.Close(ctx); err != nil {
		t.Error(err)
	}

	file := filepath.Join(t.TempDir(), "wire.pcapng")
	if err := os.WriteFile(file, wire.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	read := func(filter string) string {
		out, err := exec.CommandContext(ctx, tshark, "-r", file, "-Y", filter).Output()
		if err != nil {
			t.Fatalf("tshark: %v", err)
		}
		return string(out)
	}
	if bad := read("_ws.malformed or not tipc"); bad != "" {
		t.Errorf("tshark does not like:\n%s", bad)
	}
	n := strings.Count(read("tipc"), "\n")
	t.Logf("tshark takes all %d frames for TIPC, none for malformed", n)
	if n < 100 {
		t.Errorf("only %d frames were recorded", n)
	}
}

// A kernel whose TIPC has a bearer on the interface keeps us off it.
//
// Proves: device.open
func TestKernelOwnsInterface(t *testing.T) {
	bin := buildUtipc(t)
	b := newBed(t, 15*time.Minute)
	t.Cleanup(func() { b.cable.Close() })
	g, err := rig.Start(b.ctx, rig.Require(t), rig.Options{
		Name: "kernel", Address: "1.1.2", Links: []rig.Link{b.link}, Enable: true, Mem: 192,
		Files: map[string]string{"/bin/utipc": bin},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ping := "utipc ping --if eth0 --timeout 3s --address 1.1.3 18888:17"
	out, err := g.Run(b.ctx, ping)
	if want := regexp.MustCompile(`eth0.*kernel.*tipc bearer disable media eth device eth0`); err == nil || !want.MatchString(out+fmt.Sprint(err)) {
		t.Errorf("with the kernel's bearer: got %q, %v", out, err)
	}
	if _, err := g.Run(b.ctx, "tipc bearer disable media eth device eth0"); err != nil {
		t.Fatal(err)
	}
	out, err = g.Run(b.ctx, ping)
	if err == nil || !strings.Contains(out+fmt.Sprint(err), "nobody has bound 18888:17") {
		t.Errorf("without it: got %q, %v", out, err)
	}
}
