// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// watchPause is how long a watch waits before it tries again what failed.
const watchPause = 100 * time.Millisecond

// A linkWatch follows what becomes of one interface, by its number, so a new name
// changes nothing. It listens to what the kernel tells everybody about links; what
// it could not keep up with, it asks for.
//
//	                         kernel
//	ask: RTM_GETLINK ──►  │          │
//	step ◄── RTM_NEWLINK ─┤ answers  │  up and running with an MTU, or not
//	step ◄── RTM_DELLINK ─┤ and news │  removed, for good
//	step ◄── ENOBUFS ─────┘          │  news were lost: drain, then ask
//
// One goroutine sleeps in the runtime's poller until Close.
type linkWatch struct {
	index   int
	changed func(linkState)
	file    *os.File      // the netlink socket
	stop    chan struct{} // closed by Close
	once    sync.Once
	done    chan struct{} // closed when the goroutine has ended

	// One goroutine's at a time: watchLink's caller, then the watch's own.
	buf   []byte
	state linkState
	lost  bool // what is known may be old: ask when the queue is empty
	inRow int  // how often one after the other news were lost
}

// mostLosses is how often one after the other a socket says that news were lost before that is taken for
// a shortage of memory, which passes later than its queue is emptied.
const mostLosses = 64

// watchLink follows the interface of that number in the network namespace of the
// calling thread, whatever thread goes on with it.
//
// changed is called once before watchLink returns, with the present state, and
// then whenever that changes, from one goroutine, never twice at a time. The last call
// says that the interface is gone from the namespace. It may block shortly, but must
// not call Close.
//
// Errors: ErrRemoved when there is no such interface (changed has heard it too), or
// the system's.
func watchLink(index int, changed func(linkState)) (*linkWatch, error) {
	fd, err := netlink.Subscribe(unix.RTMGRP_LINK)
	if err != nil {
		return nil, fmt.Errorf("watching interface number %d: %w", index, err)
	}
	w := &linkWatch{
		index: index, changed: changed,
		file: os.NewFile(uintptr(fd), "rtnetlink"),
		stop: make(chan struct{}), done: make(chan struct{}),
		buf: make([]byte, 16<<10), state: linkState{mtu: -1}, lost: true,
	}
	if err := w.begin(fd); err != nil {
		w.file.Close()
		return nil, fmt.Errorf("watching interface number %d: %w", index, err)
	}
	go w.run()
	return w, nil
}

// begin asks for the state, on the socket that is subscribed already, so that no change
// falls between. The kernel answers before the question's system call returns.
func (w *linkWatch) begin(fd int) error {
	for w.state.mtu < 0 {
		wait, err := w.step(fd)
		switch {
		case err != nil:
			return err
		case wait:
			return errors.New("the kernel did not answer")
		case w.state.removed:
			return ErrRemoved
		}
	}
	return nil
}

// Close ends the watch and waits for its goroutine: changed is not called any
// more. It may be called again.
func (w *linkWatch) Close() {
	w.once.Do(func() {
		close(w.stop)
		_ = w.file.Close()
	})
	<-w.done
}

func (w *linkWatch) run() {
	defer close(w.done)
	conn, err := w.file.SyscallConn()
	for err == nil && !w.state.removed {
		var fault error
		err = conn.Read(func(fd uintptr) bool {
			var wait bool
			wait, fault = w.step(int(fd))
			return !wait
		})
		if fault == nil {
			continue
		}
		// Short of memory, most likely.
		w.lost = true
		select {
		case <-w.stop:
			return
		case <-time.After(watchPause):
		}
	}
}

// step takes one message, or asks; wait says that there was nothing to do.
func (w *linkWatch) step(fd int) (wait bool, err error) {
	n, from, err := unix.Recvfrom(fd, w.buf, unix.MSG_DONTWAIT)
	if err != unix.ENOBUFS {
		w.inRow = 0
	}
	switch err {
	case nil:
		// What another process sends us is not the kernel's word.
		if a, ok := from.(*unix.SockaddrNetlink); ok && a.Pid == 0 {
			w.hear(w.buf[:n])
		}
		return false, nil
	case unix.EINTR:
		return false, nil
	case unix.ENOBUFS:
		// The kernel sends nothing more, answers neither, until we have emptied
		// our queue.
		w.lost = true
		if w.inRow++; w.inRow < mostLosses {
			return false, nil
		}
		w.inRow = 0
	case unix.EAGAIN:
		if !w.lost {
			return true, nil
		}
		w.lost = false
		return false, w.ask(fd)
	}
	return false, os.NewSyscallError("recvfrom", err)
}

// hear passes a new state on.
func (w *linkWatch) hear(b []byte) {
	if s, told := linkNews(b, w.index); told && s != w.state && !w.state.removed {
		w.state = s
		w.changed(s)
	}
}

// ask makes the kernel send the interface's state.
func (w *linkWatch) ask(fd int) error {
	body := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(body[4:], uint32(w.index))
	return netlink.Send(fd, netlink.AppendRequest(nil, unix.RTM_GETLINK, 0, body))
}
