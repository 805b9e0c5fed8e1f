// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/test/netns"
)

// Two daemons keep three bearers each while the interfaces below change by chance, beside
// connections that carry numbered messages. Whenever the interfaces are as they were, every bearer
// comes up and the links return; no message is lost, doubled or overtaken, but for what Close
// reports; and no descriptor and no chunk is kept. UTIPC_CHANGES says for how long (test/run --long:
// 30 minutes), UTIPC_SEED with which seed it begins.
//
// Mutations: keeper.carryOut opens no bearer again; Packet.Close leaves its sockets open; Close of a
// connection counts nothing as lost; and, in minutes, a Link that forgets what the peer has early.
//
// Proves: device.changes
func TestInterfacesChangeBesideTraffic(t *testing.T) {
	netns.Require(t)
	t.Parallel()
	length, seed := soakLength(t), soakSeed(t)
	x, y := netns.New(t), netns.New(t)
	c := &changing{t: t, hosts: [2]*netns.NS{x, y}}
	c.mend()
	flags := func(i int) []string {
		return []string{
			"--address", fmt.Sprintf("1.1.%d", i+1), "--if", "eth0",
			"--bearer", "device eth1 driver af_packet", "--bearer", "medium udp local " + c.address(i),
		}
	}
	c.daemons = [2]*kept{keepIn(t, x, flags(0)...), keepIn(t, y, flags(1)...)}
	c.right()
	before := [2]inUse{c.inUse(0), c.inUse(1)}
	carried := carry(c.daemons[0].node, c.daemons[1].node)
	rounds, longest := uint64(0), time.Duration(0)
	for end := time.Now().Add(length); rounds < 3 || time.Now().Before(end); rounds++ {
		c.seed, c.chance, c.trace = seed+rounds, rand.New(rand.NewPCG(seed+rounds, 0)), nil
		for range 1 + c.chance.IntN(8) {
			c.change()
			<-time.After(time.Duration(c.chance.IntN(400)) * time.Millisecond) // the pace of the changes
		}
		c.mend()
		began := time.Now()
		c.right()
		longest = max(longest, time.Since(began))
	}
	said := carried.end(t)
	for i := range before {
		c.wait(fmt.Sprintf("daemon %d holds no more than %+v", i, before[i]), func() (string, bool) {
			is := c.inUse(i)
			return fmt.Sprintf("%+v", is), len(is.open) <= len(before[i].open) && is.chunks <= before[i].chunks
		})
	}
	t.Logf("%d rounds of changes from seed %d; right again after %v at most; %s", rounds, seed, longest.Round(time.Millisecond), said)
}

func soakLength(t *testing.T) time.Duration {
	text := os.Getenv("UTIPC_CHANGES")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("UTIPC_CHANGES: %v", err)
	}
	return d
}

func soakSeed(t *testing.T) uint64 {
	text := os.Getenv("UTIPC_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatalf("UTIPC_SEED: %v", err)
	}
	return seed
}

// changing is the interfaces of two hosts, each with a cable to its like at the other: eth0, eth1,
// and eth2 with IP.
type changing struct {
	t       *testing.T
	hosts   [2]*netns.NS
	daemons [2]*kept
	seed    uint64
	chance  *rand.Rand
	trace   []string
}

func (c *changing) address(i int) string { return fmt.Sprintf("10.9.0.%d", i+1) }

// try runs ip(8) in a namespace, which may refuse.
func (c *changing) try(i int, args ...string) error {
	said, err := c.hosts[i].Command("ip", args...).CombinedOutput()
	c.trace = append(c.trace, fmt.Sprintf("host %d: ip %v: %v %s", i, args, err, said))
	return err
}

// change changes one of the interfaces by chance. What it would change may be gone.
func (c *changing) change() {
	i := c.chance.IntN(2)
	dev := fmt.Sprintf("eth%d", c.chance.IntN(3))
	set := func(args ...string) { c.try(i, append([]string{"link", "set", "dev", dev}, args...)...) }
	switch c.chance.IntN(11) {
	case 0:
		c.try(i, "link", "del", "dev", dev)
	case 1: // and is made anew at once
		c.try(i, "link", "del", "dev", dev)
		c.mend()
	case 2:
		set("address", fmt.Sprintf("02:00:00:00:%02x:%02x", c.chance.IntN(256), c.chance.IntN(256)))
	case 3:
		set("mtu", []string{"1400", "1500", "9000"}[c.chance.IntN(3)])
	case 4:
		set("down")
	case 5: // flaps
		for range 1 + c.chance.IntN(10) {
			set("down")
			set("up")
		}
	case 6:
		set("master", "br0")
	case 7:
		set("nomaster")
	case 8:
		c.try(i, "addr", "add", fmt.Sprintf("10.8.%d.1/24", c.chance.IntN(200)), "dev", dev)
	case 9:
		c.try(i, "addr", "flush", "dev", dev)
	case 10: // somebody takes its XDP program away, if there is one
		set("xdpgeneric", "off")
		set("xdp", "off")
	}
}

// mend makes all as it was: but for MACs, which stay as they have become.
func (c *changing) mend() {
	for n := range 3 {
		dev := fmt.Sprintf("eth%d", n)
		if c.try(0, "link", "show", "dev", dev) != nil {
			netns.Veth(c.t, c.hosts[0], c.hosts[1], dev, dev, 1500)
		}
		for i, ns := range c.hosts {
			c.try(i, "link", "add", "br0", "type", "bridge")
			ns.Run("ip", "link", "set", "dev", dev, "nomaster", "mtu", "1500", "up")
			ns.Run("ip", "addr", "flush", "dev", dev)
			if n == 2 {
				ns.Run("ip", "addr", "add", c.address(i)+"/24", "dev", dev)
			}
		}
	}
}

// right waits until every bearer is up and there are two links, which is as many as two nodes have.
func (c *changing) right() {
	for i, k := range c.daemons {
		c.wait(fmt.Sprintf("daemon %d has three bearers and two links", i), func() (string, bool) {
			bearers, links := 0, 0
			all := must.Get(k.node.Admin().Bearers(c.t.Context()))
			for _, b := range all {
				if b.State == "up" {
					bearers++
				}
			}
			state := must.Get(k.node.Admin().Links(c.t.Context()))
			for _, l := range state {
				if l.Up {
					links++
				}
			}
			return fmt.Sprintf("%+v\n%+v", all, state), bearers == 3 && links == 2
		})
	}
}

// inUse is what a daemon has in use.
type inUse struct {
	chunks int
	open   []string // what the descriptors lead to
}

func (c *changing) inUse(i int) inUse {
	dir := fmt.Sprintf("/proc/%d/fd", c.daemons[i].cmd.Process.Pid)
	all, err := os.ReadDir(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	s := must.Get(c.daemons[i].node.Admin().Stats(c.t.Context()))
	is := inUse{chunks: s.ChunksTotal - s.ChunksFree}
	for _, fd := range all {
		to, _ := os.Readlink(filepath.Join(dir, fd.Name()))
		if to != "anon_inode:[eventfd]" { // of which the daemon keeps those that it yielded with
			is.open = append(is.open, to)
		}
	}
	slices.Sort(is.open)
	return is
}

// wait looks again and again until something holds, for as long as a host that stands still may
// take.
func (c *changing) wait(what string, holds func() (is string, ok bool)) {
	c.t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.Now().Add(2 * time.Minute); ; <-look.C {
		is, ok := holds()
		if ok {
			return
		}
		if time.Now().After(late) {
			c.t.Fatalf("seed %d: not so: %s; it is\n%s\nafter\n%s", c.seed, what, is, c.trace)
		}
	}
}
