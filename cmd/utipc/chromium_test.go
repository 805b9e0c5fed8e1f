// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/browser"
)

// The page of map in a browser: its script runs, hears of a change, and shows it.
//
// Proves: tools.small
func TestMapInBrowser(t *testing.T) {
	p := browser.Open(t)
	all := liveBed(t, 4)
	bind := func(n *stack.Node, instance int) error {
		_, err := n.ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: 18888, Instance: uint32(instance)})
		return err
	}
	for i, n := range all[1:] {
		for k := range 2 * (i + 1) {
			if err := bind(n, 100*i+k); err != nil {
				t.Fatal(err)
			}
		}
	}
	waitNames(t, all[0], 18888, 12)
	p.Size(1000, 980, false)
	p.Load(mapBed(t, all[0]))
	shows := func(text string) string { return fmt.Sprintf("document.body.textContent.includes(%q)", text) }
	p.Until(shows("knows it live") + "&&" + shows("2 names"))
	if err := bind(all[1], 999); err != nil { // now the page is to show three
		t.Fatal(err)
	}
	p.Until(shows("3 names"))
	var dom string
	p.Eval("document.documentElement.outerHTML", &dom)
	for _, want := range []string{`<span id="state" class="live">live</span>`, `class="link active"`, ">1001004</text>", "<td>1001003</td>", ">3 names</text>"} {
		if !strings.Contains(dom, want) {
			t.Errorf("no %s in the page:\n%s", want, dom)
		}
	}
	browser.Keep(t, p.Picture(), "../..", "map.png")
	for _, e := range p.Errors() {
		t.Errorf("the console says %s", e)
	}
}

// A picture of top at work, as a terminal shows it: a node that asks another, and one
// that writes to somebody who does not read.
//
// Proves: tools.small
func TestTopPicture(t *testing.T) {
	b := browser.Open(t)
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
	var out, errs bytes.Buffer
	p := top{count: 1, interval: 500 * time.Millisecond, sort: "rate", rows: 20}
	if err := p.run(t.Context(), all[0], cmdline.Stdio{In: nil, Out: &out, Err: &errs}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "does not read: ") {
		t.Errorf("nobody is shown to wait:\n%s", out.String())
	}
	var page strings.Builder
	page.WriteString(`<!doctype html><meta charset="utf-8"><body style="margin:0;background:#1b1e24"><pre style="font:13px DejaVu Sans Mono,monospace;color:#d5dae2;margin:12px">`)
	for line := range strings.Lines(out.String()) {
		line = html.EscapeString(strings.TrimRight(line, "\n"))
		if line != "" && line[0] >= 'A' && line[0] <= 'Z' {
			line = `<span style="background:#d5dae2;color:#1b1e24">` + line + strings.Repeat(" ", max(0, 145-len([]rune(line)))) + "</span>"
		}
		page.WriteString(line + "\n")
	}
	file := filepath.Join(t.TempDir(), "top.html")
	if err := os.WriteFile(file, []byte(page.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Size(1180, 250, false)
	b.Load("file://" + file)
	browser.Keep(t, b.Picture(), "../..", "top.png")
}
