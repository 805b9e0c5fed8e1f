// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/interop/play"
)

// playScript carries out the commands of package play that lines of standard input say,
// each with a tag and the number of its script in front, and without waiting for the one
// before; "answer TAG ..." says what came of it. A number and nothing more ends a script.
func playScript(options, []string) error {
	players := map[string]*play.Player{}
	say("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		tag, line, _ := strings.Cut(in.Text(), " ")
		script, line, _ := strings.Cut(line, " ")
		p := players[script]
		if p == nil {
			p = play.NewPlayer(openPlayed, knows)
			players[script] = p
		}
		if line == "" {
			delete(players, script)
			go func() {
				p.CloseAll()
				say("answer %s ok", tag)
			}()
			continue
		}
		go func() { say("answer %s %s", tag, p.Do(line)) }()
	}
	return in.Err()
}

// knows waits until somebody has bound a service, as far as this node knows.
func knows(a frame.Service) error {
	s, err := open(unix.SOCK_SEQPACKET, options{importance: -1})
	if err != nil {
		return err
	}
	defer s.close()
	top := &unix.SockaddrTIPC{Addr: &unix.TIPCServiceName{Type: unix.TIPC_TOP_SRV, Instance: unix.TIPC_TOP_SRV}}
	if err := unix.Connect(s.fd, top); err != nil {
		return played(err)
	}
	instance := strconv.Itoa(int(a.Instance))
	b, err := subscription([]string{strconv.Itoa(int(a.Type)), instance, instance, "0xffffffff", "2", "played"}, binary.NativeEndian)
	if err == nil {
		err = s.send(b)
	}
	if err == nil {
		_, err = s.receive(make([]byte, topologyEventLen))
	}
	return err
}

var playedKinds = map[string]int{
	"stream": unix.SOCK_STREAM, "seqpacket": unix.SOCK_SEQPACKET, "rdm": unix.SOCK_RDM, "dgram": unix.SOCK_DGRAM,
	"group": unix.SOCK_RDM,
}

func openPlayed(kind string) (play.Socket, error) {
	k, ok := playedKinds[kind]
	if !ok {
		return nil, play.ErrInvalid
	}
	fd, err := unix.Socket(unix.AF_TIPC, k|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, played(err)
	}
	s := playedSocket{socket{fd, make([]byte, 2048)}, k}
	if kind == "group" {
		return &playedMember{playedSocket: s}, nil
	}
	if s.connects() { // scripts say when it is to be sooner
		if err := s.set(unix.TIPC_CONN_TIMEOUT, connTimeout); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// A playedSocket is a kernel's socket for scripts.
type playedSocket struct {
	socket
	kind int
}

// connects reports whether it is of a kind that connects.
func (s *playedSocket) connects() bool {
	return s.kind == unix.SOCK_STREAM || s.kind == unix.SOCK_SEQPACKET
}

// played names an error as scripts do.
func played(err error) error {
	for e, is := range map[unix.Errno]error{
		unix.ECONNRESET: play.ErrReset, unix.EPIPE: play.ErrPipe, unix.ECONNREFUSED: play.ErrRefused,
		unix.ETIMEDOUT: play.ErrTime, unix.EAGAIN: play.ErrTime, unix.EHOSTUNREACH: play.ErrUnreachable,
		unix.EMSGSIZE: play.ErrTooLong, unix.ENOTCONN: play.ErrClosed, unix.EINVAL: play.ErrInvalid,
		unix.EOPNOTSUPP: play.ErrInvalid,
	} {
		if err == e {
			return is
		}
	}
	return err
}

// again does something as long as a signal cuts it short.
func again(do func() error) error {
	for {
		if err := do(); err != unix.EINTR {
			return err
		}
	}
}

var playedOptions = map[string]int{
	"importance": unix.TIPC_IMPORTANCE, "droppable": unix.TIPC_DEST_DROPPABLE,
	"timeout": unix.TIPC_CONN_TIMEOUT, "nodelay": unix.TIPC_NODELAY,
}

func (s *playedSocket) Set(option string, value int) error {
	switch option {
	case "limit":
		return played(unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, value))
	case "broadcast":
		return played(unix.SetsockoptString(s.fd, unix.SOL_TIPC, unix.TIPC_MCAST_BROADCAST, ""))
	case "replicast":
		return played(unix.SetsockoptString(s.fd, unix.SOL_TIPC, unix.TIPC_MCAST_REPLICAST, ""))
	}
	o, ok := playedOptions[option]
	if !ok {
		return play.ErrInvalid
	}
	return played(unix.SetsockoptInt(s.fd, unix.SOL_TIPC, o, value))
}

func (s *playedSocket) Get(option string) (int, error) {
	o, ok := playedOptions[option]
	if !ok {
		return 0, play.ErrInvalid
	}
	v, err := unix.GetsockoptInt(s.fd, unix.SOL_TIPC, o)
	return v, played(err)
}

// sockaddr is an address as the kernel takes it, to connect or to send to.
func sockaddr(a net.Addr) (unix.Sockaddr, error) {
	switch a := a.(type) {
	case frame.Service:
		return &unix.SockaddrTIPC{Addr: &unix.TIPCServiceName{Type: a.Type, Instance: a.Instance, Domain: uint32(a.Node)}}, nil
	case frame.Range:
		return &unix.SockaddrTIPC{Addr: &unix.TIPCServiceRange{Type: a.Type, Lower: a.Lower, Upper: a.Upper}}, nil
	case frame.SocketAddr:
		return &unix.SockaddrTIPC{Addr: &unix.TIPCSocketAddr{Ref: a.Port, Node: uint32(a.Node)}}, nil
	}
	return nil, play.ErrInvalid
}

// asFrame is what the kernel says of a socket.
func asFrame(a unix.Sockaddr, err error) (net.Addr, error) {
	if err != nil {
		return nil, played(err)
	}
	t, _ := a.(*unix.SockaddrTIPC)
	if t == nil {
		return nil, play.ErrInvalid
	}
	id, ok := t.Addr.(*unix.TIPCSocketAddr)
	if !ok {
		return nil, play.ErrInvalid
	}
	return frame.SocketAddr{Port: id.Ref, Node: frame.NodeAddr(id.Node)}, nil
}

func (s *playedSocket) ID() (net.Addr, error)   { return asFrame(unix.Getsockname(s.fd)) }
func (s *playedSocket) Peer() (net.Addr, error) { return asFrame(unix.Getpeername(s.fd)) }

func (s *playedSocket) Bind(a net.Addr, sc frame.Scope) error {
	to := frame.Range{}
	switch a := a.(type) {
	case frame.Service:
		to = a.Range()
	case frame.Range:
		to = a
	default:
		return play.ErrInvalid
	}
	return played(unix.Bind(s.fd, &unix.SockaddrTIPC{
		Scope: int(sc), Addr: &unix.TIPCServiceRange{Type: to.Type, Lower: to.Lower, Upper: to.Upper},
	}))
}

func (s *playedSocket) Listen() error { return played(unix.Listen(s.fd, 1)) }

func (s *playedSocket) Accept() (play.Socket, error) {
	fd := -1
	err := again(func() (err error) {
		fd, _, err = unix.Accept(s.fd)
		return err
	})
	if err != nil {
		return nil, played(err)
	}
	return &playedSocket{socket{fd, make([]byte, 2048)}, s.kind}, nil
}

func (s *playedSocket) Connect(to net.Addr, data []byte) error {
	a, err := sockaddr(to)
	if err != nil {
		return err
	}
	if data != nil {
		return played(again(func() error { return unix.Sendto(s.fd, data, 0, a) }))
	}
	return played(again(func() error { return unix.Connect(s.fd, a) }))
}

func (s *playedSocket) Send(b []byte, to net.Addr) error {
	if to != nil {
		a, err := sockaddr(to)
		if err != nil {
			return err
		}
		return played(again(func() error { return unix.Sendto(s.fd, b, 0, a) }))
	}
	for {
		n := 0
		err := again(func() (err error) {
			n, err = unix.SendmsgN(s.fd, b, nil, nil, unix.MSG_NOSIGNAL)
			return err
		})
		if b = b[max(0, n):]; err != nil || len(b) == 0 {
			return played(err)
		}
	}
}

func (s *playedSocket) Receive(b []byte, wait time.Duration) (play.Received, error) {
	if wait >= 0 && !s.readable(wait) {
		return play.Received{}, play.ErrTime
	}
	if s.connects() { // without room for ancillary data a reset is an error
		n, flags := 0, 0
		err := again(func() (err error) {
			n, _, flags, _, err = unix.Recvmsg(s.fd, b, nil, 0)
			return err
		})
		if err == nil && n == 0 {
			err = play.ErrEnd
		}
		return play.Received{Len: max(n, 0), Cut: flags&unix.MSG_TRUNC != 0}, played(err)
	}
	m, err := s.receive(b)
	if err != nil {
		if e, ok := err.(*os.SyscallError); ok {
			err = played(e.Err)
		}
		return play.Received{}, err
	}
	if m.code != 0 {
		m.data = b[:copy(b, m.retdata)]
	}
	return play.Received{Len: len(m.data), Code: frame.ErrorCode(m.code), Name: m.name, Cut: m.cut}, nil
}

func (s *playedSocket) Shutdown() error { return played(unix.Shutdown(s.fd, unix.SHUT_RDWR)) }
func (s *playedSocket) Close() error    { return played(unix.Close(s.fd)) }
