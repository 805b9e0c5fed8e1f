// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/tier"
)

// The life of the RPM on a host, with the tools of rpm: installed, its programs and libraries found,
// replaced by the next version with the administrator's settings kept, removed. The host is Debian's,
// so dependencies are not looked at.
//
// Mutations it catches: in packaging/nfpm/rpm, the settings are no config|noreplace, or the libraries stay in
// Debian's folder; postinstall makes no user.
//
// Proves: daemon.release
func TestRPM(t *testing.T) {
	need(t)
	for _, tool := range []string{"rpm", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			tier.Missing(t, err)
		}
	}
	ctx := t.Context()
	deb, dir := buildPackage(t), t.TempDir()
	const next = "0.0.2"
	if err := os.Link(deb, strings.Replace(deb, version, next, 1)); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{version, next} {
		cmd := exec.CommandContext(ctx, "../../packaging/nfpm/rpm", v, filepath.Dir(deb), dir)
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("packaging/nfpm/rpm: %v\n%s", err, out)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.rpm"))
	if err != nil || len(files) != 2 {
		t.Fatalf("got %q, %v", files, err)
	}
	seg, err := bed.NewSegment(1, 1500)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(seg.Close)
	h := newHost(t, seg.Namespace(0), "north")
	h.managed(ctx)
	for _, f := range files { // in the order of their versions
		h.put(f, "/tmp/"+filepath.Base(f))
	}
	rpm := func(args string) string { return h.must(ctx, "rpm --force-debian --nodeps "+args) }
	rpm("-i /tmp/" + filepath.Base(files[0]))
	if out := h.must(ctx, "cat /tmp/systemctl; rm /tmp/systemctl"); out != "daemon-reload\n" {
		t.Errorf("the first installation asks systemctl for %q", out)
	}
	if out := rpm("-V utipc"); out != "" {
		t.Errorf("rpm -V: %s", out)
	}
	h.must(ctx, "getent passwd utipc && getent group utipc")
	if out := h.must(ctx, "utipc run --how preload -- env"); !strings.Contains(out, "LD_PRELOAD=/usr/lib64/libutipc-preload.so\n") {
		t.Errorf("utipc run has no library:\n%s", out)
	}
	h.put("../../examples/c/hello.c", "/tmp/hello.c")
	if out := h.must(ctx, `export PKG_CONFIG_PATH=/usr/lib64/pkgconfig LD_LIBRARY_PATH=/usr/lib64
		cc -o /tmp/hello /tmp/hello.c $(PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs utipc) && /tmp/hello`); out != "node 1 asks: what time is it?\n" {
		t.Errorf("hello prints %q", out)
	}
	h.must(ctx, "utipc daemon --config /etc/utipc/utipc.toml --check || true; echo '# mine' >>/etc/utipc/utipc.toml")
	rpm("-U /tmp/" + filepath.Base(files[1]))
	if got := h.asked(ctx); got != "try-restart" {
		t.Errorf("the upgrade asks systemctl for %q", got)
	}
	if out := h.must(ctx, "rpm -q utipc; tail -n 1 /etc/utipc/utipc.toml"); !regexp.MustCompile(`^utipc-0\.0\.2-1\.\w+\n# mine\n$`).MatchString(out) {
		t.Errorf("after the upgrade: %q", out)
	}
	rpm("-e utipc")
	if got := h.asked(ctx); got != "disable --now" {
		t.Errorf("the removal asks systemctl for %q", got)
	}
	if out := h.must(ctx, "ls /usr/bin/utipc /usr/lib64/libutipc* /etc/utipc/* 2>/dev/null || true"); out != "/etc/utipc/utipc.toml.rpmsave\n" {
		t.Errorf("after the removal: %q", out)
	}
}
