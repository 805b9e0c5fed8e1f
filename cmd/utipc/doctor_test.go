// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/xdp"
)

// fact is one that is known.
func fact[T any](v T) xdp.Fact[T] { return xdp.Fact[T]{Value: v} }

// healthy is a host and a card without a shortcoming.
func healthy() xdp.Facts {
	works := xdp.Trial{Result: xdp.Works}
	return xdp.Facts{
		Host: xdp.Host{
			Kernel:       fact("6.12.1"),
			Capabilities: fact(xdp.Capabilities{NetRaw: true, NetAdmin: true, BPF: true, IPCLock: true}),
			PacketSocket: works, XDPSocket: works, XDPProgram: works,
			LockedMemory: fact[int64](-1), ReceiveBuffer: fact[int64](212992),
			CPUs: fact(4), Isolated: fact("2-3"), Tickless: fact("2-3"), Quota: fact(xdp.Quota{}),
		},
		Link: xdp.Link{
			Name: "eth7", Index: 7, Address: "02:00:00:00:00:07", Ethernet: true, Up: true, Carrier: true, MTU: 1500,
			Driver: fact("ice"), XDP: fact(xdp.Features{Native: true, Redirect: true, ZeroCopy: true, MultiBuffer: true, ZeroCopySegments: 5}),
			Queues: fact(xdp.Sizes{RX: 8, TX: 8, MaxRX: 64, MaxTX: 64}), Rings: fact(xdp.Sizes{RX: 2048, TX: 512, MaxRX: 8160, MaxTX: 8160}),
			Offloads: fact(xdp.Offloads{GRO: true, TSO: true}), Steering: fact(0),
		},
	}
}

// Proves: device.choice
func TestDoctorOnACard(t *testing.T) {
	f := healthy()
	r := diagnosis{Host: f.Host, Advice: hostAdvice(f.Host), Interfaces: []checkup{checkUp(f)}}
	want := `host
  kernel          Linux 6.12.1
  rights          CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF, CAP_IPC_LOCK
  AF_PACKET       works
  AF_XDP          works
  XDP programs    works
  locked memory   any amount, by CAP_IPC_LOCK
  processors      4 for this process; isolated: 2-3; without tick: 2-3
  processor quota none
  kernel's tipc   not loaded

eth7
  state           up, with carrier, MTU 1500, 02:00:00:00:00:07
  device          network card; driver: ice
  used by         no one but the node
  native XDP      yes, AF_XDP, zero-copy, in up to 5 pieces, frames longer than a page
  XDP program     none
  queues          8 to receive, 8 to send (at most 64, 64)
  rings           2048 to receive, 512 to send (at most 8160, 8160)
  offloads        GRO, TSO
  steering rules  none
  frames arrive   on queue 0: cards spread only IP over queues
  carrier         af_xdp native
  because         native AF_XDP, in zero-copy mode where the driver has it, takes the
                  frame before the kernel makes a packet of it; generic mode comes after
                  that and saves nothing on a card
  should it fail  af_packet, then af_xdp generic
  af_xdp native   others: a program of a few instructions for each frame; many cards
                  stop for a moment when it comes or goes; the node: frames before the
                  kernel makes packets of them, without a copy where the driver can
  af_packet       others: nothing: the socket hears frames of TIPC alone, and no
                  offload changes; the node: a packet of the kernel and a copy for each
                  frame: on a veth a 64 B round trip of 3.4 µs
  af_xdp generic  others: joined segments are copied into one piece, or no longer
                  joined, before the program sees them; the node: no packet socket's
                  copy
`
	if got := string(r.text()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := r.judge(true).String(), "ready: af_xdp native on eth7"; got != want {
		t.Errorf("verdict: got %q, want %q", got, want)
	}
}

// Each shortcoming has its advice, and a host or card without it does not.
//
// Proves: device.choice
func TestDoctorAdvice(t *testing.T) {
	const none = "nothing"
	for _, c := range []struct {
		what   string
		change func(f *xdp.Facts)
		want   string // the command
	}{
		{"healthy", func(*xdp.Facts) {}, none},
		{"nothing known", func(f *xdp.Facts) {
			f.Host.Capabilities.Unknown, f.Host.LockedMemory.Unknown, f.Host.ReceiveBuffer.Unknown = "x", "x", "x"
			f.Host.CPUs.Unknown, f.Host.Isolated.Unknown, f.Host.Quota.Unknown = "x", "x", "x"
			f.Link.Driver.Unknown, f.Link.XDP.Unknown, f.Link.Queues.Unknown = "x", "x", "x"
			f.Link.Rings.Unknown, f.Link.Offloads.Unknown, f.Link.Steering.Unknown = "x", "x", "x"
		}, none},
		{"rights", func(f *xdp.Facts) {
			f.Host.XDPProgram = xdp.Trial{Result: xdp.Denied}
		}, "setcap cap_net_raw,cap_net_admin,cap_bpf,cap_ipc_lock+ep /"},
		{"raw sockets", func(f *xdp.Facts) { f.Host.PacketSocket = xdp.Trial{Result: xdp.Denied} }, "setcap cap_net_raw+ep /"},
		{"AF_PACKET as a module", func(f *xdp.Facts) { f.Host.PacketSocket = xdp.Trial{Result: xdp.Absent} }, "modprobe af_packet"},
		{"small buffers", func(f *xdp.Facts) { f.Host.Capabilities.Value.NetAdmin = false }, "sysctl -w net.core.rmem_max=33554432"},
		{"little memory", func(f *xdp.Facts) {
			f.Host.Capabilities.Value.IPCLock = false
			f.Host.LockedMemory.Value = 65536
		}, "ulimit -l unlimited"},
		{"quota", func(f *xdp.Facts) { f.Host.Quota.Value = xdp.Quota{CPUs: 0.5, File: "/cg/cpu.max"} }, "echo max > /cg/cpu.max"},
		{"quota, version 1", func(f *xdp.Facts) { f.Host.Quota.Value = xdp.Quota{CPUs: 0.5, File: "/cg/cpu.cfs_quota_us"} }, "echo -1 > /cg/cpu.cfs_quota_us"},
		{"quota for all processors", func(f *xdp.Facts) { f.Host.Quota.Value = xdp.Quota{CPUs: 4, File: "/cg/cpu.max"} }, none},
		{"one processor", func(f *xdp.Facts) { f.Host.CPUs.Value = 1 }, "taskset"},
		{"none isolated", func(f *xdp.Facts) { f.Host.Isolated.Value = "" }, "isolcpus=3 nohz_full=3"},
		{"down", func(f *xdp.Facts) { f.Link.Up = false }, "ip link set dev eth7 up"},
		{"thin", func(f *xdp.Facts) { f.Link.MTU = 68 }, "ip link set dev eth7 mtu 1500"},
		{"loopback", func(f *xdp.Facts) { f.Link.Loopback = true }, "type veth"},
		{"tunnel", func(f *xdp.Facts) { f.Link.Ethernet = false }, "type veth"},
		{"the kernel's", func(f *xdp.Facts) { f.Link.KernelBearer = true }, "tipc bearer disable media eth device eth7"},
		{"another node's", func(f *xdp.Facts) { f.Link.Owner = "pid 1" }, "ip link add link eth7 name tipc0 type macvlan"},
		{"no carrier", func(f *xdp.Facts) { f.Link.Carrier = false }, "check the cable"},
		{"no carrier, veth", func(f *xdp.Facts) { f.Link.Carrier, f.Link.Kind = false, "veth" }, "ip link set dev PEER up"},
		{"another program", func(f *xdp.Facts) { f.Link.Program = xdp.Program{Mode: "native", ID: 4} }, "ip link set dev eth7 xdp off"},
		{"LRO", func(f *xdp.Facts) { f.Link.Offloads.Value.LRO = true }, "ethtool -K eth7 lro off"},
		{"steering", func(f *xdp.Facts) { f.Link.Steering.Value = 3 }, "ethtool -N eth7 flow-type ether proto 0x88ca action 0"},
		{"short rings", func(f *xdp.Facts) { f.Link.Rings.Value.RX = 512 }, "ethtool -G eth7 rx 4096"},
		{"short rings and no longer ones", func(f *xdp.Facts) { f.Link.Rings.Value = xdp.Sizes{RX: 256, TX: 256, MaxRX: 256, MaxTX: 256} }, none},
		{"long frames in one buffer", func(f *xdp.Facts) { f.Link.MTU, f.Link.XDP.Value.MultiBuffer = 9000, false }, "ip link set dev eth7 mtu 3506"},
	} {
		f := healthy()
		c.change(&f)
		check := checkUp(f)
		r := diagnosis{Host: f.Host, Advice: hostAdvice(f.Host), Interfaces: []checkup{check}}
		var mends []string
		for _, a := range append(r.Advice, check.Advice...) {
			if a.Says == "" {
				t.Errorf("%s: %q mends what?", c.what, a.Remedy)
			}
			mends = append(mends, a.Remedy)
		}
		got := strings.Join(mends, "\n")
		if c.want == none && got != "" || c.want != none && !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %s", c.what, got, c.want)
		}
		for _, m := range mends {
			if !strings.Contains(string(r.text()), "  "+m+"\n") {
				t.Errorf("%s: the report does not print %q", c.what, m)
			}
		}
	}
}

// The verdict says whether a node can run and reach others, on the interfaces that are named or on any, and what to do
// first if not. A daemon that answers is asked where no interface is named.
//
// Mutations it catches: judge asks the daemon also where an interface is named; an interface without carrier serves; a bearer of
// the daemon that is down serves; the first remedy is left out, or said twice.
//
// Proves: device.choice
func TestDoctorVerdict(t *testing.T) {
	linked := &xdp.Link{Carrier: true}
	fine := checkup{Name: "a", Chosen: "af_packet", Facts: linked}
	down := checkup{Name: "b", Facts: linked, Unusable: "xdp: interface b is down: bring it up: ip link set dev b up", Advice: []advice{{"the interface is down", "ip link set dev b up"}, {"more", "later"}}}
	cable := checkup{Name: "c", Chosen: "af_packet", Facts: &xdp.Link{}, Advice: []advice{{"there is no carrier", "check the cable and the switch"}}}
	denied := checkup{Name: "d", Facts: linked, Refused: []refused{{"af_packet", "CAP_NET_RAW is missing", "setcap"}}, Advice: []advice{{"to have af_packet", "setcap"}}}
	daemon := func(bearers ...bearerCheckup) *daemonCheckup {
		return &daemonCheckup{Socket: "/run/s", Node: "1001001", Bearers: bearers}
	}
	upB, downB := bearerCheckup{Bearer: "eth:b", State: "up"}, bearerCheckup{Bearer: "eth:b", State: "down", Reason: "interface b is down", Remedy: "ip link set dev b up"}
	for _, c := range []struct {
		all    []checkup
		daemon *daemonCheckup
		named  bool
		want   string
	}{
		{nil, nil, false, "not ready: there is no Ethernet interface here; first: utipc daemon --udp ADDRESS,PEER, which needs an IP network alone"},
		{[]checkup{fine, down}, nil, false, "ready: af_packet on a"},
		{[]checkup{down}, nil, false, "not ready: no carrier can be chosen on b: interface b is down; first: ip link set dev b up"},
		{[]checkup{fine}, nil, true, "ready: af_packet on a"},
		{[]checkup{fine, down}, nil, true, "not ready: no carrier can be chosen on b: interface b is down; first: ip link set dev b up"},
		{[]checkup{cable}, nil, true, "not ready: c has no carrier; first: check the cable and the switch"},
		{[]checkup{denied}, nil, true, "not ready: no carrier can be chosen on d: CAP_NET_RAW is missing; first: setcap"},
		{[]checkup{{Name: "e"}}, nil, true, "not ready: no carrier can be chosen on e"},
		{[]checkup{down}, daemon(upB), false, "ready: the daemon's node 1001001 has 1 of 1 bearers up; programs attach to /run/s"},
		{[]checkup{fine}, daemon(downB), false, "not ready: no bearer of the daemon's node 1001001 is up: eth:b is down, interface b is down; first: ip link set dev b up"},
		{[]checkup{fine}, daemon(), false, "not ready: the daemon's node 1001001 has no bearer; first: utipc bearer enable media eth device a"},
		{[]checkup{down}, daemon(), false, "not ready: the daemon's node 1001001 has no bearer; first: utipc bearer enable media eth device IFACE"},
		{[]checkup{down}, daemon(upB), true, "ready: b is a bearer of the daemon's node 1001001"},
		{[]checkup{down}, daemon(downB), true, "not ready: no carrier can be chosen on b: interface b is down; first: ip link set dev b up"},
		{[]checkup{fine}, daemon(downB), true, "ready: af_packet on a"},
		{[]checkup{fine}, &daemonCheckup{Socket: "/run/s", Unknown: "permission denied"}, false, "not ready: the daemon at /run/s cannot be asked: permission denied; first: utipc daemon --check, then see its log"},
	} {
		if got := (diagnosis{Interfaces: c.all, Daemon: c.daemon}).judge(c.named).String(); got != c.want {
			t.Errorf("named %v: got %q, want %q", c.named, got, c.want)
		}
	}
}

func TestDoctorMisuse(t *testing.T) {
	for _, args := range [][]string{{"doctor", "-x"}, {"doctor", "eth0", "--json"}} {
		if out, errs, status := utipc(nil, args...); status != cmdline.Misuse || out != "" || errs == "" {
			t.Errorf("%q: got status %d, %q, %q", args, status, out, errs)
		}
	}
}
