// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// topology is a connection to the topology server of this node, or of the lookup
// node given with -N. The lines of its standard input are subscriptions:
//
//	TYPE LOWER UPPER TIMEOUT FILTER HANDLE
//
// in Go's number forms, TIMEOUT in ms; with -swap they are written in the byte order
// that is not the machine's. Each is answered by "subscribed HANDLE", and there is a
// line for each event, with the milliseconds since the connection was made.
// "raw HEX" sends bytes as they are.
func topology(o options, _ []string) error {
	s, err := open(unix.SOCK_SEQPACKET, options{importance: -1})
	if err != nil {
		return err
	}
	to, err := destination(o, []string{fmt.Sprint(unix.TIPC_TOP_SRV), fmt.Sprint(unix.TIPC_TOP_SRV)})
	if err != nil {
		return err
	}
	if err := unix.Connect(s.fd, to); err != nil {
		return os.NewSyscallError("connect", err)
	}
	order := binary.ByteOrder(binary.NativeEndian)
	if o.swap {
		order = swapped
	}
	say("ready")
	began := time.Now()
	go topologyAsk(s, order)
	b := make([]byte, maxMessage)
	for {
		m, err := s.receive(b)
		if err != nil {
			say("closed %s", failure(err))
			return nil
		}
		if m.code != 0 || len(m.data) == 0 {
			say("closed eof err=%d", m.code)
			return nil
		}
		if len(m.data) != topologyEventLen {
			say("event of %d bytes", len(m.data))
			continue
		}
		var w [12]uint32
		for i := range w[:10] {
			w[i] = order.Uint32(m.data[4*i:])
		}
		handle := string(m.data[40:48])
		say("event %s found={%d,%d,%d} port=%x:%d of={%d,%d} timeout=%d filter=%#x handle=%s ms=%d", topologyKind(w[0]),
			w[5], w[1], w[2], w[4], w[3], w[6], w[7], int32(w[8]), w[9], strings.TrimRight(handle, "\x00"),
			time.Since(began).Milliseconds())
	}
}

const topologyEventLen = 48

// swapped is the byte order that is not this machine's; the guest's is little endian.
var swapped = binary.ByteOrder(binary.BigEndian)

// topologyAsk sends the subscriptions that standard input says.
func topologyAsk(s socket, order binary.ByteOrder) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var b []byte
		w := strings.Fields(in.Text())
		var err error
		if len(w) == 2 && w[0] == "raw" {
			_, err = fmt.Sscanf(w[1], "%x", &b)
		} else {
			b, err = subscription(w, order)
		}
		if err == nil {
			err = s.send(b)
		}
		if err != nil {
			say("fail %s", failure(err))
			continue
		}
		say("subscribed %s", w[len(w)-1])
	}
}

// subscription builds the record of a line.
func subscription(w []string, order binary.ByteOrder) ([]byte, error) {
	if len(w) != 6 || len(w[5]) > 8 {
		return nil, fmt.Errorf("no subscription: %q", w)
	}
	n, err := numbers(w[:5], 5)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 28)
	for i, v := range n {
		order.PutUint32(b[4*i:], v)
	}
	copy(b[20:], w[5])
	return b, nil
}

func topologyKind(k uint32) string {
	switch k {
	case unix.TIPC_PUBLISHED:
		return "published"
	case unix.TIPC_WITHDRAWN:
		return "withdrawn"
	case unix.TIPC_SUBSCR_TIMEOUT:
		return "timeout"
	}
	return fmt.Sprint(k)
}
