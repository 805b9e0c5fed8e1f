// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/interop/pattern"
)

// listen accepts connections and echoes on each until it ends.
func listen(o options, words []string, kind int) error {
	w, err := numbers(words, 2)
	if err != nil {
		return err
	}
	scope, err := scopeOf(o.scope)
	if err != nil {
		return err
	}
	s, err := open(kind, o)
	if err != nil {
		return err
	}
	if err := s.bind(w[0], w[1], w[1], scope); err != nil {
		return err
	}
	if err := unix.Listen(s.fd, 16); err != nil {
		return os.NewSyscallError("listen", err)
	}
	if err := s.ready(); err != nil {
		return err
	}
	ended := make(chan struct{})
	n := o.times(0)
	for i := 0; n == 0 || i < n; i++ {
		fd, from, err := unix.Accept(s.fd)
		for err == unix.EINTR {
			fd, from, err = unix.Accept(s.fd)
		}
		if err != nil {
			return os.NewSyscallError("accept", err)
		}
		c := newSocket(fd)
		id, err := c.id()
		if err != nil {
			return err
		}
		say("accept from=%s id=%s", idString(from), id)
		go func() {
			echo(c, id, o.quiet)
			ended <- struct{}{}
		}()
	}
	for range n {
		<-ended
	}
	return nil
}

// echo sends back what it receives.
func echo(c socket, id string, quiet bool) {
	defer c.close()
	b := make([]byte, maxMessage)
	msgs, bytes := 0, 0
	for {
		m, err := c.receive(b)
		if err == nil && (m.code != 0 || len(m.data) == 0) {
			say("closed id=%s eof err=%d msgs=%d bytes=%d", id, m.code, msgs, bytes)
			return
		}
		if err == nil {
			msgs++
			bytes += len(m.data)
			if !quiet {
				text, _ := checked(m.data)
				say("recv id=%s %s", id, text)
			}
			err = c.send(m.data)
		}
		if err != nil {
			say("closed id=%s %s msgs=%d bytes=%d", id, failure(err), msgs, bytes)
			return
		}
	}
}

// dial connects, sends messages, reads each one's echo (unless -1 is given)
// and shuts the connection down.
func dial(o options, words []string, kind int) error {
	to, err := destination(o, words)
	if err != nil {
		return err
	}
	s, err := open(kind, o)
	if err != nil {
		return err
	}
	if err := unix.Connect(s.fd, to); err != nil {
		return os.NewSyscallError("connect", err)
	}
	peer, err := unix.Getpeername(s.fd)
	if err != nil {
		return os.NewSyscallError("getpeername", err)
	}
	id, err := s.id()
	if err != nil {
		return err
	}
	say("connected id=%s peer=%s", id, idString(peer))
	out, in := make([]byte, o.size), make([]byte, maxMessage)
	n, echoed, bad := o.times(1), 0, 0
	for i := range n {
		pattern.Fill(out, uint32(i))
		if err := s.send(out); err != nil {
			return err
		}
		if o.oneway {
			continue
		}
		var back []byte
		for len(back) < len(out) {
			m, err := s.receive(in)
			if err != nil {
				return err
			}
			if m.code != 0 || len(m.data) == 0 {
				say("closed eof err=%d", m.code)
				return nil
			}
			back = append(back, m.data...)
		}
		echoed++
		text, good := checked(back)
		if !good || string(back) != string(out) {
			bad++
		}
		if !o.quiet {
			say("echo %s", text)
		}
	}
	say("done sent=%d echoed=%d bad=%d", n, echoed, bad)
	if err := unix.Shutdown(s.fd, unix.SHUT_RDWR); err != nil {
		return os.NewSyscallError("shutdown", err)
	}
	return s.close()
}
