// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// A socket with ManualAck that is closed returns what was read in any way and not acknowledged,
// and what was not read, from another node and from its own; nothing of that which was
// acknowledged, by Ack or by ReadFrom.
//
// Mutations it catches: Ack does nothing; ReadFrom does not acknowledge; ReadBuffer, ReadBatch or
// ReadMsg does not tell the receipt; the option does not reach the node, or the daemon's.
//
// Proves: socket.returned
func TestUnacknowledgedComesBack(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		worker := mustListen(t, b, stack.SocketConfig{ManualAck: true}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		for _, n := range []*stack.Node{a, b} {
			worker := worker
			if n == b {
				worker = mustListen(t, b, stack.SocketConfig{ManualAck: true}, nil)
			}
			s := mustListen(t, n, stack.SocketConfig{Returnable: true}, nil)
			long := bytes.Repeat([]byte{'6'}, 5000)
			for i := range 10 {
				text := []byte(fmt.Sprint(i))
				if i == 6 {
					text = long
				}
				if _, err := s.WriteTo(text, worker.LocalAddr()); err != nil {
					t.Fatal(err)
				}
			}
			var receipts []uint64
			note := func(m stack.Message, err error) {
				t.Helper()
				if err != nil || m.Receipt == 0 || slices.Contains(receipts, m.Receipt) {
					t.Fatalf("receipt %d after %d, %v", m.Receipt, receipts, err)
				}
				receipts = append(receipts, m.Receipt)
			}
			buf := make([]byte, 6000)
			if _, _, err := worker.ReadFrom(buf); err != nil { // 0
				t.Fatal(err)
			}
			for range 4 {
				_, m, err := worker.ReadMsg(buf)
				note(m, err)
			}
			batch := []stack.Message{{Data: buf}}
			_, err := worker.ReadBatch(batch)
			note(batch[0], err) // 5
			r, m, err := worker.ReadBuffer()
			note(m, err) // 6
			if r.Len() != len(long) {
				t.Errorf("%d bytes", r.Len())
			}
			r.Release()
			for _, i := range []int{3, 0} { // messages 4 and 1
				if err := worker.Ack(receipts[i]); err != nil {
					t.Fatal(err)
				}
			}
			worker.Close()
			if err := worker.Ack(receipts[1]); !errors.Is(err, net.ErrClosed) {
				t.Errorf("after the end: got %v", err)
			}
			var got []byte
			for range 7 {
				k, m, err := s.ReadMsg(buf)
				if err != nil || m.Error != frame.NoPort || m.From != worker.LocalAddr() {
					t.Fatalf("after %s: got %+v, %v", got, m, err)
				}
				if got = append(got, buf[0]); buf[0] == '6' && k != frame.MaxReturned {
					t.Errorf("%d bytes of the long one", k)
				}
			}
			if string(got) != "2356789" {
				t.Errorf("%s came back", got)
			}
		}
	})
}

// A socket without ManualAck tells no receipts, nor does a message that is not to come back.
//
// Mutation it catches: keep keeps what may be dropped.
func TestNoReceipt(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		for _, c := range []stack.SocketConfig{{}, {ManualAck: true}} {
			r := mustListen(t, b, c, nil)
			s := mustListen(t, b, stack.SocketConfig{Returnable: !c.ManualAck}, nil)
			if _, err := s.WriteTo([]byte("hi"), r.LocalAddr()); err != nil {
				t.Fatal(err)
			}
			if _, m, err := r.ReadMsg(make([]byte, 9)); err != nil || m.Receipt != 0 {
				t.Errorf("%+v: receipt %d, %v", c, m.Receipt, err)
			}
		}
	})
}
