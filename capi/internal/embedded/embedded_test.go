// SPDX-License-Identifier: Apache-2.0

//go:build linux

package embedded

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// pair makes two nodes, with a listener at the first.
func pair(t *testing.T) (n [2]*Node, l int32, at stack.SocketAddr) {
	t.Helper()
	for i := range n {
		s, err := stack.OpenString(within(t), "memory:"+t.Name())
		if err == nil {
			n[i], err = New(s)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n[i].Close(within(t)) })
	}
	l, at, err := n[0].Listen(server, 4)
	if err != nil {
		t.Fatal(err)
	}
	return n, l, at
}

var server, client = tcpwire.Addr{IP: 0x0a630001, Port: 80}, tcpwire.Addr{IP: 0x0a630002, Port: 3000}

// await waits until a socket is ready for one of events, and returns for what: it sleeps as a program does.
func await(t *testing.T, n *Node, h int32, events uint16) uint16 {
	t.Helper()
	var ready [1]uint16
	for {
		if n.Poll([]int32{h}, ready[:], true); ready[0]&(events|unix.POLLERR|unix.POLLNVAL) != 0 {
			return ready[0]
		}
		fd, err := n.Arm()
		if err != nil {
			t.Fatal(err)
		}
		if n.Poll([]int32{h}, ready[:], false); ready[0]&(events|unix.POLLERR|unix.POLLNVAL) == 0 {
			for err = unix.EINTR; err == unix.EINTR; {
				var k int
				if k, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 60_000); k == 0 && err == nil {
					t.Fatal("nothing came")
				}
			}
		}
		n.Disarm(fd)
	}
}

// connected makes a connection; c is the end that connected, to n[0].
func connected(t *testing.T) (n [2]*Node, s, c int32) {
	t.Helper()
	n, l, at := pair(t)
	c = n[1].Connect(at, client, server)
	await(t, n[1], c, unix.POLLOUT)
	if e, err := n[1].Error(c); e != 0 || err != nil {
		t.Fatal(e, err)
	}
	await(t, n[0], l, unix.POLLIN)
	a, err := n[0].Accept(l)
	if err != nil || a.From != client || uint32(a.Node) != n[1].Address() {
		t.Fatalf("%+v, %v", a, err)
	}
	return n, a.Handle, c
}

func (n *Node) write(t *testing.T, h int32, b []byte) int {
	t.Helper()
	k, err := n.Send(h, [][]byte{b[:len(b)/3], b[len(b)/3:]})
	if err != nil && err != syscall.EAGAIN {
		t.Fatal(err)
	}
	return k
}

// Both ends send more than there is room for and receive all of it, in order, whether a write was taken whole or in part; the
// nodes count it.
//
// Mutations it catches: readiness does not look for what waits for room; a message that waits is sent again; wake wakes nobody;
// receive forgets what did not fit.
//
// Proves: tcp.embedded
func TestBothWays(t *testing.T) {
	n, s, c := connected(t)
	const all = 8 << 20
	data := bytes.Repeat([]byte("0123456789abcde"), all/15)
	done := make(chan bool)
	run := func(n *Node, h int32) {
		defer func() { done <- true }()
		out, in, buf := data, []byte{}, make([]byte, 50_001)
		for len(in) < len(data) || len(out) > 0 {
			events := uint16(unix.POLLIN)
			if len(out) > 0 {
				events |= unix.POLLOUT
			}
			r := await(t, n, h, events)
			if r&unix.POLLERR != 0 {
				t.Errorf("%#x", r)
				return
			}
			if len(out) > 0 && r&unix.POLLOUT != 0 {
				k := n.write(t, h, out[:min(len(out), 300_000)])
				if out = out[k:]; k == 0 {
					t.Error("it is writable, and takes nothing")
					return
				}
			}
			if r&unix.POLLIN != 0 {
				k, err := n.Receive(h, [][]byte{buf[:7], buf[7:]}, false)
				if err != nil || k == 0 {
					t.Errorf("%d, %v", k, err)
					return
				}
				in = append(in, buf[:k]...)
			}
		}
		if !bytes.Equal(in, data) {
			t.Error("it received other bytes than were sent")
		}
	}
	go run(n[0], s)
	go run(n[1], c)
	<-done
	<-done
	for i := range n {
		if k, in, out := n[i].Counters(); k != 1 || in != uint64(len(data)) || out != in {
			t.Errorf("node %d counts %d connections, %d bytes in, %d out", i, k, in, out)
		}
	}
}

// What a write has taken is sent though the program does nothing more.
//
// Mutation it catches: block starts nobody who sends it.
func TestSendsByItself(t *testing.T) {
	n, s, c := connected(t)
	b, sent := make([]byte, 1<<20), 0
	for k := 1; k > 0; sent += k {
		k = n[1].write(t, c, b)
	}
	for got := 0; got < sent; {
		await(t, n[0], s, unix.POLLIN)
		k, err := n[0].Receive(s, [][]byte{b}, false)
		if err != nil || k == 0 {
			t.Fatal(k, err)
		}
		got += k
	}
}

// An end that writes no more is read to its end and still receives; after both have, and one has closed, the other one has nothing
// but an end. What is written to an end that is closed is answered with a reset, and so is one that is closed with something unread.
//
// Mutations it catches: Shutdown tells nothing; finish tells nothing of the close; what is unread is not looked for.
//
// Proves: tcp.embedded
func TestEnds(t *testing.T) {
	read := func(n *Node, h int32) (string, error) {
		await(t, n, h, unix.POLLIN)
		b := make([]byte, 10)
		k, err := n.Receive(h, [][]byte{b}, false)
		return string(b[:k]), err
	}
	t.Run("half", func(t *testing.T) {
		n, s, c := connected(t)
		n[1].write(t, c, []byte("last"))
		if _, err := n[1].Shutdown(c, false, true); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"last", "", ""} {
			if got, err := read(n[0], s); got != want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		}
		n[0].write(t, s, []byte("answer"))
		if _, err := n[0].CloseSocket(s, false); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"answer", "", ""} {
			if got, err := read(n[1], c); got != want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		}
		if _, err := n[1].Send(c, [][]byte{[]byte("x")}); err != syscall.EPIPE {
			t.Errorf("a write after shutdown: %v", err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		n, s, c := connected(t)
		if _, err := n[1].CloseSocket(c, false); err != nil {
			t.Fatal(err)
		}
		if got, err := read(n[0], s); got != "" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		var err error
		for err == nil {
			_, err = n[0].Send(s, [][]byte{[]byte("x")})
		}
		if err != syscall.ECONNRESET {
			t.Error(err)
		}
		if _, err := n[0].Send(s, [][]byte{[]byte("x")}); err != syscall.EPIPE {
			t.Error(err)
		}
	})
	for name, abort := range map[string]bool{"unread": false, "abort": true} {
		t.Run(name, func(t *testing.T) {
			n, s, c := connected(t)
			n[0].write(t, s, []byte("unread"))
			await(t, n[1], c, unix.POLLIN)
			if _, err := n[1].CloseSocket(c, abort); err != nil {
				t.Fatal(err)
			}
			if got, err := read(n[0], s); err != syscall.ECONNRESET {
				t.Errorf("%q, %v", got, err)
			}
			if got, err := read(n[0], s); got != "" || err != nil {
				t.Errorf("again: %q, %v", got, err)
			}
		})
	}
}

// A connection to a listener that is gone is refused; one that says that it is to another port is reset, and not accepted.
//
// Mutations it catches: takeRequests looks at no opening; a failure is not told of.
//
// Proves: tcp.embedded
func TestRefused(t *testing.T) {
	n, l, at := pair(t)
	other := n[1].Connect(at, client, tcpwire.Addr{IP: server.IP, Port: 81})
	for ready := [2]uint16{}; ready[1]&unix.POLLERR == 0; {
		if n[0].Poll([]int32{l}, ready[:1], true); ready[0] != 0 {
			t.Fatal("it is to be accepted")
		}
		n[1].Poll([]int32{other}, ready[1:], true)
	}
	if e, err := n[1].Error(other); syscall.Errno(e) != syscall.ECONNRESET || err != nil {
		t.Error(syscall.Errno(e), err)
	}
	if _, err := n[0].CloseSocket(l, false); err != nil {
		t.Fatal(err)
	}
	late := n[1].Connect(at, client, server)
	await(t, n[1], late, unix.POLLOUT)
	if e, err := n[1].Error(late); syscall.Errno(e) != syscall.ECONNREFUSED || err != nil {
		t.Error(syscall.Errno(e), err)
	}
	if _, err := n[1].Receive(1<<30, nil, false); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
}
