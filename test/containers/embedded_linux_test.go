// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/netns"
)

// rights are those that a carrier may need.
var rights = []struct {
	name   string
	number int
}{{"CAP_NET_RAW", unix.CAP_NET_RAW}, {"CAP_NET_ADMIN", unix.CAP_NET_ADMIN}, {"CAP_BPF", unix.CAP_BPF}, {"CAP_IPC_LOCK", unix.CAP_IPC_LOCK}}

const nobody = 65534

// opens reports whether a node of nobody's, with these of the rights, opens its bearer in
// the namespace.
func opens(t *testing.T, ns *netns.NS, have int, flags ...string) bool {
	t.Helper()
	c := container{net: ns, user: nobody, proc: true}
	for i, r := range rights {
		if have>>i&1 != 0 {
			c.caps |= 1 << r.number
		}
	}
	s := serve(t, ns, c.command(within(t), t, append(append([]string{"echo", "--address", "1.1.1"}, flags...), "18888:17")...))
	ok := strings.HasPrefix(s.first, "echo: node 1001001 ")
	s.stop()
	return ok
}

// least tries sets of the rights, smaller ones first, and returns the smallest that do.
func least(does func(have int) bool) string {
	sets := make([]int, 1<<len(rights))
	for i := range sets {
		sets[i] = i
	}
	slices.SortStableFunc(sets, func(a, b int) int { return bits.OnesCount(uint(a)) - bits.OnesCount(uint(b)) })
	var found []int
	var names []string
	for _, have := range sets {
		if slices.ContainsFunc(found, func(less int) bool { return less&have == less }) || !does(have) {
			continue
		}
		found = append(found, have)
		var of []string
		for i, r := range rights {
			if have>>i&1 != 0 {
				of = append(of, r.name)
			}
		}
		if of == nil {
			of = []string{"none"}
		}
		names = append(names, strings.Join(of, ", "))
	}
	return strings.Join(names, "; or ")
}

// lockable limits the memory that this process, and those it starts, may lock to 8 MiB,
// which is what Debian gives a user, for the length of the test.
func lockable(t *testing.T) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 8 << 20, Max: 8 << 20}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old) }) // no test here needs more, should it fail
}

// TestRightsOfCarriers tries the sets of rights with every carrier, as a user
// who has no other, and compares with the table in docs/how-to/containers.md.
//
// Proves: tools.containers
func TestRightsOfCarriers(t *testing.T) {
	require(t)
	text, err := os.ReadFile("../../docs/how-to/containers.md")
	if err != nil {
		t.Fatal(err)
	}
	lockable(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, "left", "right", 1500)
	a.Run("ip", "link", "set", "dev", "lo", "up")
	a.Run("ip", "link", "add", "link", "left", "name", "mv0", "type", "macvlan", "mode", "bridge")
	a.Run("ip", "link", "set", "dev", "mv0", "up")
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"UDP", []string{"--udp", "127.0.0.1:6118,127.0.0.1:6119"}},
		{"AF_PACKET on a veth", []string{"--if", "left", "--driver", "af_packet"}},
		{"AF_XDP on a veth", []string{"--if", "left", "--driver", "af_xdp"}},
		{"the better on a veth", []string{"--if", "left"}},
		{"AF_PACKET on a macvlan", []string{"--if", "mv0", "--driver", "af_packet"}},
		{"the better on a macvlan", []string{"--if", "mv0"}},
	} {
		needs := least(func(have int) bool { return opens(t, a, have, c.flags...) })
		if row := fmt.Sprintf("| %s | %s |", c.name, needs); !strings.Contains(string(text), row) {
			t.Errorf("docs/how-to/containers.md has no row %q", row)
		}
	}
}

// TestNodesOnMacvlans: two containers, each with a node of its own on a macvlan of one
// interface of the host, and no right but CAP_NET_RAW.
//
// Proves: tools.containers
func TestNodesOnMacvlans(t *testing.T) {
	require(t)
	host, cable, a, b := netns.New(t), netns.New(t), netns.New(t), netns.New(t)
	netns.Veth(t, host, cable, "eth9", "other", 1500)
	for i, ns := range []*netns.NS{a, b} {
		name := fmt.Sprintf("tipc%d", i)
		host.Run("ip", "link", "add", "link", "eth9", "name", name, "type", "macvlan", "mode", "bridge")
		host.Run("ip", "link", "set", "dev", name, "netns", ns.Path())
		ns.Run("ip", "link", "set", "dev", name, "up")
		ns.WaitCarrier(name, true)
	}
	ctx := within(t)
	raw := container{net: a, user: nobody, caps: 1 << unix.CAP_NET_RAW}
	echo := serve(t, a, raw.command(ctx, t, "echo", "--if", "tipc0", "--address", "1.1.1", "--tolerance", tolerance, "18888:17"))
	if !strings.Contains(echo.first, "node 1001001 on tipc0") {
		t.Fatalf("echo: got %q, %q", echo.first, echo.said())
	}
	out, status := output(t, b, raw.command(ctx, t, "ping", "--if", "tipc1", "--address", "1.1.2", "--tolerance", tolerance, "--timeout", waiting, "--count", "5", "--interval", "0", "18888:17"))
	wantPing(t, "macvlans", out, status)
}

// TestNodeInRootlessContainer: a container whose root is nobody on the host has a veth of
// its own: its network namespace belongs to its user namespace, so that its root may open
// packet sockets there. AF_XDP needs rights of the host's, and says so.
//
// Proves: tools.containers
func TestNodeInRootlessContainer(t *testing.T) {
	require(t)
	host := netns.New(t)
	ctx := within(t)
	// The container's first program waits until it is given its interface: 'decode -' reads
	// the standard input. Others then enter its namespaces.
	pause := container{ids: 100000}.command(ctx, t, "decode", "-")
	in, err := pause.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, nil, pause)
	t.Cleanup(func() { in.Close(); pause.Wait() })
	pid := fmt.Sprint(pause.Process.Pid)
	waitFor(t, nil, func() bool { // it has become /utipc, and its namespaces stand
		name, _ := os.ReadFile("/proc/" + pid + "/comm")
		return strings.TrimSpace(string(name)) == "utipc"
	})
	host.Run("ip", "link", "add", "left", "type", "veth", "peer", "name", "eth0", "netns", pid)
	host.Run("ip", "link", "set", "dev", "left", "up")
	host.Run("nsenter", "--target", pid, "--net", "ip", "link", "set", "dev", "eth0", "up")
	host.WaitCarrier("left", true)
	binary := image(t) + "/utipc"

	raw := container{net: host, user: nobody, caps: 1 << unix.CAP_NET_RAW}
	echo := serve(t, host, raw.command(ctx, t, "echo", "--if", "left", "--driver", "af_packet", "--address", "1.1.1", "--tolerance", tolerance, "18888:17"))
	if echo.first == "" {
		t.Fatalf("echo: got %q", echo.said())
	}
	nodeInside := func(args ...string) (string, int) {
		return output(t, nil, host.Command("nsenter", append([]string{
			"--target", pid, "--user", "--net", "--setuid", "0", "--setgid", "0", "--",
			binary, "ping", "--if", "eth0", "--address", "1.1.2", "--tolerance", tolerance, "--timeout", waiting,
		}, args...)...))
	}
	out, status := nodeInside("--count", "5", "--interval", "0", "18888:17")
	wantPing(t, "rootless", out, status)
	out, status = nodeInside("--driver", "af_xdp", "--count", "1", "18888:17")
	if status == 0 || !strings.Contains(out, "CAP_BPF") && !strings.Contains(out, "not permitted") {
		t.Errorf("AF_XDP, rootless: got status %d, %q, want a word on rights", status, out)
	}
}
