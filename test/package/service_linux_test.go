// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A unit is what the package's unit says: by key, the last value.
type unit map[string]string

func readUnit(t *testing.T, path string) unit {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	u := unit{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), "="); ok && !strings.HasPrefix(key, "#") {
			u[key] = value
		}
	}
	return u
}

// caps are the capabilities of a key as setpriv(1) has them.
func (u unit) caps(key string) string {
	s := "-all"
	for _, c := range strings.Fields(u[key]) {
		s += ",+" + strings.ToLower(strings.TrimPrefix(c, "CAP_"))
	}
	return s
}

// A service is the daemon of a host, started as its unit says.
type service struct {
	h       *host
	unit    unit
	manager *net.UnixConn
	heard   chan string // what it was told, and has not been looked at
	cmd     *exec.Cmd
	ended   chan struct{}
	log     bytes.Buffer // once it has ended
}

// sockets numbers the sockets to notify.
var sockets atomic.Int32

// limits raises what the unit raises, as far as this machine lets it.
const limits = `ulimit -l unlimited 2>/dev/null || ulimit -l "$(ulimit -Hl)"; exec "$@"`

// start starts the service of a host, and waits until it says that it is ready. Every
// minute would be too late for its watchdog.
func start(ctx context.Context, h *host) *service {
	h.t.Helper()
	s := &service{h: h, unit: readUnit(h.t, h.file("/lib/systemd/system/utipc.service")), heard: make(chan string, 1000), ended: make(chan struct{})}
	u := s.unit
	for key, want := range map[string]string{"Type": "notify", "RuntimeDirectory": "utipc", "RuntimeDirectoryPreserve": "restart", "User": "utipc", "Group": "utipc"} {
		if u[key] != want {
			h.t.Fatalf("the unit has %s=%s, want %s", key, u[key], want)
		}
	}
	name := fmt.Sprintf("@utipc-package-%d-%d", os.Getpid(), sockets.Add(1))
	if err := h.net.Do(func() (err error) {
		s.manager, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { s.manager.Close() })
	go s.hear()
	h.must(ctx, "install -d -o utipc -g utipc -m "+u["RuntimeDirectoryMode"]+" /run/utipc")
	words := []string{
		"bash", "-c", limits, "limits", "setpriv", "--reuid", u["User"], "--regid", u["Group"], "--clear-groups", "--no-new-privs",
		"--inh-caps", u.caps("AmbientCapabilities"), "--ambient-caps", u.caps("AmbientCapabilities"), "--bounding-set", u.caps("CapabilityBoundingSet"), "--",
	}
	s.cmd = h.command(ctx, append(words, strings.Fields(u["ExecStart"])...)...)
	s.cmd.Env = append(s.cmd.Env, "NOTIFY_SOCKET="+name, "WATCHDOG_USEC="+u["WatchdogSec"]+"000000")
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		s.cmd.Wait()
		close(s.ended)
	}()
	h.t.Cleanup(func() {
		s.signal("KILL")
		<-s.ended
		if h.t.Failed() {
			h.t.Logf("the log of %s:\n%s", h.name, s.log.String())
		}
	})
	s.told("READY=1\nSTATUS=node ")
	return s
}

// hear takes what the manager is told, so that nobody waits for it.
func (s *service) hear() {
	b := make([]byte, 4096)
	for {
		n, err := s.manager.Read(b)
		if err != nil {
			return
		}
		select {
		case s.heard <- string(b[:n]):
		default:
		}
	}
}

// told waits until the manager is told something that begins so.
func (s *service) told(begin string) string {
	s.h.t.Helper()
	for late := time.After(3 * time.Minute); ; {
		select {
		case said := <-s.heard:
			if strings.HasPrefix(said, begin) {
				return said
			}
		case <-s.ended:
			s.h.t.Fatalf("%s: it has ended: %v", s.h.name, s.cmd.ProcessState)
		case <-late:
			s.h.t.Fatalf("%s: nothing of %q", s.h.name, begin)
		}
	}
}

// signal sends the daemon a signal. Its number, among the host's processes, is in its lock.
func (s *service) signal(name string) {
	s.h.run(context.Background(), `pid=$(cat /run/utipc/utipc.sock.lock) && [ -n "$pid" ] && kill -`+name+` "$pid"`)
}

// stop stops it as systemd does, and returns its status.
func (s *service) stop() int {
	s.h.t.Helper()
	s.signal("TERM")
	s.told("STOPPING=1")
	<-s.ended
	return s.cmd.ProcessState.ExitCode()
}
