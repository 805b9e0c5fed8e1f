// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// A batch arrives whole, in order, to names, sockets and ranges, and is read in batches.
func TestBatch(t *testing.T) {
	t.Parallel()
	a, b := wide(t, 1500)
	to := listen(t, b, echoService)
	c := listen(t, a, nil)
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	to.SetDeadline(time.Now().Add(testTimeout))
	addrs := []net.Addr{echoService, to.LocalAddr(), echoService}
	out := make([]stack.Message, 50)
	for i := range out {
		out[i] = stack.Message{Data: pattern(1 + 60*i), To: addrs[i%3]}
	}
	bundled := must.Get(a.Admin().Links(context.Background()))[0].SentBundled
	if k, err := c.WriteBatch(out); k != len(out) || err != nil || out[7].N != len(out[7].Data) {
		t.Fatalf("sent %d of %d, %v", k, len(out), err)
	}
	if n := must.Get(a.Admin().Links(context.Background()))[0].SentBundled - bundled; n == 0 {
		t.Errorf("%d of %d messages shared packets", n, len(out))
	} else {
		t.Logf("%d of %d messages shared packets", n, len(out))
	}
	in := make([]stack.Message, 20)
	for i := range in {
		in[i].Data = make([]byte, 2900)
	}
	for got := 0; got < len(out); {
		k, err := to.ReadBatch(in)
		if err != nil || k < 1 {
			t.Fatalf("after %d: got %d, %v", got, k, err)
		}
		for _, m := range in[:k] {
			want := out[got]
			short := min(len(want.Data), len(m.Data))
			if m.N != short || !bytes.Equal(m.Data[:m.N], want.Data[:short]) || m.From.String() != c.LocalAddr().String() ||
				m.Named != (want.To == net.Addr(echoService)) || m.Truncated != (short < len(want.Data)) {
				t.Fatalf("message %d: got %d bytes from %v, %+v", got, m.N, m.From, m)
			}
			got++
		}
	}
	if k, err := to.TryReadBatch(in); k != 0 || !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("nothing to read: got %d, %v", k, err)
	}
	to.SetReadDeadline(time.Now())
	if _, err := to.ReadBatch(in); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("at its deadline: got %v", err)
	}
	to.Close()
	if _, err := to.ReadBatch(in); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
	if k, err := to.ReadBatch(nil); k != 0 || err != nil {
		t.Errorf("nothing asked: got %d, %v", k, err)
	}
}

// A batch ends before the message that cannot be sent; the next call says why.
//
// Proves: socket.buffers
func TestBatchEndsAtAnError(t *testing.T) {
	t.Parallel()
	a, _ := wide(t, 1500)
	here := listen(t, a, echoService)
	defer here.Close()
	c := listen(t, a, nil)
	for _, bad := range []stack.Message{
		{Data: []byte("x"), To: stack.Service{Type: 18888, Instance: 99}},
		{Data: make([]byte, 70000), To: echoService},
		{Data: []byte("x")},
		{Data: []byte("x"), To: &net.UnixAddr{}},
	} {
		ms := []stack.Message{{Data: []byte("a"), To: echoService}, {Data: []byte("b"), To: echoService}, bad, {Data: []byte("c"), To: echoService}}
		if k, err := c.WriteBatch(ms); k != 2 || err != nil {
			t.Errorf("to %v: got %d, %v", bad.To, k, err)
		}
		if k, err := c.WriteBatch(ms[2:]); k != 0 || err == nil {
			t.Errorf("to %v, as the first: got %d, %v", bad.To, k, err)
		}
	}
	if k, err := c.WriteBatch(nil); k != 0 || err != nil {
		t.Errorf("nothing: got %d, %v", k, err)
	}
}

// A batch waits for the first message's room and for no other's, until the deadline.
//
// Proves: socket.buffers
func TestBatchWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, wire *fault.Injector) {
		to := mustListen(t, b, stack.SocketConfig{}, echoService)
		if err := a.WaitFor(t.Context(), echoService); err != nil {
			t.Fatal(err)
		}
		c := mustListen(t, a, stack.SocketConfig{}, nil)
		wire.Set(fault.Config{Out: fault.Faults{Loss: 1}})
		ms := make([]stack.Message, 400)
		for i := range ms {
			ms[i] = stack.Message{Data: make([]byte, 1400), To: to.LocalAddr()}
		}
		sent, err := c.WriteBatch(ms)
		if err != nil || sent == 0 || sent == len(ms) {
			t.Fatalf("got %d, %v", sent, err)
		}
		if k, err := c.TryWriteBatch(ms[sent:]); k != 0 || !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("not to wait: got %d, %v", k, err)
		}
		due := time.Now().Add(200 * time.Millisecond)
		c.SetWriteDeadline(due)
		var blocked *stack.BlockedError
		if k, err := c.WriteBatch(ms[sent:]); k != 0 || !errors.As(err, &blocked) || time.Since(due) > 10*time.Millisecond {
			t.Errorf("at the deadline: got %d, %v, %v late", k, err, time.Since(due))
		}
		c.SetWriteDeadline(time.Time{})
		wire.Set(fault.Config{})
		if k, err := c.WriteBatch(ms[sent:]); k == 0 || err != nil {
			t.Errorf("healed: got %d, %v", k, err)
		}
	})
}
