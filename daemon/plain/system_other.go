// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package plain

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/daemon/genetlink"
)

// The library of unmodified programs is for Linux: elsewhere the package compiles, and no program
// is served.
const (
	readHangup        = 0
	closeOnExec       = 0
	receiveRoomOption = unix.SO_RCVBUF
	sendRoomOption    = unix.SO_SNDBUF
	peekOffset        = 0
	unreadLength      = 0
	socketDomain      = 0
	passCredentials   = 0
)

func credentials() []byte { return nil }

func cookieOf(int) (uint64, error) { return 0, syscall.EOPNOTSUPP }

func acceptOn(int) (int, error) { return -1, syscall.EOPNOTSUPP }

// netlinkState has nothing to say without netlink.
type netlinkState struct{}

func netlinkOf(int) (how netlinkState, err error) { return how, syscall.EPROTOTYPE }

func (*netlinkState) apply(int) error { return nil }

func ackOptions(int, *genetlink.Socket) error { return nil }

func (*end) readKernel() ([]byte, error) { return nil, syscall.EOPNOTSUPP }
