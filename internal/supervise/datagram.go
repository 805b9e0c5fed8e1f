// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// Events of a group, in the upper bytes of Arg0 of a message.
const (
	memberJoined = 1
	memberLeft   = 2
)

// event returns the flags of an event of a group.
func event(h *attach.Header) int {
	switch h.Arg0 >> 8 {
	case memberJoined:
		return unix.MSG_OOB
	case memberLeft:
		return unix.MSG_OOB | unix.MSG_EOR
	}
	return 0
}

// takeRecord takes a message out of the UNIX socket, whose header it reads.
func (c *call) takeRecord(m *message, flags int) (h attach.Header, data []byte, err error) {
	b := make([]byte, attach.MaxRecord)
	k, _, err := c.take(m, b, flags)
	if err != nil {
		return h, nil, err
	}
	if h, data, err = attach.ParseRecord(b[:k]); err != nil { // the daemon has ended
		return h, nil, unix.ENETDOWN
	}
	return h, data, nil
}

// receiveMessage receives a datagram. Of one that came back there is no data but with the ancillary data.
func (c *call) receiveMessage(m *message) (n, flags int, err error) {
	part := c.part(m)
	if part >= 0 || m.flags&unix.MSG_PEEK == 0 && !c.mapped(m, min(m.total, attach.MaxData)) {
		return c.receivePeeked(m, part)
	}
	h, data, err := c.takeRecord(m, m.flags&unix.MSG_PEEK)
	if err != nil {
		return 0, 0, err
	}
	return c.deliver(m, &h, data, 0)
}

// receivePeeked receives a datagram in parts, or one that may stay: it is looked at first.
func (c *call) receivePeeked(m *message, part int) (n, flags int, err error) {
	if part >= 0 {
		c.keepPart(-1)
	}
	h, data, err := c.takeRecord(m, unix.MSG_PEEK)
	if err != nil {
		return 0, 0, err
	}
	if h.Arg1 == 0 && part >= 0 {
		b := make([]byte, min(m.total, attach.MaxData))
		n, flags, err = c.takePart(m, b, part, attach.HeaderLen)
		if err != nil {
			return 0, 0, err
		}
		return c.deliver(m, &h, b[:n], flags)
	}
	if n, flags, err = c.deliver(m, &h, data, 0); err == nil && m.flags&unix.MSG_PEEK == 0 {
		_, _, _ = c.takeRecord(m, 0)
	}
	return n, flags, err
}

// deliver writes a datagram where the call wants it.
func (c *call) deliver(m *message, h *attach.Header, data []byte, got int) (n, flags int, err error) {
	r := reception{names: h.Addr.Append(nil), control: controlOf(m)}
	back := data[:min(len(data), mostReturned)]
	if h.Arg1 != 0 {
		data = nil
	}
	if len(data) > m.total {
		data, got = data[:m.total], unix.MSG_TRUNC
	}
	switch {
	case h.Arg1 != 0 && !m.controlled():
	case h.Arg1 != 0:
		r.control.putWords(errInfo, h.Arg1, uint32(len(back)))
		if len(back) > 0 {
			r.control.put(retData, back)
			if h.Addr2.Family == attach.AFTIPC {
				r.control.putName(h.Addr2)
			}
		}
	case h.Addr2.Type == attach.TypeService: // of a member of the group
		r.names = h.Addr2.Append(r.names)
		r.flags = got | event(h)
	default:
		r.flags = got
		if m.control != 0 && h.Addr2.Family == attach.AFTIPC {
			r.control.putName(h.Addr2)
		}
	}
	if h.Arg1 == 0 || !m.controlled() {
		r.flags |= m.flags & unix.MSG_CMSG_CLOEXEC
	}
	if err := c.keep(m, data); err != nil {
		return 0, 0, err
	}
	return len(data), r.flags, c.finish(m, &r)
}

// mostReturned is the length of what comes back of a message, in bytes.
const mostReturned = 1024
