// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// group joins a group and does what the lines of its standard input say, each answered by
// one line:
//
//	send TEXT   -> sent, or fail         to all members
//	read MS     -> read count=N first=TEXT last=TEXT gaps=N up=N down=N
//
// read reads until nothing has come for so long. Of messages that are numbers gaps counts
// those not one above the message before.
func group(o options, words []string) error {
	w, err := numbers(words, 2)
	if err != nil {
		return err
	}
	s, err := open(unix.SOCK_RDM, o)
	if err != nil {
		return err
	}
	const cluster, events = 2, 2
	var req []byte
	for _, v := range []uint32{w[0], w[1], cluster, events} {
		req = binary.NativeEndian.AppendUint32(req, v)
	}
	if err := unix.SetsockoptString(s.fd, unix.SOL_TIPC, unix.TIPC_GROUP_JOIN, string(req)); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err := s.ready(); err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		verb, rest, _ := strings.Cut(in.Text(), " ")
		switch verb {
		case "send":
			if err := s.send([]byte(rest)); err != nil {
				say("fail %s", failure(err))
			} else {
				say("sent")
			}
		case "read":
			ms, err := strconv.Atoi(rest)
			if err != nil {
				return err
			}
			if err := s.readGroup(time.Duration(ms) * time.Millisecond); err != nil {
				return err
			}
		default:
			return fmt.Errorf("no command: %q", in.Text())
		}
	}
	return in.Err()
}

// readGroup carries out a read.
func (s socket) readGroup(wait time.Duration) error {
	b := make([]byte, maxMessage)
	first, last, count, gaps, up, down := "none", "none", 0, 0, 0, 0
	for s.readable(wait) {
		n, _, flags, _, err := unix.Recvmsg(s.fd, b, s.oob, 0)
		if err != nil {
			return os.NewSyscallError("recvmsg", err)
		}
		if flags&unix.MSG_OOB != 0 {
			if flags&unix.MSG_EOR != 0 {
				down++
			} else {
				up++
			}
			continue
		}
		text := string(b[:n])
		if count++; count == 1 {
			first = text
		} else if was, err := strconv.Atoi(last); err == nil && text != strconv.Itoa(was+1) {
			gaps++
		}
		last = text
	}
	say("read count=%d first=%s last=%s gaps=%d up=%d down=%d", count, first, last, gaps, up, down)
	return nil
}
