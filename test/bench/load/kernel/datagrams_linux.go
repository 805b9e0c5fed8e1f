// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/load"
)

// room is what each socket of datagrams may hold each way, in bytes. It is more than users
// without privilege may have where the system's limit is the default; root gets it.
const room = 4 << 20

// timeout is how long a call waits before it gives up: for a datagram that is lost, and
// for one that nobody sends because the job is over.
const timeout = 50 * time.Millisecond

// A DatagramConfig says what one end of datagrams is.
type DatagramConfig struct {
	Name    string // printed
	End     int
	Wait    Wait
	Family  int
	Addrs   [2]unix.Sockaddr // of both ends
	Longest int              // message, in bytes
}

// Datagrams is one end of datagrams: a socket that is connected to the other end's.
type Datagrams struct {
	c    DatagramConfig
	fd   int
	conn packets // nil: not connected yet
}

var _ load.Load = (*Datagrams)(nil)

// OpenDatagrams opens an end's socket. It is connected in the first job, as the other
// end's has to be there then.
func OpenDatagrams(c DatagramConfig) (*Datagrams, error) {
	if !c.Wait.known() {
		return nil, fmt.Errorf("%s: there is no such way to wait", c.Name)
	}
	fd, err := newSocket(c.Family, unix.SOCK_DGRAM, roomy)
	if err != nil {
		return nil, err
	}
	d := &Datagrams{c: c, fd: fd}
	if err := unix.Bind(fd, c.Addrs[c.End]); err != nil {
		return nil, errors.Join(os.NewSyscallError("bind", err), d.Close())
	}
	return d, nil
}

// roomy gives a socket large buffers; an ordinary user's are what the system allows.
func roomy(fd int) error {
	for force, ask := range map[int]int{unix.SO_RCVBUFFORCE: unix.SO_RCVBUF, unix.SO_SNDBUFFORCE: unix.SO_SNDBUF} {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, room) == nil {
			continue
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, ask, room); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	return nil
}

// Info says what is measured.
func (d *Datagrams) Info() load.Info { return load.Info{Driver: d.c.Name} }

// Close closes the socket.
func (d *Datagrams) Close() (err error) {
	if d.conn != nil {
		err = d.conn.Close()
	}
	return errors.Join(err, unix.Close(d.fd))
}

// connect connects the socket, once.
func (d *Datagrams) connect() error {
	if d.conn != nil {
		return nil
	}
	if err := unix.Connect(d.fd, d.c.Addrs[1-d.c.End]); err != nil {
		return os.NewSyscallError("connect", err)
	}
	c, err := newPackets(d.fd, d.c)
	d.conn = c
	return err
}

// held is more datagrams than a socket has room for: the system counts some 800 bytes for the
// least.
const held = 1 << 14

// drain throws away what has come before the job. The other end may send already, faster
// than this one reads, so it ends when all that was there must be gone.
func (d *Datagrams) drain() {
	var b [1]byte // the rest of a datagram goes with it
	for range held {
		if _, _, err := unix.Recvfrom(d.fd, b[:], unix.MSG_DONTWAIT); err != nil && err != unix.EINTR && err != unix.ECONNREFUSED {
			return
		}
	}
}
