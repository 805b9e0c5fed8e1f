// SPDX-License-Identifier: Apache-2.0

// Package browser shows pages in Chromium without a screen, for tests. It waits for what the page
// itself says has happened, and keeps what its console says of errors.
//
// Source: chromedevtools.github.io/devtools-protocol; the browser reads requests from descriptor 3
// and writes answers to descriptor 4, each ended by a zero byte (--remote-debugging-pipe).
package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/test/tier"
)

// limit is the time that all of a test's pages may take.
const limit = 5 * time.Minute

// A Page is the only tab of a browser. Its methods fail the test when the browser does not do what
// they want. For one goroutine.
type Page struct {
	t       *testing.T
	out     io.Writer // requests
	session string
	last    int

	mu      sync.Mutex // guards what follows
	answers map[int]chan answer
	loaded  chan struct{} // closed when the page that Load asked for is
	errors  []string
}

// An answer is one to a request, or an event, which has no number.
type answer struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Open starts the browser; it ends with the test. Where there is none the test is skipped, or
// fails, as tier.Missing has it. In the first tier the test is skipped.
func Open(t *testing.T) *Page {
	t.Helper()
	tier.SkipShort(t, "a browser, which takes seconds")
	bin, err := exec.LookPath("chromium")
	if err != nil {
		tier.Missing(t, "chromium is missing")
	}
	requests, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := exec.CommandContext(ctx, bin, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--no-first-run", "--hide-scrollbars", "--user-data-dir="+t.TempDir(),
		"--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{requests, answers}
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = time.Minute // for its children
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	requests.Close()
	answers.Close()
	p := &Page{t: t, out: out, answers: map[int]chan answer{}}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		p.hear(bufio.NewReader(in))
	}()
	t.Cleanup(func() {
		json.NewEncoder(out).Encode(map[string]any{"id": -1, "method": "Browser.close"})
		out.Write([]byte{0})
		out.Close() // it ends without its pipe too
		<-heard
		in.Close()
		cmd.Wait()
		cancel()
		t.Logf("chromium took %v of the processors", (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(100*time.Millisecond))
		if t.Failed() {
			t.Logf("chromium says\n%s", said.String())
		}
	})
	var made struct {
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	p.ask("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	p.ask("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made)
	p.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.ask(domain+".enable", nil, nil)
	}
	return p
}

// hear gives each answer to who waits for it, and ends with the browser.
func (p *Page) hear(in *bufio.Reader) {
	for {
		b, err := in.ReadBytes(0)
		var a answer
		if err == nil {
			err = json.Unmarshal(bytes.TrimSuffix(b, []byte{0}), &a)
		}
		p.mu.Lock()
		switch {
		case err != nil:
			for _, c := range p.answers {
				close(c)
			}
			p.answers = nil
			if p.loaded != nil {
				p.errors = append(p.errors, "the browser ended while it loaded a page")
				close(p.loaded)
				p.loaded = nil
			}
		case a.ID != 0 && p.answers[a.ID] != nil:
			p.answers[a.ID] <- a
			delete(p.answers, a.ID)
		case a.Method == "Page.loadEventFired" && p.loaded != nil:
			close(p.loaded)
			p.loaded = nil
		default:
			if text := consoleError(a); text != "" {
				p.errors = append(p.errors, text)
			}
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// consoleError is the error that an event is about; empty where it is about none.
func consoleError(a answer) string {
	var e struct {
		Type  string `json:"type"` // of Runtime.consoleAPICalled
		Entry struct {
			Level string `json:"level"`
			Text  string `json:"text"`
			URL   string `json:"url"`
		} `json:"entry"`
	}
	json.Unmarshal(a.Params, &e)
	switch {
	case a.Method == "Log.entryAdded" && e.Entry.Level == "error":
		return e.Entry.Text + " " + e.Entry.URL
	case a.Method == "Runtime.exceptionThrown", a.Method == "Runtime.consoleAPICalled" && (e.Type == "error" || e.Type == "assert"):
		return a.Method + ": " + string(a.Params)
	}
	return ""
}

// ask makes a request and reads its result.
func (p *Page) ask(method string, params map[string]any, result any) {
	p.t.Helper()
	p.last++
	m := map[string]any{"id": p.last, "method": method}
	if params != nil {
		m["params"] = params
	}
	if p.session != "" {
		m["sessionId"] = p.session
	}
	b, err := json.Marshal(m)
	if err != nil {
		p.t.Fatal(err)
	}
	wait := make(chan answer, 1)
	p.mu.Lock()
	ended := p.answers == nil
	if !ended {
		p.answers[p.last] = wait
	}
	p.mu.Unlock()
	if ended {
		p.t.Fatalf("%s: the browser has ended", method)
	}
	if _, err := p.out.Write(append(b, 0)); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	a, ok := <-wait
	switch {
	case !ok:
		p.t.Fatalf("%s: the browser has ended", method)
	case a.Error != nil:
		p.t.Fatalf("%s: %s", method, a.Error.Message)
	case result != nil:
		if err := json.Unmarshal(a.Result, result); err != nil {
			p.t.Fatalf("%s: %v in %s", method, err, a.Result)
		}
	}
}

// Size sets the size of the window, in pixels, and whether the reader prefers dark pages.
func (p *Page) Size(width, height int, dark bool) {
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.ask("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	p.ask("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Load shows a page, and waits until it and its images are there.
func (p *Page) Load(url string) {
	p.t.Helper()
	loaded := make(chan struct{})
	p.mu.Lock()
	p.loaded = loaded
	p.mu.Unlock()
	var r struct {
		ErrorText string `json:"errorText"`
	}
	p.ask("Page.navigate", map[string]any{"url": url}, &r)
	if r.ErrorText != "" {
		p.t.Fatalf("%s: %s", url, r.ErrorText)
	}
	<-loaded
}

// Block has the page get nothing from addresses of that pattern, in which * is any text.
func (p *Page) Block(pattern string) {
	p.t.Helper()
	p.ask("Network.enable", nil, nil)
	p.ask("Network.setBlockedURLs", map[string]any{"urls": []string{pattern}}, nil)
}

// Eval evaluates an expression of JavaScript, waits for its promise where it is one, and reads the
// value into result, which may be nil.
func (p *Page) Eval(js string, result any) {
	p.t.Helper()
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	p.ask("Runtime.evaluate", map[string]any{"expression": js, "awaitPromise": true, "returnByValue": true}, &r)
	if r.Exception != nil {
		p.t.Fatalf("%s: %s", js, r.Exception)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(r.Result.Value, result); err != nil {
		p.t.Fatalf("%s: %v in %s", js, err, r.Result.Value)
	}
}

// Until waits until an expression of JavaScript is true: it is evaluated again whenever the page
// changes.
func (p *Page) Until(js string) {
	p.t.Helper()
	p.Eval(fmt.Sprintf(`new Promise(done => {
		const look = () => { if (%s) { watch.disconnect(); done(true) } };
		const watch = new MutationObserver(look);
		watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
		look();
	})`, js), nil)
}

// Picture returns what the window shows, as PNG.
func (p *Page) Picture() []byte {
	p.t.Helper()
	var r struct {
		Data []byte `json:"data"` // base64
	}
	p.ask("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	return r.Data
}

// Errors returns what the console has said of errors since the last call: exceptions, calls of
// console.error, what could not be loaded.
func (p *Page) Errors() []string {
	p.ask("Runtime.evaluate", map[string]any{"expression": "0"}, nil) // what came before has been heard
	p.mu.Lock()
	defer p.mu.Unlock()
	said := p.errors
	p.errors = nil
	return said
}
