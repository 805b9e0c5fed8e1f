// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/netlink"
)

// An ifInfo is what an interface was when it was looked up.
type ifInfo struct {
	name   string // as it was asked for, perhaps an alternative one
	real   string
	index  int // its number; its names may change
	mac    frame.MAC
	mtu    int    // bytes, the Ethernet header not counted
	driver string // "" when it does not tell
	queues int    // receive queues; 1 when the driver does not tell
	told   bool   // it does
	strips bool   // the driver takes VLAN tags out of the frames received
}

// findInterface looks an interface of the calling thread's network namespace up,
// and refuses what TIPC cannot use, with an *InterfaceError.
// Source: docs/spec/03-discovery-and-node.md §7.
func findInterface(ifname string) (i ifInfo, err error) {
	l, err := findUsable(ifname)
	if err != nil {
		return i, err
	}
	i = ifInfo{name: ifname, real: l.Name, index: l.Index, mac: l.MAC(), mtu: l.MTU, queues: 1}
	// Any socket takes the questions about the interface.
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return i, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	d, err := unix.IoctlGetEthtoolDrvinfo(fd, i.real)
	if err == nil {
		i.driver = unix.ByteSliceToString(d.Driver[:])
	} else if err := shortage("ioctl SIOCETHTOOL", err); err != nil {
		return i, i.unknown(err)
	}
	q, err := receiveQueues(fd, i.real)
	if err != nil {
		return i, i.unknown(err)
	}
	if q > 0 {
		i.queues, i.told = q, true
	}
	if i.strips, err = stripsTags(fd, i.real); err != nil {
		return i, i.unknown(err)
	}
	return i, nil
}

// unknown says that nothing is known of an interface for want of descriptors or memory. To go
// on as if it had one queue, say, would lose what arrives by others.
func (i *ifInfo) unknown(err error) error { return fmt.Errorf("xdp: interface %s: %w", i.name, err) }

// shortage is err as that of a system call if descriptors or memory are short, or nil.
func shortage(call string, err error) error {
	if netlink.Shortage(err) {
		return os.NewSyscallError(call, err)
	}
	return nil
}

// veth reports whether the interface is one end of a veth pair.
func (i *ifInfo) veth() bool { return i.driver == "veth" }

// tagsHidden refuses an interface whose driver hides VLAN tags from the program,
// since frames of other networks would come in. A veth is let pass: it has the
// feature always on, and writes no tag out of a frame; only what its other end
// sends through a VLAN interface or a bridge that tags comes with a tag aside.
// Source: docs/spec/01-wire.md §1.1.
func (i *ifInfo) tagsHidden() error {
	if !i.strips || i.veth() {
		return nil
	}
	return &FeatureError{i.name, fmt.Sprintf("VLAN tags in the frames of driver %s, so that other networks' come in "+
		"(turn rx-vlan-offload off: ethtool -K %s rxvlan off, "+
		"or set XSKConfig.StrippedTags where no tagged frames arrive)", i.driver, i.name), errTagsHidden}
}

var errTagsHidden = errors.New("the driver strips VLAN tags")

// refusal gives the kernel's refusals that have a known way out their type.
func (i *ifInfo) refusal(doing string, mode Mode, err error) error {
	program, _ := os.Executable()
	lacks := func(what string) error { return &FeatureError{i.name, what, err} }
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &CapabilityError{
			i.name, doing, "CAP_BPF and CAP_NET_ADMIN (before Linux 5.8 CAP_SYS_ADMIN)", program,
			fmt.Sprintf("run as root, or give them to the program (setcap cap_bpf,cap_net_admin,cap_net_raw+ep %s), "+
				"or let a privileged process set the XSKMAP up (XSKConfig.MapPath), "+
				"or use AF_PACKET, which needs CAP_NET_RAW alone", program), err,
		}
	case errors.Is(err, unix.ENOSYS):
		return lacks("BPF (CONFIG_BPF_SYSCALL)")
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.EEXIST):
		return &BusyError{i.name, mode, err}
	case errors.Is(err, unix.EOPNOTSUPP) && mode == ModeNative:
		return lacks(fmt.Sprintf("XDP in native mode (driver %s)", i.driver))
	case errors.Is(err, unix.ERANGE), errors.Is(err, unix.E2BIG):
		return lacks(fmt.Sprintf("XDP in %s mode at an MTU of %d (driver %s)", mode, i.mtu, i.driver))
	case errors.Is(err, ebpf.ErrNotSupported):
		return lacks("BPF links to XDP programs (Linux 5.9), or no XSKMAP (CONFIG_XDP_SOCKETS)")
	}
	return fmt.Errorf("xdp: interface %s: %s, %s mode: %w", i.name, doing, mode, err)
}
