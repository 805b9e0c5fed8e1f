// SPDX-License-Identifier: Apache-2.0

package bed

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// Numbers the public headers have and x/sys has not: linux/veth.h, linux/if_link.h, linux/if.h.
const (
	vethInfoPeer       = 1 // attribute of a veth: the other end
	macvlanModeBridge  = 4 // macvlans on one interface reach each other
	inet6AddrGenMode   = 8 // attribute: how the kernel makes its own IPv6 addresses
	inet6AddrGenNobody = 1 // it makes none
	operUp             = 6 // operational state: up
)

// A link is a message about one interface, as rtnetlink has it: a fixed part, then
// attributes, which may hold attributes.
type link []byte

// newLink begins a message about an interface by its number; 0 is any. up says
// that it is to be up.
func newLink(index int, up bool) link {
	m := make(link, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(m[4:], uint32(index))
	if up {
		binary.NativeEndian.PutUint32(m[8:], unix.IFF_UP)
		binary.NativeEndian.PutUint32(m[12:], unix.IFF_UP) // which flags are meant
	}
	return m
}

// with adds an attribute.
func (m link) with(typ uint16, value []byte) link { return netlink.AppendAttribute(m, typ, value) }

func (m link) withText(typ uint16, s string) link { return m.with(typ, append([]byte(s), 0)) }

func (m link) withNumber(typ uint16, n int) link {
	return m.with(typ, binary.NativeEndian.AppendUint32(nil, uint32(n)))
}

// withKind says what kind of interface it is to be.
func (m link) withKind(kind string, data link) link {
	return m.with(unix.IFLA_LINKINFO, link(nil).withText(unix.IFLA_INFO_KIND, kind).with(unix.IFLA_INFO_DATA, data))
}

// create makes a new interface in the calling thread's namespace.
func (m link) create() error {
	_, err := m.request(unix.RTM_NEWLINK, unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	return err
}

// change changes the interface that the message numbers.
func (m link) change() error {
	_, err := m.request(unix.RTM_NEWLINK, unix.NLM_F_ACK)
	return err
}

// get asks for the interface of that name.
func get(name string) (link, error) {
	return newLink(0, false).withText(unix.IFLA_IFNAME, name).request(unix.RTM_GETLINK, 0)
}

// request sends the message and returns what the kernel answers: nothing more than
// that all went well, or a message.
func (m link) request(typ, flags uint16) (link, error) {
	answer, err := netlink.Route(typ, flags, m)
	if err != nil || answer.Type == unix.NLMSG_ERROR {
		return nil, err
	}
	return answer.Body, nil
}

// flags are the interface's, 0 when the message is too short to have any.
func (m link) flags() uint32 {
	if len(m) < unix.SizeofIfInfomsg {
		return 0
	}
	return binary.NativeEndian.Uint32(m[8:])
}

// attribute is the value of the first attribute of that type, or nil.
func (m link) attribute(typ uint16) []byte {
	return netlink.Attribute(m[min(unix.SizeofIfInfomsg, len(m)):], typ)
}
