// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// relay accepts connections at a service in pairs, and hands what comes from one to the
// other, until one ends.
func relay(o options, words []string) error {
	w, err := numbers(words, 2)
	if err != nil {
		return err
	}
	kind := unix.SOCK_STREAM
	if o.oneway {
		kind = unix.SOCK_SEQPACKET
	}
	s, err := open(kind, o)
	if err != nil {
		return err
	}
	if err := s.bind(w[0], w[1], w[1], unix.TIPC_CLUSTER_SCOPE); err != nil {
		return err
	}
	if err := unix.Listen(s.fd, 16); err != nil {
		return os.NewSyscallError("listen", err)
	}
	if err := s.ready(); err != nil {
		return err
	}
	for {
		var ends [2]int
		for i := range ends {
			if ends[i], _, err = unix.Accept(s.fd); err != nil {
				return fmt.Errorf("accept: %w", err)
			}
		}
		go func() {
			var both sync.WaitGroup
			both.Go(func() { carry(ends[0], ends[1]) })
			both.Go(func() { carry(ends[1], ends[0]) })
			both.Wait()
			unix.Close(ends[0])
			unix.Close(ends[1])
		}()
	}
}

// carry hands on what comes, and shuts both down when there is no more. Who is told so
// by a shutdown ends too.
func carry(from, to int) {
	b := make([]byte, maxMessage)
	for {
		n, _, err := unix.Recvfrom(from, b, 0)
		if n <= 0 || err != nil {
			break
		}
		if (socket{fd: to}).send(b[:n]) != nil {
			break
		}
	}
	unix.Shutdown(from, unix.SHUT_RDWR)
	unix.Shutdown(to, unix.SHUT_RDWR)
}
