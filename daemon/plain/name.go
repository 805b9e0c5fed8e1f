// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// A secret is what a daemon signs names with.
type secret [32]byte

// check is the CHECK of a text.
func (s *secret) check(text string) string {
	m := hmac.New(sha256.New, s[:])
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil)[:12])
}

// bind gives an end its name.
func (s *secret) bind(fd int, n *attach.PlainName) error {
	text := n.Text()
	return unix.Bind(fd, &unix.SockaddrUnix{Name: text + s.check(text)})
}

// parse reads a name that this daemon made.
func (s *secret) parse(sa unix.Sockaddr) (n attach.PlainName, ok bool) {
	un, ok := sa.(*unix.SockaddrUnix)
	if !ok {
		return n, false
	}
	n, text, check, ok := attach.ParsePlainName(un.Name)
	if !ok || !hmac.Equal([]byte(check), []byte(s.check(text))) {
		return attach.PlainName{}, false
	}
	return n, true
}

// own is the name of a descriptor, if that is a program's end which this daemon made.
func (s *secret) own(fd int) (n attach.PlainName, ok bool) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return n, false
	}
	if n, ok = s.parse(sa); !ok {
		return n, false
	}
	cookie, err := cookieOf(fd)
	return n, err == nil && cookie == n.Cookie
}

// peer is the name of the other end of such a descriptor.
func (s *secret) peer(fd int) (n attach.PlainName, ok bool) {
	sa, err := unix.Getpeername(fd)
	if err != nil {
		return n, false
	}
	return s.parse(sa)
}
