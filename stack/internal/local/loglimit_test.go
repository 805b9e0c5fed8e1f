// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A node whose every update of names breaks a rule, 100 a second for 5 s, makes one line
// in the log a second, which says how many there were.
//
// Proves: names.hostile
func TestOneLineForManyBadNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		h := hub.New(hub.Config{})
		port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 9})
		if err != nil {
			t.Fatal(err)
		}
		n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, Address: 9, Wait: stack.Sleep, Logger: slog.New(slog.NewTextHandler(&text, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if port, err = h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1}); err != nil {
			t.Fatal(err)
		}
		dev := &fakeDevice{Device: port, transmit: func(bufs []*netdev.Buffer) (int, error) {
			for _, b := range bufs {
				invert(b.Bytes())
			}
			return port.Transmit(bufs)
		}}
		liar, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{dev}, Address: 1, Wait: stack.Sleep})
		if err != nil {
			t.Fatal(err)
		}
		pass := func(d time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			<-ctx.Done()
			synctest.Wait()
		}
		pass(3 * time.Second)
		if !up(n) {
			t.Fatal("no contact")
		}
		c := mustOpen(t, liar, nil)
		const binds = 500
		for i := range binds {
			if err := c.Bind(stack.Range{Type: 1000, Lower: uint32(i), Upper: uint32(i) + 1}); err != nil {
				t.Fatal(err)
			}
			pass(10 * time.Millisecond)
		}
		refused := must.Get(n.Admin().Stats(context.Background())).Drops.String()
		c.Close()
		liar.Close(t.Context())
		if err := n.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if want := fmt.Sprintf("name items that break a rule=%d", binds); !strings.Contains(refused, want) {
			t.Errorf("dropped %s, want %s", refused, want)
		}
		lines := 0
		for line := range strings.Lines(text.String()) {
			if !strings.Contains(line, "names refused") {
				continue
			}
			if lines++; lines > 5 {
				continue // what Close withdraws
			}
			want := "level=WARN msg=\"names refused\" peer=1 times=100"
			if lines == 1 {
				want = "level=WARN msg=\"names refused\" peer=1 times=1\n"
			}
			if !strings.Contains(line, want) {
				t.Errorf("line %d: got %swant %s", lines, line, want)
			}
		}
		if lines < 5 || lines > 6 {
			t.Errorf("%d lines in 5 s:\n%s", lines, text.String())
		}
	})
}

// invert exchanges the bounds of the name in an update.
func invert(b []byte) {
	_, payload, err := frame.ParseEthernet(b)
	if err != nil {
		return
	}
	m, err := frame.Parse(payload)
	if err != nil {
		return
	}
	if names, err := frame.ParseNames(m); err != nil || names.Bulk() {
		return
	}
	item := m.Bytes()[frame.IntLen:]
	if lower, upper := binary.BigEndian.Uint32(item[4:]), binary.BigEndian.Uint32(item[8:]); lower < upper {
		binary.BigEndian.PutUint32(item[4:], upper)
		binary.BigEndian.PutUint32(item[8:], lower)
	}
}
