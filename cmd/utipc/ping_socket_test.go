// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// An answer on a stream comes in parts, some of them behind a deadline.
//
// Proves: tools.small
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
	c, err := n.Dial(t.Context(), "tipc", l.LocalAddr())
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

// With --json every line is an object: the answers, and the summary.
func TestPingJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
		if err != nil {
			t.Fatal(err)
		}
		n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, Address: 1, Wait: stack.Sleep})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close(context.Background())
		to := stack.Service{Type: 18888, Instance: 17}
		c, err := n.ListenPacket(t.Context(), "tipcrdm", to)
		if err != nil {
			t.Fatal(err)
		}
		go func() { // answers two messages, each a millisecond later
			b := make([]byte, 100)
			for range 2 {
				k, from, err := c.ReadFrom(b)
				if err != nil {
					t.Error(err)
				}
				<-time.After(time.Millisecond)
				c.WriteTo(b[:k], from)
			}
		}()
		p := pinger{to: to, kind: socketKind{network: "tipcrdm"}, count: 3, size: 64, interval: time.Nanosecond, timeout: 200 * time.Millisecond, json: true}
		var out bytes.Buffer
		if err := p.run(t.Context(), n, &out); err == nil {
			t.Error("one message has no answer: got no error")
		}
		lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		if len(lines) != 4 {
			t.Fatalf("got %q, want 4 lines", out.String())
		}
		for i, line := range lines[:3] {
			var got pingTrip
			if err := json.Unmarshal(line, &got); err != nil || got.Seq != i+1 || (got.Error == "") != (i < 2) || (got.Time > 0) != (i < 2) {
				t.Errorf("got %s, %v", line, err)
			}
		}
		var sum pingSummary
		if err := json.Unmarshal(lines[3], &sum); err != nil || sum.Sent != 3 || sum.Answered != 2 || sum.Lost != 1 || sum.Min <= 0 || sum.Max < sum.Min || sum.To != "18888:17" {
			t.Errorf("got %s, %v", lines[3], err)
		}
	})
}
