// SPDX-License-Identifier: Apache-2.0

package systemd

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/utipc/utipc/test/tier"
)

// manager is the other end.
func manager(t *testing.T) (path string, next func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return path, func() string {
		b := make([]byte, 4096)
		c.SetReadDeadline(time.Now().Add(time.Minute))
		k, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:k])
	}
}

// Proves: daemon.settings
func TestTells(t *testing.T) {
	path, next := manager(t)
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "3000000")
	t.Setenv("WATCHDOG_PID", "")
	n, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	n.timeout = time.Minute
	if n.Watchdog() != 3*time.Second {
		t.Errorf("watchdog %v", n.Watchdog())
	}
	if v, ok := os.LookupEnv("NOTIFY_SOCKET"); ok {
		t.Errorf("a child would tell to %q", v)
	}
	for _, c := range []struct {
		tell func() error
		want string
	}{
		{func() error { return n.Ready("two\nlines") }, "^READY=1\nSTATUS=two lines$"},
		{n.Alive, "^WATCHDOG=1$"},
		{n.Reloading, `^RELOADING=1\nMONOTONIC_USEC=[1-9]\d*$`},
		{func() error { return n.Status("x") }, "^STATUS=x$"},
		{func() error { return n.Stopping("bye") }, "^STOPPING=1\nSTATUS=bye$"},
	} {
		if err := c.tell(); err != nil {
			t.Error(err)
		} else if got := next(); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("told %q, want %q", got, c.want)
		}
	}
}

func TestAbstractSocket(t *testing.T) {
	name := "@utipc-test-" + filepath.Base(t.TempDir())
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		tier.Missing(t, err)
	}
	defer c.Close()
	n, err := open(name, "", "", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	n.timeout = time.Minute
	if err := n.Alive(); err != nil {
		t.Error(err)
	}
}

func TestNobodyToTell(t *testing.T) {
	n, err := open("", "1000", "", 1)
	if n != nil || err != nil {
		t.Fatalf("got %v, %v", n, err)
	}
	for _, err := range []error{n.Ready(""), n.Status(""), n.Reloading(), n.Stopping(""), n.Alive(), n.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if n.Watchdog() != 0 {
		t.Error("somebody watches")
	}
}

func TestWrongEnvironment(t *testing.T) {
	path, _ := manager(t)
	for _, c := range []struct {
		path, usec, pid string
		watchdog        time.Duration
		fails           bool
	}{
		{path, "2000000", "7", 2 * time.Second, false},
		{path, "2000000", "8", 0, false}, // another process is watched
		{path, "0", "", 0, true},
		{path, "-1", "", 0, true},
		{path, "99999999999999999999", "", 0, true},
		{path, "soon", "7", 0, true},
		{"relative", "", "", 0, true},
		{path + "-not", "", "", 0, true},
	} {
		n, err := open(c.path, c.usec, c.pid, 7)
		if (err != nil) != c.fails || n.Watchdog() != c.watchdog {
			t.Errorf("%+v: %v, %v", c, n.Watchdog(), err)
		}
		n.Close()
	}
}

// A manager that does not read stops nobody for ever.
func TestDeafManager(t *testing.T) {
	path, _ := manager(t)
	n, err := open(path, "", "", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	n.timeout = 200 * time.Millisecond
	for range 100000 {
		if err = n.Alive(); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("100000 datagrams fit a socket that nobody reads")
	}
}
