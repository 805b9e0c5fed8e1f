// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// A service is a daemon in a process of its own, with the test for its service manager.
type service struct {
	t       *testing.T
	cmd     *exec.Cmd
	manager chan string // what the manager is told
	socket  string

	mu   sync.Mutex
	log  bytes.Buffer
	more chan struct{} // gets one when there is more in the log
}

func (s *service) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.log.Write(b)
}

// logged waits until the log has something that matches, and returns what.
func (s *service) logged(pattern string) []string {
	s.t.Helper()
	late := time.After(2 * time.Minute)
	for {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(s.said()); m != nil {
			return m
		}
		select {
		case <-s.more:
		case <-late:
			s.t.Fatalf("no %s in the log", pattern)
		}
	}
}

func (s *service) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// startDaemon starts one and waits until it is ready.
func startDaemon(t *testing.T, socket string, args ...string) *service {
	t.Helper()
	return startDaemonTo(t, nil, socket, args...)
}

// startDaemonTo is startDaemon with a file for the log; nil: the log is kept.
func startDaemonTo(t *testing.T, log *os.File, socket string, args ...string) *service {
	t.Helper()
	s := &service{t: t, socket: socket, more: make(chan struct{}, 1)}
	path := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { manager.Close() })
	s.manager = make(chan string, 1<<16)
	go func() { // a manager reads whenever it is told something: the kernel keeps a few messages only
		b := make([]byte, 4096)
		for {
			n, err := manager.Read(b)
			if err != nil {
				return
			}
			s.manager <- string(b[:n])
		}
	}()
	s.cmd = exec.Command("/proc/self/exe", append([]string{"daemon", "--socket", socket}, args...)...)
	s.cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=300000")
	s.cmd.Stderr = s
	if log != nil {
		s.cmd.Stderr = log
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", s.said())
		}
	})
	s.told("READY=1\nSTATUS=node ")
	return s
}

// told waits until the manager is told something that begins so.
func (s *service) told(begin string) string {
	s.t.Helper()
	for late := time.After(2 * time.Minute); ; {
		select {
		case said := <-s.manager:
			if strings.HasPrefix(said, begin) {
				return said
			}
		case <-late:
			s.t.Fatalf("nothing of %q\n%s", begin, s.said())
		}
	}
}

// ends waits for the end of the process.
func (s *service) ends() (status int) {
	s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// aloneByUDP is flags for a bearer over UDP of this host, to nobody.
func aloneByUDP(t *testing.T) []string {
	t.Helper()
	return []string{"--udp", freeUDP(t, 1)[0] + ",127.0.0.1:9", "--address", "1.1.1"}
}

// freeUDP is addresses of the loopback that nobody else has: each has a port of its own at an
// address that no other process has.
func freeUDP(t *testing.T, n int) (all []string) {
	t.Helper()
	for range n {
		all = append(all, fmt.Sprint(loopback(3), ":", 10000+usedUDP.Add(1)))
	}
	return all
}
