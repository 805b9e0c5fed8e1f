// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A netWaker sleeps in Go's own poller, see Config.GoPoller: on an epoll descriptor that
// has the devices' descriptors and an eventfd in it. Who sleeps is a goroutine, and its
// processor serves others at once.
type netWaker struct {
	set     *os.File // the epoll descriptor
	raw     syscall.RawConn
	look    func(fd uintptr) bool // of raw.Read
	devices []wakerDevice
	events  [8]unix.EpollEvent
	by      time.Duration // the deadline that set has, by the node's time; of the sleeper, as all above

	mu     sync.Mutex // guards the rest; no call under it waits
	event  int
	closed bool
}

// A wakerDevice is a device's descriptor in a netWaker.
type wakerDevice struct {
	fd        int
	listening bool
	heard     bool
}

func newNetWaker(devices []int) (_ waker, err error) {
	b := &netWaker{event: -1}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err == nil {
		err = unix.SetNonblock(fd, true) // so that os knows that it can be waited for
		b.set = os.NewFile(uintptr(fd), "epoll")
	}
	if err == nil {
		b.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		err = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, b.event, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: -1})
	}
	if err == nil {
		b.raw, err = b.set.SyscallConn()
	}
	if err != nil {
		return nil, fmt.Errorf("stack: descriptor to be woken by: %w", err)
	}
	b.look = b.ready
	b.watch(devices)
	return b, nil
}

func (b *netWaker) watch(fds []int) {
	for i := range b.devices {
		b.listen(i, false) // of a closed one there is nothing left
	}
	b.devices = make([]wakerDevice, len(fds))
	for i, fd := range fds {
		b.devices[i].fd = fd
		b.listen(i, true)
	}
}

func (b *netWaker) listen(i int, on bool) {
	d := &b.devices[i]
	if on == d.listening {
		return
	}
	d.listening = on
	op := unix.EPOLL_CTL_DEL
	if on {
		op = unix.EPOLL_CTL_ADD
	}
	b.raw.Control(func(set uintptr) { // of one that was closed there is nothing to hear
		unix.EpollCtl(int(set), op, d.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)})
	})
}

func (b *netWaker) heard(i int) bool { return b.devices[i].heard }

// ready looks at the descriptors, without waiting.
func (b *netWaker) ready(set uintptr) bool {
	k, err := unix.EpollWait(int(set), b.events[:], 0)
	if k <= 0 {
		return err != nil && err != unix.EINTR
	}
	for _, e := range b.events[:k] {
		if e.Fd >= 0 {
			b.devices[e.Fd].heard = true
			continue
		}
		b.mu.Lock()
		if !b.closed {
			var buf [8]byte
			unix.Read(b.event, buf[:])
		}
		b.mu.Unlock()
	}
	return true
}

// wait may end at an earlier deadline that is set still, as setting one costs more than a
// sleep too few.
func (b *netWaker) wait(now, until time.Duration) {
	for i := range b.devices {
		b.devices[i].heard = false
	}
	if b.by > until || b.by <= now {
		b.by = until
		b.set.SetReadDeadline(time.Now().Add(until - now))
	}
	b.raw.Read(b.look)
}

func (b *netWaker) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		one := [8]byte{0: 1}
		unix.Write(b.event, one[:]) // full means that it is ringing already
	}
}

func (b *netWaker) close() {
	b.mu.Lock()
	again := b.closed
	b.closed = true
	if b.event >= 0 && !again {
		unix.Close(b.event)
	}
	b.mu.Unlock()
	if b.set != nil {
		b.set.Close() // ends a sleep, and waits for that; of a closed one nothing happens
	}
}
