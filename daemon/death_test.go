// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

func init() {
	// A program with a name, at the daemon of $SOCKET.
	children["program"] = func() int {
		c, err := attach.Dial(context.Background(), os.Getenv("SOCKET"))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		ask := func(h attach.Header, data []byte) {
			h.ID = 1
			c.Write(&h, data)
			c.Read(&h, nil)
			if h.Errno != 0 {
				fmt.Println(h.Errno)
			}
		}
		ask(attach.HelloRequest(1, 0, "child"))
		ask(attach.Header{Op: attach.OpSocket, Arg0: uint32(attach.KindRDM)}, nil)
		ask(attach.Header{Op: attach.OpBind, Addr: service(18888, 1)}, nil)
		fmt.Println("ready")
		untilClosed()
		return 0
	}
}

// A program that is killed takes its sockets and names with it at once, here and at other
// nodes; in orderly fashion, 50 ms are promised.
//
// Proves: daemon.dies
func TestProgramKilled(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	c := startChild(t, "program", "SOCKET="+b.path)
	s, err := b.peer.Subscribe(within(t), stack.Range{Type: 18888, Upper: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if ev, err := s.Next(within(t)); err != nil || ev.Withdrawn {
		t.Fatalf("got %v, %v", ev, err)
	}
	if cl := b.srv.Clients(); len(cl) != 1 || cl[0].PID != c.cmd.Process.Pid || cl[0].Program != "child" || cl[0].Names != 1 || len(cl[0].SocketPorts) != 1 {
		t.Errorf("clients: %+v", cl)
	}
	began := time.Now()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if ev, err := s.Next(within(t)); err != nil || !ev.Withdrawn {
		t.Fatalf("got %v, %v", ev, err)
	}
	t.Logf("its name was withdrawn at another node after %v; promised: 50 ms", time.Since(began))
	waitFor(t, func() bool { return len(b.srv.Clients()) == 0 })
}

func init() {
	// A program that passes its connection to another, which lives until its input is closed.
	children["acceptor"] = func() int {
		c, err := attach.Dial(context.Background(), os.Getenv("SOCKET"))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		h, name := attach.HelloRequest(1, 0, "acceptor")
		c.Write(&h, name)
		c.Read(&h, make([]byte, attach.MaxData))
		raw, _ := c.SyscallConn()
		fd := -1
		raw.Control(func(own uintptr) { fd, err = unix.Dup(int(own)) })
		if err != nil {
			fmt.Println(err)
			return 1
		}
		holder := exec.Command(os.Args[0])
		holder.Env = append(os.Environ(), "UTIPC_TEST_CHILD=holder")
		holder.Stdin, holder.ExtraFiles = os.Stdin, []*os.File{os.NewFile(uintptr(fd), "connection")}
		if err := holder.Start(); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("ready")
		untilClosed()
		return 0
	}
	children["holder"] = func() int { untilClosed(); return 0 }
}

// A process that ends while another holds its connection is listed as one that has ended.
// Mutation: endedLocked returns false.
func TestConnectionOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	c := startChild(t, "acceptor", "SOCKET="+b.path)
	if all := b.srv.Clients(); len(all) != 1 || all[0].Ended || len(all[0].Inodes) != 0 {
		t.Errorf("clients: %+v", all)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		all := b.srv.Clients()
		return len(all) == 1 && all[0].PID == c.cmd.Process.Pid && all[0].Ended && len(all[0].Inodes) == 1
	})
	c.in.Close()
	waitFor(t, func() bool { return len(b.srv.Clients()) == 0 })
}

// A daemon that is killed ends every call of its programs; 100 ms are promised.
//
// Proves: daemon.dies
func TestDaemonKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	c := startChild(t, "daemon", "SOCKET="+path, "PORTS="+strings.Join(ports(t, 2), " "))
	b := &bed{path: path}
	var all []*program
	for i := range 20 {
		p := b.dial(t)
		p.ask(attach.HelloRequest(1, 0, "test"))
		switch i % 3 {
		case 0:
			p.socket(attach.KindRDM)
			p.bind(18888, uint32(i))
		case 1:
			p.must(attach.Header{Op: attach.OpSubscribe, Addr: attach.RangeSockaddr(stack.Range{Type: 300, Upper: 9}, 0)}, nil)
		default:
			p.socket(attach.KindRDM)
			p.useRing(0)
		}
		all = append(all, p)
	}
	ended := make(chan error, len(all))
	for _, p := range all {
		go func() {
			var h attach.Header
			_, err := p.c.Read(&h, nil)
			ended <- err
		}()
	}
	began := time.Now()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range all {
		if err := <-ended; !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v", err)
		}
	}
	t.Logf("%d calls ended after %v; promised: 100 ms", len(all), time.Since(began))
}
