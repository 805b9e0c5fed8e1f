// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
)

// twoKernels makes two hosts that the kernel's TCP connects as well.
func twoKernels(t testing.TB) (h [2]*host) {
	t.Helper()
	h = two(t)
	h[0].withKernel()
	h[1].withKernel()
	return h
}

// figure is the number that the group of an expression finds in what a program prints.
func figure(t testing.TB, e *regexp.Regexp, out string) float64 {
	t.Helper()
	m := e.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("there is no %v in\n%s", e, out)
	}
	return must.Get(strconv.ParseFloat(m[1], 64))
}

// compare measures something over the nodes, for which connections and bytes are counted, and over the kernel's TCP, by the
// address of the first host, and prints the two.
func compare(t testing.TB, h [2]*host, connections, bytes uint64, unit string, measure func(address string) float64) {
	t.Helper()
	var ours float64
	through(t, h[0], h[1], connections, bytes, func() { ours = measure(h[0].address) })
	kernel := measure(h[0].kernel)
	t.Logf("%.0f %s, %.2f of the kernel's TCP", ours, unit, ours/kernel)
}

var requests = regexp.MustCompile(`Requests/sec: +([0-9.]+)`)

// wrk asks nginx for a short file over ten connections at once.
//
// Proves: tcp.loads
func TestWrk(t *testing.T) {
	nginx, wrk := installed(t, "nginx", "nginx-light"), installed(t, "wrk", "wrk")
	h := twoKernels(t)
	dir := t.TempDir()
	file(t, dir, "short", 1000)
	conf := filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, "0.0.0.0", "127.0.0.1"), 0o644); err != nil {
		t.Fatal(err)
	}
	h[0].serve(t, `using the "epoll"`, nginx, "-c", conf, "-p", dir)
	compare(t, h, 10, 100_000, "requests/s", func(address string) float64 {
		out := h[1].run(t, wrk, "-t", "1", "-c", "10", "-d", "1s", "http://"+address+":8080/short")
		if strings.Contains(out, "errors") || strings.Contains(out, "Non-2xx") {
			t.Error(out)
		}
		return figure(t, requests, out)
	})
}

var latency = regexp.MustCompile(`avg-latency=([0-9.]+)`)

// sockperf measures round trips.
//
// Proves: tcp.loads
func TestSockperf(t *testing.T) {
	sockperf := installed(t, "sockperf", "sockperf")
	h := twoKernels(t)
	h[0].serve(t, "Warmup stage", sockperf, "server", "--tcp", "-i", "0.0.0.0", "-p", "11111")
	compare(t, h, 1, 64*20, "us one way", func(address string) float64 {
		return figure(t, latency, h[1].run(t, sockperf, "ping-pong", "--tcp", "-i", address, "-p", "11111", "-t", "1", "-m", "64"))
	})
}

// A disk of nbdkit is written and read by a client of libnbd, over several connections.
//
// Proves: tcp.loads
func TestNBD(t *testing.T) {
	nbdkit, nbdcopy := installed(t, "nbdkit", "nbdkit"), installed(t, "nbdcopy", "libnbd-bin")
	h := twoKernels(t)
	h[0].serve(t, "bound to IP address", nbdkit, "-f", "-v", "-i", "0.0.0.0", "-p", "10809", "memory", "8M")
	dir := t.TempDir()
	const size = 8 << 20
	want := file(t, dir, "disk", size)
	compare(t, h, 2, 2*size, "MB/s", func(address string) float64 {
		begin, uri, back := time.Now(), "nbd://"+address, filepath.Join(dir, address)
		h[1].run(t, nbdcopy, filepath.Join(dir, "disk"), uri)
		h[1].run(t, nbdcopy, uri, back)
		took := time.Since(begin)
		if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes are back, %v, want those that were written", len(got), err)
		}
		return 2 * size / 1e6 / took.Seconds()
	})
}
