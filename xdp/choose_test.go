// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// able is a host with everything and an interface of the kind and MTU.
func able(kind string, mtu int) Facts {
	all := Trial{Result: Works}
	return Facts{
		Host{
			Kernel: known("6.12.0-3-amd64"), Capabilities: known(Capabilities{true, true, true, true, true}),
			PacketSocket: all, XDPSocket: all, XDPProgram: all,
			LockedMemory: known[int64](8 << 20), ReceiveBuffer: known[int64](4 << 20), CPUs: known(2),
			Isolated: known(""), Tickless: known(""), Quota: known(Quota{}),
		},
		Link{
			Name: "eth5", Index: 5, Address: "02:00:00:00:00:05", Ethernet: true, Up: true, Carrier: true, MTU: mtu, Kind: kind,
			Driver: known("drv"), XDP: known(Features{true, true, true, true, 1}),
			Queues: known(Sizes{1, 1, 8, 8}), Rings: unknown[Sizes]("the driver does not tell"), Offloads: known(Offloads{}), Steering: known(0),
		},
	}
}

// ordinary takes the rights of facts away.
func ordinary(f Facts) Facts {
	f.Host.Capabilities = known(Capabilities{})
	no := Trial{Denied, "operation not permitted"}
	f.Host.PacketSocket, f.Host.XDPSocket, f.Host.XDPProgram = no, no, no
	return f
}

// with changes facts.
func with(f Facts, change func(f *Facts)) Facts {
	change(&f)
	return f
}

// Proves: device.choice
func TestChoose(t *testing.T) {
	raw := Trial{Denied, "operation not permitted"}
	for _, c := range []struct {
		what  string
		facts Facts
		cfg   Config
		want  string // the ways
		not   string // parts of what is said of the others, in order, divided by |
	}{
		{"veth", able("veth", 1500), Config{}, "af_xdp generic, af_xdp native, af_packet", ""},
		{"veth, at the limit", able("veth", 2048), Config{}, "af_xdp generic, af_xdp native, af_packet", ""},
		{"veth, above it", able("veth", 2049), Config{}, "af_packet, af_xdp generic, af_xdp native", ""},
		{"veth, the longest", able("veth", 65535), Config{}, "af_packet, af_xdp generic, af_xdp native", ""},
		{"card", able("", 1500), Config{}, "af_xdp native, af_packet, af_xdp generic", ""},
		{"card, jumbo", able("", 9000), Config{}, "af_xdp native, af_packet, af_xdp generic", ""},
		{"bridge", able("bridge", 1500), Config{}, "af_packet, af_xdp generic, af_xdp native", ""},

		{"no rights", ordinary(able("", 1500)), Config{}, "", "CAP_NET_RAW is missing|CAP_NET_RAW is missing|CAP_NET_RAW is missing"},
		{"raw sockets only", with(able("", 1500), func(f *Facts) {
			f.Host.Capabilities = known(Capabilities{NetRaw: true})
			f.Host.XDPProgram = raw
		}), Config{}, "af_packet", "CAP_BPF and CAP_NET_ADMIN is missing|CAP_BPF"},
		{"programs but no attaching", with(able("", 1500), func(f *Facts) {
			f.Host.Capabilities = known(Capabilities{NetRaw: true, BPF: true, IPCLock: true})
		}), Config{}, "af_packet", "needs the privilege CAP_NET_ADMIN|CAP_NET_ADMIN"},
		{"raw sockets and a ready map", with(able("", 1500), func(f *Facts) {
			f.Host.Capabilities = known(Capabilities{NetRaw: true, IPCLock: true})
			f.Host.XDPProgram = raw
			f.Link.Program = Program{"native", 7}
		}), Config{XSK: &XSKConfig{MapPath: "/sys/fs/bpf/x"}}, "af_xdp native, af_packet, af_xdp generic", ""},
		{
			"capabilities not known", with(able("", 1500), func(f *Facts) { f.Host.Capabilities = unknown[Capabilities]("x") }),
			Config{},
			"af_xdp native, af_packet, af_xdp generic", "",
		},

		{"no AF_XDP", with(able("veth", 1500), func(f *Facts) {
			f.Host.XDPSocket = Trial{Absent, "address family not supported by protocol"}
		}), Config{}, "af_packet", "no AF_XDP sockets (CONFIG_XDP_SOCKETS)|no AF_XDP"},
		{
			"no AF_PACKET", with(able("", 1500), func(f *Facts) { f.Host.PacketSocket = Trial{Absent, "x"} }),
			Config{},
			"af_xdp native, af_xdp generic", "no packet sockets (CONFIG_PACKET)",
		},
		{
			"trial failed", with(able("", 1500), func(f *Facts) { f.Host.XDPSocket = Trial{Failed, "too many open files"} }),
			Config{},
			"af_packet", "too many open files|too many",
		},
		{"old kernel", with(able("", 1500), func(f *Facts) { f.Host.Kernel = known("5.8.18") }), Config{}, "af_packet", "Linux 5.8.18 is older than 5.9|5.9"},
		{
			"old kernel, ready map", with(able("", 1500), func(f *Facts) { f.Host.Kernel = known("5.8.18") }),
			Config{XSK: &XSKConfig{MapFD: 3}},
			"af_xdp native, af_packet, af_xdp generic", "",
		},
		{"kernel without chunks", with(able("", 9000), func(f *Facts) { f.Host.Kernel = known("6.5.1") }), Config{}, "af_packet", "older than 6.6|6.6"},
		{
			"kernel not told", with(able("", 9000), func(f *Facts) { f.Host.Kernel = unknown[string]("x") }),
			Config{},
			"af_xdp native, af_packet, af_xdp generic", "",
		},
		{"strange kernel", with(able("", 9000), func(f *Facts) { f.Host.Kernel = known("next") }), Config{}, "af_xdp native, af_packet, af_xdp generic", ""},

		{
			"no native XDP", with(able("", 1500), func(f *Facts) { f.Link.XDP.Value.Native = false }),
			Config{},
			"af_packet, af_xdp generic", "the driver drv has no native XDP",
		},
		{
			"native XDP without AF_XDP", with(able("veth", 1500), func(f *Facts) { f.Link.XDP.Value.Redirect = false }),
			Config{},
			"af_xdp generic, af_packet", "the driver drv has no native XDP",
		},
		{
			"features not told", with(able("", 9000), func(f *Facts) { f.Link.XDP = unknown[Features]("x") }),
			Config{},
			"af_xdp native, af_packet, af_xdp generic", "",
		},
		{
			"one buffer, a page", with(able("", 3506), func(f *Facts) { f.Link.XDP.Value.MultiBuffer = false }),
			Config{},
			"af_xdp native, af_packet, af_xdp generic", "",
		},
		{
			"one buffer, above", with(able("", 3507), func(f *Facts) { f.Link.XDP.Value.MultiBuffer = false }),
			Config{},
			"af_packet, af_xdp generic", "frames longer than a page, as the MTU of 3507 allows",
		},
		{
			"another program", with(able("", 1500), func(f *Facts) { f.Link.Program = Program{"generic", 12} }),
			Config{},
			"af_packet", "another XDP program is attached (generic, id 12)|another",
		},

		{"little memory, right to lock", able("", 1500), Config{Memory: 1 << 30}, "af_xdp native, af_packet, af_xdp generic", ""},
		{
			"little memory", with(able("", 1500), func(f *Facts) { f.Host.Capabilities.Value.IPCLock = false }),
			Config{},
			"af_packet", "only 8192 KiB of memory may be locked, 16384 are needed|only",
		},
		{
			"little memory, long frames", with(able("", 9000), func(f *Facts) { f.Host.Capabilities.Value.IPCLock = false }),
			Config{},
			"af_packet", "22528 are needed|only",
		},
		{
			"enough memory", with(able("", 1500), func(f *Facts) { f.Host.Capabilities.Value.IPCLock = false }),
			Config{Memory: 8 << 20},
			"af_xdp native, af_packet, af_xdp generic", "",
		},
		{"any memory", with(able("", 1500), func(f *Facts) {
			f.Host.Capabilities.Value.IPCLock = false
			f.Host.LockedMemory.Value = -1
		}), Config{}, "af_xdp native, af_packet, af_xdp generic", ""},

		{"AF_PACKET asked for", able("veth", 1500), Config{Driver: AFPacket}, "af_packet", "af_packet is asked for|af_packet"},
		{"AF_XDP asked for", able("veth", 9000), Config{Driver: AFXDP}, "af_xdp generic, af_xdp native", "af_xdp is asked for"},
		{"native asked for", able("veth", 1500), Config{Driver: AFXDP, XSK: &XSKConfig{Mode: ModeNative}}, "af_xdp native", "native mode|af_xdp is"},
		{"generic, or AF_PACKET", able("", 1500), Config{XSK: &XSKConfig{Mode: ModeGeneric}}, "af_packet, af_xdp generic", "generic mode"},
	} {
		p := c.facts.Choose(c.cfg)
		if got := waysText(p.Methods); got != c.want || p.Unusable != nil || p.Device == "" || p.Reason == "" {
			t.Errorf("%s: got %s, %v, %q, want %s", c.what, got, p.Unusable, p.Device, c.want)
		}
		if first := preferred(c.facts.Link).order[0]; len(p.Methods) > 0 && c.cfg.Driver == Auto && (p.Methods[0] == first) == strings.HasPrefix(p.Reason, "the best that is left, without "+first.String()+": ") {
			t.Errorf("%s: got reason %q for %v", c.what, p.Reason, p.Methods[0])
		}
		var parts []string
		if c.not != "" {
			parts = strings.Split(c.not, "|")
		}
		if len(p.Refused) != len(parts) || len(p.Refused)+len(p.Methods) != 3 {
			t.Errorf("%s: refused %v, want %d", c.what, p.Refused, len(parts))
			continue
		}
		for i, r := range p.Refused {
			if !strings.Contains(r.Reason, parts[i]) || r.Err == nil {
				t.Errorf("%s: got %q, %v, want %q in it", c.what, r.Reason, r.Err, parts[i])
			}
		}
	}
}

// Refusals can be taken apart, and say what helps.
//
// Proves: device.choice, bench.loads
func TestRefusals(t *testing.T) {
	little := able("", 1500)
	little.Host.Capabilities.Value.IPCLock = false
	for _, c := range []struct {
		what   string
		facts  Facts
		cfg    Config
		err    error
		remedy string
	}{
		{"rights", ordinary(able("", 1500)), Config{}, os.ErrPermission, "setcap cap_net_raw,cap_net_admin,cap_bpf,cap_ipc_lock+ep /"},
		{"kernel", with(able("", 1500), func(f *Facts) { f.Host.XDPSocket.Result = Absent }), Config{}, errors.ErrUnsupported, ""},
		{"memory", little, Config{}, ErrMemory, "ulimit -l"},
		{"program", with(able("", 1500), func(f *Facts) { f.Link.Program.Mode = "native" }), Config{}, ErrProgram, "ip link set dev eth5 xdp off"},
		{"one buffer", with(able("", 9000), func(f *Facts) { f.Link.XDP.Value.MultiBuffer = false }), Config{}, errors.ErrUnsupported, "mtu 3506"},
		{"asked", able("", 1500), Config{Driver: AFPacket}, ErrNotAsked, ""},
	} {
		p := c.facts.Choose(c.cfg)
		err := error(&ChoiceError{"eth5", p.Refused})
		var r Refusal
		if !errors.Is(err, c.err) || !errors.As(err, &r) || r.Method != native || !strings.Contains(r.Remedy, c.remedy) || (c.remedy == "") != (r.Remedy == "") {
			t.Errorf("%s: got %v of %v, mended by %q, want %v, %q", c.what, r.Err, r.Method, r.Remedy, c.err, c.remedy)
		}
		for _, want := range []string{"eth5", "af_xdp native: " + r.Reason, "UDP carrier", r.Remedy} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %q, want %q in it", c.what, err, want)
			}
		}
	}
}

func TestUnusableInterfaces(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(l *Link)
		want   string
	}{
		{"owned", func(l *Link) { l.Owner = "pid 7" }, "belongs to another node (pid 7)"},
		{"kernel's", func(l *Link) { l.KernelBearer = true }, "tipc bearer disable"},
		{"loopback", func(l *Link) { l.Loopback, l.Ethernet = true, false }, "is the loopback"},
		{"tunnel", func(l *Link) { l.Ethernet = false }, "is not Ethernet"},
		{"thin", func(l *Link) { l.MTU = MinMTU - 1 }, "ip link set dev eth5 mtu 1500"},
		{"down", func(l *Link) { l.Up = false }, "ip link set dev eth5 up"},
	} {
		f := able("", 1500)
		c.change(&f.Link)
		p := f.Choose(Config{})
		if p.Unusable == nil || !strings.Contains(p.Unusable.Error(), c.want) || len(p.Methods) != 0 {
			t.Errorf("%s: got %v, %v, want %q", c.what, p.Unusable, p.Methods, c.want)
		}
	}
	if p := with(able("", MinMTU), func(f *Facts) { f.Link.Carrier = false }).Choose(Config{}); p.Unusable != nil {
		t.Errorf("without carrier: got %v, want nothing", p.Unusable)
	}
}

// Proves: device.choice
func TestArrival(t *testing.T) {
	several := func(f *Facts) { f.Link.Queues = known(Sizes{4, 4, 8, 8}) }
	for _, c := range []struct {
		what  string
		facts Facts
		mode  Mode
		queue int
		why   string
	}{
		{"one queue", able("", 1500), ModeNative, 0, "one queue"},
		{"several", with(able("", 1500), several), ModeNative, 0, "only IP"},
		{"rules", with(with(able("", 1500), several), func(f *Facts) { f.Link.Steering.Value = 2 }), ModeNative, -1, "ethtool -n eth5"},
		{"rules, generic", with(with(able("", 1500), several), func(f *Facts) { f.Link.Steering.Value = 2 }), ModeGeneric, -1, "ethtool -n eth5"},
		{"rules not told", with(with(able("", 1500), several), func(f *Facts) { f.Link.Steering = unknown[int]("no word") }), ModeNative, 0, "no word"},
		{"veth, native", with(able("veth", 1500), several), ModeNative, -1, "sender's queue"},
		{"veth, generic", with(able("veth", 1500), several), ModeGeneric, 0, "queue 0"},
		{"veth, one queue", able("veth", 1500), ModeNative, 0, "one queue"},
	} {
		if q, why := c.facts.Link.Arrival(c.mode); q != c.queue || !strings.Contains(why, c.why) {
			t.Errorf("%s: got %d, %q, want %d, %q", c.what, q, why, c.queue, c.why)
		}
	}
}

func TestDriverNames(t *testing.T) {
	for _, d := range []Driver{Auto, AFXDP, AFPacket} {
		if got, err := ParseDriver(d.String()); got != d || err != nil {
			t.Errorf("%v: got %v, %v", d, got, err)
		}
	}
	if _, err := ParseDriver("af-xdp"); !errors.Is(err, ErrDriver) {
		t.Errorf("af-xdp: got %v, want %v", err, ErrDriver)
	}
	if got := fmt.Sprint(Driver(9), " ", native, " ", packet); got != "driver 9 af_xdp native af_packet" {
		t.Errorf("got %q", got)
	}
}

func TestFactsAsJSON(t *testing.T) {
	f := able("veth", 1500)
	f.Link.Steering = unknown[int]("the driver does not tell")
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kernel":{"value":"6.12.0-3-amd64"}`, `"steering_rules":{"unknown":"the driver does not tell"}`, `"isolated":{"value":""}`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("got %s, want %s in it", b, want)
		}
	}
	var back Facts
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, f) {
		t.Errorf("back: got %+v, %v, want %+v", back, err, f)
	}
}
