// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// A message is what a call sends, or where it receives: the arguments of sendto and recvfrom, or a
// struct msghdr.
type message struct {
	flags      int
	parts      []unix.RemoteIovec
	total      int
	name       uint64
	nameLength int    // of what is sent, or the room
	lengthAt   uint64 // where recvfrom wants the length of the name; 0: nowhere
	header     uint64 // of a struct msghdr; 0: there is none
}

// Of struct msghdr and struct iovec, of 64 bits.
const (
	headerLen         = 56
	headerNameLength  = 8
	headerParts       = 16
	headerControl     = 32
	headerControlSize = 40
	headerFlags       = 48
	partLen           = 16
	mostParts         = 1024
)

// arguments reads the message of sendto or recvfrom, or of sendmsg or recvmsg. Errors: EFAULT, EMSGSIZE.
func (c *call) arguments() (m message, err error) {
	e := binary.NativeEndian
	if c.n.Call == unix.SYS_SENDTO || c.n.Call == unix.SYS_RECVFROM {
		m = message{flags: c.number(3), name: c.n.Args[4], total: int(min(c.n.Args[2], 1<<30))}
		m.parts = []unix.RemoteIovec{{Base: uintptr(c.n.Args[1]), Len: m.total}}
		if c.n.Call == unix.SYS_SENDTO {
			m.nameLength = c.number(5)
		} else if m.lengthAt = c.n.Args[5]; m.name != 0 && m.lengthAt != 0 {
			m.nameLength, err = c.loadInt(m.lengthAt)
		}
		return m, err
	}
	m.flags, m.header = c.number(2), c.n.Args[1]
	var b [headerLen]byte
	if err := c.load(m.header, b[:]); err != nil {
		return m, err
	}
	m.name, m.nameLength = e.Uint64(b[:]), int(int32(e.Uint32(b[headerNameLength:])))
	count := e.Uint64(b[headerParts+8:])
	if count > mostParts {
		return m, unix.EMSGSIZE
	}
	all := make([]byte, count*partLen)
	if err := c.load(e.Uint64(b[headerParts:]), all); err != nil {
		return m, err
	}
	for ; len(all) > 0; all = all[partLen:] {
		p := unix.RemoteIovec{Base: uintptr(e.Uint64(all)), Len: int(min(e.Uint64(all[8:]), 1<<30))}
		m.parts, m.total = append(m.parts, p), m.total+p.Len
	}
	return m, nil
}

// data reads what is sent, at most n bytes of it.
func (c *call) data(m *message, n int) ([]byte, error) {
	b := make([]byte, min(m.total, n))
	rest := b
	for _, p := range m.parts {
		k := min(p.Len, len(rest))
		if err := c.load(uint64(p.Base), rest[:k]); err != nil {
			return nil, err
		}
		rest = rest[k:]
	}
	return b, nil
}

// keep writes what has come where the call wants it.
func (c *call) keep(m *message, b []byte) error {
	for _, p := range m.parts {
		k := min(p.Len, len(b))
		if err := c.store(uint64(p.Base), b[:k]); err != nil {
			return err
		}
		b = b[k:]
	}
	return nil
}

// finish writes what a call that receives returns besides the data: addresses, which are none or
// one or two in a row, and flags.
func (c *call) finish(m *message, names []byte, flags int) error {
	var err error
	if m.name != 0 {
		if m.nameLength < 0 {
			return unix.EINVAL
		}
		err = c.store(m.name, names[:min(len(names), m.nameLength)])
		if m.lengthAt != 0 {
			err = errors.Join(err, c.storeInt(m.lengthAt, len(names)))
		}
	}
	if m.header != 0 {
		if m.name != 0 {
			err = errors.Join(err, c.storeInt(m.header+headerNameLength, len(names)))
		}
		err = errors.Join(err, c.store(m.header+headerControlSize, make([]byte, 8)), c.storeInt(m.header+headerFlags, flags))
	}
	if err != nil {
		return unix.EFAULT
	}
	return nil
}
