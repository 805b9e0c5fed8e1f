// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// dialByName makes a connection of packets to a service, and returns both its ends.
func dialByName(t *testing.T, server, client *stack.Node) (*stack.Conn, *stack.Conn) {
	t.Helper()
	l, err := server.Listen(within(t), "tipcpacket", echoService)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := client.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	return join(t, l, client, "tipcpacket", echoService)
}

// What an attached connection has written before Abort, or Close, comes to a peer that
// reads only then, also what still lay between program and daemon; a write that waits
// ends at once. Mutation: shutdown of the daemon does not heed ShutdownAbort.
//
// Proves: socket.scripts
func TestAttachedEndsAfterItsData(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		name string
		do   func(*stack.Conn) error
		then error
	}{{"abort", (*stack.Conn).Abort, syscall.ECONNRESET}, {"close", (*stack.Conn).Close, nil}} {
		for _, mode := range []string{"plain", "ring"} {
			t.Run(end.name+", "+mode, func(t *testing.T) {
				a, b := pair(t, stack.Config{})
				n, _ := attachTo(t, a, attachedModes[mode])
				p, c := dialByName(t, b, n)
				defer p.Close()
				p.SetReadDeadline(time.Now().Add(testTimeout))
				data, sent := make([]byte, 10000), 0
				var wrote atomic.Int64 // when, the last time
				waits := make(chan error, 1)
				go func() {
					for {
						wrote.Store(time.Now().UnixNano())
						if _, err := c.Write(data); err != nil {
							waits <- err
							return
						}
						sent++
					}
				}()
				for len(must.Get(a.Waits(context.Background()))) == 0 || time.Since(time.Unix(0, wrote.Load())) < 200*time.Millisecond {
					select {
					case err := <-waits:
						t.Fatal(err)
					case <-time.After(5 * time.Millisecond):
					}
				}
				if err := end.do(c); err != nil {
					t.Fatal(err)
				}
				if err := <-waits; !errors.Is(err, net.ErrClosed) {
					t.Errorf("the write that waited: %v", err)
				}
				got := 0
				for {
					k, _, err := p.ReadMsg(data)
					if err != nil {
						if end.then != nil && !errors.Is(err, end.then) {
							t.Error(err)
						}
						break
					}
					if k == len(data) {
						got++
					}
				}
				if got != sent {
					t.Errorf("%d messages of %d came", got, sent)
				}
				waitFor(t, func() bool { // until b has acknowledged them: what it had not, would be lost with it
					s := must.Get(a.Admin().Stats(context.Background()))
					return s.ChunksFree == s.ChunksTotal
				})
			})
		}
	}
}

// waitsForPeer reports whether a write on n waits for its peer to read: not for the link, which
// has room again without that.
func waitsForPeer(n *stack.Node) bool {
	return slices.ContainsFunc(must.Get(n.Waits(context.Background())), func(w stack.Wait) bool { return w.Peer.Port != 0 })
}

// A write that waits, for room or for its answer, while the peer closes in order is told
// so as one of a node of one's own.
//
// Proves: socket.scripts
func TestAttachedWriteAndPeerCloses(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"plain", "answered", "ring"} {
		t.Run(mode, func(t *testing.T) {
			a, b := pair(t, stack.Config{})
			h := serveOn(t, a, filepath.Join(t.TempDir(), "utipc.sock"), daemon.Config{})
			t.Cleanup(func() { h.stop(t) })
			n, err := attachedModes[mode].Attach(within(t), h.path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := n.Close(within(t)); err != nil {
					t.Errorf("close the node: %v", err)
				}
			}()
			p, c := dialByName(t, b, n)
			defer func() { // what the peer has closed upon is lost, and that is said
				var unsent *stack.UnsentError
				if err := c.Close(); mode != "answered" && (!errors.As(err, &unsent) || unsent.Bytes == 0) || mode == "answered" && err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			c.SetWriteDeadline(time.Now().Add(testTimeout))
			waits := make(chan error, 1)
			go func() {
				var err error
				for err == nil {
					_, err = c.Write(make([]byte, 10000))
				}
				waits <- err
			}()
			waitFor(t, func() bool { return waitsForPeer(a) })
			p.Close()
			if err := <-waits; !errors.Is(err, syscall.EPIPE) {
				t.Errorf("got %v, want EPIPE", err)
			}
		})
	}
}
