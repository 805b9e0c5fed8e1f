// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// descriptors lists what a process has open, a line for each kind, without the events that
// nobody has made readable: package daemon keeps one for each program that ever had to let
// others have their turn. A device that was closed leaves a readable one until it is let go.
func descriptors(t *testing.T, pid int) (list string) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d", pid)
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range files {
		to, err := os.Readlink(filepath.Join(dir, "fd", f.Name()))
		if err != nil {
			continue // it is closed
		}
		about, _ := os.ReadFile(filepath.Join(dir, "fdinfo", f.Name()))
		if strings.Contains(to, "eventfd") && strings.Contains(strings.Join(strings.Fields(string(about)), " "), "eventfd-count: 0 ") {
			continue
		}
		kind, _, _ := strings.Cut(to, ":[") // without the inode of sockets
		all = append(all, kind)
	}
	slices.Sort(all)
	for _, kind := range slices.Compact(slices.Clone(all)) {
		n := 0
		for _, k := range all {
			if k == kind {
				n++
			}
		}
		list += fmt.Sprintf("%d %s\n", n, kind)
	}
	return list
}

// A changedHost is a daemon with a bearer over AF_PACKET, one over AF_XDP with two queues, and
// one over UDP, whose cables end in another namespace.
type changedHost struct {
	*kept
	t    *testing.T
	x, y *netns.NS
}

// changedDevices are the interfaces of the bearers, in their order.
var changedDevices = []string{"eth0", "eth1", "eth2"}

// cable makes the interface of a bearer, at first under another name.
func (h *changedHost) cable(i int, name string) {
	h.t.Helper()
	netns.VethQueues(h.t, h.x, h.y, name, changedDevices[i], 1500, 2)
	if i == 2 {
		h.x.Run("ip", "addr", "add", "10.9.0.1/24", "dev", name)
	}
}

// set changes an interface.
func (h *changedHost) set(i int, args ...string) {
	h.x.Run("ip", append([]string{"link", "set", "dev", changedDevices[i]}, args...)...)
}

// bearers returns the bearers in the order of their interfaces.
func (h *changedHost) bearers() (all [3]admin.BearerStatus) {
	for _, b := range must.Get(h.node.Admin().Bearers(h.t.Context())) {
		all[map[string]int{"eth0": 0, "eth1": 1, "U": 2}[b.Name]] = b
	}
	return all
}

// states waits for the states of some bearers, "" being any, all after more than since changes.
func (h *changedHost) states(want, since [3]admin.BearerStatus) {
	h.t.Helper()
	h.until(fmt.Sprintf("%+v", want), func() bool {
		for i, b := range h.bearers() {
			if want[i].State != "" && (b.State != want[i].State || b.Changes <= since[i].Changes || !strings.Contains(b.Reason, want[i].Reason)) {
				return false
			}
		}
		return true
	})
}

// queues gives the interface of the bearer over AF_XDP so many receive queues. The kernel refuses
// to take away one that has a socket, which is for some milliseconds after that was closed.
func (h *changedHost) queues(n uint32) {
	h.t.Helper()
	var err error
	h.soon(func() bool {
		h.x.Do(func() { err = setReceiveQueues("eth1", n) })
		return err == nil
	}, func() string { return err.Error() })
}

// soon looks until something holds, of which nobody tells.
func (h *changedHost) soon(holds func() bool, got func() string) {
	h.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); !holds(); <-tick.C {
		if time.Now().After(end) {
			h.t.Fatal(got())
		}
	}
}

// takenBefore makes the interfaces of two bearers of which somebody else has one, and has a
// program on the other. They close what is returned.
func (h *changedHost) takenBefore() (others []io.Closer) {
	h.t.Helper()
	h.cable(0, "other0")
	h.cable(1, "other1")
	h.x.Do(func() {
		others = append(others, must.Get(xdp.OpenPacket("other0", nil)))
		p := must.Get(ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "Apache-2.0", Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}}))
		defer p.Close()
		others = append(others, must.Get(link.AttachXDP(link.XDPOptions{Program: p, Interface: must.Get(net.InterfaceByName("other1")).Index, Flags: link.XDPGenericMode})))
	})
	for i := range others {
		name := fmt.Sprintf("other%d", i)
		h.x.Run("ip", "link", "set", "dev", name, "down")
		h.x.Run("ip", "link", "set", "dev", name, "name", changedDevices[i])
		h.set(i, "up")
	}
	return others
}

// Whatever changes under a daemon, when all is as before it has the same descriptors as
// before, and none of them waits for the garbage collector, which does not run here.
// Mutations: local.enable does not call Receive; disable does not retire the device.
func TestChangesLoseNoDescriptor(t *testing.T) {
	netns.Require(t)
	if !inOwnProcess(t) {
		return
	}
	t.Setenv("GOGC", "off")
	h := &changedHost{t: t, x: netns.New(t), y: netns.New(t)}
	h.x.Run("ip", "link", "add", "br0", "type", "bridge")
	for i, name := range changedDevices {
		h.cable(i, name)
	}
	bearers := []admin.BearerRequest{
		{Medium: "eth", Device: "eth0", Driver: "af_packet"},
		{Medium: "eth", Device: "eth1", Driver: "af_xdp"},
		{Medium: "udp", Name: "U", LocalIP: netip.MustParseAddr("10.9.0.1")},
	}
	h.kept = keepIn(t, h.x, "--address", "1.1.1", "--bearer", "device eth0 driver af_packet", "--bearer", "device eth1 driver af_xdp", "--bearer", "medium udp name U local 10.9.0.1")
	state := func(eth0, eth1, udp string) (s [3]admin.BearerStatus) {
		for i, want := range []string{eth0, eth1, udp} {
			s[i].State, s[i].Reason, _ = strings.Cut(want, ": ")
		}
		return s
	}
	var never [3]admin.BearerStatus
	up := state("up", "up", "up")
	h.states(up, never)
	pid := h.cmd.Process.Pid
	had := descriptors(t, pid)
	var others []io.Closer
	for _, c := range []struct {
		change   string
		do       func()
		down     [3]admin.BearerStatus // what it leads to
		undo     func()
		affected [3]admin.BearerStatus // that are up again afterwards
	}{
		{"removed", func() {
			for _, name := range changedDevices {
				h.x.Run("ip", "link", "del", "dev", name)
			}
		}, state("waiting", "waiting", "down"), func() {
			for i, name := range changedDevices {
				h.cable(i, name)
			}
		}, up},
		{"address", func() {
			h.set(0, "address", "02:00:00:00:aa:01")
			h.set(1, "address", "02:00:00:00:aa:02")
		}, never, func() {}, state("up", "up", "")},
		{"port, and queues", func() {
			h.set(0, "master", "br0")
			h.set(1, "master", "br0")
		}, state("waiting", "waiting", ""), func() {
			h.queues(1)
			h.set(0, "nomaster")
			h.set(1, "nomaster")
			h.states(up, never)
			was := h.bearers()
			h.queues(2)
			h.states(state("", "up", ""), was)
		}, state("up", "up", "")},
		{"taken", func() {
			h.x.Run("ip", "link", "del", "dev", "eth0")
			h.x.Run("ip", "link", "del", "dev", "eth1")
			h.states(state("waiting: does not exist", "waiting: does not exist", ""), never)
			others = h.takenBefore()
		}, state("waiting: belongs to another", "waiting: XDP program", ""), func() {
			for _, o := range others {
				o.Close()
			}
		}, state("up", "up", "")},
		{"refused", func() {
			for _, r := range bearers {
				if err := h.node.Admin().DisableBearer(t.Context(), r.Device+r.Name); err != nil {
					t.Fatal(err)
				}
				bad := r
				bad.Priority = 99
				if err := h.node.Admin().EnableBearer(t.Context(), bad); err == nil {
					t.Errorf("a priority of 99 is not refused")
				}
			}
		}, never, func() {
			for _, r := range bearers {
				if err := h.node.Admin().EnableBearer(t.Context(), r); err != nil {
					t.Error(err)
				}
			}
		}, never},
		{"removed in the middle", func() {
			for range 3 {
				for i, name := range changedDevices {
					h.x.Run("ip", "link", "del", "dev", name)
					h.cable(i, name)
				}
			}
		}, never, func() {}, state("up", "up", "")}, // over UDP it may go on without a word
	} {
		was := h.bearers()
		c.do()
		h.states(c.down, was)
		c.undo()
		h.states(c.affected, was)
		h.states(up, never)
		has := ""
		h.soon(func() bool {
			has = descriptors(t, pid)
			return has == had
		}, func() string { return fmt.Sprintf("%s: the daemon has\n%sit had\n%s", c.change, has, had) })
	}
}
