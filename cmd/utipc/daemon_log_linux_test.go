// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/cmdline"
)

// A daemon whose log nobody reads any more loses its lines and lives: it reloads its settings,
// which writes a line, and ends in order when it is told to.
// Mutation: SIGPIPE is not ignored.
func TestLogReaderEnds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := startDaemonTo(t, w, filepath.Join(t.TempDir(), "utipc.sock"), aloneByUDP(t)...)
	w.Close()
	r.Close()
	for range 2 {
		s.cmd.Process.Signal(syscall.SIGHUP)
		s.told("RELOADING=1")
		s.told("READY=1")
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.ends(); status != cmdline.Done {
		t.Errorf("the daemon ended with %v", s.cmd.ProcessState)
	}
}

// A log that takes nothing, as a pipe that is full and that nobody reads, does not hold the
// daemon up: it starts, reloads its settings and ends in order.
// Mutation: the daemon's log is std.Err itself.
func TestLogThatBlocks(t *testing.T) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	w, r := os.NewFile(uintptr(p[1]), "log"), os.NewFile(uintptr(p[0]), "reader")
	defer r.Close()
	full := make([]byte, 4096)
	for _, size := range []int{len(full), 1} {
		for {
			if _, err := unix.Write(p[1], full[:size]); errors.Is(err, unix.EAGAIN) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := unix.SetNonblock(p[1], false); err != nil { // as a program's log is
		t.Fatal(err)
	}
	s := startDaemonTo(t, w, filepath.Join(t.TempDir(), "utipc.sock"), aloneByUDP(t)...)
	w.Close()
	for range 2 {
		s.cmd.Process.Signal(syscall.SIGHUP)
		s.told("RELOADING=1")
		s.told("READY=1")
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.ends(); status != cmdline.Done {
		t.Errorf("the daemon ended with %v", s.cmd.ProcessState)
	}
}

// What a log does not take in time is dropped and counted, and the count is written where
// the lines are missing.
// Mutation: Write does not keep lost with the line that comes after.
func TestDroppedLogLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := newLossyLog(w, func(to io.Writer, lost int) { fmt.Fprintf(to, "%d lost\n", lost) })
		l.most = 4
		for _, line := range []string{"a\n", "b\n", "c\n"} { // the first is being written, two wait
			l.Write([]byte(line))
			synctest.Wait()
		}
		l.Write([]byte("d\n"))
		l.Write([]byte("e\n"))
		read := func() string {
			b := make([]byte, 64)
			n, _ := r.Read(b)
			synctest.Wait()
			return string(b[:n])
		}
		got := read()
		l.Write([]byte("f\n")) // there is room again
		l.Write([]byte("g\n"))
		for range 5 {
			got += read()
		}
		if want := "a b c 2 lost f 1 lost"; strings.Join(strings.Fields(got), " ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
		l.close()
	})
}
