// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/interop/pattern"
)

// own prints the address of a fresh socket: the node's, and a port just freed.
func own(o options, _ []string) error {
	s, err := open(unix.SOCK_RDM, o)
	if err != nil {
		return err
	}
	defer s.close()
	return s.ready()
}

// checked says what pattern.Check finds, as keys and values.
func checked(b []byte) (text string, good bool) {
	seq, err := pattern.Check(b)
	verdict := "ok"
	switch err {
	case pattern.ErrForeign:
		verdict = "none"
	case pattern.ErrCorrupt:
		verdict = "BAD"
	}
	return fmt.Sprintf("len=%d crc=%08x seq=%d check=%s", len(b), pattern.Sum(b), seq, verdict), err != pattern.ErrCorrupt
}

// rdmServe receives at a service address, and echoes if asked to.
func rdmServe(o options, words []string, echo bool) error {
	w, err := numbers(words, 2)
	if err != nil {
		return err
	}
	scope, err := scopeOf(o.scope)
	if err != nil {
		return err
	}
	s, err := open(unix.SOCK_RDM, o)
	if err != nil {
		return err
	}
	if err := s.bind(w[0], w[1], w[1], scope); err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	b := make([]byte, maxMessage)
	var got, rejects, bad int
	for n := o.times(0); n == 0 || got < n; {
		m, err := s.receive(b)
		if err != nil {
			return err
		}
		if m.code != 0 { // our echo came back
			rejects++
			say("reject err=%d retlen=%d", m.code, m.returned)
			continue
		}
		got++
		text, good := checked(m.data)
		if !good {
			bad++
		}
		if !o.quiet {
			say("recv from=%s %s dest=%s", m.from, text, m.name)
		}
		if echo {
			if err := s.sendTo(m.data, m.addr); err != nil {
				say("fail %s", failure(err))
			}
		}
	}
	say("done received=%d rejects=%d bad=%d", got, rejects, bad)
	return nil
}

// rdmSend sends messages one by one, waiting for each one's echo unless -1 is given.
func rdmSend(o options, words []string) error {
	to, err := destination(o, words)
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
	wait := time.Duration(o.wait) * time.Millisecond
	out, in := make([]byte, o.size), make([]byte, maxMessage)
	var sent, echoed, rejects, bad int
	take := func() error {
		m, err := s.receive(in)
		switch {
		case err != nil:
			return err
		case m.code != 0:
			rejects++
			if !o.quiet {
				say("reject err=%d retlen=%d same=%t", m.code, m.returned, string(m.retdata) == string(out[:min(len(out), len(m.retdata))]))
			}
		default:
			echoed++
			text, good := checked(m.data)
			if !good || string(m.data) != string(out) {
				bad++
			}
			if !o.quiet {
				say("echo from=%s %s", m.from, text)
			}
		}
		return nil
	}
	n := o.times(1)
	for i := 0; n == 0 || i < n; i++ {
		pattern.Fill(out, uint32(i))
		if err := s.sendTo(out, to); err != nil {
			say("fail seq=%d %s", i, failure(err))
			break
		}
		sent++
		if o.oneway {
			continue
		}
		if !s.readable(wait) {
			say("timeout seq=%d", i)
			continue
		}
		if err := take(); err != nil {
			return err
		}
	}
	for end := time.Now().Add(wait); o.oneway && o.returnable && s.readable(time.Until(end)); {
		if err := take(); err != nil {
			return err
		}
	}
	say("done sent=%d echoed=%d rejects=%d bad=%d", sent, echoed, rejects, bad)
	return nil
}

// mcastSend sends to every socket bound within a range.
func mcastSend(o options, words []string) error {
	w, err := numbers(words, 3)
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
	to := &unix.SockaddrTIPC{Addr: &unix.TIPCServiceRange{Type: w[0], Lower: w[1], Upper: w[2]}}
	b := make([]byte, o.size)
	n := o.times(1)
	for i := range n {
		pattern.Fill(b, uint32(i))
		if err := s.sendTo(b, to); err != nil {
			return err
		}
	}
	say("done sent=%d", n)
	return nil
}
