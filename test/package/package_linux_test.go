// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"context"
	"errors"
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

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/interop/rig"
)

const version = "0.0.1"

// tolerance is that of all links but those that are to be seen lost by silence: the kernel keeps
// real time, and it or a daemon may stand still for seconds where others want the machine too.
const tolerance = 30 * time.Second

// buildPackage builds the package by its command, with more arguments.
func buildPackage(t *testing.T, args ...string) (file string) {
	t.Helper()
	dir := t.TempDir()
	// Under the strictest umask, which must not get into the package.
	args = append([]string{"-c", `umask 077; exec ../../packaging/build-deb "$@"`, "sh", "--quick", "--version", version, "--out", dir}, args...)
	out, err := exec.CommandContext(t.Context(), "sh", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("build-deb: %v\n%s", err, out)
	}
	file = strings.TrimSpace(string(out))
	if filepath.Dir(file) != dir {
		t.Fatalf("build-deb says %q", out)
	}
	checkModes(t, file)
	return file
}

// checkModes looks at what is in the package: all of it is root's, for everybody to read.
//
// Mutation it catches: build-deb without its umask.
func checkModes(t *testing.T, file string) {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "dpkg-deb", "--contents", file).Output()
	if err != nil {
		t.Fatalf("dpkg-deb: %v", err)
	}
	entries := 0
	for line := range strings.Lines(string(list)) {
		entries++
		mode, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		want := "-rw-r--r--"
		switch {
		case mode[0] == 'd', strings.HasSuffix(rest, "./usr/bin/utipc"):
			want = mode[:1] + "rwxr-xr-x"
		case mode[0] == 'l': // the links of the C library
			want = "lrwxrwxrwx"
		}
		if mode != want || !strings.HasPrefix(rest, "root/root ") {
			t.Errorf("in the package: %q, want %s of root", line, want)
		}
	}
	// Mutation it catches: build-deb without the preload library.
	for _, file := range []string{
		`lib/[a-z0-9_]+-linux-gnu/libutipc-preload\.so`, `lib/[a-z0-9_]+-linux-gnu/libutipc\.so\.0\.\d+\.\d+`,
		`lib/[a-z0-9_]+-linux-gnu/libutipc\.so\.0 -> libutipc\.so\.0\.\d+\.\d+`, `lib/[a-z0-9_]+-linux-gnu/libutipc\.so -> libutipc\.so\.0`,
		`lib/[a-z0-9_]+-linux-gnu/pkgconfig/utipc\.pc`, `include/utipc\.h`, `share/man/man3/utipc\.3\.gz`,
	} {
		if !regexp.MustCompile(`(?m) \./usr/` + file + `$`).Match(list) {
			t.Errorf("the package has no %s:\n%s", file, list)
		}
	}
	if entries < 10 {
		t.Errorf("the package has %d entries:\n%s", entries, list)
	}
}

// A cluster is two hosts and a kernel on one network.
type cluster struct {
	t            *testing.T
	north, south *host
	kernel       *rig.Guest
	tr           transcript
}

func newCluster(t *testing.T, ctx context.Context) *cluster {
	t.Helper()
	seg, err := bed.NewSegment(3, 1500)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(seg.Close)
	c := &cluster{t: t}
	image := rig.Require(t)
	c.north, c.south = newHost(t, seg.Namespace(0), "north"), newHost(t, seg.Namespace(1), "south")
	if c.kernel, err = rig.Start(ctx, image, rig.Options{Name: "kernel", Address: "1.1.3", Enable: true, Tolerance: tolerance, Links: []rig.Link{rawEnd(t, seg.Namespace(2), seg.Name(2))}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kernel.Close() })
	return c
}

// rawEnd opens the frames of an interface as the interface of a guest.
func rawEnd(t *testing.T, ns *bed.Namespace, name string) rig.Link {
	t.Helper()
	var link rig.Link
	if err := ns.Do(func() error {
		ifi, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		proto := uint16(frame.EtherType)
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return err
		}
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
		link = rig.Link{MAC: ifi.HardwareAddr, File: os.NewFile(uintptr(fd), name)}
		return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: proto<<8 | proto>>8, Ifindex: ifi.Index})
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	return link
}

// types is a command of the transcript, which may not fail.
func (c *cluster) types(ctx context.Context, h *host, line string) string {
	c.t.Helper()
	begin := time.Now()
	out := h.must(ctx, line)
	c.t.Logf("%6v %s# %s", time.Since(begin).Round(time.Millisecond), h.name, line)
	c.tr.typed(h.name, line, out)
	return out
}

// until repeats a command, which must not change anything, until its output matches.
func until(t *testing.T, ctx context.Context, pattern string, run func() (string, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for re := regexp.MustCompile(pattern); ; {
		out, err := run()
		if err == nil && re.MatchString(out) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("no %s in\n%s%v", pattern, out, err)
		}
	}
}

// TestPackage is the life of the package on two hosts beside a kernel.
//
// Proves: daemon.package, daemon.dies
func TestPackage(t *testing.T) {
	need(t)
	rig.Require(t)
	file := buildPackage(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	c := newCluster(t, ctx)
	hosts := []*host{c.north, c.south}
	deb, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := map[*host][]string{}
	for _, h := range hosts {
		before[h] = h.written(ctx)
		if err := os.WriteFile(h.file("/tmp/"+filepath.Base(file)), deb, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	c.tr.WriteString(`# A fresh machine

For those who install utipc for the first time.

What follows was typed by a test (` + "`go test ./test/package -update`" + `, part of ` + "`./test/run --only package`" + `), on two
Debian hosts and a Linux kernel with its own TIPC, all on one Ethernet. The hosts are
namespaces of one machine, and stand in for machines of their own.
`)
	c.tr.say("The package is built by `packaging/build-deb`, and installed on both.")
	for i, h := range hosts {
		line := "dpkg -i /tmp/" + filepath.Base(file)
		if i > 0 {
			h.must(ctx, line)
			continue
		}
		c.types(ctx, h, line)
	}
	c.checkUnit(ctx)
	for i, h := range hosts {
		if i > 0 {
			c.tr.say("The other host is told the same, but for its address.")
		} else {
			c.tr.say("Which interface, and an address, are all that has to be said.")
		}
		c.types(ctx, h, fmt.Sprintf(`sed -i 's/^#address = ""/address = "1.1.%d"/' /etc/utipc/utipc.toml`, i+1))
		c.types(ctx, h, `printf '[[bearer]]\ndevice = "tipc0"\n' >>/etc/utipc/utipc.toml`)
		c.types(ctx, h, "utipc daemon --config /etc/utipc/utipc.toml --check")
		// Nobody else's business.
		h.must(ctx, fmt.Sprintf(`sed -i '0,/^#tolerance = .*/s//tolerance = "%v"/' /etc/utipc/utipc.toml && grep -q '^tolerance' /etc/utipc/utipc.toml`, tolerance))
	}

	c.tr.say("The service is started: as user `utipc`, with three capabilities and no others. (The test\nstands in for systemd here: it does what `utipc.service` says, and waits for READY=1.)")
	north, south := start(ctx, c.north), start(ctx, c.south)
	for _, h := range hosts {
		until(t, ctx, `(?s) up\n.* up\n`, func() (string, error) { return h.run(ctx, "utipc node list") })
	}
	c.look(ctx)
	c.talk(ctx)
	c.second(ctx)
	north = c.killed(ctx, north)

	c.tr.say("The end: other nodes are told, and the package leaves nothing.")
	north.told("WATCHDOG=1")
	for _, s := range []*service{north, south} {
		if status := s.stop(); status != 0 {
			t.Errorf("%s: stopped with status %d", s.h.name, status)
		}
	}
	// It is told: silence alone would show it much later.
	stopped := time.Now()
	until(t, ctx, "", func() (string, error) {
		out, err := c.kernel.Run(ctx, "tipc node list")
		if strings.Contains(out, " up") {
			err = errors.New("a node is up")
		}
		return out, err
	})
	if took := time.Since(stopped); took > tolerance*3/4 {
		t.Errorf("the kernel was not told: it noticed after %v", took)
	}
	c.kernelTypes(ctx, "tipc node list")
	for i, h := range hosts {
		if i == 0 {
			c.types(ctx, h, "dpkg --purge utipc")
		} else {
			h.must(ctx, "dpkg --purge utipc")
		}
		h.must(ctx, "rmdir /run/utipc || { rm /run/utipc/utipc.sock.lock && rmdir /run/utipc; }") // as systemd does
		if left := h.left(ctx, before[h]); len(left) > 0 {
			t.Errorf("%s: left behind: %q", h.name, left)
		}
	}
	c.tr.check(t)
}

// look shows the cluster by the tools of both sides.
func (c *cluster) look(ctx context.Context) {
	c.tr.say("The hosts and the kernel know each other. Each command attaches to the daemon of its host.")
	c.types(ctx, c.north, "utipc node list")
	c.types(ctx, c.north, "utipc link list")
	c.types(ctx, c.north, "utipc bearer list")
	c.types(ctx, c.south, "utipc node list --json")
	for _, node := range []uint32{0x1001001, 0x1001002} {
		if err := c.kernel.WaitNode(ctx, node); err != nil {
			c.t.Fatal(err)
		}
	}
	c.kernelTypes(ctx, "tipc node list")
}

func (c *cluster) kernelTypes(ctx context.Context, line string) string {
	c.t.Helper()
	out, err := c.kernel.Run(ctx, line)
	if err != nil {
		c.t.Fatalf("kernel# %s: %v\n%s", line, err, out)
	}
	c.tr.typed("kernel", line, out)
	return out
}

// A job is a command on a host that goes on until it is ended.
type job struct {
	c    *cluster
	line string
	said *watched
	end  func() // ends it, if it has not ended
}

func (c *cluster) job(ctx context.Context, h *host, line string) *job {
	c.t.Helper()
	j := &job{c: c, line: line, said: newWatched()}
	// The shell ends with the pipe, and so does what it has started.
	cmd := h.command(ctx, "bash", "-c", line+" & cat >/dev/null; kill $! 2>/dev/null; wait $! 2>/dev/null")
	in, err := cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = j.said, j.said
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	j.end = sync.OnceFunc(func() {
		in.Close()
		cmd.Wait()
	})
	c.t.Cleanup(j.end)
	return j
}

// wait waits until it has said that.
func (j *job) wait(text string) {
	j.c.t.Helper()
	if said, ok := j.said.wait(text, 3*time.Minute); !ok {
		j.c.t.Fatalf("%s says %q, not %q", j.line, said, text)
	}
}

// talk has programs of all three talk with each other.
func (c *cluster) talk(ctx context.Context) {
	c.tr.say("A service on south, `utipc echo 18888:17 &`, is known everywhere at once; north and the kernel\nreach it by its name.")
	echo := c.job(ctx, c.south, "utipc echo 18888:17")
	echo.wait("answers on 18888:17")
	c.types(ctx, c.north, "utipc ping --count 3 18888:17")
	table := c.types(ctx, c.north, "utipc nametable show")
	if !regexp.MustCompile(`18888 +17 +17 +cluster +\d+ +1001002`).MatchString(table) {
		c.t.Errorf("the name is not in\n%s", table)
	}
	if err := c.kernel.WaitName(ctx, 18888, 17, 17); err != nil {
		c.t.Fatal(err)
	}
	if out := c.kernelTypes(ctx, "tipc nametable show"); !regexp.MustCompile(`18888 +17 +17 +cluster +\d+ +1001002`).MatchString(out) {
		c.t.Errorf("the name is not in the kernel's table:\n%s", out)
	}
	c.kernelTypes(ctx, "peer rdm-send 18888 17 -n 2")
	echo.end()

	c.tr.say("And the other way: the kernel has a service, `peer rdm-echo 8888 17 &`, a program of the test on\nordinary AF_TIPC sockets.")
	j, err := c.kernel.Job(ctx, "peer", "rdm-echo", "8888", "17")
	if err == nil {
		_, err = j.Expect(ctx, "ready")
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.types(ctx, c.south, "utipc ping --count 3 8888:17")
	if out := c.types(ctx, c.north, "echo hello, kernel | utipc cat --network tipcrdm --count 1 --linger 1m 8888:17"); out != "hello, kernel\n" {
		c.t.Errorf("cat: got %q", out)
	}
	j.Kill()

	c.tr.say("A stream between the hosts, with `utipc cat -l 18889:1` on south:")
	cat := c.job(ctx, c.south, "utipc cat -l --quiet 18889:1")
	c.types(ctx, c.north, "echo hello, south | utipc cat --quiet 18889:1")
	cat.wait("hello, south\n")
	cat.end()
	c.tr.typed("south", "utipc cat -l --quiet 18889:1", cat.said.text())
}

// second starts another daemon beside the first.
func (c *cluster) second(ctx context.Context) {
	c.tr.say("A second daemon, and one without rights:")
	for _, line := range []string{
		"utipc daemon --config /etc/utipc/utipc.toml",
		"setpriv --reuid nobody --clear-groups --bounding-set -all utipc daemon --if tipc0 --socket /tmp/nobody.sock",
		"setpriv --reuid nobody --clear-groups utipc node list",
	} {
		out, err := c.north.run(ctx, line)
		if err == nil {
			c.t.Errorf("%s works", line)
		}
		c.tr.typed("north", line, out)
	}
	c.types(ctx, c.north, "utipc node list")
}
