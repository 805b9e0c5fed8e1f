// SPDX-License-Identifier: Apache-2.0

//go:build !race

package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
)

// A message costs no allocation: neither on its way into the node, nor out of it, over the
// socket and over the ring.
//
// Proves: daemon.cost
func TestMessageAllocatesNothing(t *testing.T) {
	b := newBed(t, daemon.Config{})
	for _, ring := range []bool{false, true} {
		p := b.program(t)
		own := p.socket(attach.KindRDM)
		if ring {
			p.useRing(0)
		}
		p.c.SetDeadline(time.Time{})
		h, in := attach.Header{Op: attach.OpSend, Addr: own}, attach.Header{}
		data, buf := make([]byte, 64), make([]byte, 100)
		trip := func() {
			if err := p.c.Write(&h, data); err != nil {
				t.Fatal(err)
			}
			if _, err := p.c.Read(&in, buf); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			trip()
		}
		if got := testing.AllocsPerRun(3000, trip); got != 0 {
			t.Errorf("ring %v: %v allocations a message, want 0", ring, got)
		}
	}
}

// What a socket costs the daemon while nothing happens: memory, and no processor.
//
// Proves: daemon.cost
func TestMemoryOfSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	c := startChild(t, "daemon", "SOCKET="+path, "PORTS="+strings.Join(ports(t, 2), " "))
	b := &bed{path: path}
	resident := func() (kib int) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "VmRSS:")
		fmt.Sscan(rest, &kib)
		return kib
	}
	var conns []*attach.Conn // to be kept
	sockets := func(k int) {
		for range k {
			p := b.dial(t)
			conns = append(conns, p.c)
			p.ask(attach.HelloRequest(1, 0, "test"))
			own := p.socket(attach.KindRDM)
			for range 3 {
				p.send(attach.Header{Op: attach.OpSend, Addr: own}, make([]byte, 1000))
				p.read()
			}
		}
	}
	sockets(100) // and all that is made once
	before := resident()
	const k = 1000
	sockets(k)
	each := float64(resident()-before) / k
	t.Logf("%d sockets take %.1f KiB each in the daemon; at most 20 are aimed at", k, each)
	if each > 80 {
		t.Errorf("%.1f KiB for each socket", each)
	}
}
