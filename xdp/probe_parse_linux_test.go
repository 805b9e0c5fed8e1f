// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// u32 and u64 are attributes of a number.
func u32(typ uint16, v uint32) []byte {
	return netlink.AppendAttribute(nil, typ, binary.NativeEndian.AppendUint32(nil, v))
}

func u64(typ uint16, v uint64) []byte {
	return netlink.AppendAttribute(nil, typ, binary.NativeEndian.AppendUint64(nil, v))
}

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// aboutLink is the kernel's answer about an interface.
func aboutLink(typ uint16, flags uint32, attrs []byte) netlink.Message {
	n := binary.NativeEndian
	b := n.AppendUint16([]byte{0, 0}, typ)
	b = n.AppendUint32(b, 7)
	b = n.AppendUint32(b, flags)
	return netlink.Message{Type: unix.RTM_NEWLINK, Body: append(append(b, 0, 0, 0, 0), attrs...)}
}

func TestParseLink(t *testing.T) {
	attrs := join(
		netlink.AppendAttribute(nil, unix.IFLA_ADDRESS, []byte{2, 0, 0, 0, 0, 9}),
		netlink.AppendAttribute(nil, unix.IFLA_IFNAME, []byte("tipc0\x00")),
		u32(unix.IFLA_MTU, 9000), u32(unix.IFLA_NUM_TX_QUEUES, 3), u32(unix.IFLA_NUM_RX_QUEUES, 2),
		netlink.AppendAttribute(nil, unix.IFLA_LINKINFO, join(netlink.AppendAttribute(nil, unix.IFLA_INFO_KIND, []byte("veth\x00")),
			netlink.AppendAttribute(nil, unix.IFLA_INFO_SLAVE_KIND, []byte("bridge\x00")))),
		u32(unix.IFLA_MASTER, 3), u32(unix.IFLA_CARRIER_DOWN_COUNT, 5),
		netlink.AppendAttribute(nil, unix.IFLA_PROP_LIST|unix.NLA_F_NESTED, join(netlink.AppendAttribute(nil, unix.IFLA_ALT_IFNAME, []byte("lan7\x00")),
			netlink.AppendAttribute(nil, unix.IFLA_ALT_IFNAME, []byte("a-long-name-of-it\x00")))),
		netlink.AppendAttribute(nil, unix.IFLA_XDP, join(netlink.AppendAttribute(nil, unix.IFLA_XDP_ATTACHED, []byte{2}), u32(unix.IFLA_XDP_PROG_ID, 77))),
	)
	good := aboutLink(unix.ARPHRD_ETHER, unix.IFF_UP|unix.IFF_RUNNING|unix.IFF_LOWER_UP, attrs)
	want := Link{
		Name: "tipc0", Index: 7, Address: "02:00:00:00:00:09", Ethernet: true, Up: true, Carrier: true,
		MTU: 9000, Kind: "veth", Program: Program{"generic", 77},
		AltNames: []string{"lan7", "a-long-name-of-it"}, master: 3, MasterKind: "bridge", Losses: 5,
	}
	if got, queues, err := parseLink(good); err != nil || !reflect.DeepEqual(got, want) || queues != (Sizes{2, 3, 2, 3}) {
		t.Errorf("got %+v, %v, %v, want %+v", got, queues, err, want)
	}
	for i := range unix.SizeofIfInfomsg {
		if _, _, err := parseLink(netlink.Message{Type: unix.RTM_NEWLINK, Body: good.Body[:i]}); !errors.Is(err, netlink.ErrAnswer) {
			t.Errorf("cut to %d bytes: got %v, want %v", i, err, netlink.ErrAnswer)
		}
	}
	if _, _, err := parseLink(netlink.Message{Type: unix.RTM_NEWADDR, Body: good.Body}); !errors.Is(err, netlink.ErrAnswer) {
		t.Errorf("of another type: got %v, want %v", err, netlink.ErrAnswer)
	}
	tun, _, err := parseLink(aboutLink(unix.ARPHRD_NONE, unix.IFF_LOOPBACK, nil))
	if err != nil || tun.Ethernet || !tun.Loopback || tun.Up || tun.Carrier || tun.Address != "" || tun.Program != (Program{}) {
		t.Errorf("without attributes: got %+v, %v", tun, err)
	}
	if got := readProgram(netlink.AppendAttribute(nil, unix.IFLA_XDP_ATTACHED, []byte{9})); got.Mode != "mode 9" {
		t.Errorf("a mode that is not known: got %+v", got)
	}
	if got := readProgram(netlink.AppendAttribute(nil, unix.IFLA_XDP_ATTACHED, nil)); got != (Program{}) {
		t.Errorf("an empty attribute: got %+v", got)
	}
}

func TestReadFeatures(t *testing.T) {
	for _, c := range []struct {
		what  string
		attrs []byte
		want  Fact[Features]
	}{
		{"all", join(u32(1, 7), u64(3, 0x7f), u32(4, 17)), known(Features{true, true, true, true, 17})},
		{"native only", u64(3, 1), known(Features{Native: true})},
		{"veth", u64(3, 0x23), known(Features{Native: true, Redirect: true, MultiBuffer: true})},
		{"none", u64(3, 0), known(Features{})},
		{"too short", u32(3, 0x7f), unknown[Features]("the kernel's answer has no features in it")},
		{"nothing", nil, unknown[Features]("the kernel's answer has no features in it")},
	} {
		if got := readFeatures(c.attrs); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.what, got, c.want)
		}
	}
}

func TestReadEthtool(t *testing.T) {
	for _, c := range []struct {
		what  string
		words []uint32 // command, greatest and present: receive, transmit, other, combined
		want  Fact[Sizes]
	}{
		{"veth", []uint32{0, 4, 5, 0, 0, 3, 2, 0, 0}, known(Sizes{3, 2, 4, 5})},
		{"combined", []uint32{0, 0, 0, 1, 64, 0, 0, 1, 8}, known(Sizes{8, 8, 64, 64})},
		{"both", []uint32{0, 16, 8, 0, 8, 4, 0, 0, 2}, known(Sizes{6, 2, 16, 8})},
		{"nothing", make([]uint32, 9), unknown[Sizes]("the driver does not tell")},
	} {
		if got := readChannels(c.words); got != c.want {
			t.Errorf("channels, %s: got %+v, want %+v", c.what, got, c.want)
		}
	}
	// Command, greatest and present: receive, small receive, jumbo receive, transmit.
	if got, want := readRings([]uint32{0, 4096, 1, 2, 8192, 512, 3, 4, 1024}), known(Sizes{512, 1024, 4096, 8192}); got != want {
		t.Errorf("rings: got %+v, want %+v", got, want)
	}
}

func FuzzParseLink(f *testing.F) {
	f.Add(aboutLink(unix.ARPHRD_ETHER, 1, join(u32(unix.IFLA_MTU, 1500), netlink.AppendAttribute(nil, unix.IFLA_LINKINFO, []byte("abcdefgh")))).Body)
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _, _ = parseLink(netlink.Message{Type: unix.RTM_NEWLINK, Body: b})
		readFeatures(b)
	})
}

func TestQuota(t *testing.T) {
	const (
		two = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		one = "40 32 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n" +
			"41 32 0:29 / /sys/fs/cgroup/cpuset rw shared:9 - cgroup cgroup rw,cpuset\n"
	)
	for _, c := range []struct {
		what           string
		groups, mounts string
		files          map[string]string
		want           Quota
	}{
		{"none", "0::/user.slice/x\n", two, nil, Quota{}},
		{"max", "0::/a\n", two, map[string]string{"a/cpu.max": "max 100000\n"}, Quota{}},
		{"own group", "0::/a/b\n", two, map[string]string{"a/b/cpu.max": "50000 100000\n"}, Quota{0.5, "/sys/fs/cgroup/a/b/cpu.max"}},
		{"parent", "0::/a/b\n", two, map[string]string{"a/cpu.max": "150000 100000\n", "a/b/cpu.max": "max 100000\n"}, Quota{1.5, "/sys/fs/cgroup/a/cpu.max"}},
		{"the tighter", "0::/a/b\n", two, map[string]string{"a/cpu.max": "20000 100000\n", "a/b/cpu.max": "80000 100000\n"}, Quota{0.2, "/sys/fs/cgroup/a/cpu.max"}},
		{"a neighbour's", "0::/a/b\n", two, map[string]string{"a/c/cpu.max": "20000 100000\n"}, Quota{}},
		{"top of a namespace", "0::/\n", two, map[string]string{"cpu.max": "50000 100000\n"}, Quota{0.5, "/sys/fs/cgroup/cpu.max"}},
		{
			"container, mount at its group", "0::/docker/x\n", strings.Replace(two, " / /sys", " /docker/x /sys", 1),
			map[string]string{"cpu.max": "50000 100000\n"},
			Quota{0.5, "/sys/fs/cgroup/cpu.max"},
		},
		{
			"mount at another's group", "0::/y\n", strings.Replace(two, " / /sys", " /docker/x /sys", 1),
			map[string]string{"cpu.max": "50000 100000\n"},
			Quota{0.5, "/sys/fs/cgroup/cpu.max"},
		},
		{
			"version 1", "4:cpu,cpuacct:/g\n3:cpuset:/g\n", one,
			map[string]string{"cpu,cpuacct/g/cpu.cfs_quota_us": "25000", "cpu,cpuacct/g/cpu.cfs_period_us": "100000"},
			Quota{0.25, "/sys/fs/cgroup/cpu,cpuacct/g/cpu.cfs_quota_us"},
		},
		{"version 1, none", "4:cpu,cpuacct:/g\n", one, map[string]string{"cpu,cpuacct/g/cpu.cfs_quota_us": "-1", "cpu,cpuacct/g/cpu.cfs_period_us": "100000"}, Quota{}},
		{"garbage", "0::/a\nx\n::\n", two + "zz\n - cgroup2\n", map[string]string{"a/cpu.max": "x y\n"}, Quota{}},
		{"a period of 0", "0::/a\n", two, map[string]string{"a/cpu.max": "1 0\n"}, Quota{}},
	} {
		files := fstest.MapFS{"proc/self/cgroup": {Data: []byte(c.groups)}, "proc/self/mountinfo": {Data: []byte(c.mounts)}}
		for name, text := range c.files {
			files["sys/fs/cgroup/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got, err := cpuQuota(files); err != nil || got != c.want {
			t.Errorf("%s: got %v, %v, want %v", c.what, got, err, c.want)
		}
	}
	if _, err := cpuQuota(fstest.MapFS{}); err == nil {
		t.Error("without /proc the quota is known")
	}
}
