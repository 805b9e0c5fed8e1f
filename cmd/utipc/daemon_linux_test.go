// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	protocol "github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/test/netns"
)

var usedUDP atomic.Uint32

// Proves: daemon.settings
func TestDaemonLife(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "run", "utipc.sock")
	file := filepath.Join(dir, "utipc.toml")
	set := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set("[log]\nlevel = \"info\"\n")
	s := startDaemon(t, socket, append(aloneByUDP(t), "--config", file, "--socket-mode", "0600", "--metrics", "127.0.0.1:0", "--pprof")...)
	if fi, err := os.Stat(socket); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", fi.Mode(), err)
	}
	for path, want := range map[string]os.FileMode{filepath.Dir(socket): 0o755, socket + ".lock": 0o600} {
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, fi.Mode(), err, want)
		}
	}
	if !protocol.Alive(t.Context(), socket) {
		t.Error("nobody listens")
	}
	s.told("WATCHDOG=1")
	s.told("WATCHDOG=1")

	// What is wrong changes nothing; what is right is applied.
	set("[log]\nlevel = \"loud\"\n")
	s.cmd.Process.Signal(syscall.SIGHUP)
	s.told("RELOADING=1\nMONOTONIC_USEC=")
	if said := s.told("READY=1"); !strings.Contains(said, file+`:2: log.level = "loud"`) {
		t.Errorf("told %q", said)
	}
	set("[log]\nlevel = \"debug\"\n[node]\nnetid = 5\n")
	s.cmd.Process.Signal(syscall.SIGHUP)
	if said := s.told("READY=1"); strings.Contains(said, "reload") {
		t.Errorf("told %q", said)
	}
	s.logged(`settings that take a restart" keys=node.netid\n`)

	// Another one does not disturb it.
	second := exec.Command("/proc/self/exe", append([]string{"daemon", "--socket", socket}, aloneByUDP(t)...)...)
	said, _ := second.CombinedOutput()
	if want := fmt.Sprintf("another daemon, pid %d, serves %s", s.cmd.Process.Pid, socket); second.ProcessState.ExitCode() != cmdline.Failed || !strings.Contains(string(said), want) {
		t.Errorf("a second one: status %d, %s", second.ProcessState.ExitCode(), said)
	}
	if !protocol.Alive(t.Context(), socket) {
		t.Error("nobody listens after the second one")
	}

	s.cmd.Process.Signal(syscall.SIGTERM)
	s.told("STOPPING=1")
	if status := s.ends(); status != cmdline.Done {
		t.Errorf("stopped with status %d", status)
	}
	if left, _ := os.ReadDir(filepath.Dir(socket)); len(left) != 1 || left[0].Name() != "utipc.sock.lock" {
		t.Errorf("it leaves %v", left)
	}
}

// A socket whose file was removed, with its folder too, is made again, and an attached
// program notices nothing.
// Mutations: wait without keepSocket; serve reports the end of a listener that was replaced.
func TestSocketIsRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	socket := filepath.Join(dir, "utipc.sock")
	s := startDaemon(t, socket, append(aloneByUDP(t), "--socket-mode", "0600")...)
	n, err := stack.Attach(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(t.Context())
	for i, path := range []string{socket, dir} {
		if err := os.Rename(path, path+".gone"); err != nil { // at once, also a folder with what is in it
			t.Fatal(err)
		}
		s.logged(fmt.Sprintf(`(?s)(socket made again.*){%d}`, i+1))
		if fi, err := os.Stat(socket); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("the socket: %v, %v", fi, err)
		}
		if !protocol.Alive(t.Context(), socket) {
			t.Error("nobody listens")
		}
		if _, err := lockSocket(socket); !errors.As(err, new(*busyError)) {
			t.Errorf("the lock: %v, want it held", err)
		}
	}
	if n.Addr() != 0x1001001 {
		t.Errorf("the program that was attached has the node %v", n.Addr())
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	if status := s.ends(); status != cmdline.Done {
		t.Errorf("stopped with status %d", status)
	}
}

// A daemon that is killed leaves a socket, which the next one replaces.
func TestDaemonAfterAKilledOne(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "utipc.sock")
	first := startDaemon(t, socket, aloneByUDP(t)...)
	first.cmd.Process.Kill()
	first.ends()
	if _, err := os.Stat(socket); err != nil {
		t.Fatalf("no socket is left: %v", err)
	}
	if protocol.Alive(t.Context(), socket) {
		t.Fatal("somebody listens still")
	}
	startDaemon(t, socket, aloneByUDP(t)...)
	if !protocol.Alive(t.Context(), socket) {
		t.Error("nobody listens")
	}
}

// Proves: daemon.metrics
func TestDaemonMetrics(t *testing.T) {
	s := startDaemon(t, filepath.Join(t.TempDir(), "utipc.sock"), append(aloneByUDP(t), "--metrics", "127.0.0.1:0", "--pprof")...)
	m := s.logged(`msg=metrics address=(\S+) pprof=true`)
	get := func(path, nodeFlags string) (int, string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://"+m[1]+path, nil)
		if nodeFlags != "" {
			r.Host = nodeFlags
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(b)
	}
	status, page := get("/metrics", "")
	for _, want := range []string{
		`\nutipc_info\{version="[^"]+",node="1001001",identity="[0-9a-f]+"\} 1\n`, `\nutipc_bearer_mtu_bytes\{bearer="UDP1"\} 14000\n`,
		`\nutipc_messages_total\{way="in"\} 0\n`, `\nutipc_chunks [1-9]\d*\n`, `\nutipc_bindings [1-9]\d*\n`, `\nutipc_daemon_programs 0\n`,
	} {
		if status != http.StatusOK || !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("%d: no %s in\n%s", status, want, page)
		}
	}
	for _, name := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(page, -1) {
		if strings.Count(page, "# TYPE "+name[1]+" ") != 1 {
			t.Errorf("%s stands twice", name[1])
		}
	}
	for _, c := range []struct {
		path, nodeFlags string
		status          int
	}{
		{"/metrics", "localhost:9118", 200},
		{"/metrics", "[::1]:9118", 200},
		{"/metrics", "evil.example", 403},
		{"/debug/pprof/", "evil.example:80", 403},
		{"/debug/pprof/", "", 200},
		{"/debug/pprof/goroutine?debug=1", "", 200},
		{"/", "", 404},
	} {
		if status, _ := get(c.path, c.nodeFlags); status != c.status {
			t.Errorf("%s of %q: %d, want %d", c.path, c.nodeFlags, status, c.status)
		}
	}
}

// Whoever floods the port has some connections closed, and others are served.
func TestMetricsConnectionsAreLimited(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &limitedListener{Listener: ln, room: make(chan struct{}, 1)}
	defer l.Close()
	taken := make(chan net.Conn)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(taken)
				return
			}
			taken <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(time.Minute))
		return c
	}
	dial()
	first := <-taken
	if _, err := dial().Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("one too many: %v", err)
	}
	first.Close()
	first.Close()
	dial()
	if c := <-taken; c == nil {
		t.Error("no room though it was given back")
	}
}

// Rights that are missing are named, before anything is touched.
func TestDaemonRights(t *testing.T) {
	netns.Require(t)
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		caps []uintptr
		args []string
		want string
	}{
		{nil, []string{"--socket", "/nowhere/utipc.sock"}, "mkdir /nowhere: permission denied"},
		{nil, []string{"--socket", dir + "/s", "--if", "eth9"}, "bearer eth9: missing rights: CAP_NET_RAW (packet sockets), CAP_NET_ADMIN (XDP programs on interfaces, large buffers), CAP_BPF (loading XDP programs); "},
		{[]uintptr{unix.CAP_NET_RAW}, []string{"--socket", dir + "/s", "--bearer", "device eth9 driver af_xdp"}, "missing rights: CAP_NET_ADMIN (XDP programs on interfaces, large buffers), CAP_BPF (loading XDP programs); "},
	} {
		cmd := exec.Command("/proc/self/exe", append([]string{"daemon"}, c.args...)...)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: c.caps}
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != cmdline.Failed || !strings.Contains(string(out), c.want) {
			t.Errorf("%q: status %d, %s", c.args, cmd.ProcessState.ExitCode(), out)
		}
	}
}

// A folder of the socket that is full or cannot be written is named, with what helps.
// Mutation: lockSocket without socketRemedy.
func TestDaemonWithoutRoom(t *testing.T) {
	netns.Require(t)
	dir := t.TempDir()
	for options, want := range map[string]string{
		"ro":          "utipc.sock.lock: read-only file system; make room there, or give the daemon a --socket elsewhere",
		"nr_inodes=1": "utipc.sock.lock: no space left on device; make room there, or give the daemon a --socket elsewhere",
	} {
		cmd := exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs -o "$1" none "$2" && exec /proc/self/fd/3 daemon --socket "$2/utipc.sock"`, "sh", options, dir)
		self, err := os.Open("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		cmd.ExtraFiles = []*os.File{self}
		out, _ := cmd.CombinedOutput()
		self.Close()
		if cmd.ProcessState.ExitCode() != cmdline.Failed || !strings.Contains(string(out), want) {
			t.Errorf("%s: status %d, %s", options, cmd.ProcessState.ExitCode(), out)
		}
	}
}

// Bearers that the file gains, changes and loses; one that somebody enabled stays.
//
// Proves: daemon.settings
func TestDaemonReloadsBearers(t *testing.T) {
	at := freeUDP(t, 4) // each is at one place throughout
	bearer := func(i int, more string) string {
		return fmt.Sprintf("[[bearer]]\nmedium = \"udp\"\nname = \"U%d\"\nlocal = %q\nremotes = [\"127.0.0.1:9\"]\n%s\n", i, at[i], more)
	}
	file := written(t, bearer(0, ""))
	s := startDaemon(t, filepath.Join(t.TempDir(), "utipc.sock"), "--config", file, "--address", "1.1.1")
	n, err := stack.Attach(t.Context(), s.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(t.Context())
	own := netip.MustParseAddrPort(at[3])
	if err := n.Admin().EnableBearer(t.Context(), admin.BearerRequest{Medium: "udp", Name: "MINE", LocalIP: own.Addr(), LocalPort: own.Port(), RemoteIP: netip.MustParseAddr("127.0.0.1")}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, want, said string }{
		{bearer(0, "") + bearer(1, "priority = 7"), "U0:10 MINE:10 U1:7", ""},
		{bearer(0, "tolerance = \"100ms\"\npriority = 12") + bearer(1, "priority = 7"), "U0:12 MINE:10 U1:7", ""},
		{bearer(0, "") + bearer(1, "priority = 7") + bearer(2, ""), "U0:10 MINE:10 U1:7 U2:0", "bearer U2: "}, // a fourth
		{bearer(1, "priority = 8\nmtu = 1400"), "MINE:10 U1:8", ""},
		{"", "MINE:10", ""},
		{bearer(2, ""), "MINE:10 U2:10", ""},
	} {
		if err := os.WriteFile(file, []byte(c.file), 0o644); err != nil {
			t.Fatal(err)
		}
		s.cmd.Process.Signal(syscall.SIGHUP)
		if said := s.told("READY=1"); strings.Contains(said, "reload") != (c.said != "") || !strings.Contains(said, c.said) {
			t.Errorf("told %q, want %q in it", said, c.said)
		}
		var got []string
		for _, b := range must.Get(n.Admin().Bearers(context.Background())) {
			got = append(got, fmt.Sprintf("%s:%d", b.Name, b.Links.Priority))
		}
		if is := strings.Join(got, " "); is != c.want {
			t.Errorf("bearers %s, want %s", is, c.want)
		}
	}
}

func TestLockRefuses(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	os.Symlink(other, socket+".lock")
	if _, err := lockSocket(socket); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link: %v", err)
	}
	if b, _ := os.ReadFile(other); string(b) != "precious" {
		t.Errorf("what it leads to is now %q", b)
	}
	os.Remove(socket + ".lock")
	os.Mkdir(socket+".lock", 0o755)
	if _, err := lockSocket(socket); err == nil {
		t.Error("a directory is a lock")
	}
	os.Remove(socket + ".lock")
	if _, err := lockSocket(filepath.Join(dir, "no", "such", "s")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is missing with its parent: %v", err)
	}
	l, err := lockSocket(socket)
	if err != nil {
		t.Fatal(err)
	}
	var busy *busyError
	if _, err := lockSocket(socket); !errors.As(err, &busy) || busy.pid != os.Getpid() {
		t.Errorf("a second time: %v", err)
	}
	if err := l.release(); err != nil {
		t.Error(err)
	}
	if l, err = lockSocket(socket); err != nil {
		t.Errorf("after release: %v", err)
	} else {
		l.release()
	}
}
