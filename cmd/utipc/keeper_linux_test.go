// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/test/netns"
)

// A kept is a daemon whose bearers are looked at through a program attached to it.
type kept struct {
	*service
	node *stack.Node
	see  admin.Watch
	ns   *netns.NS
}

// keepIn starts a daemon in a network namespace; nil is the test's own.
func keepIn(t *testing.T, ns *netns.NS, args ...string) *kept {
	t.Helper()
	k := &kept{ns: ns}
	start := func() { k.service = startDaemon(t, filepath.Join(t.TempDir(), "utipc.sock"), args...) }
	if ns != nil {
		ns.Do(start)
	} else {
		start()
	}
	var err error
	if k.node, err = stack.Attach(t.Context(), k.socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.node.Close(t.Context()) })
	if k.see, err = k.node.Admin().Watch(context.Background()); err != nil {
		t.Fatal(err)
	}
	return k
}

// until waits until something holds; it is looked for whenever anything happens to the node.
func (k *kept) until(what string, holds func() bool) {
	k.t.Helper()
	for !holds() {
		if _, err := k.see.Next(k.t.Context()); err != nil {
			k.t.Fatalf("%s: %v\n%s", what, err, k.said())
		}
	}
}

// linked waits until there are links to so many nodes.
func (k *kept) linked(nodes int) {
	k.t.Helper()
	k.until(fmt.Sprintf("%d links", nodes), func() bool {
		up := 0
		for _, l := range must.Get(k.node.Admin().Links(context.Background())) {
			if l.Up {
				up++
			}
		}
		return up == nodes
	})
}

// changed waits for a state of the first bearer and words in its reason.
func (k *kept) changed(state, reason string) {
	k.t.Helper()
	k.until(state+" "+reason, func() bool {
		all := must.Get(k.node.Admin().Bearers(context.Background()))
		return len(all) > 0 && all[0].State == state && strings.Contains(all[0].Reason, reason)
	})
}

// hears waits until a frame of TIPC from a station arrives at the interface.
func hears(t *testing.T, ns *netns.NS, ifname string, from frame.MAC) {
	t.Helper()
	fd := -1
	var err error
	ns.Do(func() { fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0xca88) }) // the EtherType in network byte order
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	b := make([]byte, 2048)
	for {
		n, _, err := unix.Recvfrom(fd, b, 0)
		if err == nil && n > frame.EthernetLen && frame.MAC(b[6:]) == from {
			return
		}
		if err != nil && t.Context().Err() != nil {
			t.Fatalf("no frame from %v: %v", from, err)
		}
	}
}

// What changes under a daemon, and the bearer is back by itself. Each row fails without
// the action of daemon/bearers that keeper.carryOut has for it.
func TestBearersAreKept(t *testing.T) {
	netns.Require(t)
	pair := func(t *testing.T) (a, b *netns.NS, cable func()) {
		a, b = netns.New(t), netns.New(t)
		return a, b, func() { netns.Veth(t, a, b, "eth0", "eth0", 1500) }
	}
	for _, driver := range []string{"af_packet", "af_xdp"} {
		t.Run("interface_remade_"+driver, func(t *testing.T) {
			t.Parallel()
			x, y, cable := pair(t)
			cable()
			a := keepIn(t, x, "--address", "1.1.1", "--bearer", "device eth0 driver "+driver+" priority 7")
			b := keepIn(t, y, "--address", "1.1.2", "--bearer", "device eth0 driver "+driver)
			a.linked(1)
			x.Run("ip", "link", "del", "dev", "eth0")
			a.changed("waiting", "interface eth0 does not exist")
			b.changed("waiting", "interface eth0 does not exist")
			cable()
			a.linked(1)
			a.changed("up", "")
			if got := must.Get(a.node.Admin().Bearers(context.Background()))[0].Links.Priority; got != 7 {
				t.Errorf("got a priority of %d, want 7 as before", got)
			}
		})
		t.Run("mac_changes_"+driver, func(t *testing.T) {
			t.Parallel()
			x, y, cable := pair(t)
			cable()
			a := keepIn(t, x, "--address", "1.1.1", "--bearer", "device eth0 driver "+driver)
			b := keepIn(t, y, "--address", "1.1.2", "--bearer", "device eth0 driver af_packet")
			a.linked(1)
			x.Run("ip", "link", "set", "dev", "eth0", "address", "02:00:00:00:aa:01")
			a.logged(`bearer changed.*state=down reason="interface eth0 has the address 02:00:00:00:aa:01 now`)
			hears(t, y, "eth0", frame.MAC{2, 0, 0, 0, 0xaa, 1})
			a.linked(1)
			b.linked(1)
			a.changed("up", "")
		})
	}
	// Mutation: openNode returns the error of a device that cannot be opened.
	t.Run("missing_at_the_start", func(t *testing.T) {
		t.Parallel()
		x, y, cable := pair(t)
		a := keepIn(t, x, "--address", "1.1.1", "--if", "eth0", "--bearer", "medium udp local 10.9.0.1")
		a.changed("waiting", "interface eth0 does not exist")
		if got := must.Get(a.node.Admin().Bearers(t.Context())); len(got) != 2 || got[1].State != "waiting" || got[1].Reason != "no interface has the address 10.9.0.1" {
			t.Errorf("got %+v, want one that waits for 10.9.0.1", got)
		}
		a.logged(`bearer changed.*bearer=eth:eth0 state=waiting reason="interface eth0 does not exist"`)
		said, _, _ := utipc(nil, "doctor", "--socket", a.socket, "lo")
		if !regexp.MustCompile(`\n  eth:eth0 +waiting for \d+s: interface eth0 does not exist\n`).MatchString(said) {
			t.Errorf("the doctor says\n%s", said)
		}
		cable()
		x.Run("ip", "addr", "add", "10.9.0.1/24", "dev", "eth0")
		b := keepIn(t, y, "--address", "1.1.2", "--if", "eth0")
		a.linked(1)
		b.linked(1)
		a.until("both bearers", func() bool {
			all := must.Get(a.node.Admin().Bearers(t.Context()))
			return len(all) == 2 && all[0].State == "up" && all[1].State == "up"
		})
	})
	// Mutations: keeper.look leaves out Above; report does not compare it.
	t.Run("macvlan_above", func(t *testing.T) {
		t.Parallel()
		x, y, cable := pair(t)
		cable()
		a := keepIn(t, x, "--address", "1.1.1", "--if", "eth0")
		keepIn(t, y, "--address", "1.1.2", "--if", "eth0")
		a.linked(1)
		above := func(want string) {
			t.Helper()
			a.until("above: "+want, func() bool { return must.Get(a.node.Admin().Bearers(t.Context()))[0].Above == want })
		}
		x.Run("ip", "link", "add", "link", "eth0", "name", "mac0", "type", "macvlan", "mode", "bridge")
		above("mac0")
		a.logged(`bearer changed.*bearer=eth:eth0 state=up above=mac0`)
		said, _, _ := utipc(nil, "doctor", "--socket", a.socket, "lo")
		if !regexp.MustCompile(`\n  above eth:eth0 +mac0\n(.*\n)*.*utipc bearer enable media eth device mac0\n`).MatchString(said) {
			t.Errorf("the doctor says\n%s", said)
		}
		x.Run("ip", "link", "del", "dev", "mac0")
		above("")
		a.linked(1)
	})
	// The driver of a bearer that may choose it follows who uses the interface, and says why.
	// Mutations: keeper.look leaves out Users; lookEthernet leaves out Alone, or Shared;
	// Bearers leaves out the driver.
	t.Run("others_use_the_interface", func(t *testing.T) {
		t.Parallel()
		x, y, cable := pair(t)
		cable()
		a := keepIn(t, x, "--address", "1.1.1", "--if", "eth0")
		b := keepIn(t, y, "--address", "1.1.2", "--bearer", "device eth0 driver af_xdp")
		driven := func(driver, why string) {
			t.Helper()
			a.until(driver, func() bool {
				s := must.Get(a.node.Admin().Bearers(t.Context()))[0]
				return s.Driver == driver && strings.Contains(s.DriverReason, why) && s.State == "up"
			})
			a.linked(1)
			b.linked(1)
		}
		driven("af_xdp generic", "the shortest path")
		y.Run("ip", "addr", "add", "10.9.0.2/24", "dev", "eth0")
		x.Run("ip", "addr", "add", "10.9.0.1/24", "dev", "eth0")
		driven("af_packet", "others use the interface (it has the address 10.9.0.1/24), and af_xdp generic would take")
		a.logged(`bearer closed.*reason="others use interface eth0 now: it has the address 10.9.0.1/24"`)
		x.Run("ip", "addr", "del", "10.9.0.1/24", "dev", "eth0")
		driven("af_xdp generic", "the shortest path")
		a.logged(`bearer closed.*reason="nobody else uses interface eth0 any more"`)
		if s := must.Get(b.node.Admin().Bearers(t.Context()))[0]; s.Driver != "af_xdp generic" || s.DriverReason != "af_xdp is asked for" || s.Changes != 1 {
			t.Errorf("the other end, whose driver was asked for: got %+v, want it as it was opened", s)
		}
	})
	t.Run("port_of_a_bridge", func(t *testing.T) {
		t.Parallel()
		x, y, cable := pair(t)
		cable()
		x.Run("ip", "link", "property", "add", "dev", "eth0", "altname", "lan7")
		a := keepIn(t, x, "--address", "1.1.1", "--if", "lan7")
		keepIn(t, y, "--address", "1.1.2", "--if", "eth0")
		a.linked(1)
		if got := must.Get(a.node.Admin().Links(context.Background()))[0].Name; !strings.HasPrefix(got, "1001001:lan7-1001002:eth0") {
			t.Errorf("got the link %s, want one on lan7", got)
		}
		x.Run("ip", "link", "add", "br0", "type", "bridge")
		x.Run("ip", "link", "set", "dev", "eth0", "master", "br0")
		a.changed("waiting", "interface lan7 is a port of br0")
		x.Run("ip", "link", "set", "dev", "eth0", "nomaster")
		a.linked(1)
		x.Run("ip", "link", "set", "dev", "eth0", "master", "br0")
		a.changed("waiting", "br0")
		if err := a.node.Admin().DisableBearer(t.Context(), "lan7"); err != nil {
			t.Errorf("disabling a bearer that waits: %v", err)
		}
		if got := must.Get(a.node.Admin().Bearers(context.Background())); len(got) != 0 {
			t.Errorf("got %+v, want no bearer", got)
		}
	})
	t.Run("namespace_removed", func(t *testing.T) {
		t.Parallel()
		x, y, cable := pair(t)
		cable()
		a := keepIn(t, x, "--address", "1.1.1", "--bearer", "device eth0 driver af_packet")
		b := keepIn(t, y, "--address", "1.1.2", "--bearer", "device eth0 driver af_packet")
		a.linked(1)
		gone := fmt.Sprintf("%s-gone", x.Name)
		x.Run("ip", "netns", "add", gone)
		t.Cleanup(func() { exec.Command("ip", "netns", "del", gone).Run() }) // where the test ends before
		x.Run("ip", "link", "set", "dev", "eth0", "netns", gone)
		a.changed("waiting", "interface eth0 does not exist")
		x.Run("ip", "netns", "del", gone)
		b.changed("waiting", "interface eth0 does not exist") // the pair goes with the namespace
		cable()
		a.linked(1)
		a.changed("up", "")
	})
	// Mutation: damper.holding returns false.
	t.Run("carrier_flaps", func(t *testing.T) {
		t.Parallel()
		x, y, cable := pair(t)
		cable()
		a := keepIn(t, x, "--address", "1.1.1", "--bearer", "device eth0 driver af_packet")
		a.changed("up", "")
		batch := filepath.Join(t.TempDir(), "batch")
		toggles := strings.Repeat("link set dev eth0 down\nlink set dev eth0 up\n", 20)
		if err := os.WriteFile(batch, []byte(toggles), 0o644); err != nil {
			t.Fatal(err)
		}
		y.Run("ip", "-batch", batch)
		a.logged(`state=damped reason="the carrier comes and goes"`)
		a.logged(`(?s)state=damped.*state=up`)
	})
	t.Run("udp_another_address", func(t *testing.T) {
		t.Parallel()
		x, y, cable := pair(t)
		cable()
		x.Run("ip", "addr", "add", "10.9.0.1/24", "dev", "eth0")
		y.Run("ip", "addr", "add", "10.9.0.2/24", "dev", "eth0")
		a := keepIn(t, x, "--address", "1.1.1")
		b := keepIn(t, y, "--address", "1.1.2", "--udp", "10.9.0.2")
		if err := a.node.Admin().EnableBearer(t.Context(), admin.BearerRequest{Medium: "udp", Name: "U", Device: "eth0"}); err != nil {
			t.Fatal(err)
		}
		a.linked(1)
		x.Run("ip", "addr", "add", "10.9.0.7/24", "dev", "eth0")
		x.Run("ip", "addr", "del", "10.9.0.1/24", "dev", "eth0") // takes the other one with it, as secondary
		x.Run("ip", "addr", "replace", "10.9.0.7/24", "dev", "eth0")
		a.logged(`bearer=udp:U state=(down|waiting)`)
		a.until("the new address", func() bool {
			all := must.Get(a.node.Admin().Bearers(t.Context()))
			return len(all) == 1 && all[0].State == "up" && all[0].Local.Addr().String() == "10.9.0.7"
		})
		a.linked(1)
		b.linked(1)
	})
	t.Run("udp_interface_remade", func(t *testing.T) {
		t.Parallel()
		x, y, cable := pair(t)
		plug := func() {
			cable()
			x.Run("ip", "addr", "add", "10.9.0.1/24", "dev", "eth0")
			y.Run("ip", "addr", "add", "10.9.0.2/24", "dev", "eth0")
		}
		plug()
		a := keepIn(t, x, "--address", "1.1.1", "--udp", "10.9.0.1")
		b := keepIn(t, y, "--address", "1.1.2", "--udp", "10.9.0.2")
		a.linked(1)
		b.linked(1)
		x.Run("ip", "link", "del", "dev", "eth0")
		a.changed("down", "no interface has the address 10.9.0.1")
		b.changed("down", "no interface has the address 10.9.0.2")
		plug()
		a.linked(1)
		a.logged(`group joined again`)
		b.logged(`group joined again`)
		l, err := a.node.Listen(t.Context(), "tipc", stack.Service{Type: 20000, Instance: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := b.node.WaitFor(t.Context(), stack.Service{Type: 20000, Instance: 1}); err != nil { // names go to the group
			t.Error(err)
		}
	})
}

// Devices of the table in docs/reference/drivers.md that are bearers; those below are in the kernel here.
// Mutation: masterOf takes the interface below (IFLA_LINK) for a master.
func TestDevicesAsBearers(t *testing.T) {
	netns.Require(t)
	for device, lay := range map[string]func(t *testing.T, x, y *netns.NS){
		"macvlan": func(t *testing.T, x, y *netns.NS) {
			netns.Veth(t, x, y, "eth0", "eth0", 1500)
			x.Run("ip", "link", "add", "link", "eth0", "name", "dev0", "type", "macvlan", "mode", "bridge")
		},
		"bridge": func(t *testing.T, x, y *netns.NS) {
			netns.Veth(t, x, y, "eth0", "eth0", 1500)
			x.Run("ip", "link", "add", "dev0", "type", "bridge", "forward_delay", "0", "mcast_snooping", "0")
			x.Run("ip", "link", "set", "dev", "eth0", "master", "dev0")
		},
		"tap": func(t *testing.T, x, y *netns.NS) { joinTaps(t, x, "dev0", y, "eth0") },
	} {
		t.Run(device, func(t *testing.T) {
			t.Parallel()
			x, y := netns.New(t), netns.New(t)
			lay(t, x, y)
			x.Run("ip", "link", "set", "dev", "dev0", "up")
			a := keepIn(t, x, "--address", "1.1.1", "--if", "dev0")
			b := keepIn(t, y, "--address", "1.1.2", "--if", "eth0")
			a.linked(1)
			b.linked(1)
			a.changed("up", "")
		})
	}
}

// A daemon without descriptors to be had keeps what it has: a bearer whose interface cannot be
// looked at stays, a program that connects is taken when it can be, no loop spins meanwhile,
// and nothing is leaked.
// Mutations: InterfaceByName returns ErrMissing for any error; Serve does not pause.
func TestOutOfDescriptors(t *testing.T) {
	netns.Require(t)
	x, y := netns.New(t), netns.New(t)
	netns.Veth(t, x, y, "eth0", "eth0", 1500)
	a := keepIn(t, x, "--address", "1.1.1", "--tolerance", "30s", "--bearer", "device eth0 driver af_packet")
	keepIn(t, y, "--address", "1.1.2", "--tolerance", "30s", "--bearer", "device eth0 driver af_packet")
	a.linked(1)
	a.changed("up", "")
	pid := a.cmd.Process.Pid
	open := func() int {
		all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	var was unix.Rlimit
	limit := func(set *unix.Rlimit, was *unix.Rlimit) {
		t.Helper()
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, set, was); err != nil {
			t.Fatal(err)
		}
	}
	var told daemon.Counters
	counters := func() daemon.Counters {
		t.Helper()
		if err := a.node.Admin().Call(t.Context(), "daemon", nil, &told); err != nil {
			t.Fatal(err)
		}
		return told
	}
	limit(nil, &was)
	had := counters().Connections
	before, began := open(), time.Now()
	limit(&unix.Rlimit{Cur: 3, Max: was.Max}, nil)
	x.Run("ip", "link", "add", "other", "type", "bridge")
	a.logged(`interfaces not looked at.*too many open files`)
	conn, err := net.Dial("unixpacket", a.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	a.logged(`what=accept.*too many open files`)
	for counters().Errors < 3 { // each after a longer pause
	}
	if most := 10 + uint64(time.Since(began)/time.Second); told.Errors > most { // 5 ms, 10 ms, … 1 s
		t.Errorf("%d errors of accept in %v, want at most %d", told.Errors, time.Since(began), most)
	}
	limit(&was, nil)
	a.logged(`interfaces looked at again`)
	for counters().Connections != had+1 {
	}
	conn.Close()
	for counters().Connections != had {
	}
	for end := time.Now().Add(2 * time.Minute); open() > before; counters() { // it may be looking at interfaces
		if time.Now().After(end) {
			t.Fatalf("%d descriptors afterwards, %d before", open(), before)
		}
	}
	if said := a.said(); strings.Contains(said, "link down") || strings.Contains(said, "state=waiting") {
		t.Error("the bearer did not stay")
	}
}

// Remotes come and go, by the settings and by command, and links to others stay. Fails when
// Wish.reopens looks at the remotes.
func TestRemotesChange(t *testing.T) {
	at := freeUDP(t, 3)
	conf := func(remotes ...string) string {
		return fmt.Sprintf("[[bearer]]\nmedium = \"udp\"\nname = \"U0\"\nlocal = %q\nremotes = [\"%s\"]\n", at[0], strings.Join(remotes, `", "`))
	}
	file := written(t, conf(at[1], at[2]))
	a := keepIn(t, nil, "--config", file, "--address", "1.1.1", "--tolerance", "30s")
	keepIn(t, nil, "--address", "1.1.2", "--tolerance", "30s", "--udp", at[1]+","+at[0])
	keepIn(t, nil, "--address", "1.1.3", "--tolerance", "30s", "--udp", at[2]+","+at[0])
	a.linked(2)
	for _, c := range []string{conf(at[1]), conf(at[1], "127.0.0.1:9"), conf(at[1], at[2])} {
		if err := os.WriteFile(file, []byte(c), 0o644); err != nil {
			t.Fatal(err)
		}
		a.cmd.Process.Signal(syscall.SIGHUP)
		if said := a.told("READY=1"); strings.Contains(said, "reload") {
			t.Errorf("told %q", said)
		}
	}
	to := netip.MustParseAddrPort(at[2])
	for _, err := range []error{a.node.Admin().RemoveRemote(context.Background(), "U0", to), a.node.Admin().AddRemote(context.Background(), "U0", to)} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := a.node.Admin().RemoveRemote(context.Background(), "U0", netip.MustParseAddrPort("127.0.0.1:10")); err == nil {
		t.Error("a remote that is none was removed")
	}
	if got := strings.Count(a.said(), "link down"); got != 0 {
		t.Errorf("%d links went down", got)
	}
	if up := len(must.Get(a.node.Admin().Links(context.Background()))); up != 2 {
		t.Errorf("got %d links, want 2", up)
	}
}
