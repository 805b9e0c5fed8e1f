// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// A host is this machine with files of its own to write, and a name.
type host struct {
	t    *testing.T
	net  *bed.Namespace
	name string
	pid  string // of the process that holds its namespaces
	dir  string // where its files are written, in its namespace
	root string // all its files, as seen from here
}

// build makes a host in the first process of its namespaces, which goes with the pipe it
// reads from, and tells the number that it has outside.
const build = `set -e
mount --make-rprivate /
mount -t tmpfs -o size=1g none "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" overlay "$1/root"
read -r self _ </proc/self/stat
cd "$1/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs none run
mount -t tmpfs none tmp
chmod 1777 tmp
mount --rbind /dev dev
hostname "$2"
echo "$self"
exec chroot . cat`

// newHost makes one in the network namespace.
func newHost(t *testing.T, net *bed.Namespace, name string) *host {
	t.Helper()
	h := &host{t: t, net: net, name: name, dir: filepath.Join(t.TempDir(), name)}
	if err := os.Mkdir(h.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "bash", "-c", build, "build", h.dir, name)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := net.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		in.Close()
		cmd.Wait()
		t.Fatalf("host %s: %v: %s", name, err, errs.String())
	}
	h.pid = strings.TrimSpace(line)
	if _, err := strconv.Atoi(h.pid); err != nil {
		t.Fatal(err)
	}
	h.root = "/proc/" + h.pid + "/root"
	return h
}

// command is a command on the host, by root at home.
func (h *host) command(ctx context.Context, words ...string) *exec.Cmd {
	words = append([]string{"--target", h.pid, "--mount", "--uts", "--pid", "--net", "--root", "--wd=" + h.root + "/root", "--"}, words...)
	cmd := exec.CommandContext(ctx, "nsenter", words...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"}
	return cmd
}

// run runs a line of shell on the host and returns what it prints.
func (h *host) run(ctx context.Context, line string) (string, error) {
	out, err := h.command(ctx, "bash", "-c", line).CombinedOutput()
	return string(out), err
}

// must is run where it may not fail.
func (h *host) must(ctx context.Context, line string) string {
	h.t.Helper()
	out, err := h.run(ctx, line)
	if err != nil {
		h.t.Fatalf("%s# %s: %v\n%s", h.name, line, err, out)
	}
	return out
}

// file is the path here of a file there.
func (h *host) file(path string) string { return filepath.Join(h.root, path) }

// need skips the test where hosts cannot be made, saying why; with UTIPC_TEST_REQUIRE=all
// in the environment it fails instead.
func need(t *testing.T) {
	t.Helper()
	netns.Require(t)
	if err := overlays(); err != nil {
		tier.Missing(t, "no hosts:", err)
	}
}

var overlays = sync.OnceValue(func() error {
	for _, tool := range []string{"dpkg", "dpkg-deb", "unshare", "setpriv", "chroot", "hostname", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "utipc-overlay")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out, err := exec.Command("unshare", "--mount", "bash", "-c", `set -e
mount --make-rprivate /
mount -t tmpfs none "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" overlay "$1/root"`, "try", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("no overlay of the machine's files: %w: %s", err, out)
	}
	return nil
})
