// SPDX-License-Identifier: Apache-2.0

package shortage

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// variable is set in the process that answers, which is the test's program again.
const variable = "UTIPC_TEST_SHORTAGE_ANSWERS"

// Descriptors of the process that answers.
const (
	socketFD = 3 // brings the descriptor that the kernel asks on, and ends with the test
	ordersFD = 4
)

func init() {
	if os.Getenv(variable) == "" {
		return
	}
	if err := answerAll(); err != nil {
		fmt.Fprintln(os.Stderr, "shortage:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// answerAll answers the kernel's questions until the thread or the test has ended.
func answerAll() error {
	o, err := mapOrders(ordersFD)
	if err != nil {
		return err
	}
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socketFD, make([]byte, 1), oob, 0)
	if err != nil {
		return os.NewSyscallError("recvmsg", err)
	}
	all, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(all) == 0 {
		return err // nothing came: the test has ended
	}
	fds, err := unix.ParseUnixRights(&all[0])
	if err != nil {
		return os.NewSyscallError("recvmsg", err)
	}
	on := []unix.PollFd{{Fd: int32(fds[0]), Events: unix.POLLIN}, {Fd: socketFD, Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(on, -1); err != nil && err != unix.EINTR {
			return os.NewSyscallError("poll", err)
		}
		switch {
		case on[0].Revents&unix.POLLIN != 0:
			if e := o.answerOne(fds[0]); e != 0 && e != unix.ENOENT && e != unix.EINTR {
				return os.NewSyscallError("ioctl SECCOMP_IOCTL_NOTIF", e)
			}
		case on[0].Revents != 0, on[1].Revents != 0:
			return nil
		}
	}
}
