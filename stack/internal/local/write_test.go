// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// jammed is a node whose link to another is full: its device takes nothing until
// free is called. All that is sent from now on waits, at importance Low.
type jammed struct {
	n, other *stack.Node
	server   *stack.PacketConn
	free     func()
}

// jam works in a bubble of synctest.
func jam(t *testing.T, c stack.Config) *jammed {
	h := hub.New(hub.Config{})
	port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	d := &fakeDevice{Device: port}
	c.Bearers, c.Address, c.Wait, c.Chunks = []stack.Bearer{d}, 1, stack.Sleep, 512
	j := &jammed{}
	if j.n, err = stack.Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	j.other, _ = openFake(t, h, 2)
	t.Cleanup(func() {
		j.n.Close(context.Background())
		j.other.Close(context.Background())
	})
	j.server = mustOpen(t, j.other, stack.Service{Type: 18888})
	if err := j.n.WaitFor(t.Context(), stack.Service{Type: 18888}); err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Second / 2) // everything is acknowledged
	inside(j.n).Loop().Lock()
	d.transmit = func([]*netdev.Buffer) (int, error) { return 0, nil }
	inside(j.n).Loop().Unlock()
	j.free = func() {
		inside(j.n).Loop().Lock()
		d.transmit = nil
		inside(j.n).Loop().Unlock()
	}
	filler := mustOpen(t, j.n, nil)
	for err == nil {
		filler.SetWriteDeadline(time.Now().Add(time.Nanosecond))
		_, err = filler.WriteTo(big('#'), stack.Service{Type: 18888})
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return j
}

// big is a message that shares its packet with no other.
func big(c byte) []byte { return []byte(strings.Repeat(string(c), 1000)) }

// write sends in a goroutine, and returns when that waits.
func (j *jammed) write(t *testing.T, c *stack.PacketConn, b []byte) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := c.WriteTo(b, stack.Service{Type: 18888})
		ended <- err
	}()
	synctest.Wait()
	return ended
}

// received returns the first letters of the messages the server gets, without the
// fillers, until it has so many.
func (j *jammed) received(t *testing.T, n int) string {
	var got []byte
	buf := make([]byte, 2048)
	j.server.SetReadDeadline(time.Now().Add(time.Minute))
	for len(got) < n {
		if _, _, err := j.server.ReadFrom(buf); err != nil {
			t.Errorf("after %q: %v", got, err)
			break
		}
		if buf[0] != '#' {
			got = append(got, buf[0])
		}
	}
	return string(got)
}

// Writes that wait are listed with what they wait for, and go in the order in which
// they began to wait, though one of another socket leaves; a newcomer goes behind them.
//
// Proves: link.importance
func TestWritesGoInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := jam(t, stack.Config{Window: 1}) // room comes for one at a time
		var conns []*stack.PacketConn
		var ended []<-chan error
		for i := range 6 {
			c := mustOpen(t, j.n, nil)
			conns = append(conns, c)
			ended = append(ended, j.write(t, c, big('a'+byte(i))))
			<-time.After(time.Millisecond)
		}
		waits := must.Get(j.n.Waits(context.Background()))
		for i, w := range waits {
			if w.Socket != conns[i].LocalAddr().(stack.SocketAddr) || w.To.String() != "18888:0" || w.Bytes != 1000 || w.Ahead != i ||
				w.Node != 2 || w.Bearer != "eth0" || w.Link != "1:eth0-2:eth0" || w.Window != 1 || w.Unacked != 1 ||
				w.Waiting != 2 || w.Limit != 2 || w.Blocked != time.Since(w.Since) {
				t.Errorf("%d: %+v", i, w)
			}
		}
		if len(waits) != 6 {
			t.Fatalf("%d writes wait, want 6", len(waits))
		}
		conns[2].Close()
		if err := <-ended[2]; !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		conns[4].SetWriteDeadline(time.Now())
		var blocked *stack.BlockedError
		if err := <-ended[4]; !errors.As(err, &blocked) || blocked.Ahead != 3 {
			t.Errorf("at its deadline: %v", err)
		}
		j.free()
		if got := j.received(t, 4); got != "abdf" {
			t.Errorf("got %q, want abdf", got)
		}
		if n := len(must.Get(j.n.Waits(context.Background()))); n != 0 {
			t.Errorf("%d writes wait still", n)
		}
	})
}

// One that is called and leaves without sending, at its deadline, hands its turn on.
//
// Proves: link.importance
func TestTurnIsHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := jam(t, stack.Config{Window: 1})
		for i := range 3 {
			c := mustOpen(t, j.n, nil)
			if i == 0 {
				// What it waits for comes, and the deadline with it.
				j.write(t, c, big('a'))
				inside(j.n).Loop().Lock()
				insidePacket(c).SetWriteBy(time.Now())
				inside(j.n).Loop().Unlock()
				continue
			}
			j.write(t, c, big('a'+byte(i)))
		}
		j.free()
		if got := j.received(t, 2); got != "bc" {
			t.Errorf("got %q, want bc", got)
		}
	})
}

// Writers that all send as much as they may, over a link that takes some frames a
// millisecond, get the same share of its packets: none has sent more beyond another
// than the 150 that were taken before anybody had to wait: window and backlog.
//
// Proves: link.importance
func TestWritersShareALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers, long = 7, 200 * time.Millisecond
		h := hub.New(hub.Config{})
		n, d := openFake(t, h, 1)
		other, _ := openFake(t, h, 2)
		server := mustOpen(t, other, stack.Service{Type: 18888})
		if err := n.WaitFor(t.Context(), stack.Service{Type: 18888}); err != nil {
			t.Fatal(err)
		}
		r := &throttle{perMs: 20}
		inside(n).Loop().Lock()
		d.transmit = func(bufs []*netdev.Buffer) (int, error) {
			if k := r.take(len(bufs)); k > 0 {
				return d.Device.Transmit(bufs[:k])
			}
			return 0, nil
		}
		inside(n).Loop().Unlock()
		end := time.Now().Add(long)
		var wg sync.WaitGroup
		var sent [writers]int
		for i := range writers {
			c := mustOpen(t, n, nil)
			c.SetWriteDeadline(end)
			wg.Go(func() {
				for {
					if _, err := c.WriteTo(big('x'), stack.Service{Type: 18888}); err != nil {
						return
					}
					sent[i]++
				}
			})
		}
		server.SetReadDeadline(end)
		for err := error(nil); err == nil; {
			_, _, err = server.ReadFrom(make([]byte, 1000))
		}
		wg.Wait()
		t.Logf("sent %v", sent)
		if least, most := slices.Min(sent[:]), slices.Max(sent[:]); most-least > 300 || least < 500 {
			t.Errorf("the writers sent between %d and %d messages", least, most)
		}
		for _, n := range []*stack.Node{n, other} {
			n.Close(context.Background())
		}
	})
}

// Long messages wait for chunks in turn with others: a stream of short ones does not
// keep one from its chunks.
//
// Proves: link.long
func TestLongMessageGetsItsChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		port, _ := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
		n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, Address: 1, Wait: stack.Sleep, Chunks: 128, Window: 200})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close(context.Background())
		other, _ := openFake(t, h, 2)
		defer other.Close(context.Background())
		server := mustOpen(t, other, stack.Service{Type: 18888})
		if err := n.WaitFor(t.Context(), stack.Service{Type: 18888}); err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 3 {
			c := mustOpen(t, n, nil)
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if _, err := c.WriteTo(big('x'), stack.Service{Type: 18888}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		c := mustOpen(t, n, nil)
		c.SetWriteDeadline(time.Now().Add(time.Minute))
		wg.Go(func() {
			for range 5 {
				if _, err := c.WriteTo(make([]byte, 66000), stack.Service{Type: 18888}); err != nil { // 48 of 64 chunks
					t.Error(err)
				}
			}
			close(stop)
		})
		buf := make([]byte, 66000)
		for long := 0; long < 5; {
			k, _, err := server.ReadFrom(buf)
			if err != nil {
				t.Fatal(err)
			}
			if k == 66000 {
				long++
			}
		}
		wg.Wait()
	})
}

// A write that waits for a second is logged, with what it waits for; others at the same
// time are not.
//
// Proves: link.importance
func TestLongWaitIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		var mu sync.Mutex
		logger := slog.New(slog.NewTextHandler(lockedWriter{&mu, &b}, nil))
		j := jam(t, stack.Config{Logger: logger})
		for range 3 {
			j.write(t, mustOpen(t, j.n, nil), big('a'))
		}
		<-time.After(1100 * time.Millisecond)
		synctest.Wait()
		mu.Lock()
		got := b.String()
		mu.Unlock()
		if strings.Count(got, "write waits") != 1 ||
			!strings.Contains(got, `peer=2 bearer=eth0 link=1:eth0-2:eth0 importance=low for=1s unacknowledged=50 window=50 waiting=100 limit=100`) {
			t.Errorf("got %s", got)
		}
		j.free()
		j.received(t, 3)
	})
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *strings.Builder
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}
