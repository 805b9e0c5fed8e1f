// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/utipc/utipc/internal/cmdline"
)

// Colours are for terminals alone, and for none whose user does not want them.
//
// Mutations it catches: inkFor does not ask for NO_COLOR, for a terminal or for TERM; line leaves a control character of the text as it is.
//
// Proves: tools.small
func TestInk(t *testing.T) {
	_, tty := openPTY(t)
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		out  io.Writer
		env  map[string]string
		want ink
	}{
		{tty, nil, true},
		{tty, map[string]string{"NO_COLOR": "", "TERM": "xterm"}, true},
		{tty, map[string]string{"NO_COLOR": "1", "TERM": "xterm"}, false},
		{tty, map[string]string{"TERM": "dumb"}, false},
		{file, nil, false},
		{&bytes.Buffer{}, nil, false},
	} {
		if got := inkFor(c.out, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%T with %v: got colours %v", c.out, c.env, got)
		}
	}
	var b bytes.Buffer
	if err := ink(true).line(cmdline.Stdio{Out: &b}, bad, "a\x1b[2Jb"); err != nil || b.String() != "\x1b[31ma\\u001b[2Jb\x1b[0m\n" {
		t.Errorf("got %v, %q", err, &b)
	}
	if got := ink(false).mark(bad, "a"); got != "a" {
		t.Errorf("without colours got %q", got)
	}
}

// onTerminal runs the program with a terminal as its output, and returns all that it wrote there.
func onTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	controller, tty := openPTY(t)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), env...)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = tty, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close() // the program's is the last, whose end ends the reading
	out, _ := io.ReadAll(controller)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &errs)
	}
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

// On a terminal the demo is in colour, in 80 columns, and in nothing but text where NO_COLOR is set; what it says
// while it waits is gone in the end.
//
// Mutations it catches: paint marks nothing; startDemoScreen takes ink(true); erase does nothing.
//
// Proves: tools.demo
func TestDemoInTerminal(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		want []string
		not  string
	}{
		{"colour", []string{"NO_COLOR=", "TERM=xterm"}, []string{"\x1b[36malpha\x1b[0m", "\x1b[31mloses power\x1b[0m", "\n\x1b[32;1mdemo: ok\x1b[0m\n"}, "\x1b[2J"},
		{"plain", []string{"NO_COLOR=1", "TERM=xterm"}, []string{"s  alpha is node ", "\ndemo: ok\n"}, "m\x1b[0m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := onTerminal(t, c.env, "demo")
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in %q", want, out)
				}
			}
			if c.name == "plain" && sgr.MatchString(out) {
				t.Errorf("colours in %q", out)
			}
			for line := range strings.Lines(out) {
				for part := range strings.SplitSeq(strings.TrimRight(line, "\n"), "\r") {
					if n := utf8.RuneCountInString(control.ReplaceAllString(part, "")); n > demoWidth {
						t.Errorf("%d characters: %q", n, part)
					}
				}
				if i := strings.LastIndex(line, "... "); i >= 0 && !strings.Contains(line[i:], "\r\x1b[K") {
					t.Errorf("what is waited for stays: %q", line)
				}
			}
		})
	}
}

// What takes longer than a second is said, from then on, in a line of its own that the next line replaces.
//
// Mutations it catches: progress speaks at once; it does not look at live; print leaves what was waited for; waits does not
// begin anew.
//
// Proves: tools.demo
func TestDemoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		show := func(live bool) (*demoScreen, *bytes.Buffer) {
			var b bytes.Buffer
			return startDemoScreen(&b, false, live), &b
		}
		s, b := show(true)
		after := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		text := func() string {
			s.mu.Lock() // it goes on
			defer s.mu.Unlock()
			defer b.Reset()
			return b.String()
		}
		s.waits("a")
		after(900 * time.Millisecond)
		s.waits("b")
		after(900 * time.Millisecond)
		if got := text(); got != "" {
			t.Errorf("under a second: %q", got)
		}
		after(250 * time.Millisecond)
		if got, want := text(), "\r 2.00s  ... b, for 1.1 s now\x1b[K"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		s.say("done")
		after(5 * time.Second)
		if got, want := text(), "\r\x1b[K 2.05s  done\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		s.close()
		s, b = show(false)
		s.waits("a")
		after(5 * time.Second)
		s.close()
		if b.Len() > 0 {
			t.Errorf("without a terminal: %q", b)
		}
	})
}

// A line is broken before words.
//
// Mutation it catches: broken counts bytes instead of characters.
func TestBroken(t *testing.T) {
	word := strings.Repeat("µ", 38)
	if got, want := broken(" 0.00s  "+word+" "+word[:64]+" "+word), " 0.00s  "+word+" "+word[:64]+"\n        "+word+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
