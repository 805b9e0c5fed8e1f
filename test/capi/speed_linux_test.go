// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
)

// BenchmarkRoundTrip prints what 64 bytes there and back take between two nodes in memory: by a C program
// with libutipc, by the same calls in Go, and how they compare in nine rounds, one after the other; and
// the C program with poll(2), and what a call alone costs. The two ends in C are threads of the system; in Go
// they are goroutines, which take turns on one thread, or are locked to threads as those of C are.
//
//	go test -run '^$' -bench RoundTrip -benchtime 1x -v ./test/capi
func BenchmarkRoundTrip(b *testing.B) {
	program := compile(b, "testdata/speed/speed.c")
	const rounds, count = 9, 5000
	for range b.N {
		var c, g, l, p, n, ratios, threads []float64
		for range rounds {
			inC, inGo, locked := speed(b, program, "wait", count), roundTrips(b, count, false), roundTrips(b, count, true)
			c, g, ratios = append(c, inC), append(g, inGo), append(ratios, inC/inGo)
			l, threads = append(l, locked), append(threads, inC/locked)
			p, n = append(p, speed(b, program, "poll", count)), append(n, speed(b, program, "none", 10*count))
		}
		slices.Sort(ratios)
		slices.Sort(threads)
		b.ReportMetric(ratios[rounds/2], "C/Go")
		b.ReportMetric(threads[rounds/2], "C/Go-threads")
		b.Logf("64 B there and back: %.2f µs in C; in Go %.2f between goroutines, C/Go %.2f (%.2f to %.2f), %.2f between threads, C/Go %.2f (%.2f to %.2f); in C with poll(2) %.2f; a call alone %.3f",
			median(c), median(g), ratios[rounds/2], ratios[0], ratios[rounds-1],
			median(l), threads[rounds/2], threads[0], threads[rounds-1], median(p), median(n))
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// speed is a figure of the C program, in microseconds.
func speed(b testing.TB, program, kind string, count int) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(run(b, nil, program, kind, fmt.Sprint(count))), 64)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// roundTrips is the C program's "wait" in Go, each end locked to a thread or not.
func roundTrips(b testing.TB, count int, locked bool) float64 {
	if locked {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	ctx := b.Context()
	here, there := open(b), open(b)
	defer here.Close(ctx)
	defer there.Close(ctx)
	server, err := there.ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		b.Fatal(err)
	}
	s, err := here.ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := here.WaitNodes(ctx, 2); err != nil {
		b.Fatal(err)
	}
	all, done := count+count/10, make(chan error)
	go func() {
		if locked {
			runtime.LockOSThread()
		}
		buf := make([]byte, 64)
		for range all {
			n, from, err := server.ReadFrom(buf)
			if err == nil {
				_, err = server.WriteTo(buf[:n], from)
			}
			if err != nil {
				done <- err
				return
			}
		}
		close(done)
	}()
	var began time.Time
	buf := make([]byte, 64)
	for i := -count / 10; i < count; i++ {
		if i == 0 {
			began = time.Now()
		}
		_, err := s.WriteTo(buf, server.LocalAddr())
		if err == nil {
			_, _, err = s.ReadFrom(buf)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	return float64(took.Nanoseconds()) / 1e3 / float64(count)
}

func open(b testing.TB) *stack.Node {
	n, err := stack.OpenString(b.Context(), "memory:"+b.Name())
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// The program of the benchmark measures each of its kinds.
func TestSpeedProgram(t *testing.T) {
	program := compile(t, "testdata/speed/speed.c")
	for _, kind := range []string{"wait", "poll", "none"} {
		if f := speed(t, program, kind, 100); f <= 0 {
			t.Errorf("%s: %v µs", kind, f)
		}
	}
	if f := roundTrips(t, 100, true); f <= 0 {
		t.Errorf("Go: %v µs", f)
	}
}
