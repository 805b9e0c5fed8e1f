// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/printable"
)

const (
	demoWidth  = 80 // columns, where lines are broken
	demoIndent = 8  // columns, for what continues a line

	// demoQuiet is how long the demo waits before it says what for.
	demoQuiet = time.Second
)

// A demoScreen shows the lines of the demo. On a terminal it also shows what is being waited for, once that takes
// longer than demoQuiet, in a line that the next one replaces.
type demoScreen struct {
	ink   ink
	live  bool // out is a terminal
	begin time.Time
	stop  chan struct{}
	tasks sync.WaitGroup

	mu    sync.Mutex // guards what follows
	out   io.Writer
	wait  string    // what is being waited for
	since time.Time // for how long
	shown bool      // the last line is that of the progress
}

// newDemoScreen shows on the output of a command. It has to be closed.
func newDemoScreen(std cmdline.Stdio) *demoScreen {
	f, ok := std.Raw().(*os.File)
	return startDemoScreen(std.Raw(), inkOf(std), ok && isTerminal(f))
}

func startDemoScreen(out io.Writer, k ink, live bool) *demoScreen {
	s := &demoScreen{ink: k, live: live, begin: time.Now(), stop: make(chan struct{}), out: out}
	if live {
		s.tasks.Go(s.progress)
	}
	return s
}

// close ends the progress; lines can still be shown.
func (s *demoScreen) close() {
	close(s.stop)
	s.tasks.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

// progress shows what is being waited for, until close.
func (s *demoScreen) progress() {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		if took := time.Since(s.since); s.wait != "" && took >= demoQuiet {
			text := fmt.Sprintf("%5.2fs  ... %s, for %.1f s now", time.Since(s.begin).Seconds(), s.wait, took.Seconds())
			s.out.Write([]byte("\r" + s.ink.mark(dim, cut(text, demoWidth-1)) + "\x1b[K"))
			s.shown = true
		}
		s.mu.Unlock()
	}
}

// erase takes the line of the progress away.
func (s *demoScreen) erase() {
	if s.shown {
		s.out.Write([]byte("\r\x1b[K"))
		s.shown = false
	}
}

// waits says what is being waited for from now on, until the next line.
func (s *demoScreen) waits(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wait, s.since = what, time.Now()
}

// say shows a line with the time of it; one that is too long goes on in others.
func (s *demoScreen) say(format string, a ...any) {
	s.print(broken(fmt.Sprintf("%5.2fs  ", time.Since(s.begin).Seconds()) + printable.Text(fmt.Sprintf(format, a...))))
}

// print shows lines, and ends what was waited for.
func (s *demoScreen) print(lines string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wait = ""
	s.erase()
	for line := range strings.Lines(lines) {
		s.out.Write([]byte(s.paint(strings.TrimSuffix(line, "\n")) + "\n"))
	}
}

// broken is a line, broken before words at the width of the screen.
func broken(line string) string {
	var b strings.Builder
	at := 0
	for word := range strings.SplitAfterSeq(line, " ") {
		n := len([]rune(strings.TrimRight(word, " ")))
		if at+n > demoWidth && at > demoIndent {
			b.WriteString("\n" + strings.Repeat(" ", demoIndent))
			at = demoIndent
		}
		b.WriteString(word)
		at += len([]rune(word))
	}
	return strings.ReplaceAll(b.String(), " \n", "\n") + "\n"
}

var (
	demoStamp = regexp.MustCompile(`^ *[0-9.]+s  `)
	demoWords = regexp.MustCompile(`\b(alpha|beta|gamma|loses power)\b`)

	// demoStyles are of words: the nodes are told apart by colours that say nothing of how they are.
	demoStyles = map[string]style{"alpha": "36", "beta": "35", "gamma": "33", "loses power": bad}
)

// paint marks a line.
func (s *demoScreen) paint(line string) string {
	switch {
	case !bool(s.ink):
		return line
	case strings.HasPrefix(line, "what "):
		return s.ink.mark(bold, line)
	case line == "demo: ok":
		return s.ink.mark(good+";1", line)
	}
	stamp := demoStamp.FindString(line)
	return s.ink.mark(dim, stamp) + demoWords.ReplaceAllStringFunc(line[len(stamp):], func(w string) string { return s.ink.mark(demoStyles[w], w) })
}
