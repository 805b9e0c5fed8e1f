// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	readHangup        = unix.POLLRDHUP
	closeOnExec       = unix.SOCK_CLOEXEC
	receiveRoomOption = unix.SO_RCVBUFFORCE // beyond what the system allows to others
	sendRoomOption    = unix.SO_SNDBUFFORCE
	peekOffset        = unix.SO_PEEK_OFF
	unreadLength      = unix.SIOCINQ
	socketDomain      = unix.SO_DOMAIN
	passCredentials   = unix.SO_PASSCRED
)

func credentials() []byte {
	return unix.UnixCredentials(&unix.Ucred{Pid: int32(os.Getpid()), Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())})
}

// cookieOf is the number that a socket has as long as the system runs.
func cookieOf(fd int) (uint64, error) {
	return unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
}

// acceptOn accepts a connection of a kernel's listener.
func acceptOn(fd int) (conn int, err error) {
	conn, _, err = unix.Accept4(fd, unix.SOCK_CLOEXEC)
	return conn, err
}
