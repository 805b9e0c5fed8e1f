// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
)

const (
	// trialSize is the size of the rings and the memory of a trial, in entries
	// and bytes.
	trialRing, trialMemory = 1, 4 * chunkSize
)

func bindError(err error) error { return os.NewSyscallError("bind", err) }

// patiently tries until nobody is in the way, or the time is over.
func patiently(timeout time.Duration, try func() error) error {
	pause := time.Millisecond
	for end := time.Now().Add(timeout); ; pause = min(2*pause, 50*time.Millisecond) {
		err := try()
		if !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.EEXIST) || time.Now().After(end) {
			return err
		}
		time.Sleep(pause)
	}
}

// tryQueue binds a fresh socket to its queue of an interface, alone, and closes
// it: nil means that nobody has the queue, and that the kernel can do what is
// asked. Somebody who is about to let go of the queue is waited for that long.
func tryQueue(s *socket, ifindex int, pieces bool, timeout time.Duration) error {
	defer s.close()
	if err := s.prepare(trialRing, trialRing, 0); err != nil {
		return err
	}
	arena := netdev.NewArena(netdev.ArenaConfig{Small: trialMemory / chunkSize})
	if err := registerMemory(s.fd, arena.Memory()); err != nil {
		return err
	}
	flags := uint16(unix.XDP_COPY) // zero-copy would stop the card for a moment
	if pieces {
		flags |= unix.XDP_USE_SG
	}
	return patiently(timeout, func() error {
		return bindError(unix.Bind(s.fd, &unix.SockaddrXDP{Flags: flags, Ifindex: uint32(ifindex), QueueID: uint32(s.queue)}))
	})
}

// bindRefusal gives the refusals of a socket that have a known way out their type.
func (i *ifInfo) bindRefusal(queue int, pieces bool, err error) error {
	program, _ := os.Executable()
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &CapabilityError{
			i.name, "an AF_XDP socket", "CAP_NET_RAW", program,
			fmt.Sprintf("run as root, or give it to the program (setcap cap_net_raw+ep %s), "+
				"or use the in-memory carrier, which needs none", program), err,
		}
	case errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.ENOMEM):
		return &CapabilityError{
			i.name, "memory shared with the kernel", "locked memory (RLIMIT_MEMLOCK) or CAP_IPC_LOCK", program,
			"raise the limit (ulimit -l, LimitMEMLOCK= of systemd), or make the arena smaller, or use AF_PACKET", err,
		}
	case errors.Is(err, unix.EAFNOSUPPORT):
		return &FeatureError{i.name, "AF_XDP sockets in this kernel (CONFIG_XDP_SOCKETS)", err}
	case errors.Is(err, unix.EBUSY):
		return &OwnedError{i.name, fmt.Sprintf("whoever has an AF_XDP socket on its receive queue %d", queue)}
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO): // gone since it was looked up
		return missing(i.name)
	case pieces && (errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP)):
		return &FeatureError{i.name, fmt.Sprintf("AF_XDP frames of more than one chunk, which an MTU of %d needs "+
			"(XDP_USE_SG, Linux 6.6)", i.mtu), err}
	}
	return fmt.Errorf("xdp: interface %s, queue %d: %w", i.name, queue, err)
}
