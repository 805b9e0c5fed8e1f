// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// A batch arrives whole, in order, to names, sockets and ranges, and is read in batches.
func TestBatch(t *testing.T) {
	a, b := wide(t, 1500)
	to := listen(t, b, echoService)
	c := listen(t, a, nil)
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	to.SetDeadline(time.Now().Add(patience))
	addrs := []net.Addr{echoService, to.LocalAddr(), echoService}
	out := make([]stack.MessageBuffer, 50)
	for i := range out {
		out[i] = stack.MessageBuffer{Data: pattern(1 + 60*i), Addr: addrs[i%3]}
	}
	bundled := a.Links()[0].SentBundled
	if k, err := c.WriteBatch(out, 0); k != len(out) || err != nil || out[7].N != len(out[7].Data) {
		t.Fatalf("sent %d of %d, %v", k, len(out), err)
	}
	if n := a.Links()[0].SentBundled - bundled; n == 0 {
		t.Errorf("%d of %d messages shared packets", n, len(out))
	} else {
		t.Logf("%d of %d messages shared packets", n, len(out))
	}
	in := make([]stack.MessageBuffer, 20)
	for i := range in {
		in[i].Data = make([]byte, 2900)
	}
	for got := 0; got < len(out); {
		k, err := to.ReadBatch(in, 0)
		if err != nil || k < 1 {
			t.Fatalf("after %d: got %d, %v", got, k, err)
		}
		for _, m := range in[:k] {
			want := out[got]
			short := min(len(want.Data), len(m.Data))
			if m.N != short || !bytes.Equal(m.Data[:m.N], want.Data[:short]) || m.Addr.String() != c.LocalAddr().String() ||
				m.Named != (want.Addr == net.Addr(echoService)) || m.Truncated != (short < len(want.Data)) {
				t.Fatalf("message %d: got %d bytes from %v, %+v", got, m.N, m.Addr, m.Message)
			}
			got++
		}
	}
	if k, err := to.ReadBatch(in, stack.DontWait); k != 0 || !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("nothing to read: got %d, %v", k, err)
	}
	to.SetReadDeadline(time.Now())
	if _, err := to.ReadBatch(in, 0); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("at its deadline: got %v", err)
	}
	to.Close()
	if _, err := to.ReadBatch(in, 0); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
	if k, err := to.ReadBatch(nil, 0); k != 0 || err != nil {
		t.Errorf("nothing asked: got %d, %v", k, err)
	}
}

// A batch ends before the message that cannot be sent; the next call says why.
func TestBatchEndsAtAnError(t *testing.T) {
	a, _ := wide(t, 1500)
	here := listen(t, a, echoService)
	defer here.Close()
	c := listen(t, a, nil)
	for _, bad := range []stack.MessageBuffer{
		{Data: []byte("x"), Addr: stack.Service{Type: 18888, Instance: 99}},
		{Data: make([]byte, 70000), Addr: echoService},
		{Data: []byte("x")},
		{Data: []byte("x"), Addr: &net.UnixAddr{}},
	} {
		ms := []stack.MessageBuffer{{Data: []byte("a"), Addr: echoService}, {Data: []byte("b"), Addr: echoService}, bad, {Data: []byte("c"), Addr: echoService}}
		if k, err := c.WriteBatch(ms, 0); k != 2 || err != nil {
			t.Errorf("to %v: got %d, %v", bad.Addr, k, err)
		}
		if k, err := c.WriteBatch(ms[2:], 0); k != 0 || err == nil {
			t.Errorf("to %v, as the first: got %d, %v", bad.Addr, k, err)
		}
	}
	if k, err := c.WriteBatch(nil, 0); k != 0 || err != nil {
		t.Errorf("nothing: got %d, %v", k, err)
	}
}

// A batch waits for the first message's room and for no other's, until the deadline.
func TestBatchWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		to := mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		wire.Set(fault.Config{Out: fault.Faults{Loss: 1}})
		ms := make([]stack.MessageBuffer, 400)
		for i := range ms {
			ms[i] = stack.MessageBuffer{Data: make([]byte, 1400), Addr: to.LocalAddr()}
		}
		sent, err := c.WriteBatch(ms, 0)
		if err != nil || sent == 0 || sent == len(ms) {
			t.Fatalf("got %d, %v", sent, err)
		}
		if k, err := c.WriteBatch(ms[sent:], stack.DontWait); k != 0 || !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("not to wait: got %d, %v", k, err)
		}
		due := time.Now().Add(200 * time.Millisecond)
		c.SetWriteDeadline(due)
		var blocked *stack.BlockedError
		if k, err := c.WriteBatch(ms[sent:], 0); k != 0 || !errors.As(err, &blocked) || time.Since(due) > 10*time.Millisecond {
			t.Errorf("at the deadline: got %d, %v, %v late", k, err, time.Since(due))
		}
		c.SetWriteDeadline(time.Time{})
		wire.Set(fault.Config{})
		if k, err := c.WriteBatch(ms[sent:], 0); k == 0 || err != nil {
			t.Errorf("healed: got %d, %v", k, err)
		}
	})
}
