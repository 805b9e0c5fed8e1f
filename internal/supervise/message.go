// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"encoding/binary"
	"errors"
	"os"

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
	control    uint64 // where ancillary data goes; 0: nowhere
	room       int    // for it
}

// controlled reports whether there is room for ancillary data.
func (m *message) controlled() bool { return m.control != 0 && m.room > 0 }

// waits reports whether the call waits, as far as its flags say.
func (m *message) waits(c *call) bool { return m.flags&unix.MSG_DONTWAIT == 0 && !c.nonblocking() }

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
	mostOfPart        = 1 << 30 // bytes; more is read as this
)

// message reads the argument of sendto or recvfrom, or of sendmsg or recvmsg. Errors: EFAULT, EMSGSIZE.
func (c *call) message() (m message, err error) {
	if c.n.Call != unix.SYS_SENDTO && c.n.Call != unix.SYS_RECVFROM {
		return c.messageAt(c.n.Args[1], c.number(2))
	}
	m = message{flags: c.number(3), name: c.n.Args[4], total: int(min(c.n.Args[2], mostOfPart))}
	m.parts = []unix.RemoteIovec{{Base: uintptr(c.n.Args[1]), Len: m.total}}
	if c.n.Call == unix.SYS_SENDTO {
		m.nameLength = c.number(5)
	} else if m.lengthAt = c.n.Args[5]; m.name != 0 && m.lengthAt != 0 {
		m.nameLength, err = c.loadInt(m.lengthAt)
	}
	return m, err
}

// messageAt reads a struct msghdr. Errors: EFAULT, EMSGSIZE.
func (c *call) messageAt(header uint64, flags int) (m message, err error) {
	e := binary.NativeEndian
	m.flags, m.header = flags, header
	var b [headerLen]byte
	if err := c.load(m.header, b[:]); err != nil {
		return m, err
	}
	m.name, m.nameLength = e.Uint64(b[:]), int(int32(e.Uint32(b[headerNameLength:])))
	m.control, m.room = e.Uint64(b[headerControl:]), int(min(e.Uint64(b[headerControlSize:]), mostOfPart))
	count := e.Uint64(b[headerParts+8:])
	if count > mostParts {
		return m, unix.EMSGSIZE
	}
	all := make([]byte, count*partLen)
	if err := c.load(e.Uint64(b[headerParts:]), all); err != nil {
		return m, err
	}
	for ; len(all) > 0; all = all[partLen:] {
		p := unix.RemoteIovec{Base: uintptr(e.Uint64(all)), Len: int(min(e.Uint64(all[8:]), mostOfPart))}
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

// mapped reports whether the memory of the first n bytes may be read. Of memory that may be read and not
// written it says nothing.
func (c *call) mapped(m *message, n int) bool {
	var all []unix.RemoteIovec
	page := os.Getpagesize()
	for _, p := range m.parts {
		k := min(p.Len, n)
		n -= k
		for end := p.Base + uintptr(k); k > 0 && p.Base < end; p.Base += uintptr(page) - p.Base%uintptr(page) {
			all = append(all, unix.RemoteIovec{Base: p.Base, Len: 1})
		}
	}
	for len(all) > 0 {
		k := min(len(all), mostParts)
		b := make([]byte, k)
		local := []unix.Iovec{{Base: &b[0]}}
		local[0].SetLen(k)
		if got, err := unix.ProcessVMReadv(int(c.n.TID), local, all[:k], 0); err != nil || got != k {
			return false
		}
		all = all[k:]
	}
	return true
}

// A reception is what a call that receives returns besides the data.
type reception struct {
	names   []byte // addresses: none, or one or two in a row
	flags   int
	control control
}

// finish writes it where the call wants it.
func (c *call) finish(m *message, r *reception) error {
	var err error
	if m.name != 0 {
		if m.nameLength < 0 {
			return unix.EINVAL
		}
		err = c.store(m.name, r.names[:min(len(r.names), m.nameLength)])
		if m.lengthAt != 0 {
			err = errors.Join(err, c.storeInt(m.lengthAt, len(r.names)))
		}
	}
	if m.header != 0 {
		if m.name != 0 {
			err = errors.Join(err, c.storeInt(m.header+headerNameLength, len(r.names)))
		}
		b := r.control.bytes
		err = errors.Join(err, c.store(m.control, b),
			c.store(m.header+headerControlSize, binary.NativeEndian.AppendUint64(nil, uint64(len(b)))),
			c.storeInt(m.header+headerFlags, r.flags|r.control.flags))
	}
	if err != nil {
		return unix.EFAULT
	}
	return nil
}
