// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// An echo that is sent a message with its own address as the sender does not answer it, or
// it would answer itself for ever. It catches an echoPackets without that rule: more
// messages are answered then than others have sent.
func TestEchoDoesNotAnswerItself(t *testing.T) {
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, Address: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(t.Context())
	socket := func() *stack.PacketConn {
		c, err := n.ListenPacket(t.Context(), "tipcrdm", nil)
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(time.Minute))
		return c
	}
	c, other := socket(), socket()
	defer other.Close()
	if _, err := c.WriteTo([]byte("to itself"), c.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	done := make(chan error)
	go func() { done <- echoPackets(ctx, c, &out) }()
	b := make([]byte, 10)
	for range 3 {
		other.WriteTo([]byte("x"), c.LocalAddr())
		if k, _, err := other.ReadFrom(b); err != nil || string(b[:k]) != "x" {
			t.Fatalf("got %q, %v", b[:k], err)
		}
	}
	cancel()
	if err := <-done; err != nil || !strings.Contains(out.String(), "echo: 3 messages answered") {
		t.Errorf("%v: %s", err, out.String())
	}
}
