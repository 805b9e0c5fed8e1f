// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"encoding/binary"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// errGone means that the program has closed the connection.
var errGone = errors.New("daemon: the program has gone")

// A watch waits, instead of reading, while a send waits for room: until that is over, the
// program has gone, or a cancel is next to be read. It takes nothing out of the socket.
type watch struct {
	x    *session
	raw  syscall.RawConn
	done atomic.Bool
	seen watched
}

type watched uint8

const (
	watchOver   watched = iota // what was waited for
	watchGone                  // the program has closed
	watchRecord                // a cancel is to be read
)

func (x *session) newWatch() *watch {
	raw, err := x.c.SyscallConn()
	if err != nil {
		panic(err) // it has one
	}
	return &watch{x: x, raw: raw}
}

// over ends the watch. Another goroutine calls it.
func (w *watch) over() {
	w.done.Store(true)
	w.x.c.SetReadDeadline(time.Unix(1, 0)) // ends the wait
}

func (w *watch) wait() watched {
	err := w.raw.Read(w.look)
	switch {
	case w.done.Load():
		return watchOver
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		return watchGone // closed here
	}
	return w.seen
}

// look looks at what is next to be read.
func (w *watch) look(fd uintptr) bool {
	if w.done.Load() {
		return true
	}
	w.seen = watchGone
	p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
	if k, err := unix.Poll(p[:], 0); k > 0 && err == nil && p[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLRDHUP|unix.POLLNVAL) != 0 {
		return true
	}
	var h [2]byte
	n, _, err := unix.Recvfrom(int(fd), h[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	switch {
	case err == nil && n == 0:
		return true
	case err == nil && n == len(h) && attach.Op(binary.NativeEndian.Uint16(h[:])) == attach.OpCancel:
		w.seen = watchRecord
		return true
	}
	return false
}

// readCancel reads the cancel that is next, and returns what it cancels.
func (x *session) readCancel() (id uint32, ok bool) {
	var h attach.Header
	b, err := x.c.TryReadPooled(&h)
	if err != nil {
		return 0, false
	}
	x.count(len(b.Data))
	b.Release()
	return h.Arg0, h.Op == attach.OpCancel
}
