// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/test/tier"
)

// openPTY opens a terminal of 120 by 40 and the end that somebody sits at.
func openPTY(t *testing.T) (controller, tty *os.File) {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		tier.Missing(t, fmt.Sprint("no terminals here: ", err))
	}
	t.Cleanup(func() { controller.Close() })
	if err := unix.IoctlSetPointerInt(int(controller.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(controller.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		t.Fatal(err)
	}
	return controller, tty
}

// hearTerminal hears what is written to a terminal, until that is closed.
func hearTerminal(controller *os.File) *heard {
	shown := newHeard()
	go func() {
		b := make([]byte, 4096)
		for {
			k, err := controller.Read(b)
			if err != nil {
				return
			}
			shown.Write(b[:k])
		}
	}()
	return shown
}

// In a terminal top draws on the other screen, hears keys, and gives all back as it was.
//
// Proves: tools.small
func TestTopInTerminal(t *testing.T) {
	all := liveBed(t, 2)
	controller, tty := openPTY(t)
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	shown, done := hearTerminal(controller), make(chan error, 1)
	p := top{interval: 20 * time.Millisecond, sort: "rate", rows: 20}
	go func() { done <- p.run(t.Context(), all[0], cmdline.Stdio{In: tty, Out: tty, Err: tty}) }()
	shown.until(t, enterScreen, done)
	shown.until(t, "by rate   r rate", done)
	controller.WriteString("l")
	shown.until(t, "by loss   r rate", done)
	controller.WriteString("p")
	shown.until(t, "paused   by loss", done)
	controller.WriteString("q")
	if err := <-done; err != nil {
		t.Error(err)
	}
	shown.until(t, leaveScreen, nil)
	after, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("%v, the terminal is %+v, was %+v", err, after, before)
	}
	for frame := range strings.SplitSeq(shown.String(), homeCursor) {
		if k := strings.Count(frame, "\n"); k > 40 {
			t.Errorf("a picture of %d lines", k)
		}
	}
}

// ping and audit do the same on the daemon's node.
//
// Proves: tools.small
func TestPingAndAuditAttached(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, all []*stack.Node) {
		echo := stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) { w.Send(m.Data) })
		if _, err := all[1].Handle(t.Context(), stack.Service{Type: 18888, Instance: 17}, echo); err != nil {
			t.Fatal(err)
		}
		out := newHeard()
		p := pinger{to: stack.Service{Type: 18888, Instance: 17}, kind: socketKind{network: "tipcrdm"}, count: 3, size: 64, timeout: time.Minute, stats: true}
		if err := p.run(t.Context(), all[0], out); err != nil || !strings.Contains(out.String(), "3 sent, 3 answered, 0 lost") || !strings.Contains(out.String(), "Dropped: nothing") {
			t.Errorf("ping: %v, %s", err, out)
		}
		out = newHeard()
		a := auditor{wait: time.Minute, AuditConfig: admin.AuditConfig{Timeout: time.Minute}}
		if err := a.run(t.Context(), all[0], out); err != nil || !strings.HasSuffix(out.String(), "differences: 0\n") {
			t.Errorf("audit: %v, %s", err, out)
		}
	})
}
