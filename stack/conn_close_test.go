// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// connect makes a stream of a to b.
func connect(t *testing.T, ctx context.Context, a, b *stack.Node) (c, s *stack.Conn) {
	t.Helper()
	l, err := b.Listen(ctx, "tipc", echoService)
	if err == nil {
		err = a.WaitFor(ctx, echoService)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan *stack.Conn, 1)
	go func() {
		s, err := l.AcceptConn()
		if err != nil {
			t.Error(err)
		}
		accepted <- s
	}()
	if c, err = a.Dial(ctx, "tipc", echoService); err != nil {
		t.Fatal(err)
	}
	return c, <-accepted
}

// stuffed is a stream of a to b whose peer has read nothing, and how many bytes its Write has
// taken: some of them wait for the window.
func stuffed(t *testing.T, a, b *stack.Node) (c, s *stack.Conn, total int) {
	t.Helper()
	for range 100 { // the window may close when nothing is left to be sent
		c, s, total = filled(t, a, b)
		if hosting.Backend(c).(interface{ Held() int }).Held() > 0 {
			return c, s, total
		}
		c.Close()
		readAll(s)
		s.Close()
	}
	t.Fatal("nothing ever waits for the window")
	return
}

// filled is a stream to which TryWrite can write no more.
func filled(t *testing.T, a, b *stack.Node) (c, s *stack.Conn, total int) {
	t.Helper()
	c, s = connect(t, t.Context(), a, b)
	msg := make([]byte, 100)
	for full := 0; full < 3; {
		switch k, err := c.TryWrite(msg); err {
		case nil:
			total += k
			full = 0
		case syscall.EAGAIN:
			full++
			pause()
		default:
			t.Fatal(err)
		}
	}
	return c, s, total
}

// readAll reads to the end.
func readAll(c *stack.Conn) (got int, err error) {
	buf := make([]byte, 65536)
	for {
		k, err := c.Read(buf)
		if got += k; err != nil {
			return got, err
		}
	}
}

func pause() { synctest.Wait(); <-time.After(5 * time.Millisecond) } // of the bubble's clock

// A stream that is closed while its peer does not read keeps what it holds, however long
// that takes, and then ends in order; CloseWait waits for that. Mutations: ring gives up what
// lingers at the first probe; CloseWait does not wait.
func TestCloseWaitsForAPeerThatPauses(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		c, s, total := stuffed(t, a, b)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var unsent *stack.UnsentError
		if err := c.CloseWait(ctx); !errors.As(err, &unsent) || unsent.Bytes == 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an hour later: got %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- c.CloseWait(t.Context()) }()
		if got, err := readAll(s); got != total || err != io.EOF {
			t.Errorf("read %d of %d bytes, then %v", got, total, err)
		}
		if err := <-done; err != nil {
			t.Errorf("CloseWait: %v", err)
		}
		if err := c.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a second Close: %v", err)
		}
	})
}

// A node that is closed before all has gone says how much is lost, and the peer reads no
// orderly end. Mutation: Node.Close does not add the counted bytes.
func TestNodeCloseSaysHowManyBytesAreLost(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		c, s, total := stuffed(t, a, b)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var unsent *stack.UnsentError
		err := a.Close(ctx)
		if !errors.As(err, &unsent) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		got, err := readAll(s)
		if got+unsent.Bytes != total || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read %d of %d bytes, %d reported as lost, then %v", got, total, unsent.Bytes, err)
		}
	})
}

// When the peer closes before all has gone, the next Write says how much is lost, and Close;
// where that was called before, CloseWait and Node.Close. Mutations: connError does not look at
// Unsent; unsentError returns nil.
func TestWriterLearnsWhatIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, a, b *stack.Node, _ *fault.Injector) {
		lost := 0
		for _, early := range []bool{false, true} {
			c, s, total := stuffed(t, a, b)
			if early {
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
			s.Close()
			pause()
			calls := map[string]func() error{"close": c.Close}
			if early {
				calls = map[string]func() error{"wait": func() error { return c.CloseWait(t.Context()) }}
			} else if _, err := c.Write([]byte("x")); !errors.As(err, new(*stack.ConnError)) || !errors.Is(err, syscall.EPIPE) || !errors.As(err, new(*stack.UnsentError)) {
				t.Errorf("write: %v", err)
			}
			for name, call := range calls {
				var unsent *stack.UnsentError
				if err := call(); !errors.As(err, &unsent) || unsent.Bytes <= 0 || unsent.Bytes >= total || !errors.Is(err, syscall.EPIPE) {
					t.Errorf("closed before: %v, %s: %v", early, name, err)
				} else if early {
					lost = unsent.Bytes
				}
			}
		}
		var unsent *stack.UnsentError
		if err := a.Close(t.Context()); !errors.As(err, &unsent) || unsent.Bytes != lost || unsent.Packets != 0 {
			t.Errorf("Node.Close: %v, want %d bytes", err, lost)
		}
	})
}
