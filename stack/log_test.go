// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A slowHandler keeps every record until it may go on, and what it was given.
type slowHandler struct {
	slog.Handler
	goOn chan struct{}
	mu   *sync.Mutex
	seen *[]string
}

func (h slowHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h slowHandler) Handle(_ context.Context, r slog.Record) error {
	<-h.goOn
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.seen = append(*h.seen, line)
	return nil
}

// A handler that does not return stops nobody; what it was given is logged when it
// goes on.
func TestSlowLogger(t *testing.T) {
	t.Parallel()
	var seen []string
	h := slowHandler{goOn: make(chan struct{}), mu: &sync.Mutex{}, seen: &seen}
	segment := hub.New(hub.Config{})
	port, err := segment.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 9})
	if err != nil {
		t.Fatal(err)
	}
	a, err := stack.Open(within(t), stack.Config{Bearers: []stack.Bearer{port}, Address: 9, Logger: slog.New(h), Tolerance: steady})
	if err != nil {
		t.Fatal(err)
	}
	b := openOn(t, segment, 1, stack.Config{})
	echo(t, listen(t, b, echoService))
	if err := a.WaitFor(within(t), echoService); err != nil {
		t.Fatal(err)
	}
	c := listen(t, a, nil)
	if _, err := c.WriteTo([]byte("x"), echoService); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.ReadFrom(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	close(h.goOn)
	if err := a.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(seen, "\n")
	for _, want := range []string{
		"INFO address settled node=9", "INFO link up peer=1001001 link=9:eth0-1001001:eth0", "INFO peer up peer=1001001",
		"INFO peer lost peer=1001001 reason=ended by this node",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}
