// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/tier"
)

// A program that gives one of its own sockets the name of a plain socket, and sends itself
// descriptors that are no ticket, leaves none of them with the supervisor. Mutation it catches:
// ticket has room for two.
//
// Proves: plain.supervised
func TestTicketOfTheProgramsOwn(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	pipe := make([]int, 2)
	if err := unix.Pipe2(pipe, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	for _, fds := range [][]int{{pipe[1]}, {pipe[1], pipe[1]}, {pipe[1], pipe[1], pipe[1]}} {
		if err := unix.Sendmsg(pair[1], []byte{0}, unix.UnixRights(fds...), nil, 0); err != nil {
			t.Fatal(err)
		}
		c := call{fd: pair[0]}
		if conn, err := c.ticket(); err == nil {
			conn.Close()
			t.Errorf("%d ends of a pipe are a ticket", len(fds))
		}
	}
	unix.Close(pipe[1])
	p := []unix.PollFd{{Fd: int32(pipe[0])}}
	if _, err := unix.Poll(p, 0); err != nil || p[0].Revents&unix.POLLHUP == 0 {
		t.Errorf("a descriptor that came is still open: events %#x, %v", p[0].Revents, err)
	}
}

// A call on a descriptor that the supervisor cannot look at for want of descriptors fails: the kernel
// would take what is for TIPC as bytes of a UNIX socket, which nobody reads. Mutation it catches:
// serve passes on to the kernel whatever fails.
//
// Proves: plain.supervised
func TestCallWithoutDescriptors(t *testing.T) {
	tier.SkipShort(t, "a limit of the whole process")
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	c := call{s: &supervisor{l: -1}, cancel: func() {}, n: &notification{TID: uint32(os.Getpid()), Call: unix.SYS_SENDTO}, fd: -1, process: -1}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	r := c.serve()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	c.release()
	if r.kernel || !errors.Is(r.err, unix.ENOBUFS) {
		t.Errorf("passed on %t, error %v; want %v", r.kernel, r.err, unix.ENOBUFS)
	}
}
