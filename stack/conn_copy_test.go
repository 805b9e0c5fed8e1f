// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
)

// WriteBuffers of a stream writes all, nothing in between, and takes off what it has written; of
// messages it is one. Mutations it catches: remote writeParts does not take the turn;
// WriteBuffers of a tipcpacket sends a message for each buffer; what was
// written stays in v.
//
// Proves: socket.conn
func TestWriteBuffers(t *testing.T) {
	halves(t, func(t *testing.T, network string, client, server *stack.Conn) {
		stream := network == "tipc"
		const writers, rounds = 3, 10
		shape := []int{0, 1, 100, 9000, 0, 3, 8192, 20000, 5, 0}
		if stream {
			shape = append(shape, 70000, 10, 200000, 1)
		}
		total := 0
		for _, n := range shape {
			total += n
		}
		var done sync.WaitGroup
		defer done.Wait()
		for w := range writers {
			done.Go(func() {
				for range rounds {
					var v net.Buffers
					for _, n := range shape {
						v = append(v, bytes.Repeat([]byte{byte(w)}, n))
					}
					if n, err := client.WriteBuffers(&v); n != int64(total) || err != nil || len(v) > 0 {
						t.Errorf("wrote %d of %d bytes, %d buffers left: %v", n, total, len(v), err)
					}
				}
			})
		}
		buf := make([]byte, total+1)
		for range writers * rounds {
			k, err := 0, error(nil)
			if stream {
				k, err = io.ReadFull(server, buf[:total])
			} else {
				k, err = server.Read(buf)
			}
			if err != nil || k != total || bytes.Count(buf[:k], buf[:1]) != k {
				t.Fatalf("read %d of %d bytes, %d of them of the first writer: %v", k, total, bytes.Count(buf[:k], buf[:1]), err)
			}
		}
		if !stream {
			v := net.Buffers{make([]byte, 60000), make([]byte, 6001)}
			if n, err := client.WriteBuffers(&v); n != 0 || !errors.Is(err, stack.ErrTooLong) || len(v) != 2 {
				t.Errorf("too long: %d, %v, %d buffers left", n, err, len(v))
			}
		}
		for i, v := range []net.Buffers{nil, {}, {nil}, {{}, {}}} {
			if n, err := client.WriteBuffers(&v); n != 0 || err != nil || len(v) > 0 {
				t.Errorf("nothing, %d: %d, %v, %d buffers left", i, n, err, len(v))
			}
		}
	})
}

// What WriteBuffers of a stream has not written when its time is over stays in v; a message is written whole, or
// not at all, see TestWriteBuffers. Mutation it catches: v is
// emptied whatever was written.
func TestWriteBuffersPart(t *testing.T) {
	halvesOf(t, []string{"tipc"}, func(t *testing.T, _ string, client, server *stack.Conn) {
		v := net.Buffers{pattern(100), pattern(3000000), pattern(3000000)}
		all := bytes.Join(v, nil)
		go func() { // its time is over once something was written: nobody reads, so not all of it
			for {
				s, err := client.Stats(within(t))
				if err != nil || s.BytesOut > 0 {
					client.SetWriteDeadline(time.Now())
					return
				}
				<-time.After(time.Millisecond)
			}
		}()
		n, err := client.WriteBuffers(&v)
		if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 {
			t.Fatalf("wrote %d: %v", n, err)
		}
		rest := bytes.Join(v, nil)
		if int(n)+len(rest) != len(all) || !bytes.Equal(rest, all[n:]) {
			t.Errorf("wrote %d of %d bytes, %d left", n, len(all), len(rest))
		}
		got := make(chan []byte, 1)
		go func() { got <- everything(t, server) }()
		client.SetWriteDeadline(time.Now().Add(testTimeout))
		if _, err := client.WriteBuffers(&v); err != nil {
			t.Fatal(err)
		}
		client.CloseWrite()
		if b := <-got; !bytes.Equal(b, all) {
			t.Errorf("read %d of %d bytes", len(b), len(all))
		}
	})
}

// io.Copy from and to a connection gives what was written, of all lengths of messages; errors of the
// other side end it, with what was copied until then. Mutations it catches: WriteTo writes no Pieces;
// ReadFrom leaves out what came with io.EOF.
func TestCopy(t *testing.T) {
	halves(t, func(t *testing.T, _ string, client, server *stack.Conn) {
		var want []byte
		sizes := []int{1, 100, 2048, 2049, 1400, 9000, 32768, 3, 40000, 66000}
		go func() {
			for range 5 {
				for _, n := range sizes {
					client.Write(pattern(n))
				}
			}
			client.CloseWrite()
		}()
		for range 5 {
			for _, n := range sizes {
				want = append(want, pattern(n)...)
			}
		}
		var got bytes.Buffer
		if n, err := io.Copy(&got, server); err != nil || int(n) != len(want) || !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("copied %d of %d bytes: %v", n, len(want), err)
		}
		go func() {
			io.Copy(server, struct{ io.Reader }{io.MultiReader(bytes.NewReader(want), lastByte{})})
			server.CloseWrite()
		}()
		if all := everything(t, client); !bytes.Equal(all, append(want, 'x')) {
			t.Errorf("copied %d of %d bytes back", len(all), len(want)+1)
		}
	})
}

// A lastByte gives a byte with io.EOF.
type lastByte struct{}

func (lastByte) Read(b []byte) (int, error) { b[0] = 'x'; return 1, io.EOF }

// Errors of the other side of a copy end it. Mutations it catches: ReadFrom takes an error of the
// reader for io.EOF; writeWhole takes a short write for a whole one.
func TestCopyErrors(t *testing.T) {
	halves(t, func(t *testing.T, _ string, client, server *stack.Conn) {
		broken := errors.New("broken")
		n, err := client.ReadFrom(io.MultiReader(bytes.NewReader(make([]byte, 5000)), failing{broken}))
		if n != 5000 || err != broken {
			t.Errorf("the reader fails: %d, %v", n, err)
		}
		if n, err := server.WriteTo(failing{nil}); n != 1 || err != io.ErrShortWrite {
			t.Errorf("the writer takes a part: %d, %v", n, err)
		}
		client.Write(pattern(100))
		if _, err := server.WriteTo(failing{broken}); err != broken {
			t.Errorf("the writer fails: %v", err)
		}
		server.Close()
		if _, err := server.WriteTo(io.Discard); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if _, err := server.ReadFrom(bytes.NewReader([]byte("x"))); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}

// A failing reads nothing, and writes a byte.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 1, f.err }
