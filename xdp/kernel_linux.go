// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
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
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_GENERIC)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	wait := unix.Timeval{Sec: 1}
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)
	var id uint16
	ask := appendAttribute(nil, unix.CTRL_ATTR_FAMILY_NAME, append([]byte(tipcFamily), 0))
	request(fd, unix.GENL_ID_CTRL, unix.CTRL_CMD_GETFAMILY, 0, ask, func(attrs []byte) {
		if v := attribute(attrs, unix.CTRL_ATTR_FAMILY_ID); len(v) >= 2 {
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
	m := binary.NativeEndian.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+unix.GENL_HDRLEN+len(attrs)))
	m = binary.NativeEndian.AppendUint16(m, family)
	m = binary.NativeEndian.AppendUint16(m, unix.NLM_F_REQUEST|flags)
	m = append(m, make([]byte, 8)...) // sequence, port
	m = append(m, command, 1, 0, 0)
	m = append(m, attrs...)
	if unix.Sendto(fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) != nil {
		return
	}
	buf := make([]byte, 1<<16)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil || !answers(buf[:n], f) || flags&unix.NLM_F_DUMP == 0 {
			return
		}
	}
}

// answers gives the attributes of each message in b to f, and reports whether
// more may come.
func answers(b []byte, f func(attrs []byte)) (more bool) {
	const head = unix.NLMSG_HDRLEN + unix.GENL_HDRLEN
	for len(b) >= unix.NLMSG_HDRLEN {
		n := int(binary.NativeEndian.Uint32(b))
		if n < unix.NLMSG_HDRLEN || n > len(b) {
			return false
		}
		switch binary.NativeEndian.Uint16(b[4:]) {
		case unix.NLMSG_DONE, unix.NLMSG_ERROR:
			return false
		}
		if n >= head {
			f(b[head:n])
		}
		b = b[min(len(b), align(n)):]
	}
	return true
}

// bearerName returns the name of the bearer that the attributes of one answer
// describe.
func bearerName(attrs []byte) string {
	name := attribute(attribute(attrs, nlaBearer), nlaBearerName)
	for i, c := range name {
		if c == 0 {
			return string(name[:i])
		}
	}
	return string(name)
}

// attribute returns the value of the first attribute of that type, nil if there
// is none.
func attribute(b []byte, typ uint16) []byte {
	for len(b) >= 4 {
		n := int(binary.NativeEndian.Uint16(b))
		if n < 4 || n > len(b) {
			return nil
		}
		if binary.NativeEndian.Uint16(b[2:])&^(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER) == typ {
			return b[4:n]
		}
		b = b[min(len(b), align(n)):]
	}
	return nil
}

func appendAttribute(b []byte, typ uint16, v []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(4+len(v)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = append(b, v...)
	return append(b, make([]byte, align(len(v))-len(v))...)
}

// align rounds up to where the next message or attribute begins.
func align(n int) int { return (n + 3) &^ 3 }
