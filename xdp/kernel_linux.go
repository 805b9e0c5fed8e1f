// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// Numbers of the kernel's TIPC management, generic netlink family "TIPCv2", from
// the public header linux/tipc_netlink.h.
const (
	tipcBearerGet = 4 // command: list the bearers
	nlaBearer     = 1 // attribute: one bearer, nested
	nlaBearerName = 1 // attribute in it: "eth:eth0"
)

// tipcFamily is the family's name, and moduleSigns are where the module shows that it is loaded, in
// this network namespace or at all. A test changes them, so that no module is asked for.
var tipcFamily = "TIPCv2"

var moduleSigns = []string{"/proc/sys/net/tipc", "/sys/module/tipc"}

// checkKernel returns a *KernelError where the kernel's own TIPC has a bearer on the interface, and
// the system's error where there are no means to ask.
func (l Link) checkKernel(ifname string) error {
	has, err := l.kernelBearer()
	if has {
		return &KernelError{ifname}
	}
	return err
}

// kernelBearer reports whether the kernel's own TIPC has a bearer on the
// interface, under whichever of its names, in the calling thread's network namespace. A shortage
// (netlink.Shortage) is an error; any other failure to find out counts as no.
func (l Link) kernelBearer() (found bool, err error) {
	// To ask for a family that is not there would make the kernel load the tipc
	// module, which is not what somebody wants who runs this program.
	defer func() {
		if !netlink.Shortage(err) {
			err = nil
		}
	}()
	if loaded, err := moduleLoaded(); !loaded {
		return false, err
	}
	fd, err := netlink.Open(unix.NETLINK_GENERIC)
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	var id uint16
	ask := netlink.AppendAttribute(nil, unix.CTRL_ATTR_FAMILY_NAME, append([]byte(tipcFamily), 0))
	err = request(fd, unix.GENL_ID_CTRL, unix.CTRL_CMD_GETFAMILY, 0, ask, func(attrs []byte) {
		if v := netlink.Attribute(attrs, unix.CTRL_ATTR_FAMILY_ID); len(v) >= 2 {
			id = binary.NativeEndian.Uint16(v)
		}
	})
	if id == 0 {
		return false, err
	}
	err = request(fd, id, tipcBearerGet, unix.NLM_F_DUMP, nil, func(attrs []byte) {
		name, eth := strings.CutPrefix(bearerName(attrs), "eth:")
		found = found || eth && (name == l.Name || slices.Contains(l.AltNames, name))
	})
	return found, err
}

func moduleLoaded() (loaded bool, err error) {
	for _, path := range moduleSigns {
		if _, err = os.Stat(path); err == nil {
			return true, nil
		} else if netlink.Shortage(err) {
			break
		}
	}
	return false, err
}

// request sends one generic netlink request and gives each answer's attributes to
// f, until the last has come, an error is reported or a second has passed. The error is that of
// sending, of receiving, or the one that is reported.
func request(fd int, family uint16, command byte, flags uint16, attrs []byte, f func(attrs []byte)) error {
	body := append([]byte{command, 1, 0, 0}, attrs...)
	if err := netlink.Send(fd, netlink.AppendRequest(nil, family, flags, body)); err != nil {
		return err
	}
	buf := make([]byte, 1<<16)
	for {
		b, err := netlink.Receive(fd, buf)
		if err != nil {
			return err
		}
		if more, err := answers(b, f); err != nil || !more || flags&unix.NLM_F_DUMP == 0 {
			return err
		}
	}
}

// answers gives the attributes of each message in b to f, and reports whether
// more may come, and the error that one reports.
func answers(b []byte, f func(attrs []byte)) (more bool, err error) {
	for len(b) >= unix.NLMSG_HDRLEN {
		m, rest, ok := netlink.Next(b)
		if !ok || m.Cut || m.Type == unix.NLMSG_DONE {
			return false, nil
		}
		if errno, ok := m.Errno(); m.Type == unix.NLMSG_ERROR && (!ok || errno == 0) {
			return false, nil
		} else if ok {
			return false, errno
		}
		if len(m.Body) >= unix.GENL_HDRLEN {
			f(m.Body[unix.GENL_HDRLEN:])
		}
		b = rest
	}
	return true, nil
}

// bearerName returns the name of the bearer that the attributes of one answer
// describe.
func bearerName(attrs []byte) string {
	return netlink.Text(netlink.Attribute(attrs, nlaBearer), nlaBearerName)
}
