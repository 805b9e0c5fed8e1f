// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/tier"
)

// buildEarlier builds the package of the last tag before this commit, else of the commit before it.
func buildEarlier(t *testing.T, version string) (file string) {
	t.Helper()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD~1")
	if err != nil {
		commit, err = git("rev-parse", "--verify", "HEAD~1")
	}
	if err != nil {
		tier.Missing(t, "no earlier commit:", err)
	}
	dir, out := t.TempDir(), t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `git -C ../.. archive "$1" | tar -x -C "$2" && exec "$2/packaging/build-deb" --version "$3" --out "$4"`,
		"sh", commit, dir, version, out)
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the package of %s: %v\n%s", commit, err, b)
	}
	t.Logf("the earlier package is of %s", commit)
	return filepath.Join(out, "utipc_"+version+"_amd64.deb")
}

// The package of an earlier commit is replaced by that of this one, on one of two hosts: settings, keys
// and the user stay, systemd is asked once to restart the service, and no more; a program of the earlier
// version goes on with the daemon of this one, and the two daemons with each other. Removed and installed
// again, the service is enabled if it was.
//
// Proves: daemon.release
func TestUpgrade(t *testing.T) {
	need(t)
	const earlier, later = "0.0.1~earlier", version
	old, now := buildEarlier(t, earlier), buildPackage(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seg, err := bed.NewSegment(2, 1500)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(seg.Close)
	c := &cluster{t: t, north: newHost(t, seg.Namespace(0), "north"), south: newHost(t, seg.Namespace(1), "south")}
	settings := map[*host]string{}
	services := map[*host]*service{}
	for i, h := range []*host{c.north, c.south} {
		h.managed(ctx)
		h.put(old, "/tmp/old.deb")
		h.must(ctx, "dpkg -i /tmp/old.deb")
		if got := h.asked(ctx); got != "enable --now" {
			t.Errorf("%s: the installation asks systemctl for %q", h.name, got)
		}
		h.must(ctx, fmt.Sprintf(`sed -i 's/^#address = ""/address = "1.1.%d"/' /etc/utipc/utipc.toml && printf '[[bearer]]\ndevice = "tipc0"\n' >>/etc/utipc/utipc.toml`, i+1))
		h.must(ctx, "install -o utipc -g utipc -m 600 /dev/stdin /etc/utipc/keys </dev/null && sha256sum /etc/utipc/*")
		settings[h] = h.must(ctx, "cat /etc/utipc/utipc.toml; stat -c '%n %U %a' /etc/utipc/*; getent passwd utipc")
		services[h] = start(ctx, h)
	}
	up := func(h *host) {
		t.Helper()
		until(t, ctx, `(?m) up$`, func() (string, error) { return h.run(ctx, "utipc node list") })
	}
	up(c.north)
	echo := c.job(ctx, c.north, "utipc echo 18888:17")
	echo.wait("answers on 18888:17")
	ping := func(h *host) {
		t.Helper()
		if out, err := h.run(ctx, "timeout 2m utipc ping --count 3 18888:17"); err != nil {
			t.Errorf("%s: ping: %v\n%s", h.name, err, out)
		}
	}
	ping(c.south)

	c.north.put(now, "/tmp/now.deb")
	c.north.must(ctx, "dpkg -i /tmp/now.deb")
	if got := c.north.asked(ctx); got != "try-restart" {
		t.Errorf("the upgrade asks systemctl for %q", got)
	}
	if out := c.north.must(ctx, "dpkg-query -W utipc; utipc version"); !regexp.MustCompile(`^utipc\t` + regexp.QuoteMeta(later) + `\nutipc ` + regexp.QuoteMeta(later) + ` `).MatchString(out) {
		t.Errorf("after the upgrade: %q", out)
	}
	if got := c.north.must(ctx, "cat /etc/utipc/utipc.toml; stat -c '%n %U %a' /etc/utipc/*; getent passwd utipc"); got != settings[c.north] {
		t.Errorf("the upgrade changed settings:\n%s\nwant\n%s", got, settings[c.north])
	}
	ping(c.south) // nothing is restarted yet
	if status := services[c.north].stop(); status != 0 {
		t.Errorf("the earlier daemon ends with %d", status)
	}
	services[c.north] = start(ctx, c.north)
	up(c.north)
	up(c.south)
	ping(c.south)
	ping(c.north)
	echo.end()

	for _, enabled := range []bool{true, false} {
		want := "enable --now"
		if !enabled {
			want = "try-restart"
			c.north.must(ctx, "rm /tmp/enabled")
		}
		c.north.must(ctx, "dpkg --remove utipc && rm /tmp/systemctl && dpkg -i /tmp/now.deb")
		if got := c.north.asked(ctx); got != want {
			t.Errorf("installed again, enabled before is %v: systemctl is asked for %q, want %q", enabled, got, want)
		}
		if got := c.north.must(ctx, "cat /etc/utipc/utipc.toml; stat -c '%n %U %a' /etc/utipc/*; getent passwd utipc"); got != settings[c.north] {
			t.Errorf("removed and installed again, settings are\n%s\nwant\n%s", got, settings[c.north])
		}
	}
	for h, s := range services {
		if status := s.stop(); status != 0 {
			t.Errorf("%s: stopped with status %d", h.name, status)
		}
	}
}
