// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// hold keeps sockets bound as the lines of its standard input say, each answered by
// one line:
//
//	bind SOCKET TYPE LOWER UPPER SCOPE COUNT     -> bound id=NODE:PORT
//	unbind SOCKET TYPE LOWER UPPER SCOPE COUNT   -> unbound
//	close SOCKET                                 -> closed
//	ping                                         -> pong
//
// SOCKET is a number of the caller's; the socket is made when it is first named.
// COUNT ranges of that width lie side by side.
func hold(o options, _ []string) error {
	held := map[string]socket{}
	say("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		w := strings.Fields(in.Text())
		var err error
		switch {
		case len(w) == 1 && w[0] == "ping":
			say("pong")
		case len(w) == 2 && w[0] == "close":
			if err = held[w[1]].close(); err == nil {
				delete(held, w[1])
				say("closed")
			}
		case len(w) == 7 && (w[0] == "bind" || w[0] == "unbind"):
			err = holdRanges(o, held, w)
		default:
			err = fmt.Errorf("no command: %q", w)
		}
		if err != nil {
			say("fail %s", failure(err))
		}
	}
	return in.Err()
}

// holdRanges carries out one line that binds or unbinds.
func holdRanges(o options, held map[string]socket, w []string) error {
	s, ok := held[w[1]]
	if !ok {
		var err error
		if s, err = open(unix.SOCK_RDM, o); err != nil {
			return err
		}
		held[w[1]] = s
	}
	n, err := numbers(append(w[2:5:5], w[6]), 4)
	if err != nil {
		return err
	}
	scope, err := scopeOf(w[5])
	if err != nil {
		return err
	}
	if w[0] == "unbind" {
		scope = -scope
	}
	width := n[2] - n[1] + 1
	for i := range n[3] {
		if err := s.bind(n[0], n[1]+i*width, n[2]+i*width, scope); err != nil {
			return err
		}
	}
	if w[0] == "unbind" {
		say("unbound")
		return nil
	}
	id, err := s.id()
	if err == nil {
		say("bound id=%s", id)
	}
	return err
}
