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
	tipcFamily    = "TIPCv2"
	tipcBearerGet = 4 // command: list the bearers
	nlaBearer     = 1 // attribute: one bearer, nested
	nlaBearerName = 1 // attribute in it: "eth:eth0"
)

// kernelBearer reports whether the kernel's own TIPC has a bearer on the
// interface, under whichever of its names, in the calling thread's network namespace. Any
// failure to find out counts as no.
func (l Link) kernelBearer() bool {
	// To ask for a family that is not there would make the kernel load the tipc
	// module, which is not what somebody wants who runs this program.
	if !exists("/proc/sys/net/tipc") && !exists("/sys/module/tipc") {
		return false
	}
	fd, err := netlink.Open(unix.NETLINK_GENERIC)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var id uint16
	ask := netlink.AppendAttribute(nil, unix.CTRL_ATTR_FAMILY_NAME, append([]byte(tipcFamily), 0))
	request(fd, unix.GENL_ID_CTRL, unix.CTRL_CMD_GETFAMILY, 0, ask, func(attrs []byte) {
		if v := netlink.Attribute(attrs, unix.CTRL_ATTR_FAMILY_ID); len(v) >= 2 {
			id = binary.NativeEndian.Uint16(v)
		}
	})
	if id == 0 {
		return false
	}
	found := false
	request(fd, id, tipcBearerGet, unix.NLM_F_DUMP, nil, func(attrs []byte) {
		name, eth := strings.CutPrefix(bearerName(attrs), "eth:")
		found = found || eth && (name == l.Name || slices.Contains(l.AltNames, name))
	})
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// request sends one generic netlink request and gives each answer's attributes to
// f, until the last has come, an error is reported or a second has passed.
func request(fd int, family uint16, command byte, flags uint16, attrs []byte, f func(attrs []byte)) {
	body := append([]byte{command, 1, 0, 0}, attrs...)
	if netlink.Send(fd, netlink.AppendRequest(nil, family, flags, body)) != nil {
		return
	}
	buf := make([]byte, 1<<16)
	for {
		b, err := netlink.Receive(fd, buf)
		if err != nil || !answers(b, f) || flags&unix.NLM_F_DUMP == 0 {
			return
		}
	}
}

// answers gives the attributes of each message in b to f, and reports whether
// more may come.
func answers(b []byte, f func(attrs []byte)) (more bool) {
	for len(b) >= unix.NLMSG_HDRLEN {
		m, rest, ok := netlink.Next(b)
		if !ok || m.Cut || m.Type == unix.NLMSG_DONE || m.Type == unix.NLMSG_ERROR {
			return false
		}
		if len(m.Body) >= unix.GENL_HDRLEN {
			f(m.Body[unix.GENL_HDRLEN:])
		}
		b = rest
	}
	return true
}

// bearerName returns the name of the bearer that the attributes of one answer
// describe.
func bearerName(attrs []byte) string {
	return netlink.Text(netlink.Attribute(attrs, nlaBearer), nlaBearerName)
}
