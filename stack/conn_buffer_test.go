// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
)

// What goes over a connection in Buffers arrives as it was written, in order, whether it
// is read in Buffers or not, and the window counts it.
//
// Proves: socket.buffers
func TestConnBuffers(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tipc", "tipcpacket"} {
		for _, mtu := range []int{1500, 9000, 65000} {
			a, b := wide(t, mtu)
			server, client := link(t, a, b, network)
			for _, c := range []*stack.Conn{server, client} {
				c.SetDeadline(time.Now().Add(testTimeout))
			}
			sizes := []int{1, 100, 1400, 1500, 5000, 64000, 66000, 3, 30000}
			var want, got []byte
			for range 10 {
				for _, n := range sizes {
					want = append(want, pattern(n)...)
				}
			}
			done := make(chan error, 1)
			go func() {
				done <- func() error {
					for range 10 {
						for i, n := range sizes {
							if i%3 == 2 {
								if _, err := client.Write(pattern(n)); err != nil {
									return err
								}
								continue
							}
							buf, err := client.NewBuffer(n)
							if err != nil {
								return err
							}
							buf.Write(pattern(n))
							if err := client.WriteBuffer(buf); err != nil {
								return err
							}
						}
					}
					return client.Close()
				}()
			}()
			part := make([]byte, 700)
			for i := 0; ; i++ {
				if i%4 == 0 && network == "tipc" { // a part of a message, which ReadBuffer gives the rest of
					k, err := server.Read(part)
					if got = append(got, part[:k]...); err != nil {
						break
					}
					continue
				}
				buf, err := server.ReadBuffer()
				if err != nil {
					if err != io.EOF {
						t.Error(err)
					}
					break
				}
				got = append(got, buf.Bytes()...)
				buf.Release()
			}
			if err := <-done; err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, MTU %d: got %d bytes of %d, %v", network, mtu, len(got), len(want), err)
			}
			server.Close()
			if _, err := server.ReadBuffer(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("closed: got %v", err)
			}
			if _, err := client.NewBuffer(10); !errors.Is(err, net.ErrClosed) {
				t.Errorf("closed: got %v", err)
			}
		}
	}
}

// WriteBuffer waits for the window, no longer than the deadline; then the Buffer is still
// there, and goes when there is room.
func TestConnBufferWaits(t *testing.T) {
	t.Parallel()
	a, b := wide(t, 9000)
	server, client := link(t, a, b, "tipcpacket")
	var buf *stack.Buffer
	sent, _ := untilBlocked(t, client, func() (err error) {
		if buf == nil {
			if buf, err = client.NewBuffer(20000); err != nil {
				return err
			}
			buf.Write(pattern(20000))
		}
		if err = client.WriteBuffer(buf); err == nil {
			buf = nil
		}
		return err
	})
	client.SetDeadline(time.Now().Add(testTimeout))
	server.SetDeadline(time.Now().Add(testTimeout))
	done := make(chan error, 1)
	go func() { done <- client.WriteBuffer(buf) }()
	for range sent + 1 {
		got, err := server.ReadBuffer()
		if err != nil || !bytes.Equal(got.Bytes(), pattern(20000)) {
			t.Fatal(err)
		}
		got.Release()
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	client.Close()
	server.Close()
}
