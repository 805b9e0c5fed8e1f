// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/browser"
)

// topScreen runs top on a terminal of that size, until a picture and what the keys ask for were drawn, and returns the
// lines of the last picture.
func topScreen(t *testing.T, n *stack.Node, width, height int, keys, until string) []string {
	t.Helper()
	controller, tty := openPTY(t)
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	shown, done := hearTerminal(controller), make(chan error, 1)
	p := top{interval: 300 * time.Millisecond, sort: "rate", rows: 20}
	go func() { done <- p.run(t.Context(), n, cmdline.Stdio{In: tty, Out: tty, Err: tty}) }()
	shown.until(t, "over ", done)
	controller.WriteString(keys)
	shown.until(t, until, done)
	controller.WriteString("q")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	shown.until(t, leaveScreen, nil)
	all, _, _ := strings.Cut(shown.String(), leaveScreen)
	picture := all[strings.LastIndex(all, homeCursor)+len(homeCursor):]
	picture = strings.TrimSuffix(picture, strings.TrimSuffix(leaveScreen, "\x1b[?1049l"))
	body, foot, _ := strings.Cut(picture, clearRest)
	lines := strings.Split(strings.ReplaceAll(body, "\r", ""), "\x1b[K\n")
	lines = lines[:len(lines)-1]
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	lines = append(lines, strings.TrimPrefix(foot, fmt.Sprintf("\x1b[%dH", height)))
	for _, l := range lines {
		if n := utf8.RuneCountInString(control.ReplaceAllString(l, "")); n > width {
			t.Errorf("%d characters on a screen of %d: %q", n, width, l)
		}
	}
	return lines
}

// keepScreen keeps a screen as a picture.
func keepScreen(t *testing.T, b *browser.Page, name string, p palette, width int, lines []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "top.html")
	if err := os.WriteFile(file, []byte(p.htmlPage(lines)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Size(24+width*783/100+1, 24+17*len(lines), false)
	b.Load("file://" + file)
	browser.Keep(t, b.Picture(), "../..", name)
}

// Pictures of top at work, as terminals show them: a node that asks others, and one that writes to a
// program that does not read; wide on dark, 80 columns on light, the page of help, a node alone.
//
// Mutation it catches: foot has no keys.
//
// Proves: tools.small
func TestTopPictures(t *testing.T) {
	b := browser.Open(t)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	all := liveBed(t, 3)
	for _, n := range all[1:] {
		echo := stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) { w.Send(m.Data) })
		if _, err := n.Handle(t.Context(), stack.Range{Type: 18888, Lower: uint32(n.Addr()), Upper: uint32(n.Addr())}, echo); err != nil {
			t.Fatal(err)
		}
	}
	l, err := all[2].Listen(t.Context(), "tipc", stack.Service{Type: 19000, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	waitNames(t, all[0], 18888, 2)
	waitNames(t, all[0], 19000, 1)
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	defer busy.Wait()
	defer stop()
	for _, n := range all[1:] {
		to := stack.Service{Type: 18888, Instance: uint32(n.Addr())}
		busy.Go(func() {
			answer := make([]byte, 64)
			for ctx.Err() == nil {
				all[0].Call(ctx, to, make([]byte, 64), answer)
			}
		})
	}
	accepted := make(chan *stack.Conn, 1)
	busy.Go(func() {
		c, _ := l.AcceptConn()
		accepted <- c
	})
	c, err := all[0].Dial(t.Context(), "tipc", stack.Service{Type: 19000, Instance: 1})
	if err != nil {
		t.Fatal(err)
	}
	deaf := <-accepted
	defer deaf.Close()
	busy.Go(func() { c.Write(make([]byte, 8<<20)) })
	defer c.Close()
	// For the reader, that is: a link has room again in a moment.
	for w := must.Get(all[0].Waits(context.Background())); len(w) == 0 || w[0].Peer.Port == 0; w = must.Get(all[0].Waits(context.Background())) {
		<-time.After(time.Millisecond)
	}
	for _, c := range []struct {
		name          string
		palette       palette
		width, height int
		keys, until   string
		want          []string
	}{
		{"top.png", dark, 132, 20, "", "by rate", []string{"\x1b[32mACTIVE\x1b[0m", " does not read: ", "\x1b[1mnode 1001001\x1b[0m  \x1b[32mlinks 2 of 2 up\x1b[0m", "? help"}},
		{"top-narrow.png", light, 80, 24, "", "by rate", []string{"\x1b[32mACTIVE\x1b[0m", " does not read", "q quit"}},
		{"top-help.png", dark, 80, 24, "?", "KEYS", []string{"  lost/s ", "WAITING  ", "? help"}},
	} {
		lines := topScreen(t, all[0], c.width, c.height, c.keys, c.until)
		if len(lines) != c.height {
			t.Errorf("%s: %d lines, want %d", c.name, len(lines), c.height)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(lines, "\n"), want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, strings.Join(lines, "\n"))
			}
		}
		keepScreen(t, b, c.name, c.palette, c.width, lines)
	}
	alone := topScreen(t, liveBed(t, 1)[0], 80, 24, "", "by rate")
	for _, want := range []string{"none: no other node is heard", "none: no program has a socket", "none: every write finds room"} {
		if !strings.Contains(strings.Join(alone, "\n"), want) {
			t.Errorf("a node alone: no %q in\n%s", want, strings.Join(alone, "\n"))
		}
	}
	keepScreen(t, b, "top-alone.png", light, 80, alone)
}
