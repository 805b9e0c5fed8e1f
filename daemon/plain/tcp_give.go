// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/tcpwire"
)

// A program that listens is given descriptors one at a time, when there is room for one: nobody else takes the room
// that is found. A connection that finds none waits, as one of TCP asks again whose listener's backlog is full; as
// long as it waits it counts for who connects, or, where it comes from another node, for who listens.

// reserve waits until there is room for a descriptor at a listener. Errors: syscall.ECONNREFUSED when it listens no more, the
// context's cause.
func (x *tcpSocket) reserve(ctx context.Context) (done func(), err error) {
	waiting := &x.all.tcpCounters.waiting
	waiting.Add(1)
	defer waiting.Add(-1)
	select {
	case x.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-x.ctx.Done():
		return nil, syscall.ECONNREFUSED
	}
	done = func() { <-x.turn }
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = x.d.s.SetWriteDeadline(time.Unix(1, 0))
		close(over)
	})
	err = x.d.s.Write(func(d uintptr) bool { return hasRoom(int(d)) })
	if !stop() {
		<-over
		_ = x.d.s.SetWriteDeadline(time.Time{})
	}
	switch {
	case err == nil && !x.d.hungUp():
		return done, nil
	case err == nil, errors.Is(err, net.ErrClosed):
		err = syscall.ECONNREFUSED
	default:
		err = context.Cause(ctx)
	}
	done()
	return nil, err
}

// hasRoom reports whether nobody would wait who writes to a UNIX socket: there is room, or its other end is closed.
func hasRoom(d int) bool {
	waits, err := unix.IoctlGetInt(d, unix.TIOCOUTQ)
	room, failed := unix.GetsockoptInt(d, unix.SOL_SOCKET, unix.SO_SNDBUF)
	return err != nil || failed != nil || waits < room || poll(d)&unix.POLLHUP != 0
}

// put passes a descriptor to the program that listens, and closes it. There is room.
func (x *tcpSocket) put(fd int) {
	rights := unix.UnixRights(fd)
	err := x.d.control(func(d int) error {
		x.all.giving.RLock()
		defer x.all.giving.RUnlock()
		for {
			err := unix.Sendmsg(d, []byte{0}, rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
			if err != unix.EINTR {
				unix.Close(fd)
				return err
			}
		}
	})
	if errors.Is(err, net.ErrClosed) {
		unix.Close(fd)
	}
}

// give passes a descriptor to the program that listens, when there is room, and closes it.
func (x *tcpSocket) give(fd int) {
	done, err := x.reserve(x.ctx)
	if err != nil {
		unix.Close(fd)
		return
	}
	defer done()
	x.put(fd)
}

// handOver connects a socket that the program of another on this host listens for: D of it is that program's end. It
// waits for room there. Errors: those of reserve; net.ErrClosed when the program has closed its socket.
func (x *tcpSocket) handOver(ctx context.Context, from *tcpSocket, to tcpwire.Addr) error {
	done, err := x.reserve(ctx)
	if err != nil {
		return err
	}
	defer done()
	if !from.takeConnecting() {
		return net.ErrClosed
	}
	fd, err := -1, x.all.namePeer(from.d, &attach.PlainName{Kind: x.kind, Addr: tcpName(to)})
	from.mu.Lock()
	if err == nil {
		from.state = stateConnected
	}
	from.d.drain(from.attempt.barrier)
	from.mu.Unlock()
	if err == nil {
		fd, err = from.d.release()
	} else {
		from.d.s.Close()
	}
	from.stop()
	from.leave()
	if err != nil {
		return err
	}
	x.all.tcpCounters.direct.Add(1)
	x.put(fd)
	return nil
}
