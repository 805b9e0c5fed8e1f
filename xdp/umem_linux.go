// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
)

// An arena's memory is registered with the kernel once, by the first socket that
// is bound with it, and shared by those that come later, of whatever device
// (XDP_SHARED_UMEM). What was registered lives as long as a socket of it does.
//
// The kernel lets sockets share only that are alike in two ways, copied or
// zero-copy, and pieced frames or not. Others register the same memory again,
// which costs nothing but a second count of it as locked.
type umem struct {
	arena   *netdev.Arena
	kind    umemKind
	sockets []int // descriptors of the bound sockets
}

// A umemKind is what sockets must have in common to share.
type umemKind struct{ zeroCopy, pieces bool }

// umems lists what is registered, for all devices of the process.
var umems struct {
	sync.Mutex
	all []*umem
}

// bind binds a socket whose rings are prepared to its queue, sharing the arena's
// memory with the kernel. mayZero allows zero-copy, pieces frames of several
// chunks. It may be tried again after an error; a socket that has registered the
// memory itself by then shares with nobody before it.
func bind(s *socket, ifindex int, arena *netdev.Arena, mayZero, pieces bool) (*umem, error) {
	umems.Lock()
	defer umems.Unlock()
	for _, u := range umems.all {
		if s.registered || u.arena != arena || u.kind != (umemKind{mayZero, pieces}) {
			continue
		}
		err := unix.Bind(s.fd, &unix.SockaddrXDP{
			Flags: unix.XDP_SHARED_UMEM, Ifindex: uint32(ifindex), QueueID: uint32(s.queue),
			SharedUmemFD: uint32(u.sockets[0]),
		})
		if err == nil {
			u.sockets = append(u.sockets, s.fd)
			return u, nil
		}
		if err == unix.EBUSY || !mayZero {
			return nil, bindError(err)
		}
		// The others are zero-copy and this interface is not.
	}
	if !s.registered {
		if err := registerMemory(s.fd, arena.Memory()); err != nil {
			return nil, err
		}
		s.registered = true
	}
	flags := uint16(unix.XDP_USE_NEED_WAKEUP)
	if !mayZero {
		flags |= unix.XDP_COPY
	}
	if pieces {
		flags |= unix.XDP_USE_SG
	}
	if err := unix.Bind(s.fd, &unix.SockaddrXDP{
		Flags: flags, Ifindex: uint32(ifindex), QueueID: uint32(s.queue),
	}); err != nil {
		return nil, bindError(err)
	}
	u := &umem{arena, umemKind{s.zeroCopy(), pieces}, []int{s.fd}}
	umems.all = append(umems.all, u)
	return u, nil
}

// leave says that a socket is about to be closed. No other refers to it then.
func (u *umem) leave(fd int) {
	umems.Lock()
	defer umems.Unlock()
	u.sockets = slices.DeleteFunc(u.sockets, func(other int) bool { return other == fd })
	if len(u.sockets) == 0 {
		umems.all = slices.DeleteFunc(umems.all, func(other *umem) bool { return other == u })
	}
}
