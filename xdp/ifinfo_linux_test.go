// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/netns"
)

func TestInterfaceInfo(t *testing.T) {
	netns.Require(t)
	ns := netns.New(t)
	ns.Run("ip", "link", "add", "left", "index", "3001", "mtu", "9000", "numrxqueues", "3", "numtxqueues", "3",
		"type", "veth", "peer", "name", "right")
	ns.Run("ip", "link", "set", "dev", "left", "address", "02:00:00:00:00:07", "up")
	var i ifInfo
	var err error
	ns.Do(func() { i, err = findInterface("left") })
	if err != nil {
		t.Fatal(err)
	}
	// A veth says that it strips tags, and means something else.
	want := ifInfo{name: "left", real: "left", index: 3001, mac: [6]byte{2, 0, 0, 0, 0, 7}, mtu: 9000, driver: "veth", queues: 3, told: true, strips: true}
	if i != want {
		t.Errorf("got %+v, want %+v", i, want)
	}
	if err := i.tagsHidden(); err != nil {
		t.Errorf("a veth: got %v, want nil", err)
	}
	i.driver = "ixgbe"
	var lacks *FeatureError
	if err := i.tagsHidden(); !errors.As(err, &lacks) || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "ethtool -K left rxvlan off") {
		t.Errorf("a card that strips tags: got %v, want a FeatureError that says how to mend it", err)
	}
	i.strips = false
	if err := i.tagsHidden(); err != nil {
		t.Errorf("a card that strips none: got %v, want nil", err)
	}
}

// Each refusal of the kernel says what is missing, or who is in the way.
//
// Proves: device.open
func TestXSKRefusals(t *testing.T) {
	i := ifInfo{name: "eth9", mtu: 9000, driver: "dull"}
	for _, c := range []struct {
		err  error
		says string // parts, divided by |
	}{
		{i.refusal("loading", ModeNative, unix.EPERM), "CAP_BPF|CAP_NET_ADMIN|setcap|MapPath|AF_PACKET"},
		{i.refusal("loading", ModeNative, unix.ENOSYS), "CONFIG_BPF_SYSCALL|AF_PACKET"},
		{i.refusal("attaching", ModeNative, unix.EOPNOTSUPP), "native mode|driver dull"},
		{i.refusal("attaching", ModeNative, unix.ERANGE), "native mode|MTU of 9000|driver dull"},
		{i.refusal("attaching", ModeGeneric, unix.EBUSY), "another XDP program|ip link show dev eth9|generic"},
		{i.bindRefusal(3, false, unix.EPERM), "CAP_NET_RAW|setcap cap_net_raw+ep"},
		{i.bindRefusal(3, false, unix.ENOBUFS), "RLIMIT_MEMLOCK|CAP_IPC_LOCK"},
		{i.bindRefusal(3, false, unix.EAFNOSUPPORT), "CONFIG_XDP_SOCKETS"},
		{i.bindRefusal(3, false, unix.EBUSY), "queue 3"},
		{i.bindRefusal(3, false, unix.ENODEV), "does not exist"},
		{i.bindRefusal(3, true, unix.EINVAL), "XDP_USE_SG|Linux 6.6|MTU of 9000|AF_PACKET"},
		{i.bindRefusal(3, false, unix.EINVAL), "queue 3"},
	} {
		for part := range strings.SplitSeq(c.says+"|eth9", "|") {
			if !strings.Contains(c.err.Error(), part) {
				t.Errorf("got %q, want %q in it", c.err, part)
			}
		}
	}
}
