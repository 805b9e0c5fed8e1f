// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/test/tier"
)

// beside is a supervisor whose listener is a pipe: for it the thread of every call has ended. notify makes
// the listener ready.
func beside(t *testing.T, socket string) (s *supervisor, notify func()) {
	t.Helper()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	s = must.Get(newSupervisor(listener(pipe[0]), socket))
	t.Cleanup(func() {
		s.watch.close()
		unix.Close(pipe[0])
		unix.Close(pipe[1])
	})
	return s, func() { must.Get(unix.Write(pipe[1], []byte{0})) }
}

// There are no more calls than threads that wait and those that a sweep has not ended yet, with a daemon that
// answers nothing. Mutations it catches: begin does not sweep; askOn does not end with its context; sweep waits for no call.
//
// Proves: plain.supervised
func TestCallsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l := must.Get(attach.Listen(path, 0o600, -1))
	defer l.Close()
	go func() {
		var all []*attach.Conn
		for {
			conn, err := l.Accept()
			if err != nil {
				break
			}
			all = append(all, conn)
		}
		for _, conn := range all {
			conn.Close()
		}
	}()
	s, _ := beside(t, path)
	for range 10 * fewest {
		s.begin(&notification{TID: uint32(os.Getpid()), Call: unix.SYS_SOCKET, Args: [6]uint64{attach.AFTIPC, unix.SOCK_RDM}})
		if n := s.count(); n > fewest+1 {
			t.Fatalf("%d calls", n)
		}
	}
	s.sweep()
	if n := s.count(); n != 0 {
		t.Errorf("%d calls are left after a sweep", n)
	}
}

// A call that waits ends with the thread that made it, without a sweep, and with the descriptor's readiness;
// its time limit is the descriptor's own. Mutations it catches: watchThread watches nothing; the limit of wait is
// ignored; add without its events.
//
// Proves: plain.supervised
func TestWaitEnds(t *testing.T) {
	tier.SkipShort(t, "processes")
	s, notify := beside(t, "")
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			if events, err := s.watch.wait(-1); err != nil || events != 0 {
				return
			}
		}
	}()
	pair := must.Get(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	cmd := exec.CommandContext(t.Context(), "cat")
	in := must.Get(cmd.StdinPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait := func() error {
		c := &call{s: s, n: &notification{TID: uint32(cmd.Process.Pid)}, fd: must.Get(unix.Dup(pair[0])), process: -1}
		c.ctx, c.cancel = context.WithTimeout(t.Context(), time.Minute) // over, the test fails
		defer c.release()
		err := c.wait(unix.EPOLLIN, 0, unix.SO_RCVTIMEO)
		if err == unix.EINTR && c.ctx.Err() != context.Canceled {
			t.Error("nothing ended the call")
		}
		return err
	}
	must.Get(unix.Write(pair[1], []byte{1}))
	if err := wait(); err != nil {
		t.Errorf("readable: %v", err)
	}
	must.Get(unix.Read(pair[0], make([]byte, 1)))
	if err := unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 1000}); err != nil {
		t.Fatal(err)
	}
	if err := wait(); err != unix.EAGAIN {
		t.Errorf("limited: %v", err)
	}
	if err := unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{}); err != nil {
		t.Fatal(err)
	}
	go in.Close() // the thread ends before the call waits, or while it does
	if err := wait(); err != unix.EINTR {
		t.Errorf("of a thread that ended: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	notify()
	<-watched
}
