// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// wide opens two nodes on a network of an MTU.
func wide(t testing.TB, mtu int) (a, b *stack.Node) {
	h := hub.New(hub.Config{MTU: mtu})
	return openOn(t, h, 1, stack.Config{}), openOn(t, h, 2, stack.Config{})
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	return b
}

// writeBuffer sends b in a Buffer.
func writeBuffer(t testing.TB, c *stack.PacketConn, b []byte, to net.Addr) {
	t.Helper()
	buf, err := c.NewBuffer(len(b))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := buf.Write(b); n != len(b) || err != nil || buf.Len() != len(b) {
		t.Fatalf("wrote %d of %d, %v", n, len(b), err)
	}
	if n, err := buf.Write([]byte("x")); n != 0 || err != io.ErrShortWrite {
		t.Fatalf("beyond the end: wrote %d, %v", n, err)
	}
	if err := c.WriteBuffer(buf, to); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteBuffer(buf, to); buf.Len() != 0 || !errors.Is(err, stack.ErrVoid) {
		t.Errorf("a Buffer that was sent is not void: %v", err)
	}
	buf.Release()
}

// Messages of all lengths arrive as they were written, whether in a Buffer or not, to
// names, sockets and ranges, over the network and within the node, in frames of all sizes.
//
// Proves: socket.buffers
func TestBuffers(t *testing.T) {
	t.Parallel()
	for _, mtu := range []int{100, 600, 1500, 9000, 65000} {
		if len(sealedWith.Keys) > 0 {
			mtu += 36 // the least that a bearer has then
		}
		a, b := wide(t, mtu)
		to := listen(t, b, echoService)
		here := listen(t, a, stack.Service{Type: 18888, Instance: 18})
		c := listen(t, a, nil)
		if err := a.WaitFor(within(t), echoService); err != nil {
			t.Fatal(err)
		}
		into := make([]byte, frame.MaxPayload)
		for _, n := range []int{1, 2, mtu - 200, mtu - 124, mtu - 123, mtu - 84, mtu - 80, mtu - 79, mtu - 40, mtu, 2*mtu - 240, 2 * mtu, 5000, 65536, frame.MaxPayload} {
			if n <= 0 || n > frame.MaxPayload || mtu < 600 && n > 5000 {
				continue
			}
			want := pattern(n)
			for _, x := range []struct {
				at *stack.PacketConn
				to net.Addr
			}{{to, echoService}, {to, to.LocalAddr()}, {to, echoService.Range()}, {here, here.LocalAddr()}} {
				x.at.SetDeadline(time.Now().Add(testTimeout))
				writeBuffer(t, c, want, x.to)
				k, _, err := x.at.ReadFrom(into)
				if err != nil || !bytes.Equal(into[:k], want) {
					t.Fatalf("MTU %d, %d bytes to %v: got %d, %v", mtu, n, x.to, k, err)
				}
				writeBuffer(t, c, want, x.to)
				got, m, err := x.at.ReadBuffer()
				if err != nil || !bytes.Equal(got.Bytes(), want) || got.Len() != n || m.From.String() != c.LocalAddr().String() || m.Truncated {
					t.Fatalf("MTU %d, %d bytes to %v, in a Buffer: got %d, %+v, %v", mtu, n, x.to, got.Len(), m, err)
				}
				if err := x.at.WriteBuffer(got, c.LocalAddr()); err != nil { // and back
					t.Fatal(err)
				}
				if k, _, err := c.ReadFrom(into); err != nil || !bytes.Equal(into[:k], want) {
					t.Fatalf("MTU %d, %d bytes back: got %d, %v", mtu, n, k, err)
				}
			}
		}
	}
}

// A Buffer that was read lives on after its socket and its node are closed; so do their
// chunks, which go when it does.
//
// Proves: socket.buffers
func TestBufferOutlivesItsNode(t *testing.T) {
	h := hub.New(hub.Config{})
	a := openOn(t, h, 1, stack.Config{})
	p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	b, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{p}, Address: 0x1001009, Tolerance: steady})
	if err != nil {
		t.Fatal(err)
	}
	to := listen(t, b, echoService)
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	c := listen(t, a, nil)
	var held []*stack.Buffer
	for _, n := range []int{100, 1400, 5000, 60000} {
		if _, err := c.WriteTo(pattern(n), echoService); err != nil {
			t.Fatal(err)
		}
		to.SetDeadline(time.Now().Add(testTimeout))
		buf, _, err := to.ReadBuffer()
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, buf)
	}
	made, err := to.NewBuffer(5000)
	if err != nil {
		t.Fatal(err)
	}
	b.Close(within(t))
	for i, n := range []int{100, 1400, 5000, 60000} {
		if !bytes.Equal(held[i].Bytes(), pattern(n)) {
			t.Errorf("%d bytes changed after Close", n)
		}
		held[i].Release()
	}
	if err := to.WriteBuffer(made, c.LocalAddr()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: got %v", err)
	}
	if s := must.Get(b.Admin().Stats(context.Background())); s.ChunksFree == s.ChunksTotal {
		t.Error("a Buffer that is out holds no chunk")
	}
	made.Release()
	made.Release() // harmless
	if s := must.Get(b.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
		t.Errorf("%d of %d chunks came back", s.ChunksFree, s.ChunksTotal)
	}
	if _, err := to.NewBuffer(10); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a Buffer of a closed socket: got %v", err)
	}
}

// A socket has so many Buffers out and no more: then none is made, and what is read is
// copied.
//
// Proves: socket.buffers
func TestBuffersAreLimited(t *testing.T) {
	t.Parallel()
	a, b := wide(t, 9000)
	to := listen(t, b, echoService)
	c := listen(t, a, nil)
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	var made []*stack.Buffer
	for {
		buf, err := c.NewBuffer(10)
		if err != nil {
			if !errors.Is(err, stack.ErrNoRoom) {
				t.Fatal(err)
			}
			break
		}
		made = append(made, buf)
	}
	var read []*stack.Buffer
	to.SetDeadline(time.Now().Add(testTimeout))
	for i := range 2 * len(made) {
		if _, err := c.WriteTo(pattern(5000+i), echoService); err != nil {
			t.Fatal(err)
		}
		buf, _, err := to.ReadBuffer()
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, buf)
	}
	s := must.Get(b.Admin().Stats(context.Background()))
	if len(made) != 64 || s.ChunksTotal-s.ChunksFree > 64 {
		t.Errorf("%d Buffers were made, want 64; those that were read hold %d chunks, want 64 at most", len(made), s.ChunksTotal-s.ChunksFree)
	}
	for i, buf := range read {
		if !bytes.Equal(buf.Bytes(), pattern(5000+i)) {
			t.Errorf("message %d is not what was sent", i)
		}
		buf.Release()
	}
	for _, buf := range made {
		buf.Release()
	}
	writeBuffer(t, c, pattern(10), echoService) // there is room again
}

// NewBuffer waits for memory, and WriteBuffer for the link, no longer than the deadline;
// what was not sent is the caller's still, and can be sent later.
func TestBufferDeadline(t *testing.T) {
	inBubble(t, bufferDeadline)
}

func bufferDeadline(t *testing.T, a, _ *stack.Node, _ *fault.Injector) {
	const promise = 10 * time.Millisecond
	c := listen(t, a, nil)
	defer c.Close()
	var out []*stack.Buffer
	var took []time.Duration
	for len(took) < 3 {
		due := time.Now().Add(5 * time.Millisecond)
		c.SetWriteDeadline(due)
		buf, err := c.NewBuffer(66000 / 2)
		if err != nil {
			took = append(took, time.Since(due))
			var blocked *stack.BlockedError
			if !errors.As(err, &blocked) || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			continue
		}
		out = append(out, buf)
	}
	inTime(t, "NewBuffer ended after its deadline", took, promise)
	if len(out) == 0 || len(out) == 64 {
		t.Errorf("%d Buffers were made", len(out))
	}
	c.SetWriteDeadline(time.Time{})
	done := make(chan error)
	go func() {
		buf, err := c.NewBuffer(66000 / 2)
		if err == nil {
			buf.Release()
		}
		done <- err
	}()
	out[0].Release()
	listen(t, a, nil).Close() // any poll
	if err := <-done; err != nil {
		t.Errorf("with memory again: got %v", err)
	}
	for _, buf := range out[1:] {
		if err := c.WriteBuffer(buf, echoService); !errors.Is(err, stack.ErrUnreachable) || buf.Len() != 33000 {
			t.Errorf("got %v, %d bytes are left", err, buf.Len())
		}
		buf.Release()
	}
	if _, err := c.NewBuffer(frame.MaxPayload + 1); !errors.Is(err, stack.ErrTooLong) {
		t.Errorf("too long: got %v", err)
	}
	if _, err := c.NewBuffer(-1); !errors.Is(err, stack.ErrTooLong) {
		t.Errorf("negative: got %v", err)
	}
}

// What a Buffer's memory held before is not sent: what Write has left is zeros.
func TestBufferSendsNoOldMemory(t *testing.T) {
	t.Parallel()
	a, b := wide(t, 1500)
	to := listen(t, b, echoService)
	from := listen(t, a, nil)
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	const size = 5000 // several pieces
	old := bytes.Repeat([]byte("secret"), size/6+1)[:size]
	for range 5000 { // all of the memory
		buf, err := from.NewBuffer(size)
		if err != nil {
			t.Fatal(err)
		}
		buf.Write(old)
		buf.Release()
	}
	buf, err := from.NewBuffer(size)
	if err != nil {
		t.Fatal(err)
	}
	defer buf.Release()
	buf.Write([]byte("hi"))
	if err := from.WriteBuffer(buf, echoService); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, size)
	want := make([]byte, size)
	copy(want, "hi")
	if n, _, err := to.ReadFrom(got); n != size || err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v: %.20q", n, err, got)
	}
}

// Release after WriteBuffer, as by defer, gives back the Buffer, and nobody else's.
func TestBufferReleasedAfterItWasSent(t *testing.T) {
	t.Parallel()
	a, _ := wide(t, 1500)
	c := listen(t, a, nil)
	send := func() *stack.Buffer {
		buf, err := c.NewBuffer(100)
		if err != nil {
			t.Fatal(err)
		}
		defer buf.Release()
		if err := c.WriteBuffer(buf, c.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		other, err := c.NewBuffer(200)
		if err != nil {
			t.Fatal(err)
		}
		return other
	}
	for range 100 {
		other := send()
		if other.Len() != 200 || len(other.Bytes()) != 200 {
			t.Fatalf("a Buffer of 200 bytes has %d", other.Len())
		}
		if err := c.WriteBuffer(other, c.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		other.Release()
	}
}
