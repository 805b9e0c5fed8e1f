// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// Types of ancillary data of SOL_TIPC. Source: linux/tipc.h.
const (
	errInfo  = 1 // TIPC_ERRINFO: TIPC_ERR_*, and the length of what came back
	retData  = 2 // TIPC_RETDATA: what came back
	destName = 3 // TIPC_DESTNAME: type, lower and upper that a message was sent to
)

// A control is ancillary data in the making.
type control struct {
	room  int // for all of it
	bytes []byte
	flags int // MSG_CTRUNC: it is cut
}

// controlOf begins the ancillary data of a message.
func controlOf(m *message) control {
	if !m.controlled() {
		return control{}
	}
	return control{room: m.room}
}

// put adds one piece of data, cut to the room as a kernel does.
func (c *control) put(kind int, data []byte) {
	room, want := c.room-len(c.bytes), unix.CmsgLen(len(data))
	if room < want {
		c.flags |= unix.MSG_CTRUNC
	}
	if room < unix.SizeofCmsghdr {
		return
	}
	e := binary.NativeEndian
	length := min(room, want)
	b := e.AppendUint64(nil, uint64(length))
	b = e.AppendUint32(e.AppendUint32(b, unix.SOL_TIPC), uint32(kind))
	b = append(b, data[:length-len(b)]...)
	b = append(b, make([]byte, min(room, unix.CmsgSpace(len(data)))-len(b))...)
	c.bytes = append(c.bytes, b...)
}

// putWords adds data that is of words.
func (c *control) putWords(kind int, all ...uint32) {
	var b []byte
	for _, v := range all {
		b = binary.NativeEndian.AppendUint32(b, v)
	}
	c.put(kind, b)
}

// putName adds the name that a message was sent to.
func (c *control) putName(a attach.Sockaddr) { c.putWords(destName, a.A, a.B, a.C) }
