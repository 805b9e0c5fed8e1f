// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

const (
	// claimPatience is how long a newcomer waits for the owner to say who it is, and
	// for one that is ending to end.
	claimPatience = time.Second
	claimPause    = 10 * time.Millisecond // before it tries again
	// claimLine is the longest answer a newcomer reads, in bytes.
	claimLine = 200
)

// A claim is the ownership of an interface: a listening abstract UNIX socket of
// the network namespace, which the kernel gives to one process only and takes
// back when that ends. A goroutine answers whoever connects with one line that
// says who holds it; it ends with release.
type claim struct {
	listener *net.UnixListener
	stop     chan struct{} // closed by release
	done     chan struct{} // closed when the goroutine has ended
}

// takeClaim claims the interface in the calling thread's network namespace.
// Errors: *OwnedError when another process, or this one, has it.
//
// An owner that has been killed keeps its sockets until the kernel has taken it
// apart, which may take a while, with large memory or rings mapped. A newcomer that
// was started in its stead finds the name taken, and a connection that ends without
// a word. That is how one knows such an owner, in whatever process namespace it
// is; so the newcomer tries again, for no longer than claimPatience.
func takeClaim(ifname string) (*claim, error) {
	addr := &net.UnixAddr{Net: "unix", Name: "@utipc/eth/" + ifname}
	for end := time.Now().Add(claimPatience); ; time.Sleep(claimPause) {
		l, err := net.ListenUnix("unix", addr)
		if err == nil {
			c := &claim{l, make(chan struct{}), make(chan struct{})}
			go c.answer(introduction())
			return c, nil
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return nil, fmt.Errorf("xdp: claiming interface %s: %w", ifname, err)
		}
		owner, ending := askOwner(addr)
		if !ending || time.Now().After(end) {
			return nil, &OwnedError{Interface: ifname, Owner: owner}
		}
	}
}

// introduction is the line that says who this process is.
func introduction() string {
	program := os.Args[0]
	if path, err := os.Executable(); err == nil {
		program = path
	}
	return fmt.Sprintf("pid %d, program %s, since %s\n",
		os.Getpid(), filepath.Base(program), time.Now().UTC().Format(time.RFC3339))
}

func (c *claim) answer(line string) {
	defer close(c.done)
	for {
		conn, err := c.listener.AcceptUnix()
		switch {
		case err == nil:
			// A line fits any socket's buffer, so nobody can make this wait;
			// what goes wrong is the newcomer's affair.
			_, _ = io.WriteString(conn, line)
			_ = conn.Close()
		case errors.Is(err, net.ErrClosed):
			return
		default:
			// Out of descriptors, most likely. Try again later.
			select {
			case <-c.stop:
				return
			case <-time.After(claimPatience / 10):
			}
		}
	}
}

// release gives the interface back and waits for the goroutine to end.
func (c *claim) release() {
	close(c.stop)
	_ = c.listener.Close()
	<-c.done
}

// askOwner connects to addr and returns how the owner introduces itself, and its
// user as the kernel knows it, never empty. ending says that it refused, or hung up
// without a word.
func askOwner(addr *net.UnixAddr) (owner string, ending bool) {
	d := net.Dialer{Timeout: claimPatience}
	conn, err := d.Dial(addr.Net, addr.Name)
	if err != nil {
		return "a process that does not answer", errors.Is(err, unix.ECONNREFUSED)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(claimPatience))
	said, err := io.ReadAll(io.LimitReader(conn, claimLine)) // what came before an error still counts
	ending = len(said) == 0 && !errors.Is(err, os.ErrDeadlineExceeded)
	owner = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.TrimSpace(string(said)))
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return owner, ending
	}
	var cred *unix.Ucred
	_ = raw.Control(func(fd uintptr) {
		cred, _ = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	switch {
	case cred == nil && owner == "":
		owner = "a process that says nothing"
	case cred == nil:
	case owner == "":
		owner = fmt.Sprintf("pid %d, which says nothing, uid %d", cred.Pid, cred.Uid)
	default:
		owner = fmt.Sprintf("%s, uid %d", owner, cred.Uid)
	}
	return owner, ending
}
