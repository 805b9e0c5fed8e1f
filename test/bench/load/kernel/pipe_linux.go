// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/bench/load"
)

// pipeRoom is what a pipe holds, in bytes: as much as the system lets any user ask for,
// where nobody has set it.
const pipeRoom = 1 << 20

// A Pipe is one end of two pipes, one each way, which have names so that two processes
// find them.
type Pipe struct {
	wait  Wait
	in    string // the name of the pipe that this end reads
	out   string
	owner bool // it made them
}

var _ load.Load = (*Pipe)(nil)

// OpenPipe makes the pipes beside path, as end 1, or finds them there. It can Spin and
// Block.
func OpenPipe(path string, end int, wait Wait) (*Pipe, error) {
	if wait != Spin && wait != Block {
		return nil, fmt.Errorf("pipes do not wait by %q", wait)
	}
	p := &Pipe{wait: wait, in: path + ".there", out: path + ".back", owner: end == 1}
	if !p.owner {
		p.in, p.out = p.out, p.in
		return p, nil
	}
	for _, at := range []string{p.in, p.out} {
		if err := unix.Mkfifo(at, 0o600); err != nil {
			return nil, errors.Join(&os.PathError{Op: "mkfifo", Path: at, Err: err}, p.Close())
		}
	}
	return p, nil
}

// Info says what is measured.
func (p *Pipe) Info() load.Info { return load.Info{Driver: "pipes, " + string(p.wait)} }

// Close removes the names, at the end that made them.
func (p *Pipe) Close() error {
	if p.owner {
		os.Remove(p.in)
		os.Remove(p.out)
	}
	return nil
}

// Run does one job. Each end opens both pipes to read and to write, so that neither has to
// wait for the other to do so; what a job leaves in them is gone when both have closed
// them.
func (p *Pipe) Run(ctx context.Context, j load.Job) (load.Result, error) {
	c, err := p.open()
	if err != nil {
		return load.Result{}, err
	}
	return runStream(ctx, c, j)
}

func (p *Pipe) open() (*pipes, error) {
	c := &pipes{in: -1, out: -1, read: unix.Read, write: unix.Write}
	flags := unix.O_RDWR | unix.O_CLOEXEC
	if p.wait == Spin {
		flags |= unix.O_NONBLOCK
		c.read, c.write = raw(rawRead), raw(rawWrite)
	}
	for at, fd := range map[string]*int{p.in: &c.in, p.out: &c.out} {
		var err error
		if *fd, err = unix.Open(at, flags, 0); err != nil {
			return nil, errors.Join(&os.PathError{Op: "open", Path: at, Err: err}, c.Close())
		}
		_, _ = unix.FcntlInt(uintptr(*fd), unix.F_SETPIPE_SZ, pipeRoom) // else it is smaller
	}
	return c, nil
}

// pipes is a conn of two.
type pipes struct {
	in, out     int
	read, write func(fd int, b []byte) (int, error)
	over        atomic.Bool // Shutdown was called
}

// raw makes a call of package unix's look of one that goes around the scheduler.
func raw(call func(int, []byte) (int, unix.Errno)) func(int, []byte) (int, error) {
	return func(fd int, b []byte) (int, error) {
		n, errno := call(fd, b)
		if errno != 0 {
			return 0, errno
		}
		return n, nil
	}
}

func (c *pipes) Read(b []byte) (int, error) {
	n, err := c.again(c.read, c.in, b)
	if c.over.Load() {
		return 0, nil // what woke us is no message
	}
	return n, err
}

func (c *pipes) Write(b []byte) (int, error) {
	n, err := c.again(c.write, c.out, b)
	if c.over.Load() {
		return n, unix.EPIPE
	}
	return n, err
}

// again makes a call until it moves something, or the job is over.
func (c *pipes) again(call func(int, []byte) (int, error), fd int, b []byte) (int, error) {
	for {
		n, err := call(fd, b)
		if err != unix.EAGAIN && err != unix.EINTR || c.over.Load() {
			return n, err
		}
	}
}

// Shutdown makes calls that wait return: it gives a reader something to read, and a writer
// room; from then on no call waits.
func (c *pipes) Shutdown() {
	c.over.Store(true)
	if unix.SetNonblock(c.in, true) == nil {
		_, _ = unix.Write(c.in, []byte{0})
	}
	if unix.SetNonblock(c.out, true) == nil {
		_, _ = unix.Read(c.out, make([]byte, pipeRoom))
	}
}

func (c *pipes) Close() (err error) {
	for _, fd := range []int{c.in, c.out} {
		if fd >= 0 {
			err = errors.Join(err, unix.Close(fd))
		}
	}
	return err
}
