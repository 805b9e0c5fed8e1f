// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon/genetlink"
)

// A program that asks a generic netlink socket for the family TIPCv2 gets a plain socket in its
// place, P, of which each message is a datagram of netlink. The daemon answers there what is for
// this family. The kernel's socket is in the daemon from then on: what comes from the kernel is
// copied to P, and to send anything else to the kernel the program asks for it, so that
// the kernel judges it by the program's rights and not by the daemon's.

// kindNetlink is the kind of such a socket: SOCK_RAW, which TIPC does not have.
const kindNetlink attach.Kind = 3

// A netlinkSocket is one that the daemon has an end of.
type netlinkSocket struct {
	all    *Sockets
	owners [2]Owner // that the two descriptors are counted for
	cookie uint64   // of the program's end
	d      *end
	kernel *end
	by     Caller
	ctx    context.Context // done when it has ended
	stop   context.CancelFunc
	once   sync.Once
}

// openNetlink makes one in place of the kernel's socket fd. Errors: syscall.EPROTOTYPE for any
// other descriptor.
func (s *Sockets) openNetlink(by Caller, fd int) Answer {
	how, err := netlinkOf(fd)
	if err != nil {
		return failure(err)
	}
	x := &netlinkSocket{all: s, by: by}
	if x.owners[0], err = by.Enter(); err != nil {
		return failure(err)
	}
	if x.owners[1], err = by.Enter(); err != nil {
		x.owners[0].Leave()
		return failure(err)
	}
	p, err := x.make(fd, how)
	if err == nil {
		err = s.enlistNetlink(x)
	}
	if err != nil {
		if p >= 0 {
			unix.Close(p)
		}
		x.release()
		return failure(err)
	}
	return Answer{FD: p}
}

// make makes the descriptors: P is as the kernel's socket was. What there is of them when it
// fails is the caller's to release.
func (x *netlinkSocket) make(fd int, how netlinkState) (p int, err error) {
	if x.d, p, err = newPair(kindNetlink); err != nil {
		return -1, err
	}
	own := attach.PlainName{Kind: kindNetlink}
	if own.Cookie, err = cookieOf(p); err == nil {
		err = x.all.secret.bind(p, &own)
	}
	if err == nil {
		err = how.apply(p)
	}
	if err != nil {
		return p, err
	}
	x.cookie = own.Cookie
	kernel, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		x.kernel, err = newEnd(kernel)
	}
	return p, err
}

// enlistNetlink makes one known, and begins to serve it. Errors: net.ErrClosed.
func (s *Sockets) enlistNetlink(x *netlinkSocket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.netlink[x.cookie] = x
	x.ctx, x.stop = context.WithCancel(s.ctx)
	s.wg.Go(x.serve)
	s.wg.Go(x.copyKernel)
	return nil
}

// serveNetlink does what a request asks of such a socket: the kernel's.
func (s *Sockets) serveNetlink(own *attach.PlainName, op attach.Op) Answer {
	s.mu.Lock()
	x := s.netlink[own.Cookie]
	s.mu.Unlock()
	switch {
	case x == nil:
		return failure(syscall.ENETDOWN)
	case op != attach.OpPlainKernel:
		return failure(syscall.EOPNOTSUPP)
	}
	a := Answer{FD: -1}
	a.Err = x.kernel.control(func(fd int) (err error) {
		a.FD, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	return a
}

// serve answers what the program writes, until it has closed its end.
func (x *netlinkSocket) serve() {
	defer x.end()
	for {
		b, n, err := x.d.read(len(scratch{}))
		if err != nil || n == 0 {
			return
		}
		s := genetlink.Socket{Write: x.d.write, Answered: x.by.Answered}
		if err = x.kernel.control(func(fd int) error { return ackOptions(fd, &s) }); err == nil {
			err = s.Serve(x.ctx, x.by.Manages, b[:n])
		}
		clear(b[:n]) // it may be a key
		scratches.Put(b)
		if err != nil {
			return
		}
	}
}

// copyKernel gives the program what comes from the kernel, and waits for room for it.
func (x *netlinkSocket) copyKernel() {
	defer x.end()
	for {
		b, err := x.kernel.readKernel()
		if err != nil {
			return
		}
		if err := x.d.write(b); err != nil {
			return
		}
	}
}

// end ends the socket; again it does nothing.
func (x *netlinkSocket) end() {
	x.once.Do(func() {
		x.stop()
		x.all.mu.Lock()
		delete(x.all.netlink, x.cookie)
		x.all.mu.Unlock()
		x.release()
	})
}

// release closes the descriptors, and gives back what was counted.
func (x *netlinkSocket) release() {
	if x.kernel != nil {
		x.kernel.s.Close()
	}
	if x.d != nil {
		x.d.finish()
	}
	for _, o := range x.owners {
		o.Leave()
	}
}
