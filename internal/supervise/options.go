// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// Options of SOL_TIPC. Source: linux/tipc.h.
const (
	importance     = 127
	queueDepth     = 132
	queueUsed      = 137
	mcastBroadcast = 133
	mcastReplicast = 134
	groupJoin      = 135
	groupLeave     = 136

	groupRequestLen = 16

	soPeerName = 28 // SO_PEERNAME of SOL_SOCKET. Source: asm-generic/socket.h
)

func (c *call) setOption() result {
	level, option, at, length := c.number(1), c.number(2), c.n.Args[3], c.number(4)
	switch {
	case level == unix.SOL_SOCKET && option == unix.SO_PEEK_OFF:
		return failed(unix.EOPNOTSUPP)
	case level == unix.SOL_SOCKET:
		return byKernel
	case level == unix.IPPROTO_TCP && c.own.Kind == attach.KindStream:
		return returned(0)
	case level != unix.SOL_TIPC:
		return failed(unix.ENOPROTOOPT)
	case option == groupJoin:
		return c.join(at, length)
	}
	value := 0
	if option == mcastBroadcast || option == mcastReplicast || option == groupLeave {
		if at != 0 || length > 0 {
			return failed(unix.EINVAL)
		}
	} else {
		if at == 0 || length < 4 {
			return failed(unix.EINVAL)
		}
		var err error
		if value, err = c.loadInt(at); err != nil {
			return failed(err)
		}
	}
	if option == importance {
		value = max(value, 0) // as a kernel reads it
	}
	if option == groupLeave {
		return c.done(attach.Header{Op: attach.OpPlainLeave}, nil)
	}
	return c.done(attach.Header{Op: attach.OpPlainSetOption}, attach.AppendOption(nil, attach.OptionName(option), int64(uint32(value))))
}

// join reads struct tipc_group_req.
func (c *call) join(at uint64, length int) result {
	if at == 0 || length < groupRequestLen {
		return failed(unix.EINVAL)
	}
	var b [groupRequestLen]byte
	if err := c.load(at, b[:]); err != nil {
		return failed(err)
	}
	word := func(i int) uint32 { return binary.NativeEndian.Uint32(b[4*i:]) }
	h := attach.Header{Op: attach.OpPlainJoin, Arg0: word(3)}
	h.Addr = attach.Sockaddr{Family: attach.AFTIPC, Type: attach.TypeService, Scope: -1, A: word(0), B: word(1)}
	if scope := word(2); scope <= 3 {
		h.Addr.Scope = int8(scope)
	}
	return c.done(h, nil)
}

// optionOfSocket is an option of SOL_SOCKET that a plain socket has otherwise than its UNIX socket.
func (c *call) optionOfSocket(option int) (v int, ours bool, err error) {
	state := func() (a answer, ok bool) {
		if c.is != unconnected {
			return a, false
		}
		a, err := c.about(attach.Header{Op: attach.OpPlainState})
		return a, err == nil
	}
	switch option {
	case unix.SO_DOMAIN:
		return attach.AFTIPC, true, nil
	case unix.SO_TYPE:
		return int(c.own.Kind), true, nil
	case unix.SO_ACCEPTCONN:
		if a, ok := state(); ok && a.Arg0 == stateListening {
			v = 1
		}
		return v, true, nil
	case unix.SO_ERROR:
		if a, ok := state(); ok {
			v = int(a.Arg1)
		}
		return v, true, nil
	case unix.SO_PEEK_OFF:
		return 0, true, unix.EOPNOTSUPP
	case soPeerName:
		if c.is != connected {
			return 0, true, unix.ENOTCONN
		}
	}
	return 0, false, nil
}

func (c *call) getOption() result {
	level, option, at, lengthAt := c.number(1), c.number(2), c.n.Args[3], c.n.Args[4]
	value, ours := 0, false
	if level == unix.SOL_SOCKET {
		var err error
		if value, ours, err = c.optionOfSocket(option); err != nil {
			return failed(err)
		}
		if !ours {
			return byKernel
		}
	}
	length, err := c.loadInt(lengthAt)
	switch {
	case err != nil:
		return failed(err)
	case length < 0:
		return failed(unix.EINVAL)
	case ours:
	case level == unix.IPPROTO_TCP && c.own.Kind == attach.KindStream:
		length = 0
	case level != unix.SOL_TIPC:
		return failed(unix.ENOPROTOOPT)
	case length < 4:
		return failed(unix.EINVAL)
	case option == queueDepth:
		value, _ = c.unread()
	case option == queueUsed:
		_, value = c.unread()
	default:
		a, err := c.ask(attach.Header{Op: attach.OpPlainGetOption}, attach.AppendOption(nil, attach.OptionName(option), 0), c.fd)
		if err != nil {
			return failed(err)
		}
		all, err := attach.ParseOptions(a.data, nil)
		if err != nil || len(all) != 1 {
			return failed(unix.EPROTO)
		}
		value = int(all[0].Value)
	}
	b := binary.NativeEndian.AppendUint32(nil, uint32(value))
	b = b[:min(length, len(b))]
	if err := c.store(at, b); err != nil {
		return failed(err)
	}
	if err := c.storeInt(lengthAt, len(b)); err != nil {
		return failed(err)
	}
	return returned(0)
}
