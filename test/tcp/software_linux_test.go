// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/test/tier"
)

// installed returns the path of a program, without which the test is skipped.
func installed(t testing.TB, name, from string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/usr/bin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path
		}
	}
	tier.Missing(t, fmt.Sprintf("there is no %s: install %s", name, from))
	return ""
}

// A text is what a program prints, while it runs.
type text struct {
	mu   sync.Mutex
	b    bytes.Buffer
	news chan struct{} // has one when there is more
}

func (x *text) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	select {
	case x.news <- struct{}{}:
	default:
	}
	return x.b.Write(b)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

// serve runs a program until the test ends, or stop is called, and returns when it says that it is ready.
func (h *host) serve(t testing.TB, ready, name string, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	out := &text{news: make(chan struct{}, 1)}
	cmd := h.command(ctx, t, name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Minute
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
		cancel()
		if t.Failed() {
			t.Logf("%s says\n%s", filepath.Base(name), out)
		}
	})
	t.Cleanup(stop)
	for !strings.Contains(out.String(), ready) {
		select {
		case <-out.news:
		case err := <-ended:
			ended <- err
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	return stop
}

// run runs a program, and returns what it prints.
func (h *host) run(t testing.TB, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	out, err := h.command(ctx, t, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// through checks that something between two hosts went by their nodes: so many connections, and bytes there or back.
func through(t testing.TB, a, b *host, connections, bytes uint64, what func()) {
	t.Helper()
	before := [2]daemon.Counters{a.Counters(), b.Counters()}
	what()
	for i, h := range [...]*host{a, b} {
		c, was := h.Counters(), before[i]
		if got := c.TCPConnections - was.TCPConnections; got < connections {
			t.Errorf("%s: %d connections, want %d or more", h.address, got, connections)
		}
		if got := c.TCPBytesIn + c.TCPBytesOut - was.TCPBytesIn - was.TCPBytesOut; got < bytes {
			t.Errorf("%s: %d bytes, want %d or more", h.address, got, bytes)
		}
	}
}

// iperf3 measures over one connection and over four, each way. Its control connection and those of data are between the
// nodes.
//
// Proves: tcp.software
func TestIperf3(t *testing.T) {
	iperf := installed(t, "iperf3", "iperf3")
	h := two(t)
	h[0].serve(t, "Server listening", iperf, "-s", "--forceflush")
	for _, how := range [][]string{{}, {"-P", "4", "-R"}} {
		through(t, h[0], h[1], 2, 20e6, func() {
			h[1].run(t, iperf, append([]string{"-c", h[0].address, "-n", "20M"}, how...)...)
		})
	}
}

// Redis answers its benchmark, with pipelines and without, and a replica on the other node has what was written.
//
// Proves: tcp.software
func TestRedis(t *testing.T) {
	server, cli, bench := installed(t, "redis-server", "redis-server"), installed(t, "redis-cli", "redis-tools"), installed(t, "redis-benchmark", "redis-tools")
	h := two(t)
	redis := func(h *host, more ...string) {
		args := append([]string{
			"--port", "6379", "--bind", h.address, "--save", "", "--dir", t.TempDir(), "--protected-mode", "no",
			"--enable-debug-command", "yes", "--rdbcompression", "no", "--repl-diskless-sync-delay", "0", "--shutdown-timeout", "0",
		}, more...)
		h.serve(t, "Ready to accept connections", server, args...)
	}
	redis(h[0])
	const keys, size = 2000, 1000
	through(t, h[0], h[1], 11, keys*size, func() {
		h[1].run(t, bench, "-h", h[0].address, "-n", fmt.Sprint(keys), "-c", "10", "-d", fmt.Sprint(size), "-t", "set,get,lpush,lrange_100", "-q")
	})
	h[0].run(t, cli, "-h", h[0].address, "debug", "populate", fmt.Sprint(keys), "key", fmt.Sprint(size)) // direct, on one node
	through(t, h[0], h[1], 1, keys*size, func() {
		redis(h[1], "--replicaof", h[0].address, "6379")
		written := fmt.Sprintf("printf 'set a later\\nwait 1 0\\n' | %s -h %s", cli, h[0].address) // waits for a replica
		if out := h[0].run(t, "/bin/sh", "-c", written); out != "OK\n1\n" {
			t.Error(out)
		}
	})
	if out := h[1].run(t, cli, "-h", h[1].address, "get", "a"); out != "later\n" {
		t.Errorf("the replica has %q", out)
	}
}

// file makes a file of random bytes.
func file(t testing.TB, dir, name string, size int) []byte {
	t.Helper()
	b := make([]byte, size)
	rand.Read(b)
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
		t.Fatal(err)
	}
	return b
}

// fetched checks that curl has what a file has.
func (h *host) fetched(t testing.TB, url string, want []byte) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "file")
	h.run(t, installed(t, "curl", "curl"), "-sSf", "--noproxy", "*", "-o", to, url)
	if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: got %d bytes, %v, want %d", url, len(got), err, len(want))
	}
}

// Python's web server, which listens on any address, gives curl a file, on another node, on this one, and by the kernel's
// loopback.
//
// Proves: tcp.software
func TestPythonAndCurl(t *testing.T) {
	h := two(t)
	dir := t.TempDir()
	const size = 3_000_000
	want := file(t, dir, "file", size)
	h[0].serve(t, "Serving HTTP", "/usr/bin/python3", "-u", "-m", "http.server", "-d", dir, "8000")
	through(t, h[0], h[1], 1, size, func() { h[1].fetched(t, "http://"+h[0].address+":8000/file", want) })
	before := h[0].Counters().TCPDirect
	h[0].fetched(t, "http://"+h[0].address+":8000/file", want)
	if got := h[0].Counters().TCPDirect - before; got != 1 {
		t.Errorf("%d connections were direct, want 1", got)
	}
	h[0].fetched(t, "http://127.0.0.1:8000/file", want)
}

const nginxConf = `
daemon off; master_process off; pid %[1]s/pid; error_log stderr notice;
events { worker_connections 200; }
http {
	access_log off; client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c;
	uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e; sendfile on; keepalive_requests 100000;
	server { listen %[2]s:8080; root %[1]s; location /proxied/ { proxy_pass http://%[3]s:8080/; proxy_buffering off; } }
}
`

// nginx serves files by sendfile(2), and as a proxy for one on the other node, to curl and to many connections of ab at once.
//
// Proves: tcp.software
func TestNginx(t *testing.T) {
	nginx, ab := installed(t, "nginx", "nginx-light"), installed(t, "ab", "apache2-utils")
	h := two(t)
	const size = 3_000_000
	var want []byte
	for i := range h {
		dir := t.TempDir()
		want = file(t, dir, "file", size)
		file(t, dir, "short", 1000)
		conf := filepath.Join(dir, "conf")
		if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, h[i].address, h[1].address), 0o644); err != nil {
			t.Fatal(err)
		}
		h[i].serve(t, `using the "epoll"`, nginx, "-c", conf, "-p", dir)
	}
	through(t, h[0], h[1], 1, size, func() { h[0].fetched(t, "http://"+h[1].address+":8080/file", want) })
	through(t, h[0], h[1], 2, 2*size, func() { h[1].fetched(t, "http://"+h[0].address+":8080/proxied/file", want) })
	for _, keep := range []string{"-k", "-q"} { // without -k each request has a connection
		through(t, h[0], h[1], 20, 1000*1000, func() {
			out := h[1].run(t, ab, "-q", keep, "-c", "20", "-n", "1000", "http://"+h[0].address+":8080/short")
			if !strings.Contains(out, "Complete requests:      1000\nFailed requests:        0") {
				t.Error(out)
			}
		})
	}
}
