// SPDX-License-Identifier: Apache-2.0

//go:build !race

package stack_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// allocatesNothing checks that of a function, once it has what it keeps.
func allocatesNothing(t *testing.T, what string, f func()) {
	t.Helper()
	for range 1000 {
		f()
	}
	if got := testing.AllocsPerRun(2000, f); got != 0 {
		t.Errorf("%s: %v allocations, want 0", what, got)
	}
}

// roundTrip returns a function that sends a message to the echo, and reads the answer.
func roundTrip(t *testing.T, c *stack.PacketConn) func() {
	var to net.Addr = echoService
	buf := make([]byte, 64)
	return func() {
		if _, err := c.WriteTo(buf, to); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.ReadFrom(buf); err != nil {
			t.Fatal(err)
		}
	}
}

// A message costs no allocation: neither the sender nor the reader, nor their
// nodes.
//
// Proves: poll.allocations
func TestRoundTripAllocatesNothing(t *testing.T) {
	a, b := pair(t, stack.Config{})
	trip := roundTrip(t, echoed(t, a, b))
	allocatesNothing(t, "a round trip", trip)
}

// Nor do its deadlines, of an embedded node's socket and of an attached one's. Mutation it catches: a
// deadline is handed to the backend by its address.
//
// Proves: poll.allocations
func TestDeadlinesAllocateNothing(t *testing.T) {
	a, _ := pair(t, stack.Config{})
	attached, _ := attachTo(t, a, stack.AttachConfig{})
	for _, n := range []*stack.Node{a, attached} {
		c := listen(t, n, nil)
		later := time.Now().Add(time.Hour)
		allocatesNothing(t, "the deadlines of a socket", func() {
			c.SetDeadline(later)
			c.SetReadDeadline(later)
			c.SetWriteDeadline(later)
		})
	}
}

// Nor does it while its frames are captured, whether or not anybody reads them, and
// afterwards nothing is left of that.
//
// Proves: tools.capture
func TestCaptureAllocatesNothing(t *testing.T) {
	a, b := pair(t, stack.Config{})
	trip := roundTrip(t, echoed(t, a, b))
	capture, err := a.Admin().Capture(within(t), admin.CaptureConfig{})
	if err != nil {
		t.Fatal(err)
	}
	allocatesNothing(t, "a round trip with a capture", trip)
	if capture.Lost() == 0 {
		t.Error("the capture lost nothing: it saw too little")
	}
	capture.Close()
	allocatesNothing(t, "a round trip after a capture", trip)
}

// Nor does what goes over a connection.
//
// Proves: poll.allocations
func TestConnectionAllocatesNothing(t *testing.T) {
	for _, network := range []string{"tipc", "tipcpacket"} {
		t.Run(network, func(t *testing.T) {
			a, b := pair(t, stack.Config{})
			server, client := link(t, a, b, network)
			go func() {
				buf := make([]byte, 64)
				for {
					n, err := server.Read(buf)
					if err != nil {
						return
					}
					server.Write(buf[:n])
				}
			}()
			defer client.Close()
			client.SetDeadline(time.Now().Add(testTimeout))
			buf := make([]byte, 64)
			trip := func() {
				if _, err := client.Write(buf); err != nil {
					t.Fatal(err)
				}
				if _, err := client.Read(buf); err != nil {
					t.Fatal(err)
				}
			}
			allocatesNothing(t, "a round trip", trip)
		})
	}
}

// Nor does a copy to a connection or from one, whatever the length of its messages. Mutations it
// catches: ReadFrom or WriteTo makes its block; WriteTo makes a Buffer for each message.
//
// Proves: poll.allocations
func TestCopyAllocatesNothing(t *testing.T) {
	for _, network := range []string{"tipc", "tipcpacket"} {
		t.Run(network, func(t *testing.T) {
			a, b := pair(t, stack.Config{})
			server, client := link(t, a, b, network)
			defer client.Close()
			client.SetDeadline(time.Now().Add(testTimeout))
			server.SetDeadline(time.Now().Add(testTimeout))
			var v net.Buffers
			parts := [][]byte{make([]byte, 300), make([]byte, 500)}
			for _, n := range []int{64, 3000, 30000} {
				source, target := &chunk{n: n}, &chunk{}
				allocatesNothing(t, fmt.Sprint("a copy of ", n, " bytes"), func() {
					source.left, target.left = n, n
					if _, err := client.ReadFrom(source); err != nil {
						t.Fatal(err)
					}
					if _, err := server.WriteTo(target); err != errWhole {
						t.Fatal(err)
					}
				})
			}
			target := &chunk{}
			allocatesNothing(t, "a write of several buffers", func() {
				v, target.left = append(kept[:0], parts...), 800
				if _, err := client.WriteBuffers(&v); err != nil {
					t.Fatal(err)
				}
				if _, err := server.WriteTo(target); err != errWhole {
					t.Fatal(err)
				}
			})
		})
	}
}

var (
	kept     [2][]byte
	errWhole = errors.New("all is there")
)

// A chunk gives n bytes once, and takes left of them.
type chunk struct{ n, left int }

func (c *chunk) Read(b []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	k := min(c.left, len(b))
	c.left -= k
	return k, nil
}

func (c *chunk) Write(b []byte) (int, error) {
	if c.left -= len(b); c.left <= 0 {
		return len(b), errWhole
	}
	return len(b), nil
}

// Nor does a call that an active port answers.
//
// Proves: poll.allocations
func TestCallAllocatesNothing(t *testing.T) {
	a, b := pair(t, stack.Config{})
	handle(t, b, stack.HandlerConfig{TimeLimit: time.Minute}, activeService, mirror)
	if err := a.WaitFor(within(t), activeService); err != nil {
		t.Fatal(err)
	}
	ctx := within(t)
	var to net.Addr = activeService
	buf := make([]byte, 64)
	call := func() {
		if _, _, err := a.Call(ctx, to, buf, buf); err != nil {
			t.Fatal(err)
		}
	}
	allocatesNothing(t, "a call", call)
}

// Nor does a read into an array on the caller's stack. Mutation: ReadFrom, Read or TryReadMsg
// that hands its buffer to the backend without filled.
func TestReadsIntoTheStackAllocateNothing(t *testing.T) {
	a, b := pair(t, stack.Config{})
	c := echoed(t, a, b)
	server, client := link(t, a, b, "tipc")
	defer client.Close()
	client.SetDeadline(time.Now().Add(testTimeout))
	server.SetDeadline(time.Now().Add(testTimeout))
	var to net.Addr = echoService
	out := make([]byte, 64)
	for name, f := range map[string]func(){
		"PacketConn": func() {
			if _, err := c.WriteTo(out, to); err != nil {
				t.Fatal(err)
			}
			var in [64]byte
			if _, _, err := c.TryReadMsg(in[:]); err == nil {
				return
			}
			if _, _, err := c.ReadFrom(in[:]); err != nil {
				t.Fatal(err)
			}
		},
		"Conn": func() {
			if _, err := client.Write(out); err != nil {
				t.Fatal(err)
			}
			var in [64]byte
			if _, err := server.Read(in[:]); err != nil {
				t.Fatal(err)
			}
			client.TryReadMsg(in[:])
		},
	} {
		allocatesNothing(t, name, f)
	}
}

// Nor do batches and Buffers.
func TestBuffersAndBatchesAllocateNothing(t *testing.T) {
	a, b := pair(t, stack.Config{})
	to := listen(t, b, echoService)
	c := listen(t, a, nil)
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	to.SetDeadline(time.Now().Add(testTimeout))
	out, in := make([]stack.Message, 8), make([]stack.Message, 9) // one that is never there
	for i := range out {
		out[i].Data, out[i].To = make([]byte, 64), echoService
	}
	for i := range in {
		in[i].Data = make([]byte, 64)
	}
	var addr net.Addr = echoService
	for name, f := range map[string]func(){
		"batches": func() {
			if _, err := c.WriteBatch(out); err != nil {
				t.Fatal(err)
			}
			for k := 0; k < len(out); {
				n, err := to.ReadBatch(in)
				if err != nil {
					t.Fatal(err)
				}
				k += n
			}
		},
		"buffers": func() {
			buf, err := c.NewBuffer(1000)
			if err == nil {
				err = c.WriteBuffer(buf, addr)
				buf.Release()
			}
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := to.ReadBuffer()
			if err != nil {
				t.Fatal(err)
			}
			got.Release()
		},
	} {
		allocatesNothing(t, name, f)
	}
}

// Nor does encryption.
//
// Proves: seal.cost
func TestSealedAllocatesNothing(t *testing.T) {
	sealedWith = stack.Encryption{Keys: []stack.Key{clusterKey(t)}}
	defer func() { sealedWith = stack.Encryption{} }()
	t.Run("round trip", TestRoundTripAllocatesNothing)
	t.Run("connection", TestConnectionAllocatesNothing)
	t.Run("call", TestCallAllocatesNothing)
	t.Run("Buffers and batches", TestBuffersAndBatchesAllocateNothing)
}

// WriteToAny allocates nothing, nor does a socket that acknowledges what it reads.
//
// Mutations it catches: WriteAny makes what it sends from anew; Ack does not leave its memory.
//
// Proves: poll.allocations
func TestWriteToAnyAllocatesNothing(t *testing.T) {
	if attachedTests { // the daemon's answer does
		return
	}
	a, b := pair(t, stack.Config{})
	worker := mustListen(t, b, stack.SocketConfig{ManualAck: true}, anyService)
	if err := a.WaitFor(t.Context(), anyService); err != nil {
		t.Fatal(err)
	}
	c := mustListen(t, a, stack.SocketConfig{Returnable: true, PreferIdle: true}, nil)
	buf := make([]byte, 64)
	allocatesNothing(t, "a job", func() {
		if _, err := c.WriteToAny(buf, anyService); err != nil {
			t.Fatal(err)
		}
		_, m, err := worker.ReadMsg(buf)
		if err != nil || m.Receipt == 0 {
			t.Fatal(m, err)
		}
		if err := worker.Ack(m.Receipt); err != nil {
			t.Fatal(err)
		}
	})
}
