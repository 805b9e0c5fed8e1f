// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/tier"
)

// What a running node sends and receives, to a file and to a pipe.
//
// Proves: tools.small
func TestCapture(t *testing.T) {
	t.Parallel()
	onBoth(t, 2, func(t *testing.T, all []*stack.Node) {
		ignore := stack.HandlerFunc(func(*stack.Reply, *stack.Message) {})
		if _, err := all[1].Handle(t.Context(), stack.Service{Type: 18888, Instance: 17}, ignore); err != nil {
			t.Fatal(err)
		}
		waitNames(t, all[0], 18888, 1)
		file := filepath.Join(t.TempDir(), "x.pcapng")
		record := func(args ...string) (out, errs bytes.Buffer) {
			t.Helper()
			var c capturer
			rest, err := cmdline.Parse(flagsOf(&c), args, 0, 1)
			if err == nil {
				err = c.check()
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(rest) > 0 {
				c.file = rest[0]
			}
			done := make(chan error, 1)
			go func() { done <- c.run(t.Context(), all[0], cmdline.Stdio{In: nil, Out: &out, Err: &errs}) }()
			from, err := all[0].ListenPacket(t.Context(), "tipcrdm", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer from.Close()
			for {
				if _, err := from.WriteTo([]byte("something to record"), stack.Service{Type: 18888, Instance: 17}); err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-done:
					if err != nil {
						t.Fatal(err)
					}
					return out, errs
				case <-time.After(time.Millisecond):
				}
			}
		}
		if _, errs := record("--count", "20", file); !strings.HasPrefix(errs.String(), "utipc capture: 20 frames, ") {
			t.Errorf("it said %q", errs.String())
		}
		frames, err := layers.ReadFile(file)
		if err != nil || len(frames) != 20 {
			t.Fatalf("%d frames, %v", len(frames), err)
		}
		if !slices.ContainsFunc(frames, func(f layers.Frame) bool {
			return f.Direction == layers.Outbound && bytes.Contains(f.Data, []byte("something to record")) && time.Since(f.Time).Abs() < time.Hour
		}) {
			t.Error("no frame has the message")
		}
		out, _ := record("--count", "20", "--snap", "30", "--bearer", "eth0")
		r, err := layers.NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 20 {
			if f, err := r.Next(); err != nil || len(f.Data) > 30 || f.Len < len(f.Data) {
				t.Errorf("frame %d: %v, %d of %d bytes", k, err, len(f.Data), f.Len)
			}
		}
	})
}

// What tshark makes of a capture from a pipe.
//
// Proves: tools.capture
func TestCaptureForTshark(t *testing.T) {
	t.Parallel()
	bin, err := exec.LookPath("tshark")
	if err != nil {
		tier.Missing(t, "tshark is missing")
	}
	all := liveBed(t, 2)
	c := capturer{count: 10}
	c.Frames = 100
	cmd := exec.CommandContext(t.Context(), bin, "-r", "-", "-T", "fields", "-e", "frame.interface_name", "-e", "frame.protocols")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs, words bytes.Buffer
	cmd.Stderr = &errs
	from, err := all[0].ListenPacket(t.Context(), "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(t.Context(), all[0], cmdline.Stdio{In: nil, Out: in, Err: &words})
		in.Close()
	}()
	go func() {
		for {
			from.WriteTo([]byte("x"), stack.SocketAddr{Node: all[1].Addr(), Port: 1}) // nobody is there: it comes back
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if got := strings.Count(string(out), "eth0\teth:ethertype:tipc"); got != 10 {
		t.Errorf("tshark read %d frames:\n%s", got, out)
	}
}

func TestCaptureMisuse(t *testing.T) {
	for _, c := range [][]string{{"--snap", "13"}, {"--buffer", "0"}, {"--buffer", "65537"}, {"--count", "-1"}, {"--duration", "-1s"}, {"a", "b"}} {
		if _, errs, code := utipc(nil, append([]string{"capture"}, c...)...); code != cmdline.Misuse {
			t.Errorf("%q: exit %d, %q", c, code, errs)
		}
	}
}
