// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack/carrier/tap"
)

// lines gives what a command prints, line by line.
func lines(t *testing.T, r io.Reader) func() string {
	all := make(chan string, 1000)
	go func() {
		defer close(all)
		for s := bufio.NewScanner(r); s.Scan(); {
			all <- s.Text()
		}
	}()
	return func() string {
		t.Helper()
		select {
		case l := <-all:
			return l
		case <-time.After(time.Minute):
			t.Fatal("no line came within a minute")
			return ""
		}
	}
}

// TestDecodeFollow: a file is read as it grows, in the middle of a frame too, and an
// interrupt is its end.
//
// Proves: tools.decode
func TestDecodeFollow(t *testing.T) {
	b, err := os.ReadFile(capture("01-discovery-linkup"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "growing.pcap")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Write(b[:10]) // less than a file's head
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	var errs bytes.Buffer
	status := make(chan int)
	go func() {
		s := run(ctx, []string{"decode", "--follow", name}, nil, w, &errs)
		w.Close()
		status <- s
	}()
	next := lines(t, r)
	record := 16 + 90 // the first two are of this length
	f.Write(b[10 : 24+record+7])
	if l := next(); !strings.HasPrefix(l, "    1    0.000000 ") {
		t.Errorf("got %q, want frame 1", l)
	}
	f.Write(b[24+record+7 : 24+2*record+3])
	if l := next(); !strings.HasPrefix(l, "    2 ") {
		t.Errorf("got %q, want frame 2", l)
	}
	cancel()
	if l, want := next(), "2 frames, 2 tipc, 0 unknown, 0 malformed"; l != want {
		t.Errorf("got %q, want %q", l, want)
	}
	if s := <-status; s != cmdline.Done || errs.Len() > 0 {
		t.Errorf("got status %d, %q, want 0, nothing", s, errs.String())
	}
}

// TestDecodeFollowCut: a file that becomes shorter is another one.
func TestDecodeFollowCut(t *testing.T) {
	b, err := os.ReadFile(capture("01-discovery-linkup"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "cut.pcap")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, w := io.Pipe()
	var errs bytes.Buffer
	status := make(chan int)
	go func() {
		s := run(ctx, []string{"decode", "--follow", name}, nil, w, &errs)
		w.Close()
		status <- s
	}()
	next := lines(t, r)
	for range 69 {
		next()
	}
	if err := os.Truncate(name, 100); err != nil {
		t.Fatal(err)
	}
	if l := next(); !strings.HasPrefix(l, "69 frames") {
		t.Errorf("got %q, want the last line", l)
	}
	if s := <-status; s != cmdline.Failed || !strings.Contains(errs.String(), errShrunk.Error()) {
		t.Errorf("got status %d, %q, want %d, %q", s, errs.String(), cmdline.Failed, errShrunk)
	}
}

// TestDecodeCount ends after so many frames.
func TestDecodeCount(t *testing.T) {
	out, _, status := utipc(nil, "decode", "--count", "3", capture("01-discovery-linkup"))
	if got, want := lastLine(t, out), "3 frames, 3 tipc, 0 unknown, 0 malformed"; got != want || status != cmdline.Done {
		t.Errorf("got %q, status %d, want %q, 0", got, status, want)
	}
}

// TestDecodePipe: of pcapng in a pipe, as 'utipc capture' writes it, each frame is printed
// when it comes, and not when the next does.
func TestDecodePipe(t *testing.T) {
	in, feed := io.Pipe()
	r, w := io.Pipe()
	status := make(chan int)
	var errs bytes.Buffer
	go func() {
		s := run(t.Context(), []string{"decode", "--ladder", "--ascii", "-"}, in, w, &errs)
		w.Close()
		status <- s
	}()
	next := lines(t, r)
	ng := tap.NewWriter(feed, "eth0", 1500)
	f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: 1, DestNode: 2}
	f.Prev = 1
	for i := range 3 {
		f.Seq = frame.Seq(i + 1)
		if err := ng.WriteFrame(time.Unix(int64(i), 0), tap.In, ethernet(f.Append(nil, nil)), "dropped: a test"); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			next()
			next() // the head
		}
		if l := next(); !strings.Contains(l, " data to 0 0B seq "+itoa(i+1)+" ") || !strings.HasSuffix(l, "x    | dropped: a test") {
			t.Errorf("got %q, want frame %d", l, i+1)
		}
	}
	ng.Close()
	feed.Close()
	if l, want := next(), "3 frames, 3 tipc, 0 unknown, 0 malformed"; l != want {
		t.Errorf("got %q, want %q", l, want)
	}
	if s := <-status; s != cmdline.Done || errs.Len() > 0 {
		t.Errorf("got status %d, %q", s, errs.String())
	}
}
