// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/callfault"
	"github.com/utipc/utipc/stack"
)

// Lines are what a daemon has logged.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A daemon without memory for a ring says so in its log, charges nobody for it, and serves
// the program without one; a program that insists on rings gets the system's error.
// Mutations: session.ring logs nothing, or keeps the charge.
func TestRingWithoutMemory(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOMEM, syscall.ENFILE} {
		log := &lines{}
		b := newBed(t, daemon.Config{Logger: slog.New(slog.NewTextHandler(log, nil)), Quotas: daemon.Quotas{Process: daemon.Limits{Rings: 1}}})
		callfault.Use(func(c callfault.Call) syscall.Errno {
			if c == callfault.RingMake {
				return errno
			}
			return 0
		})
		defer callfault.Use(nil)
		p := b.program(t)
		p.socket(attach.KindRDM)
		p.fails(errno, attach.Header{Op: attach.OpRing}, nil)
		p.must(attach.Header{Op: attach.OpPing}, nil)
		if !strings.Contains(log.String(), "what=ring") || !strings.Contains(log.String(), errno.Error()) {
			t.Errorf("%v: the log says %s", errno, log.String())
		}
		for _, cfg := range []stack.AttachConfig{{Ring: stack.RingAlways}, {Wait: stack.Spin}} {
			n, err := cfg.Attach(within(t), b.path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := n.ListenPacket(within(t), "tipcrdm", nil)
			switch {
			case cfg.Ring == stack.RingAlways && !errors.Is(err, errno):
				t.Errorf("with rings always: got %v, want %v", err, errno)
			case cfg.Ring != stack.RingAlways && err != nil:
				t.Errorf("with rings where there are some: %v", err)
			}
			if err == nil {
				c.Close()
			}
			n.Close(within(t))
		}
		callfault.Use(nil)
		p.useRing(0)
	}
}
