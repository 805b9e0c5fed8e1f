// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// pair makes another socket of the same kind, connected to this one.
func (x *socket) pair(by Caller) Answer {
	if x.kind.Connected() {
		return x.pairDirect(by)
	}
	y, a := x.all.openPackets(by, x.kind)
	if a.Err != nil {
		return a
	}
	for _, z := range [...]*socket{x, y} {
		z.mu.Lock()
		z.to = attach.SocketSockaddr(x.addr)
		if z == x {
			z.to = attach.SocketSockaddr(y.addr)
		}
		z.pairOf = z.to
		z.mu.Unlock()
	}
	return a
}

// pairDirect makes D the other socket: the daemon has no part in the two from now on.
func (x *socket) pairDirect(by Caller) Answer {
	y := x.all.open(by, x.kind) // for its number
	if y.Err != nil {
		return y
	}
	unix.Close(y.FD)
	y.FD = -1
	own := attach.PlainName{Kind: x.kind}
	own.Addr, _ = y.Addr.Socket()
	x.mu.Lock()
	l := x.l
	if x.state != stateOpen || len(x.names) > 0 || x.member != nil {
		x.mu.Unlock()
		return failure(syscall.EINVAL)
	}
	x.handed, x.l = true, nil // nobody else ends it
	x.mu.Unlock()
	x.unwatch()
	err := x.d.control(func(fd int) (err error) {
		if own.Cookie, err = cookieOf(fd); err == nil {
			err = x.all.secret.bind(fd, &own)
		}
		return err
	})
	if err == nil {
		y.FD, err = x.d.release()
	} else {
		x.d.s.Close()
	}
	y.Err = err
	l.Close()
	x.stop()
	x.leave(0)
	return y
}
