// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// A call is one that a thread of the program makes.
type call struct {
	s       *supervisor
	n       *notification
	process int // a pidfd, of the thread where there is such; -1: not opened
	fd      int // a copy of the descriptor that the call is about; -1: none
	own     attach.PlainName
	peer    attach.PlainName
	is      kind

	ctx     context.Context // ends when the thread does
	cancel  func()
	unwatch func() // set when the thread is watched
	ended   chan struct{}
}

func (c *call) release() {
	c.cancel()
	if c.unwatch != nil {
		c.unwatch()
	}
	for _, fd := range []int{c.fd, c.process} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// number is an argument of the call, an int.
func (c *call) number(i int) int { return int(int32(c.n.Args[i])) }

// open takes a copy of the descriptor that is the call's first argument.
func (c *call) open() error {
	if err := c.openThread(); err != nil {
		return err
	}
	if !c.s.l.valid(c.n.ID) { // the number may be another's by now
		return unix.ESRCH
	}
	var err error
	c.fd, err = unix.PidfdGetfd(c.process, c.number(0), 0)
	return err
}

// watchThread has the call's context end with the thread; where that cannot be, a sweep ends it.
func (c *call) watchThread() {
	if c.unwatch != nil || c.process < 0 && c.openThread() != nil {
		return
	}
	if stop, err := c.s.watch.add(c.process, unix.EPOLLIN, c.cancel); err == nil {
		c.unwatch = stop
	}
}

// openThread opens the thread, or with a kernel before Linux 6.9 the first of its process, which has no
// descriptors once it has ended.
func (c *call) openThread() (err error) {
	const thread = unix.O_EXCL // PIDFD_THREAD
	if c.process, err = unix.PidfdOpen(int(c.n.TID), thread); err != unix.EINVAL {
		return err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.n.TID))
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(status), "\nTgid:\t")
	digits, _, _ := strings.Cut(rest, "\n")
	leader, err := strconv.Atoi(digits)
	if err != nil {
		return err
	}
	c.process, err = unix.PidfdOpen(leader, 0)
	return err
}

// load reads memory of the program. Errors: EFAULT.
func (c *call) load(at uint64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMReadv(int(c.n.TID), local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	if err != nil || n != len(b) || !c.s.l.valid(c.n.ID) {
		return unix.EFAULT
	}
	return nil
}

// store writes memory of the program. Errors: EFAULT.
func (c *call) store(at uint64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if !c.s.l.valid(c.n.ID) {
		return unix.EFAULT
	}
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMWritev(int(c.n.TID), local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	if err != nil || n != len(b) {
		return unix.EFAULT
	}
	return nil
}

func (c *call) loadInt(at uint64) (int, error) {
	var b [4]byte
	err := c.load(at, b[:])
	return int(int32(binary.NativeEndian.Uint32(b[:]))), err
}

func (c *call) storeInt(at uint64, v int) error {
	return c.store(at, binary.NativeEndian.AppendUint32(nil, uint32(v)))
}

// address reads an address. Errors: EINVAL, it is none of TIPC; EFAULT.
func (c *call) address(at uint64, length int) (a attach.Sockaddr, err error) {
	if at == 0 || length < attach.SockaddrLen {
		return a, unix.EINVAL
	}
	var b [attach.SockaddrLen]byte
	if err := c.load(at, b[:]); err != nil {
		return a, err
	}
	if a = attach.ParseSockaddr(b[:]); a.Family != attach.AFTIPC {
		return a, unix.EINVAL
	}
	return a, nil
}

// giveAddress writes an address where a call wants one, with its length; at 0 it does not want any.
// Errors: EFAULT; EINVAL, the room is negative.
func (c *call) giveAddress(a attach.Sockaddr, at, lengthAt uint64) error {
	if at == 0 || lengthAt == 0 {
		return nil
	}
	room, err := c.loadInt(lengthAt)
	if err != nil {
		return err
	}
	if room < 0 {
		return unix.EINVAL
	}
	b := a.Append(nil)
	if err := c.store(at, b[:min(room, len(b))]); err != nil {
		return err
	}
	return c.storeInt(lengthAt, len(b))
}

// nonblocking reports whether the descriptor does not wait.
func (c *call) nonblocking() bool {
	flags, err := unix.FcntlInt(uintptr(c.fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK != 0
}

// limit is how long a call on the descriptor waits: SO_RCVTIMEO or SO_SNDTIMEO; 0: without end.
func (c *call) limit(option int) time.Duration {
	t, err := unix.GetsockoptTimeval(c.fd, unix.SOL_SOCKET, option)
	if err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// wait waits until the descriptor is ready. Errors: EAGAIN, flags or the descriptor have it not wait, or the
// limit is over; EINTR, the thread is gone.
func (c *call) wait(events uint32, flags, limitOption int) error {
	if flags&unix.MSG_DONTWAIT != 0 || c.nonblocking() {
		return unix.EAGAIN
	}
	ctx := c.ctx
	if limit := c.limit(limitOption); limit > 0 {
		var stop func()
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	c.watchThread()
	ready := make(chan struct{})
	stop, err := c.s.watch.add(c.fd, events, func() { close(ready) })
	if err != nil {
		return unix.ENOBUFS
	}
	defer stop()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
	}
	if c.ctx.Err() != nil {
		return unix.EINTR
	}
	return unix.EAGAIN
}

// hungUp reports whether a connection has ended.
func (c *call) hungUp() bool {
	p := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents&(unix.POLLHUP|unix.POLLRDHUP) != 0
}
