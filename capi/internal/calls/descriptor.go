// SPDX-License-Identifier: Apache-2.0

//go:build linux

package calls

import (
	"encoding/binary"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxData is the longest message that is read ahead, in bytes.
const maxData = 66000

// A descriptor is an eventfd that is readable while its socket has an item, or has ended. All
// but its goroutine runs under the socket's turn to receive.
//
//	empty ──(the goroutine has read an item)──► held ──(it was taken, and there is another)──┐
//	  ▲                                          ▲ │                                         │
//	  └──(it was taken, and there is none)───────┼─┘                                         │
//	                                             └───────────────────────────────────────────┘
type descriptor struct {
	in     source
	fd     int
	buf    []byte // the data of the item
	off    int    // bytes of it that were taken
	held   bool
	next   result
	empty  chan struct{} // has the goroutine read; closed, it ends
	filled chan result   // what it has read
	done   chan struct{}
}

type result struct {
	item
	err error
}

// newDescriptor makes the descriptor of a source, which has no deadline, with room for that many
// bytes. Errors: EMFILE and others of eventfd(2).
func newDescriptor(in source, ahead int) (*descriptor, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, failed(err.(syscall.Errno), "eventfd: %v", err)
	}
	d := &descriptor{in: in, fd: fd, buf: make([]byte, ahead), empty: make(chan struct{}, 1), filled: make(chan result, 1), done: make(chan struct{})}
	go d.read()
	d.empty <- struct{}{}
	return d, nil
}

// read fills the descriptor whenever it is empty.
func (d *descriptor) read() {
	defer close(d.done)
	for range d.empty {
		it, err := d.in.receive(d.buf, true)
		d.filled <- result{it, err}
		d.signal()
	}
}

func (d *descriptor) signal() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	unix.Write(d.fd, one[:])
}

// take waits for the item, and copies its data into b.
func (d *descriptor) take(b []byte, timeout int, until time.Time) (item, error) {
	if !d.held {
		if err := d.wait(timeout, until); err != nil {
			return item{}, err
		}
		d.held, d.off = true, 0
	}
	got := d.next
	n := copy(b, d.buf[d.off:got.n])
	if got.err == nil && got.stream {
		if d.off += n; d.off < got.n {
			got.n = n
			return got.item, nil
		}
	} else if n < got.n {
		got.info.Flags |= truncated
	}
	got.n = n
	d.refill()
	return got.item, got.err
}

// wait waits until the goroutine has read an item.
func (d *descriptor) wait(timeout int, until time.Time) error {
	select {
	case d.next = <-d.filled:
		return nil
	default:
	}
	var over <-chan time.Time
	switch {
	case timeout == 0:
		return syscall.EAGAIN
	case timeout > 0:
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case d.next = <-d.filled:
		return nil
	case <-over:
		return failed(syscall.ETIMEDOUT, "nothing came for %d ms", timeout)
	}
}

// refill replaces the item that was taken by the next one, if there is one. The descriptor
// stays readable then, without a moment in between.
func (d *descriptor) refill() {
	it, err := d.in.receive(d.buf, false)
	if !wouldWait(err) {
		d.next, d.off = result{it, err}, 0
		return
	}
	d.held = false
	var count [8]byte
	for { // until the goroutine has said of its item that it is there
		if _, err := unix.Read(d.fd, count[:]); err == nil {
			break
		}
		unix.Poll([]unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}, -1)
	}
	d.empty <- struct{}{}
}

// close ends the goroutine, whose socket is closed, and drops what it has read.
func (d *descriptor) close() {
	close(d.empty)
	if !d.held {
		d.next = <-d.filled
	}
	<-d.done
	if c := d.next.conn; c != nil {
		c.Close()
	}
	unix.Close(d.fd)
}
