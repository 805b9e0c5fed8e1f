// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// publish holds one binding until standard input ends.
func publish(o options, words []string) error {
	if len(words) != 4 {
		return fmt.Errorf("got %d words, want 4", len(words))
	}
	w, err := numbers(words[:3], 3)
	if err != nil {
		return err
	}
	scope, err := scopeOf(words[3])
	if err != nil {
		return err
	}
	s, err := open(unix.SOCK_RDM, o)
	if err != nil {
		return err
	}
	if err := s.bind(w[0], w[1], w[2], scope); err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := s.bind(w[0], w[1], w[2], -scope); err != nil {
		return err
	}
	say("withdrawn")
	return nil
}

// subscribe prints what the topology server says about a range, one line for
// each binding. Type 0 tells of nodes and type 2 of links coming and going.
func subscribe(o options, words []string) error {
	w, err := numbers(words, 3)
	if err != nil {
		return err
	}
	s, err := open(unix.SOCK_SEQPACKET, options{importance: -1})
	if err != nil {
		return err
	}
	server := &unix.SockaddrTIPC{Addr: &unix.TIPCServiceName{Type: unix.TIPC_TOP_SRV, Instance: unix.TIPC_TOP_SRV}}
	if err := unix.Connect(s.fd, server); err != nil {
		return os.NewSyscallError("connect", err)
	}
	subscription, err := binary.Append(nil, binary.NativeEndian, unix.TIPCSubscr{
		Seq:     unix.TIPCServiceRange{Type: w[0], Lower: w[1], Upper: w[2]},
		Timeout: unix.TIPC_WAIT_FOREVER,
		Filter:  unix.TIPC_SUB_PORTS,
	})
	if err != nil {
		return err
	}
	if err := s.send(subscription); err != nil {
		return err
	}
	say("ready")
	kinds := map[uint32]string{
		unix.TIPC_PUBLISHED: "published", unix.TIPC_WITHDRAWN: "withdrawn", unix.TIPC_SUBSCR_TIMEOUT: "timeout",
	}
	b := make([]byte, maxMessage)
	n := o.times(0)
	for i := 0; n == 0 || i < n; i++ {
		m, err := s.receive(b)
		if err != nil {
			return err
		}
		var e unix.TIPCEvent
		if _, err := binary.Decode(m.data, binary.NativeEndian, &e); err != nil {
			return fmt.Errorf("event of %d bytes: %w", len(m.data), err)
		}
		say("event %s found={%d,%d,%d} port=%x:%d", kinds[e.Event], e.S.Seq.Type, e.Lower, e.Upper, e.Port.Node, e.Port.Ref)
	}
	return nil
}
