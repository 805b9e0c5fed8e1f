// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"
)

// Of struct mmsghdr, of 64 bits: a struct msghdr and a length.
const (
	severalLen    = 64
	severalLength = 56
)

// several carries out a call for each of its messages, until one fails, or after says that it is over. It
// returns how many there were, and the error of the first one alone.
func (c *call) several(one func(*message) (int, error), after func(count int) (over bool)) (count int, err error) {
	length := int(min(uint64(uint32(c.n.Args[2])), mostParts))
	for count < length {
		at := c.n.Args[1] + uint64(count)*severalLen
		m, err := c.messageAt(at, c.number(3))
		var n int
		if err == nil {
			n, err = one(&m)
		}
		if err == nil {
			err = c.storeInt(at+severalLength, n)
		}
		if err != nil {
			if count > 0 {
				return count, nil
			}
			return 0, err
		}
		if count++; after(count) {
			break
		}
	}
	return count, nil
}

// sendSeveral is sendmmsg.
func (c *call) sendSeveral() result {
	count, err := c.several(c.send, func(int) bool { return false })
	if err != nil {
		return failed(err)
	}
	return returned(count)
}

// receiveSeveral is recvmmsg. As with a kernel its timeout is looked at after each message alone, and what is
// left of it is written back.
func (c *call) receiveSeveral() result {
	limit, limited, err := c.timeout(c.n.Args[4])
	if err != nil {
		return failed(err)
	}
	begun, flags := time.Now(), 0
	var left time.Duration
	count, err := c.several(func(m *message) (n int, err error) {
		n, flags, err = c.receive(m)
		return n, err
	}, func(count int) bool {
		if c.number(3)&unix.MSG_WAITFORONE != 0 {
			c.n.Args[3] |= unix.MSG_DONTWAIT
		}
		left = max(limit-time.Since(begun), 0)
		return limited && left == 0 || flags&unix.MSG_OOB != 0
	})
	if err != nil {
		return failed(err)
	}
	if limited && count > 0 {
		e := binary.NativeEndian
		b := e.AppendUint64(e.AppendUint64(nil, uint64(left/time.Second)), uint64(left%time.Second))
		if err := c.store(c.n.Args[4], b); err != nil {
			return failed(err)
		}
	}
	return returned(count)
}

// timeout reads a struct timespec; limited is false where there is none. Errors: EFAULT, EINVAL.
func (c *call) timeout(at uint64) (limit time.Duration, limited bool, err error) {
	const mostSeconds = 1 << 32 // more is as good as without end
	if at == 0 {
		return 0, false, nil
	}
	var b [16]byte
	if err := c.load(at, b[:]); err != nil {
		return 0, false, err
	}
	e := binary.NativeEndian
	seconds, rest := int64(e.Uint64(b[:])), int64(e.Uint64(b[8:]))
	if seconds < 0 || rest < 0 || rest >= int64(time.Second) {
		return 0, false, unix.EINVAL
	}
	return time.Duration(min(seconds, mostSeconds))*time.Second + time.Duration(rest), true, nil
}
