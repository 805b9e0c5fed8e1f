// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

// perfServer serves on n until the test ends.
func perfServer(t *testing.T, n *stack.Node, service string) {
	t.Helper()
	p := perf{serve: true, network: "tipc", sizeList: "1", test: "both", time: time.Second, timeout: time.Second}
	if err := p.check(service); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	words := newHeard()
	done := make(chan error, 1)
	go func() { done <- p.server(ctx, n, cmdline.Stdio{In: nil, Out: words, Err: words}) }()
	words.until(t, "serves as", done)
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Every network, both tests, as JSON and as lines.
//
// Proves: tools.small
func TestPerf(t *testing.T) {
	t.Parallel()
	onBoth(t, 2, func(t *testing.T, all []*stack.Node) {
		perfServer(t, all[1], "18888:1")
		measure := func(args ...string) string {
			t.Helper()
			var p perf
			rest, err := cmdline.Parse(flagsOf(&p), append(args, "18888:1"), 1, 1)
			if err == nil {
				err = p.check(rest[0])
			}
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := p.client(t.Context(), all[0], cmdline.Stdio{In: nil, Out: &out, Err: &out}); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		d := json.NewDecoder(strings.NewReader(measure("--json", "--time", "20ms", "--timeout", "1m", "--sizes", "64,5000", "--network", "tipcrdm,tipcgram,tipcpacket,tipc")))
		rows := map[string]int{}
		for d.More() {
			var r perfRow
			if err := d.Decode(&r); err != nil {
				t.Fatal(err)
			}
			rows[fmt.Sprint(r.Test, " ", r.Network)]++
			ordered := r.P50 > 0 && r.P50 <= r.P90 && r.P90 <= r.P99 && r.P99 <= r.P999 && r.P999 <= r.Max
			switch {
			case r.Rate <= 0 && (r.Test == "latency" || r.Lost == 0) || r.Bytes < r.Rate || r.Seconds < 0.02:
				t.Errorf("got %+v", r)
			case r.Test == "latency" && (!ordered || r.Trips == 0):
				t.Errorf("got %+v", r)
			case r.Test == "throughput" && r.Lost > 0 && strings.HasPrefix(r.Network, "tipcp"):
				t.Errorf("a connection has lost something: %+v", r)
			}
		}
		if len(rows) != 8 || rows["latency tipcgram"] != 2 {
			t.Errorf("got %v", rows)
		}
		if lines := strings.Split(strings.TrimSpace(measure("--test", "latency", "--time", "10ms", "--timeout", "1m", "--sizes", "1", "--network", "tipc")), "\n"); len(lines) != 3 || lines[1] != perfHead || len(lines[2]) != len(perfHead) {
			t.Errorf("got %q", lines)
		}
	})
}

// A server answers what cannot be with an error, and goes on.
func TestPerfServerRefuses(t *testing.T) {
	n := liveBed(t, 1)[0]
	perfServer(t, n, "18888:1")
	for ask, want := range map[string]string{
		"{":            "unexpected end",
		`{"test":"x"}`: "a test that is not known",
		`{"test":"latency","network":"tipc","size":0,"time":1000000000}`:     "cannot be",
		`{"test":"latency","network":"tipc","size":66001,"time":1000000000}`: "cannot be",
		`{"test":"latency","network":"tipc","size":1,"time":1}`:              "cannot be",
		`{"test":"latency","network":"tcp","size":1,"time":1000000000}`:      "is not tipc",
		`{"test":"` + strings.Repeat("x", 5000) + `"}`:                       "too long",
	} {
		c, err := n.Dial(t.Context(), "tipcpacket", stack.Service{Type: 18888, Instance: 1})
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(time.Minute))
		c.Write([]byte(ask))
		b := make([]byte, longestPerf)
		k, err := c.Read(b)
		var told perfTell
		if err != nil || json.Unmarshal(b[:k], &told) != nil || !strings.Contains(told.Error, want) {
			t.Errorf("%.60s: got %v, %q, want %q", ask, err, b[:k], want)
		}
		c.Close()
	}
	var held []*stack.Conn
	for range mostPerfs {
		c, err := n.Dial(t.Context(), "tipcpacket", stack.Service{Type: 18888, Instance: 1})
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	p := perf{to: stack.Service{Type: 18888, Instance: 1}, timeout: time.Minute}
	if _, err := p.measure(t.Context(), n, perfAsk{Test: "latency", Network: "tipc", Size: 1, Time: time.Second}); err == nil || !strings.Contains(err.Error(), "others measure now") {
		t.Errorf("one too many: %v", err)
	}
	for _, c := range held {
		c.Close()
	}
}

func TestPerfMisuse(t *testing.T) {
	for _, c := range [][]string{{}, {"18888"}, {"--network", "tcp", "18888:1"}, {"--sizes", "0", "18888:1"}, {"--sizes", "66001", "18888:1"}, {"--test", "x", "18888:1"}, {"--time", "1ms", "18888:1"}} {
		if _, errs, code := utipc(nil, append([]string{"perf"}, c...)...); code != cmdline.Misuse {
			t.Errorf("%q: exit %d, %q", c, code, errs)
		}
	}
}
