// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
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
	deaf bool // it gives no news of the map
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
		case "/events":
			w.mu.Lock()
			deaf := w.deaf
			w.mu.Unlock()
			if deaf {
				http.Error(rw, "no", http.StatusServiceUnavailable)
				return
			}
			through.ServeHTTP(rw, r)
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

// The page of map in a browser: its script runs, hears of a change, and shows it. It shows what is lost, that its
// server is gone, and that nobody else is there, on light and on dark, on a narrow screen too.
//
// Mutation it catches: map.js shows nothing on an error.
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
	for _, want := range []string{`<span id="state" class="live" role="status">live</span>`, `class="link active"`, ">1001004</text>", "<td>1001003</td>", ">3 names</text>"} {
		if !strings.Contains(dom, want) {
			t.Errorf("no %s in the page:\n%s", want, dom)
		}
	}
	picture := func(w *witness, name, size, until string, args ...string) {
		t.Helper()
		shot := filepath.Join(t.TempDir(), name)
		w.until(func(shown string) bool { return strings.Contains(shown, until) })
		chromium(t, w.URL+"/", append(args, "--window-size="+size, "--screenshot="+shot)...)
		image(t, shot, name)
	}
	picture(w, "map.png", "1000,1110", "knows it live")
	if err := all[3].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	picture(w, "map-dark.png", "1000,1110", "no contact", "--blink-settings=preferredColorScheme=0")
	picture(w, "map-narrow.png", "500,930", "no contact")
	w.mu.Lock()
	w.deaf = true
	w.mu.Unlock()
	picture(w, "map-lost.png", "1000,1110", "not live since ")
	picture(newWitness(t, mapBed(t, liveBed(t, 1)[0])), "map-alone.png", "1000,400", "No other node is heard")
}
