// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// Requests of ioctl(2) that x/sys has not. Source: linux/tipc.h, linux/sockios.h, asm-generic/ioctls.h.
const (
	linkNameRequest = 0x89e0 // SIOCGETLINKNAME
	nodeIDRequest   = 0x89e1 // SIOCGETNODEID
	atMarkRequest   = 0x8905 // SIOCATMARK
	unreadRequest   = 0x541b // FIONREAD
)

// requests are those of ioctl(2) that the supervisor is told of.
var requests = []uint32{linkNameRequest, nodeIDRequest, atMarkRequest, unreadRequest, unix.TIOCOUTQ}

// Of struct tipc_sioc_ln_req and struct tipc_sioc_nodeid_req: a node, a bearer, and the name of the link to that node;
// a node, and its identity.
const (
	linkNameBearer = 4
	linkNameAt     = 8
	linkNameLen    = 68 // of a name, with the zero at its end
	nodeIDAt       = 4
	nodeIDLen      = 16
)

func (c *call) ioctl() result {
	at := c.n.Args[2]
	request := uint32(c.number(1))
	if request != nodeIDRequest && request != linkNameRequest {
		return failed(unix.ENOTTY)
	}
	var b [linkNameAt]byte
	if err := c.load(at, b[:]); err != nil {
		return failed(err)
	}
	e := binary.NativeEndian
	h := attach.Header{Op: attach.OpPlainInfo, Arg1: e.Uint32(b[:])}
	place, length := at+nodeIDAt, nodeIDLen
	if request == linkNameRequest {
		h.Arg0, h.Wide = 1, uint64(e.Uint32(b[linkNameBearer:]))
		place, length = at+linkNameAt, linkNameLen
	}
	a, err := c.about(h)
	if err != nil {
		return failed(err)
	}
	data := make([]byte, length)
	if copy(data, a.data); request == linkNameRequest {
		data[length-1] = 0
	}
	if err := c.store(place, data); err != nil {
		return failed(err)
	}
	return returned(0)
}
