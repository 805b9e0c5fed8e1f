// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/interop/flow"
)

// A flowConn is a socket as package flow wants it.
type flowConn struct {
	socket
	until time.Time // of receiving; zero: for ever
}

// A flowAddr is a socket's address as package flow wants it.
type flowAddr struct{ unix.Sockaddr }

func (a flowAddr) Network() string { return "tipcrdm" }
func (a flowAddr) String() string  { return idString(a.Sockaddr) }

func (c *flowConn) SetReadDeadline(t time.Time) error {
	c.until = t
	return nil
}

func (c *flowConn) ReadFrom(b []byte) (int, net.Addr, error) {
	if !c.until.IsZero() && !c.readable(time.Until(c.until)) {
		return 0, nil, os.ErrDeadlineExceeded
	}
	m, err := c.receive(b)
	if err == nil && m.code != 0 {
		err = flow.ErrReturned
	}
	return len(m.data), flowAddr{m.addr}, err
}

func (c *flowConn) WriteTo(b []byte, to net.Addr) (int, error) {
	return len(b), c.sendTo(b, to.(flowAddr).Sockaddr)
}

// tell prints a value of package flow.
func tell(word string, v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		say("%s %s", word, b)
	}
	return err
}

// flowSink receives a stream. Each line of standard input is answered with a mark.
func flowSink(o options, words []string) error {
	w, err := numbers(words, 2)
	if err != nil {
		return err
	}
	s, err := open(unix.SOCK_RDM, o)
	if err != nil {
		return err
	}
	if err := s.bind(w[0], w[1], w[1], unix.TIPC_CLUSTER_SCOPE); err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	sink := flow.NewSink(o.plan())
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			tell("mark", sink.Mark())
		}
	}()
	report, err := sink.Serve(&flowConn{socket: s})
	if err != nil {
		return err
	}
	return tell("done", report)
}

// flowSend sends a stream until standard input ends.
func flowSend(o options, words []string) error {
	to, err := destination(o, words)
	if err != nil {
		return err
	}
	s, err := openWithParity(o)
	if err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	sent, err := flow.Send(&flowConn{socket: s}, flowAddr{to}, o.plan(), stop)
	if err != nil {
		return fmt.Errorf("%+v: %w", sent, err)
	}
	return tell("done", sent)
}

// openWithParity opens a socket whose port number is even or odd, as the options
// say: that chooses among two links.
func openWithParity(o options) (socket, error) {
	for {
		s, err := open(unix.SOCK_RDM, o)
		if err != nil || o.parity < 0 {
			return s, err
		}
		a, err := unix.Getsockname(s.fd)
		if err != nil {
			return s, os.NewSyscallError("getsockname", err)
		}
		if int(a.(*unix.SockaddrTIPC).Addr.(*unix.TIPCSocketAddr).Ref)&1 == o.parity {
			return s, nil
		}
		defer s.close() // not before: its number would be given out again
	}
}

func (o options) plan() flow.Plan {
	return flow.Plan{Seed: uint32(o.seed), Longest: o.longest, Pace: o.pace, Timeout: o.timeout}
}
