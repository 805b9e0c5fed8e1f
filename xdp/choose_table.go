// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
)

// A preference is the order in which ways are tried on one sort of device.
type preference struct {
	device string // in words
	is     func(kind string) bool
	toMTU  int // the greatest MTU it is for, in bytes
	order  []Method
	reason string
}

// anyMTU is the toMTU of a preference that asks for none.
const anyMTU = math.MaxInt

// preferences are looked at from the top; the first that fits holds. The figures
// were measured before this driver was written, with bare frames over a veth
// pair, both ends spinning; docs/reference/drivers.md shows the table.
var preferences = []preference{
	{
		"veth", isVeth, 2048,
		[]Method{generic, native, packet},
		"the shortest path for short frames: 64 B round trip 2.4 µs beside 3.0 native and 3.4 AF_PACKET, " +
			"0.83 million frames a second beside 0.78 and 0.68; native mode makes veth copy each frame once more",
	},
	{
		"veth", isVeth, anyMTU,
		[]Method{packet, generic, native},
		"AF_PACKET copies long frames on the receiver's processor: 3500 B frames at 19.5 Gbit/s beside 17.6 generic, " +
			"9000 B at 31 beside 21, 64000 B at 156 beside 40",
	},
	{
		"network card", isCard, anyMTU,
		[]Method{native, packet, generic},
		"native AF_XDP, in zero-copy mode where the driver has it, takes the frame before the kernel makes a packet of it; " +
			"generic mode comes after that and saves nothing on a card",
	},
	{
		"other software interface", func(string) bool { return true }, anyMTU,
		[]Method{packet, generic, native},
		"every such interface has AF_PACKET, and it takes nothing from the other users of the interface",
	},
}

func isVeth(kind string) bool { return kind == "veth" }
func isCard(kind string) bool { return kind == "" }

func preferred(l Link) preference {
	for _, p := range preferences {
		if p.is(l.Kind) && l.MTU <= p.toMTU {
			return p
		}
	}
	panic("xdp: the last preference does not fit everything")
}

// A need is something a way cannot do without.
type need struct {
	ways    []Method
	onlyOwn bool   // only if the program and the map are to be loaded by us
	says    string // in words
	lacks   func(f Facts, cfg Config) lack
}

func (n need) concerns(w Method) bool {
	for _, x := range n.ways {
		if x == w {
			return true
		}
	}
	return false
}

// A lack is what is missing; without a reason nothing is.
type lack struct {
	reason, remedy string
	err            error
}

var xsk = []Method{native, generic}

// needs are looked at from the top; the first that is not met is the reason of the
// refusal. What is not known counts as met.
var needs = []need{
	{
		[]Method{packet},
		false, "packet sockets: `CONFIG_PACKET`, and the right `CAP_NET_RAW`",
		func(f Facts, _ Config) lack {
			return lacksTrial(f.Host.PacketSocket, "no packet sockets (CONFIG_PACKET)", "modprobe af_packet", "CAP_NET_RAW", "cap_net_raw")
		},
	},
	{
		xsk, false, "AF_XDP sockets: `CONFIG_XDP_SOCKETS`, and the right `CAP_NET_RAW`",
		func(f Facts, _ Config) lack {
			return lacksTrial(f.Host.XDPSocket, "no AF_XDP sockets (CONFIG_XDP_SOCKETS)", "", "CAP_NET_RAW", xskCaps)
		},
	},
	{
		xsk, true, "Linux 5.9, for programs that vanish with their process",
		func(f Facts, _ Config) lack { return lacksKernel(f, 5, 9, "programs that vanish with their process") },
	},
	{
		xsk, true, "the right to load programs, `CAP_BPF` in the first user namespace",
		func(f Facts, _ Config) lack {
			return lacksTrial(f.Host.XDPProgram, "no XDP programs (CONFIG_BPF_SYSCALL)", "", "CAP_BPF and CAP_NET_ADMIN", xskCaps)
		},
	},
	{
		xsk, true, "the right to attach them, `CAP_NET_ADMIN`",
		func(f Facts, _ Config) lack {
			if c := f.Host.Capabilities; c.Known() && !c.Value.NetAdmin {
				return lack{"attaching an XDP program needs the privilege CAP_NET_ADMIN", setcap(xskCaps), os.ErrPermission}
			}
			return lack{}
		},
	},
	{
		xsk, false, "memory that may be locked, as much as the arena has (`ulimit -l`), or `CAP_IPC_LOCK`",
		func(f Facts, cfg Config) lack {
			want := cfg.memory(f.Link.MTU)
			c, m := f.Host.Capabilities, f.Host.LockedMemory
			if !c.Known() || c.Value.IPCLock || !m.Known() || m.Value < 0 || m.Value >= want {
				return lack{}
			}
			return lack{
				fmt.Sprintf("only %d KiB of memory may be locked, %d are needed", m.Value>>10, want>>10),
				"ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit of systemd", ErrMemory,
			}
		},
	},
	{
		xsk, true, "no other XDP program on the interface",
		func(f Facts, _ Config) lack {
			p := f.Link.Program
			if p.Mode == "" {
				return lack{}
			}
			return lack{
				fmt.Sprintf("another XDP program is attached (%s, id %d)", p.Mode, p.ID),
				fmt.Sprintf("end its owner, or, if nobody needs it: ip link set dev %s xdp off", f.Link.Name), ErrProgram,
			}
		},
	},
	{
		xsk, false, fmt.Sprintf("Linux 6.6 for an MTU above %d, so that a frame may have several chunks", onePieceMTU),
		func(f Facts, _ Config) lack {
			if f.Link.MTU <= onePieceMTU {
				return lack{}
			}
			return lacksKernel(f, 6, 6, "frames in several chunks, as this MTU needs")
		},
	},
	{
		[]Method{native},
		false, "a driver with native XDP that gives frames to AF_XDP",
		func(f Facts, _ Config) lack {
			if x := f.Link.XDP; x.Known() && (!x.Value.Native || !x.Value.Redirect) {
				return lack{driverOf(f.Link) + " has no native XDP for AF_XDP", "", errors.ErrUnsupported}
			}
			return lack{}
		},
	},
	{
		[]Method{native},
		false, fmt.Sprintf("for an MTU above %d, a driver with native XDP on frames longer than a page", pageMTU),
		func(f Facts, _ Config) lack {
			if x := f.Link.XDP; x.Known() && !x.Value.MultiBuffer && f.Link.MTU > pageMTU {
				return lack{
					fmt.Sprintf("%s has no native XDP on frames longer than a page, as the MTU of %d allows", driverOf(f.Link), f.Link.MTU),
					fmt.Sprintf("ip link set dev %s mtu %d", f.Link.Name, pageMTU), errors.ErrUnsupported,
				}
			}
			return lack{}
		},
	},
}

// xskCaps is what AF_XDP takes; without cap_ipc_lock the limit of locked memory
// holds.
const xskCaps = "cap_net_raw,cap_net_admin,cap_bpf,cap_ipc_lock"

// setcap is the command that gives the running program capabilities.
func setcap(caps string) string {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return "setcap " + caps + "+ep " + program
}

func lacksTrial(t Trial, absent, remedyAbsent, right, caps string) lack {
	switch t.Result {
	case Absent:
		return lack{"this kernel has " + absent, remedyAbsent, errors.ErrUnsupported}
	case Denied:
		return lack{"the privilege " + right + " is missing (" + t.Says + ")", setcap(caps), os.ErrPermission}
	case Failed:
		return lack{t.Says, "", errors.ErrUnsupported}
	}
	return lack{}
}

func lacksKernel(f Facts, major, minor int, what string) lack {
	if k := f.Host.Kernel; k.Known() && older(k.Value, major, minor) {
		return lack{fmt.Sprintf("Linux %s is older than %d.%d, which has %s", k.Value, major, minor, what), "", errors.ErrUnsupported}
	}
	return lack{}
}

// older reports whether a kernel's release is known to be before major.minor.
func older(release string, major, minor int) bool {
	var x, y int
	if n, _ := fmt.Sscanf(release, "%d.%d", &x, &y); n != 2 {
		return false
	}
	return x < major || x == major && y < minor
}

func driverOf(l Link) string {
	if d := strings.TrimSpace(l.Driver.Value); l.Driver.Known() && d != "" {
		return "the driver " + d
	}
	return "the driver"
}
