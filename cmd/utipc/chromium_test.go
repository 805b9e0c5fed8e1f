// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"html"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/tier"
)

// chromium runs the browser without a screen on a page and returns what it prints.
func chromium(t *testing.T, url string, args ...string) string {
	t.Helper()
	bin, err := exec.LookPath("chromium")
	if err != nil {
		tier.Missing(t, "chromium is missing")
	}
	tier.SkipShort(t, "a browser, which takes seconds")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--no-first-run", "--user-data-dir=" + t.TempDir(), "--hide-scrollbars",
	}, args...)
	cmd := exec.CommandContext(ctx, bin, append(args, url)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Minute // for its children
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, errs.String())
	}
	return out.String()
}

// image keeps a picture in docs/images if UTIPC_IMAGES is set, and checks that it is one.
func image(t *testing.T, file, name string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[any]bool{}
	for x := 0; x < p.Bounds().Dx(); x += 3 {
		for y := 0; y < p.Bounds().Dy(); y += 3 {
			colours[p.At(x, y)] = true
		}
	}
	if len(colours) < 8 {
		t.Errorf("%s: a picture of %d colours", name, len(colours))
	}
	if os.Getenv("UTIPC_IMAGES") != "" {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "images", name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A witness stands between a browser and the page of map. It adds to the page's script
// that the browser tells what it shows whenever that changes, and is not done with
// loading until that was what seen wants.
type witness struct {
	*httptest.Server
	mu   sync.Mutex // guards what follows
	seen func(shown string) bool
	done chan struct{}
}

const witnessScript = `
const tell = () => fetch("seen", {method: "POST", body: document.body.textContent});
new MutationObserver(tell).observe(document.body, {childList: true, subtree: true, characterData: true});
document.head.append(Object.assign(document.createElement("script"), {src: "wait.js"}));
`

func newWitness(t *testing.T, page string) *witness {
	to, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{}
	through := httputil.NewSingleHostReverseProxy(to)
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/seen":
			b, _ := io.ReadAll(r.Body)
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.seen != nil && w.seen(string(b)) {
				w.seen = nil
				close(w.done)
			}
		case "/wait.js":
			w.mu.Lock()
			done := w.done
			w.mu.Unlock()
			select {
			case <-done:
			case <-r.Context().Done():
			}
			rw.Header().Set("Content-Type", "text/javascript")
		case "/map.js":
			resp, err := http.Get(page + "map.js")
			if err != nil {
				http.Error(rw, err.Error(), http.StatusBadGateway)
				return
			}
			defer resp.Body.Close()
			rw.Header().Set("Content-Type", "text/javascript")
			io.Copy(rw, resp.Body)
			io.WriteString(rw, witnessScript)
		default:
			through.ServeHTTP(rw, r)
		}
	}))
	t.Cleanup(func() {
		w.CloseClientConnections()
		w.Close()
	})
	return w
}

// until has the next page load until seen is true of what it shows.
func (w *witness) until(seen func(shown string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.done = seen, make(chan struct{})
}

// The page of map in a browser: its script runs, hears of a change, and shows it.
//
// Proves: tools.small
func TestMapInBrowser(t *testing.T) {
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
	w := newWitness(t, mapBed(t, all[0]))
	live, bound := false, error(nil)
	w.until(func(shown string) bool {
		if !live && strings.Contains(shown, "knows it live") && strings.Contains(shown, "2 names") {
			live, bound = true, bind(all[1], 999) // now the page is to show three
		}
		return live && strings.Contains(shown, "3 names")
	})
	dom := chromium(t, w.URL+"/", "--dump-dom")
	if bound != nil {
		t.Fatal(bound)
	}
	for _, want := range []string{`<span id="state" class="live">live</span>`, `class="link active"`, ">1001004</text>", "<td>1001003</td>", ">3 names</text>"} {
		if !strings.Contains(dom, want) {
			t.Errorf("no %s in the page:\n%s", want, dom)
		}
	}
	shot := filepath.Join(t.TempDir(), "map.png")
	w.until(func(shown string) bool { return strings.Contains(shown, "knows it live") })
	chromium(t, w.URL+"/", "--window-size=1000,980", "--screenshot="+shot)
	image(t, shot, "map.png")
}

// A picture of top at work, as a terminal shows it: a node that asks another, and one
// that writes to somebody who does not read.
//
// Proves: tools.small
func TestTopPicture(t *testing.T) {
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
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "top.html"), []byte(page.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	chromium(t, "file://"+filepath.Join(dir, "top.html"), "--window-size=1180,250", "--screenshot="+filepath.Join(dir, "top.png"))
	image(t, filepath.Join(dir, "top.png"), "top.png")
}
