// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

// A heard is a buffer that one may wait for what is written to.
type heard struct {
	mu   sync.Mutex // guards what follows
	b    bytes.Buffer
	more chan struct{} // closed with the next write
}

func newHeard() *heard { return &heard{more: make(chan struct{})} }

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.more)
	h.more = make(chan struct{})
	return h.b.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// until waits for a text; done is the end of whoever writes.
func (h *heard) until(t *testing.T, text string, done <-chan error) {
	t.Helper()
	for {
		h.mu.Lock()
		more, has := h.more, strings.Contains(h.b.String(), text)
		h.mu.Unlock()
		if has {
			return
		}
		select {
		case <-more:
		case err := <-done:
			t.Fatalf("it ended without %q: %v", text, err)
		}
	}
}

// A catRun is the command in this process; its words are those it says on the standard
// error.
type catRun struct {
	out, words *heard
	done       chan error
	stop       context.CancelFunc
}

// startCat runs the command on n; with said it waits until that has said something.
func startCat(t *testing.T, n *stack.Node, in io.Reader, said bool, args ...string) *catRun {
	t.Helper()
	var c cat
	rest, err := cmdline.Parse(flagsOf(&c), append([]string{"--timeout", "1m"}, args...), 0, 1)
	if err == nil {
		err = c.check(rest)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &catRun{out: newHeard(), words: newHeard(), done: make(chan error, 1)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r.stop = cancel
	go func() { r.done <- c.run(ctx, n, cmdline.Stdio{In: in, Out: r.out, Err: r.words}) }()
	if said {
		r.words.until(t, "utipc cat: ", r.done)
	}
	return r
}

// wait waits for the end and returns what was written.
func (r *catRun) wait(t *testing.T) string {
	t.Helper()
	if err := <-r.done; err != nil {
		t.Errorf("%v; it said %q", err, r.words.String())
	}
	return r.out.String()
}

// A file goes to another node as it is, over every kind of socket that keeps the order.
//
// Proves: tools.small
func TestCatFile(t *testing.T) {
	t.Parallel()
	onBoth(t, 2, func(t *testing.T, all []*stack.Node) {
		file := make([]byte, 300000)
		for i := range file {
			file[i] = byte(rand.Uint32())
		}
		for i, network := range []string{"tipc", "tipcpacket"} {
			name := fmt.Sprint("18888:", i)
			there := startCat(t, all[1], nil, true, "-l", "--network", network, name)
			here := startCat(t, all[0], bytes.NewReader(file), false, "--network", network, name)
			here.wait(t)
			if got := there.wait(t); got != string(file) {
				t.Errorf("%s: got %d bytes, want the %d of the file", network, len(got), len(file))
			}
		}
	})
}

// A question and its answer: the input of the one that listens goes to whoever asked.
//
// Proves: tools.small
func TestCatAnswer(t *testing.T) {
	t.Parallel()
	onBoth(t, 2, func(t *testing.T, all []*stack.Node) {
		for i, network := range []string{"tipc", "tipcpacket", "tipcrdm", "tipcgram"} {
			name := fmt.Sprint("18888:", i)
			answer, feed := io.Pipe()
			there := startCat(t, all[1], answer, true, "-l", "--network", network, name)
			here := startCat(t, all[0], strings.NewReader("question\n"), false, "--network", network, "--once", "--linger", "1m", name)
			there.out.until(t, "question\n", there.done)
			io.WriteString(feed, "answer\n")
			feed.Close()
			if got := here.wait(t); got != "answer\n" {
				t.Errorf("%s: got %q", network, got)
			}
			if network == "tipcrdm" || network == "tipcgram" {
				there.stop() // nobody tells it that there will be no more
			}
			if got := there.wait(t); got != "question\n" {
				t.Errorf("%s: got %q", network, got)
			}
		}
	})
}

// Lines are messages; each comes to every socket of a range, and every member of a group.
//
// Proves: tools.small
func TestCatMulticast(t *testing.T) {
	t.Parallel()
	onBoth(t, 3, func(t *testing.T, all []*stack.Node) {
		for _, c := range []struct {
			kind     []string
			to       string
			listener func(i int) string
		}{
			{[]string{"--network", "tipcrdm"}, "18888:0-9", func(i int) string { return fmt.Sprint("18888:", i) }},
			{[]string{"--group"}, "4242:1", func(i int) string { return fmt.Sprint("4242:", 10+i) }},
		} {
			var readers []*catRun
			for i, n := range all[1:] {
				args := append([]string{"-l", "--json", "--count", "3"}, c.kind...)
				readers = append(readers, startCat(t, n, nil, true, append(args, c.listener(i))...))
			}
			if c.to == "18888:0-9" {
				waitNames(t, all[0], 18888, 2)
			}
			in, feed := io.Pipe()
			args := append([]string{"--lines", "--linger", "1m"}, c.kind...)
			startCat(t, all[0], in, c.kind[0] == "--group", append(args, c.to)...)
			if c.kind[0] == "--group" {
				waitNames(t, all[0], 4242, 3)
			}
			feed.Write([]byte("one\ntwo\n\x00three"))
			feed.Close()
			for i, r := range readers {
				var got []string
				d := json.NewDecoder(strings.NewReader(r.wait(t)))
				for d.More() {
					var p catPiece
					if err := d.Decode(&p); err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprintf("%s %d %q", p.Name, p.Bytes, p.Data))
				}
				name := c.to
				want := fmt.Sprintf(`[%s 4 "one\n" %[1]s 4 "two\n" %[1]s 6 "\x00three"]`, name)
				if fmt.Sprint(got) != want {
					t.Errorf("%s, reader %d: got %v, want %s", c.to, i, got, want)
				}
			}
		}
	})
}

// waitNames waits until n knows k bindings of a type.
func waitNames(t *testing.T, n *stack.Node, typ uint32, k int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sub, err := n.Subscribe(ctx, stack.Range{Type: typ, Upper: 1<<32 - 1})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for range k {
		if _, err := sub.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// With --keep connection follows connection, until it is interrupted.
//
// Proves: tools.small
func TestCatKeep(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, all []*stack.Node) {
		var c cat
		rest, err := cmdline.Parse(flagsOf(&c), []string{"-l", "--keep", "--quiet", "18888:17"}, 0, 1)
		if err != nil || c.check(rest) != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var out bytes.Buffer
		done := make(chan error, 1)
		go func() { done <- c.run(ctx, all[0], cmdline.Stdio{In: nil, Out: &out, Err: io.Discard}) }()
		for _, s := range []string{"one\n", "two\n"} {
			startCat(t, all[0], strings.NewReader(s), false, "18888:17").wait(t)
		}
		// A third one that is taken shows that the second was read to its end.
		third := startCat(t, all[0], nil, true, "18888:17")
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		<-third.done
		if got := out.String(); got != "one\ntwo\n" {
			t.Errorf("got %q", got)
		}
	})
}

// How the input is cut.
func TestCatInput(t *testing.T) {
	for _, c := range []struct {
		in   catInput
		text string
		want string
		fail bool
	}{
		{catInput{size: 4}, "abcdefghi", `["abcd" "efgh" "i"]`, false},
		{catInput{size: 100, lines: true}, "one\n\ntwo", `["one\n" "\n" "two"]`, false},
		{catInput{size: 4, lines: true}, "abc\nabcde\n", `["abc\n"]`, true},
		{catInput{size: 100, whole: true}, "one\ntwo\n", `["one\ntwo\n"]`, false},
		{catInput{size: 3, whole: true}, "four", `[]`, true},
		{catInput{size: 3, whole: true}, "", `[]`, false},
	} {
		var got []string
		c.in.r = strings.NewReader(c.text)
		err := c.in.each(func(b []byte) error {
			got = append(got, string(b))
			return nil
		})
		if fmt.Sprintf("%q", got) != c.want || (err != nil) != c.fail {
			t.Errorf("%+v of %q: got %q, %v, want %s", c.in, c.text, got, err, c.want)
		}
	}
}

func TestCatMisuse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "too few"},
		{[]string{"x"}, "is no address"},
		{[]string{"--network", "tcp", "18888:17"}, "--network"},
		{[]string{"--network", "tipc", "18888:1-2"}, "multicast"},
		{[]string{"--group", "18888:1-2"}, "--group wants"},
		{[]string{"-l", "<1001001:7>"}, "with -l the name"},
		{[]string{"--keep", "18888:17"}, "--keep goes with"},
		{[]string{"--lines", "18888:17"}, "a stream has no messages"},
		{[]string{"--lines", "--whole", "--network", "tipcrdm", "18888:17"}, "do not go together"},
		{[]string{"--size", "66001", "18888:17"}, "--size"},
		{[]string{"--once", "--count", "2", "18888:17"}, "do not go together"},
	} {
		if _, errs, code := utipc(nil, append([]string{"cat"}, c.args...)...); code != cmdline.Misuse || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, %q, want %d, %q", c.args, code, errs, cmdline.Misuse, c.want)
		}
	}
}
