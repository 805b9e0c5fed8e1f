// SPDX-License-Identifier: Apache-2.0

package tcpwire

import (
	"encoding/binary"
	"errors"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
)

const (
	// Network is that of the connections.
	Network = "tipcpacket"
	// NodeType is the type of the service that each daemon binds to its address of the prefix: the instance is the
	// address. Which node has a port is asked there.
	NodeType = 0x75740001
	// MostBacklog is how many connections wait at a listener at most, as net.core.somaxconn has it.
	MostBacklog = 4096
	// Timeout is for how long a connection is tried, as Linux does without settings.
	Timeout = 127 * time.Second
)

// An Addr is an address of IPv4 and a port. As a service it is what its listener is bound to.
type Addr struct {
	IP   uint32 // 0: any
	Port uint16
}

// Service is what the listener of the address is bound to.
func (a Addr) Service() frame.Service {
	return frame.Service{Type: a.IP, Instance: uint32(a.Port)}
}

const addrLen = 4 + 2

func (a Addr) append(b []byte) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(b, a.IP), a.Port)
}

func addrOf(b []byte) Addr { return Addr{binary.BigEndian.Uint32(b), binary.BigEndian.Uint16(b[4:])} }

// OpeningLen is the length of an opening, in bytes.
const OpeningLen = 4 + 2*addrLen

var openingMark = [4]byte{'T', 'C', 'P', 1}

// AppendOpening appends the first message of a connection, which goes with the request for it: "TCP", 1, then address
// and port of the end that connects, and those that it connects to, big-endian.
func AppendOpening(b []byte, from, to Addr) []byte {
	return to.append(from.append(append(b, openingMark[:]...)))
}

// ParseOpening reads an opening.
func ParseOpening(b []byte) (from, to Addr, ok bool) {
	if len(b) != OpeningLen || [4]byte(b[:4]) != openingMark {
		return from, to, false
	}
	return addrOf(b[4:]), addrOf(b[4+addrLen:]), true
}

// ReadOpening takes the opening of a connection that was accepted.
func ReadOpening(c *stack.Conn) (from, to Addr, ok bool) {
	var b [OpeningLen + 1]byte
	n, size, err := c.TryReadMsg(b[:])
	if err != nil || size != n {
		return from, to, false
	}
	return ParseOpening(b[:n])
}

// Each message after the opening is data and then a byte that says what comes after it. An end of the connection
// without Close is a reset.
const (
	More  byte = iota
	Half       // its program writes nothing any more
	Close      // nor reads
)

// A question is the port, big-endian; the answer is the address of the socket that has it in a program's own node,
// port and node, or zeros.
const (
	QuestionLen = 2
	AnswerLen   = 8
)

// AppendQuestion appends the question which node has a port.
func AppendQuestion(b []byte, port uint16) []byte { return binary.BigEndian.AppendUint16(b, port) }

// ParseQuestion reads a question.
func ParseQuestion(b []byte) (port uint16, ok bool) {
	if len(b) != QuestionLen {
		return 0, false
	}
	return binary.BigEndian.Uint16(b), true
}

// AppendAnswer appends the answer to a question.
func AppendAnswer(b []byte, a frame.SocketAddr) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, a.Port), uint32(a.Node))
}

// ParseAnswer reads an answer.
func ParseAnswer(b []byte) (a frame.SocketAddr, ok bool) {
	if len(b) != AnswerLen {
		return a, false
	}
	return frame.SocketAddr{Port: binary.BigEndian.Uint32(b), Node: frame.NodeAddr(binary.BigEndian.Uint32(b[4:]))}, true
}

// Refusal is what TCP says of a connection that failed.
func Refusal(err error) error {
	var e *stack.ConnError
	var blocked *stack.BlockedError
	switch {
	case errors.As(err, &blocked), errors.As(err, &e) && (e.Timeout() || e.Code == frame.Overload): // its backlog was full all the time
		return syscall.ETIMEDOUT
	case errors.As(err, &e) && e.Code == frame.NoNode:
		return syscall.EHOSTUNREACH
	case errors.As(err, &e), errors.Is(err, stack.ErrUnreachable):
		return syscall.ECONNREFUSED
	}
	return err
}
