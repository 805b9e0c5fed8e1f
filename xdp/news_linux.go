// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// A news is a watch on what becomes of the interfaces and addresses of a network namespace.
type news struct {
	file *os.File
	once sync.Once
	stop chan struct{} // closed by Close
	done chan struct{} // closed when the goroutine has ended
}

// WatchNews calls changed whenever the kernel announces anything about the interfaces and
// IP addresses of the calling thread's network namespace, and whenever it may have: what
// it was is to be looked for, with FindLink. Calls come from one goroutine, and none after
// Close. Errors: the system's.
func WatchNews(changed func()) (io.Closer, error) {
	fd, err := netlink.Subscribe(unix.RTMGRP_LINK | unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR)
	if err != nil {
		return nil, err
	}
	n := &news{file: os.NewFile(uintptr(fd), "rtnetlink"), stop: make(chan struct{}), done: make(chan struct{})}
	go n.run(changed)
	return n, nil
}

// Close ends the watch and waits for its goroutine. It always returns nil, and may be
// called again, but not by changed.
func (n *news) Close() error {
	n.once.Do(func() {
		close(n.stop)
		_ = n.file.Close()
	})
	<-n.done
	return nil
}

func (n *news) run(changed func()) {
	defer close(n.done)
	conn, err := n.file.SyscallConn()
	var buf [1]byte // what is said does not matter, nor who says it
	for inRow := 0; err == nil; {
		var fault error
		err = conn.Read(func(fd uintptr) bool {
			_, _, fault = unix.Recvfrom(int(fd), buf[:], unix.MSG_DONTWAIT)
			return fault != unix.EAGAIN
		})
		if inRow++; fault != unix.ENOBUFS {
			inRow = 0
		}
		switch {
		case err != nil:
			return
		case fault == nil, fault == unix.ENOBUFS && inRow < mostLosses: // news were lost: these too are news
			changed()
		case fault != unix.EINTR: // short of memory, most likely
			select {
			case <-n.stop:
				return
			case <-time.After(watchPause):
			}
		}
	}
}
