// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

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
