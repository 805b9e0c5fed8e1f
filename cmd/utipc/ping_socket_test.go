// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// An answer on a stream comes in parts, some of them behind a deadline.
func TestPingStreamKeepsParts(t *testing.T) {
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, Address: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(t.Context())
	l, err := n.Listen(t.Context(), "tipc", nil)
	if err != nil {
		t.Fatal(err)
	}
	more := make(chan bool)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Write([]byte("abc"))
		<-more
		c.Write([]byte("defgh"))
	}()
	c, err := n.Dial(t.Context(), "tipc", l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	s := &pingStream{Conn: c, part: make([]byte, 8)}
	b := make([]byte, 9)
	s.SetDeadline(time.Now().Add(20 * time.Millisecond))
	if k, _, err := s.receive(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a part of an answer: %d bytes, %v", k, err)
	}
	more <- true
	s.SetDeadline(time.Now().Add(time.Minute))
	if k, _, err := s.receive(b); err != nil || !bytes.Equal(b[:k], []byte("abcdefgh")) {
		t.Errorf("got %q, %v", b[:k], err)
	}
}
