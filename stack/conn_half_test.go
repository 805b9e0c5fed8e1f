// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
)

// halves runs a test on connections of both networks, between two nodes and within one.
func halves(t *testing.T, test func(t *testing.T, network string, client, server *stack.Conn)) {
	halvesOf(t, []string{"tipc", "tipcpacket"}, test)
}

// halvesOf is halves of some networks.
func halvesOf(t *testing.T, networks []string, test func(t *testing.T, network string, client, server *stack.Conn)) {
	t.Parallel()
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			twoAndOne(t, func(t *testing.T, a, b *stack.Node) {
				server, client := link(t, a, b, network)
				for _, c := range []*stack.Conn{server, client} {
					c.SetDeadline(time.Now().Add(testTimeout))
					defer c.Close()
				}
				test(t, network, client, server)
			})
		})
	}
}

// everything is what a connection gives until io.EOF, message by message.
func everything(t *testing.T, c *stack.Conn) (all []byte) {
	buf := make([]byte, 66000)
	for {
		k, err := c.Read(buf)
		if all = append(all, buf[:k]...); err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			return all
		}
	}
}

// After CloseWrite the peer reads all, then io.EOF again and again, and its answer arrives; own
// writes fail; Close is orderly. Mutations it catches: readEnd does not look at ReadEnded; the
// daemon sends OpEnd for OpReadEnd; next does not look at readEnd; enterData does not look at ended.
//
// Proves: socket.halfclose
func TestConnCloseWrite(t *testing.T) {
	halves(t, func(t *testing.T, _ string, client, server *stack.Conn) {
		const most = 300
		got := make(chan []byte, 1)
		go func() {
			got <- everything(t, server)
		}()
		var want []byte
		for i := range most {
			part := pattern(1 + i*13)
			if _, err := client.Write(part); err != nil {
				t.Fatal(err)
			}
			want = append(want, part...)
		}
		for range 2 {
			if err := client.CloseWrite(); err != nil {
				t.Fatal(err)
			}
		}
		if all := <-got; !bytes.Equal(all, want) {
			t.Fatalf("read %d of %d bytes", len(all), len(want))
		}
		if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) || errors.As(err, new(*stack.UnsentError)) {
			t.Errorf("write: %v", err)
		}
		if _, err := client.TryWrite([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("try to write: %v", err)
		}
		for range 3 {
			if k, err := server.Read(make([]byte, 1)); k != 0 || err != io.EOF {
				t.Errorf("read again: %d, %v", k, err)
			}
			if _, _, err := server.TryReadMsg(make([]byte, 1)); err != io.EOF {
				t.Errorf("try to read again: %v", err)
			}
			if _, err := server.ReadBuffer(); err != io.EOF {
				t.Errorf("read a Buffer again: %v", err)
			}
		}
		for range 3 {
			if _, err := server.Write([]byte("answer")); err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 6)
			if _, err := io.ReadFull(client, buf); err != nil || string(buf) != "answer" {
				t.Errorf("the answer: %q, %v", buf, err)
			}
		}
		if err := server.CloseWrite(); err != nil {
			t.Error(err)
		}
		if _, err := client.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("both have ended: %v", err)
		}
		if err := client.CloseWait(within(t)); err != nil {
			t.Error(err)
		}
		if err := client.CloseWrite(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A read that waits already sees the end, and one whose peer then closes, or aborts, does too:
// what the peer had written was all read.
func TestConnCloseWriteThenEnds(t *testing.T) {
	halves(t, func(t *testing.T, _ string, client, server *stack.Conn) {
		end := make(chan error, 1)
		go func() {
			_, err := server.Read(make([]byte, 1))
			end <- err
		}()
		if err := client.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if err := <-end; err != io.EOF {
			t.Errorf("the read that waits: %v", err)
		}
		if err := client.Abort(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool {
			_, err := server.Write([]byte("x"))
			return errors.Is(err, syscall.ECONNRESET)
		})
		if _, err := server.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("after the reset: %v", err)
		}
		if err := server.CloseWrite(); !errors.Is(err, syscall.ECONNRESET) && !(attachedTests && err == nil) { // the answer came before the end
			t.Errorf("CloseWrite of what has ended: %v", err)
		}
	})
}

// A proxy of two io.Copy, each of which ends the writing of its destination, passes both ends on, as
// ssh's forwarding and TCP proxies do. Mutation it catches: CloseWrite closes the connection.
func TestProxyHalfCloses(t *testing.T) {
	halves(t, func(t *testing.T, _ string, client, proxied *stack.Conn) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() { // the server: what it answers depends on all that it was sent
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			all, _ := io.ReadAll(c)
			c.Write(append([]byte("got: "), all...))
		}()
		go func() { // the proxy
			out, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer out.Close()
			done := make(chan struct{})
			go func() {
				defer close(done)
				io.Copy(out, proxied)
				out.(*net.TCPConn).CloseWrite()
			}()
			io.Copy(proxied, out)
			proxied.CloseWrite()
			<-done
			proxied.Close()
		}()
		msg := pattern(200000)
		for b := msg; len(b) > 0; b = b[20000:] {
			if _, err := client.Write(b[:20000]); err != nil {
				t.Fatal(err)
			}
		}
		if err := client.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if all := everything(t, client); !bytes.Equal(all, append([]byte("got: "), msg...)) {
			t.Errorf("%d bytes", len(all))
		}
	})
}

// A Write that waits while CloseWrite is called fails, or goes before the end: never are bytes
// counted as written that the peer does not read.
func TestCloseWriteWhileOneWrites(t *testing.T) {
	halves(t, func(t *testing.T, _ string, client, server *stack.Conn) {
		total := make(chan int, 1)
		go func() {
			sum := 0
			for {
				k, err := client.Write(make([]byte, 5000))
				if sum += k; err != nil {
					if !errors.Is(err, syscall.EPIPE) {
						t.Error(err)
					}
					total <- sum
					return
				}
			}
		}()
		if _, err := server.Read(make([]byte, 5000)); err != nil {
			t.Fatal(err)
		}
		rest := make(chan int, 1)
		if !attachedTests { // there it waits for the Write, which waits until the peer reads
			if err := client.CloseWrite(); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			k, err := readAll(server)
			if err != io.EOF {
				t.Error(err)
			}
			rest <- k
		}()
		if err := client.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if wrote, got := <-total, <-rest+5000; wrote != got {
			t.Errorf("wrote %d bytes, read %d", wrote, got)
		}
	})
}

// CloseWrite of an attached node that finds no room until the write deadline has done nothing.
// Mutation it catches: closeWrite does not call resumeData.
func TestCloseWriteDeadline(t *testing.T) {
	halves(t, func(t *testing.T, _ string, client, server *stack.Conn) {
		client.SetWriteDeadline(time.Unix(1, 0))
		err := client.CloseWrite()
		if attachedTests {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			client.SetWriteDeadline(time.Time{})
			if _, err := client.Write([]byte("x")); err != nil {
				t.Error(err)
			}
			err = client.CloseWrite()
		}
		if err != nil {
			t.Error(err)
		}
		everything(t, server)
	})
}
