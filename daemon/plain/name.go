// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
)

// A name is what the abstract name of one end of a plain socket says. An end without a name
// is the daemon's, of a socket that is not connected.
//
//	@utipc1/KIND/PORTNODE/COOKIE/SERVICE/CHECK
//
// KIND is a digit, SOCK_STREAM and so on; PORTNODE the TIPC address of the program at this
// end, COOKIE its SO_COOKIE, SERVICE the type and the instance that the connection was set up
// with, or "-", and CHECK says that this daemon made the name. All but KIND are in
// hexadecimal digits.
type name struct {
	kind    attach.Kind
	addr    frame.SocketAddr
	cookie  uint64
	service frame.Service
	named   bool // service counts
}

const namePrefix = "utipc1/"

// text is the name without its CHECK.
func (n *name) text() string {
	service := "-"
	if n.named {
		service = fmt.Sprintf("%08x%08x", n.service.Type, n.service.Instance)
	}
	return fmt.Sprintf("%s%d/%08x%08x/%016x/%s/", namePrefix, n.kind, n.addr.Port, uint32(n.addr.Node), n.cookie, service)
}

// A secret is what a daemon signs names with.
type secret [32]byte

// check is the CHECK of a text.
func (s *secret) check(text string) string {
	m := hmac.New(sha256.New, s[:])
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil)[:12])
}

// bind gives an end its name.
func (s *secret) bind(fd int, n *name) error {
	text := n.text()
	return unix.Bind(fd, &unix.SockaddrUnix{Name: "@" + text + s.check(text)})
}

// parse reads a name that this daemon made.
func (s *secret) parse(sa unix.Sockaddr) (n name, ok bool) {
	un, ok := sa.(*unix.SockaddrUnix)
	if !ok || !strings.HasPrefix(un.Name, "@"+namePrefix) {
		return n, false
	}
	text := un.Name[1:]
	i := strings.LastIndexByte(text, '/') + 1
	if !hmac.Equal([]byte(text[i:]), []byte(s.check(text[:i]))) {
		return n, false
	}
	f := strings.Split(text, "/") // as text made it
	kind, _ := strconv.ParseUint(f[1], 10, 8)
	addr, _ := strconv.ParseUint(f[2], 16, 64)
	n.kind, n.addr = attach.Kind(kind), frame.SocketAddr{Port: uint32(addr >> 32), Node: frame.NodeAddr(uint32(addr))}
	n.cookie, _ = strconv.ParseUint(f[3], 16, 64)
	if f[4] != "-" {
		service, _ := strconv.ParseUint(f[4], 16, 64)
		n.service, n.named = frame.Service{Type: uint32(service >> 32), Instance: uint32(service)}, true
	}
	return n, true
}

// own is the name of a descriptor, if that is a program's end which this daemon made.
func (s *secret) own(fd int) (n name, ok bool) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return n, false
	}
	if n, ok = s.parse(sa); !ok {
		return n, false
	}
	cookie, err := cookieOf(fd)
	return n, err == nil && cookie == n.cookie
}

// peer is the name of the other end of such a descriptor.
func (s *secret) peer(fd int) (n name, ok bool) {
	sa, err := unix.Getpeername(fd)
	if err != nil {
		return n, false
	}
	return s.parse(sa)
}
