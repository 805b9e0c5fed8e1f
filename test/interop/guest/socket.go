// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxMessage is room for the longest message, with some to spare.
const maxMessage = 1 << 17

// connTimeout is how long sockets wait for a connection, in milliseconds: the other end may
// be slow to accept on a machine that does other work as well.
const connTimeout = 120_000

// A socket is a blocking AF_TIPC socket for one goroutine. Errors of its
// methods name the call that failed.
type socket struct {
	fd  int
	oob []byte // room for ancillary data
}

func newSocket(fd int) socket { return socket{fd, make([]byte, maxMessage)} }

// open makes a socket with the options that were asked for.
func open(kind int, o options) (socket, error) {
	fd, err := unix.Socket(unix.AF_TIPC, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return socket{}, os.NewSyscallError("socket", err)
	}
	s := newSocket(fd)
	if kind == unix.SOCK_STREAM || kind == unix.SOCK_SEQPACKET {
		err = s.set(unix.TIPC_CONN_TIMEOUT, connTimeout)
	}
	if o.importance >= 0 {
		err = errors.Join(err, s.set(unix.TIPC_IMPORTANCE, o.importance))
	}
	if o.returnable {
		err = errors.Join(err, s.set(unix.TIPC_DEST_DROPPABLE, 0))
	}
	// These two take no value.
	if o.broadcast {
		err = errors.Join(err, os.NewSyscallError("setsockopt", unix.SetsockoptString(fd, unix.SOL_TIPC, unix.TIPC_MCAST_BROADCAST, "")))
	}
	if o.replicast {
		err = errors.Join(err, os.NewSyscallError("setsockopt", unix.SetsockoptString(fd, unix.SOL_TIPC, unix.TIPC_MCAST_REPLICAST, "")))
	}
	if o.rcvbuf > 0 {
		err = errors.Join(err, os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, o.rcvbuf)))
	}
	return s, err
}

func (s socket) set(option, value int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(s.fd, unix.SOL_TIPC, option, value))
}

func (s socket) close() error { return os.NewSyscallError("close", unix.Close(s.fd)) }

// id is the socket's own address, printed as NODE:PORT.
func (s socket) id() (string, error) {
	a, err := unix.Getsockname(s.fd)
	if err != nil {
		return "", os.NewSyscallError("getsockname", err)
	}
	return idString(a), nil
}

// ready prints that the socket may be addressed.
func (s socket) ready() error {
	id, err := s.id()
	if err == nil {
		say("ready id=%s", id)
	}
	return err
}

// bind binds a range, or withdraws it with a negative scope.
func (s socket) bind(typ, lo, hi uint32, scope int) error {
	return os.NewSyscallError("bind", unix.Bind(s.fd, &unix.SockaddrTIPC{
		Scope: scope,
		Addr:  &unix.TIPCServiceRange{Type: typ, Lower: lo, Upper: hi},
	}))
}

func (s socket) sendTo(b []byte, to unix.Sockaddr) error {
	for {
		err := unix.Sendto(s.fd, b, 0, to)
		if err != unix.EINTR {
			return os.NewSyscallError("sendto", err)
		}
	}
}

// send writes all of b to a connection.
func (s socket) send(b []byte) error {
	for len(b) > 0 {
		n, err := unix.SendmsgN(s.fd, b, nil, nil, unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return os.NewSyscallError("send", err)
		}
		b = b[n:]
	}
	return nil
}

// A message is what one receive call returned.
type message struct {
	data     []byte // in the caller's buffer; retdata is in the socket's
	from     string // NODE:PORT
	addr     unix.Sockaddr
	code     uint32 // of TIPC_ERRINFO; 0 if the message is not a rejected one
	returned uint32 // bytes that came back with a rejected message
	retdata  []byte // those bytes
	name     string // TIPC_DESTNAME as {type,lower,upper}; empty if there was none
	cut      bool   // MSG_TRUNC
}

// receive waits for a message and its ancillary data.
func (s socket) receive(b []byte) (message, error) {
	n, oobn, flags, from, err := unix.Recvmsg(s.fd, b, s.oob, 0)
	for err == unix.EINTR {
		n, oobn, flags, from, err = unix.Recvmsg(s.fd, b, s.oob, 0)
	}
	if err != nil {
		return message{}, os.NewSyscallError("recvmsg", err)
	}
	m := message{data: b[:n], addr: from, from: idString(from), cut: flags&unix.MSG_TRUNC != 0}
	control, err := unix.ParseSocketControlMessage(s.oob[:oobn])
	if err != nil {
		return m, os.NewSyscallError("control messages", err)
	}
	for _, c := range control {
		if c.Header.Level != unix.SOL_TIPC {
			continue
		}
		word := func(i int) uint32 { return binary.NativeEndian.Uint32(c.Data[4*i:]) }
		switch {
		case c.Header.Type == unix.TIPC_ERRINFO && len(c.Data) >= 8:
			m.code, m.returned = word(0), word(1)
		case c.Header.Type == unix.TIPC_RETDATA:
			m.retdata = c.Data
		case c.Header.Type == unix.TIPC_DESTNAME && len(c.Data) >= 12:
			m.name = fmt.Sprintf("{%d,%d,%d}", word(0), word(1), word(2))
		}
	}
	return m, nil
}

// readable waits until there is something to receive, and says whether there is.
func (s socket) readable(wait time.Duration) bool {
	for end := time.Now().Add(wait); ; {
		left := max(0, time.Until(end).Milliseconds())
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}, int(left))
		if err != unix.EINTR {
			return n > 0
		}
	}
}

// idString writes a socket's address as NODE:PORT, the node in hexadecimal.
func idString(a unix.Sockaddr) string {
	if t, ok := a.(*unix.SockaddrTIPC); ok {
		if id, ok := t.Addr.(*unix.TIPCSocketAddr); ok {
			return fmt.Sprintf("%x:%d", id.Node, id.Ref)
		}
	}
	return "none"
}

// destination reads TYPE INST, or @NODE:PORT.
func destination(o options, words []string) (unix.Sockaddr, error) {
	if len(words) == 1 && strings.HasPrefix(words[0], "@") {
		node, port, _ := strings.Cut(words[0][1:], ":")
		n, err := strconv.ParseUint(node, 16, 32)
		if err != nil {
			return nil, err
		}
		p, err := strconv.ParseUint(port, 10, 32)
		if err != nil {
			return nil, err
		}
		return &unix.SockaddrTIPC{Addr: &unix.TIPCSocketAddr{Ref: uint32(p), Node: uint32(n)}}, nil
	}
	w, err := numbers(words, 2)
	if err != nil {
		return nil, err
	}
	node, err := strconv.ParseUint(o.node, 16, 32)
	if err != nil {
		return nil, err
	}
	return &unix.SockaddrTIPC{Addr: &unix.TIPCServiceName{Type: w[0], Instance: w[1], Domain: uint32(node)}}, nil
}

// scopeOf reads the word for a scope.
func scopeOf(word string) (int, error) {
	switch word {
	case "node":
		return unix.TIPC_NODE_SCOPE, nil
	case "cluster":
		return unix.TIPC_CLUSTER_SCOPE, nil
	}
	return 0, fmt.Errorf("scope %q is neither node nor cluster", word)
}
