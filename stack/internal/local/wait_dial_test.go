// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/local"
	"github.com/utipc/utipc/stack/internal/poll"
)

// DialTimeout is counted from the call, and covers the wait for room as well as that for the
// answer, also both; the wait for a name has a limit of its own, and counts for nothing.
// Mutation: the clock begins with the request, or goes on while a name is waited for.
func TestDialTimeout(t *testing.T) {
	const limit = 900 * time.Millisecond
	for name, c := range map[string]struct {
		room, named time.Duration // when there is
		took        time.Duration
		blocked     bool
	}{
		"no answer":              {took: limit},
		"no room":                {room: time.Hour, took: limit, blocked: true},
		"room, and no answer":    {room: 500 * time.Millisecond, took: limit},
		"a name, and no answer":  {named: 5 * time.Second, took: 5*time.Second + limit},
		"a name that is not":     {named: time.Hour, took: 10 * time.Second},
		"a name, a moment later": {named: time.Millisecond, took: time.Millisecond + limit},
	} {
		t.Run(name, func(t *testing.T) {
			inWard(t, 2, func(t *testing.T, all []ward) {
				a, b := all[0], all[1]
				silent := mustOpen(t, b.Node, nil)
				var to net.Addr = silent.LocalAddr()
				if c.named > 0 {
					to = waitName
					time.AfterFunc(c.named, func() { silent.Bind(waitName) })
				}
				if c.room > 0 {
					full(t, a, b)
					time.AfterFunc(c.room, b.repair)
				}
				began := time.Now()
				_, err := stack.SocketConfig{DialTimeout: limit, NameWait: 10 * time.Second}.Dial(t.Context(), a.Node, "tipc", to)
				var net net.Error
				if c.named < time.Hour && (!errors.As(err, &net) || !net.Timeout()) || c.named == time.Hour && !errors.Is(err, stack.ErrUnreachable) {
					t.Errorf("got %v", err)
				}
				if blocked := (*stack.BlockedError)(nil); errors.As(err, &blocked) != c.blocked {
					t.Errorf("got %v", err)
				}
				if took := time.Since(began); took < c.took || took > c.took+20*time.Millisecond {
					t.Errorf("it took %v, want %v: %v", took, c.took, err)
				}
				b.repair()
				nobodyWaits(t, a.Node, true)
			})
		})
	}
}

// A call whose attempt to send meets something else than before waits for that, and not in
// the line for the room that it was invited to: it sleeps, and others have the lock and the
// room. Here it is a record for a topology service that closes its window while the link to
// it is full.
// Mutations: Tried does not Quit; persist and send call TryAgain for every failed attempt.
func TestInvitedCallSleeps(t *testing.T) {
	inWard(t, 2, func(t *testing.T, all []ward) {
		a, b := all[0], all[1]
		c := mustOpen(t, a.Node, nil)
		full(t, a, b)
		l := local.NewLine(inside(a.Node), 2, nil, new(poll.List))
		tries, behind := 0, make(chan error)
		sent := make(chan error)
		go func() {
			inside(a.Node).Loop().Lock()
			defer inside(a.Node).Loop().Unlock()
			sent <- l.Send(t.Context(), time.Now().Add(time.Second), func(now time.Duration) error {
				if tries++; tries == 1 {
					return insidePacket(c).Port().Send(now, b.elsewhere(), make([]byte, 1000))
				}
				if tries > 1000 {
					return net.ErrClosed
				}
				return &engine.WindowFull{}
			})
		}()
		pass(20 * time.Millisecond)
		go func() {
			c := mustOpen(t, a.Node, nil)
			c.SetWriteDeadline(time.Now().Add(time.Second))
			_, err := c.WriteTo(make([]byte, 1000), b.elsewhere())
			behind <- err
		}()
		pass(20 * time.Millisecond)
		b.repair()
		if err := <-behind; err != nil {
			t.Errorf("the call behind it: %v", err)
		}
		pass(100 * time.Millisecond)
		inside(a.Node).Loop().Lock()
		if k := inside(a.Node).Engine().Waiting(); k != 0 {
			t.Errorf("%d calls stand in line", k)
		}
		inside(a.Node).Loop().Unlock()
		if err := <-sent; err != os.ErrDeadlineExceeded || tries < 2 {
			t.Errorf("got %v after %d attempts", err, tries)
		}
		nobodyWaits(t, a.Node, true)
	})
}

// pass lets time pass in the bubble, where that takes none: everybody has done by then what
// can be done.
func pass(d time.Duration) { <-time.After(d) }
