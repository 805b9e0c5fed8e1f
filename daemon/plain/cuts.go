// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// Cuts are where the last messages begin that the daemon has written to a stream: a UNIX socket
// does not keep that, and what comes back of a stream is a message. Where one ends and the next begins the
// other side finds by credentials that come with every other message, see preload/mark.c.
type cuts struct {
	mu      sync.Mutex // held while bytes are written and counted, and while a message is read by itself
	written uint64
	starts  [mostCuts]uint64 // a ring
	n       int              // messages so far
	oneWay  int              // reads since the last of them
}

// mostApart is how many messages that the program writes go out one by one as long as none comes for it; what waits then
// becomes one, as a kernel's does from there on. Source: docs/spec/07-sockets.md §5.3.
const mostApart = 4

// ownCredentials is a control message that a process may send of itself.
var ownCredentials = sync.OnceValue(credentials)

// mostCuts is how many are kept. Where a program leaves more messages unread, the end of the first is
// not known, and what follows it comes back with it.
const mostCuts = 32

// start is where message k begins, or the end of all that is written.
func (c *cuts) start(k int) uint64 {
	if k >= c.n {
		return c.written
	}
	return c.starts[k%mostCuts]
}

// first returns where in the last unread bytes the first whole message begins, and its length as far as
// it is written. c.mu is held.
func (c *cuts) first(unread uint64) (skip, length int) {
	from, k, oldest := c.written-unread, c.n, max(c.n-mostCuts, 0)
	for k > oldest && c.start(k-1) >= from {
		k--
	}
	start := c.start(k)
	if k == oldest && k > 0 && start > from { // of what lies before it nothing is known
		return 0, int(start - from)
	}
	return int(start - from), int(c.start(k+1) - start)
}

// begin says that a message follows.
func (e *end) begin() {
	if c := e.cuts; c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.starts[c.n%mostCuts] = c.written
		c.n++
		c.oneWay = 0
	}
}

// send writes what there is room for.
func (e *end) send(fd int, b []byte) (n int, err error) {
	c := e.cuts
	if c == nil {
		return unix.SendmsgN(fd, b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var mark []byte
	if c.n%2 == 0 {
		mark = ownCredentials()
	}
	n, err = unix.SendmsgN(fd, b, mark, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	c.written += uint64(max(n, 0))
	return n, err
}

// receive reads what the program has written: of a stream the first messages one by one.
func (e *end) receive(fd int, b []byte) (n int, err error) {
	c := e.cuts
	if c == nil {
		return receive(fd, b, 0)
	}
	c.mu.Lock()
	if c.oneWay >= mostApart {
		c.mu.Unlock()
		return receive(fd, b, 0)
	}
	defer c.mu.Unlock()
	if n, err = receive(fd, b[:1], unix.MSG_PEEK); n <= 0 { // else the first that comes while receiveFirst looks seems to be the second
		return n, err
	}
	if n, err = receiveFirst(fd, b, 0); n > 0 {
		c.oneWay++
	}
	return n, err
}

func receive(fd int, b []byte, flags int) (n int, err error) {
	n, _, err = unix.Recvfrom(fd, b, unix.MSG_DONTWAIT|flags)
	return n, err
}

// receiveFirst reads of a stream no more than one message. One that comes meanwhile may seem to belong to its neighbours.
func receiveFirst(fd int, b []byte, flags int) (n int, err error) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, passCredentials, 1) == nil {
		defer func() { _ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, passCredentials, 0) }()
	}
	return receive(fd, b, flags)
}

// firstUnread returns the beginning of the first message that waits in P, fd, whole, or nothing.
func (e *end) firstUnread(fd int) []byte {
	buf := scratches.Get().(*scratch)
	defer scratches.Put(buf)
	skip, most := 0, len(buf)
	if c := e.cuts; c != nil {
		c.mu.Lock()
		unread, err := unix.IoctlGetInt(fd, unreadLength)
		if err == nil {
			skip, most = c.first(uint64(unread))
		}
		c.mu.Unlock()
	}
	n, err := peek(fd, buf[:min(len(buf), skip+most)])
	if err != nil || n <= skip {
		return nil
	}
	return append([]byte(nil), buf[skip:min(n, skip+frame.MaxReturned)]...)
}
