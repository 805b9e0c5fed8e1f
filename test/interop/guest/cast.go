// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/interop/cast"
)

// A castConn is a socket as package cast wants it. Messages that come back are counted.
type castConn struct {
	socket
	phantoms *atomic.Int64
}

func (c castConn) ReadFrom(b []byte) (int, net.Addr, error) {
	m, err := c.receive(b)
	for err == nil && m.code != 0 {
		c.phantoms.Add(1)
		m, err = c.receive(b)
	}
	return len(m.data), flowAddr{m.addr}, err
}

func (c castConn) WriteTo(b []byte, to net.Addr) (int, error) {
	return len(b), c.sendTo(b, to.(flowAddr).Sockaddr)
}

// castPlan reads PLAN and numbers of its senders or receivers.
func castPlan(words []string) (p cast.Plan, which []int, err error) {
	if len(words) < 2 {
		return p, nil, fmt.Errorf("got %d words, want 2 or more", len(words))
	}
	if err := json.Unmarshal([]byte(words[0]), &p); err != nil {
		return p, nil, err
	}
	for _, w := range words[1:] {
		n, err := strconv.Atoi(w)
		if err != nil {
			return p, nil, err
		}
		which = append(which, n)
	}
	return p, which, nil
}

// castReceive opens the sockets of some receivers of a plan. Each line of standard
// input is answered with a report of each.
func castReceive(o options, words []string) error {
	p, which, err := castPlan(words)
	if err != nil {
		return err
	}
	var conns []castConn
	var receivers []*cast.Receiver
	for _, n := range which {
		s, err := open(unix.SOCK_RDM, o)
		if err != nil {
			return err
		}
		for _, r := range p.Receivers[n] {
			if err := s.bind(p.Type, r.Lower, r.Upper, unix.TIPC_CLUSTER_SCOPE); err != nil {
				return err
			}
		}
		id, err := s.id()
		if err != nil {
			return err
		}
		say("receiver %d id=%s", n, id)
		r, c := cast.NewReceiver(p, n), castConn{s, new(atomic.Int64)}
		go func() { say("fail %s", failure(r.Serve(c))) }()
		conns, receivers = append(conns, c), append(receivers, r)
	}
	say("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		for i, r := range receivers {
			rep := r.Report()
			rep.Phantoms = int(conns[i].phantoms.Load())
			if rep.Dropped, err = conns[i].dropped(); err != nil {
				return err
			}
			if err := tell("report", rep); err != nil {
				return err
			}
		}
	}
	return in.Err()
}

// castSend is one sender of a plan. A line of standard input starts it, each further
// one is answered with how far it has come.
func castSend(o options, words []string) error {
	p, which, err := castPlan(words)
	if err != nil {
		return err
	}
	s, err := open(unix.SOCK_RDM, o)
	if err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	sender := cast.NewSender(p, which[0])
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	go func() {
		for in.Scan() {
			tell("status", sender.Status())
		}
	}()
	err = sender.Run(castConn{s, new(atomic.Int64)}, func(typ uint32, r cast.Range) net.Addr {
		return flowAddr{&unix.SockaddrTIPC{Addr: &unix.TIPCServiceRange{Type: typ, Lower: r.Lower, Upper: r.Upper}}}
	})
	if err != nil {
		return err
	}
	return tell("done", sender.Status())
}
