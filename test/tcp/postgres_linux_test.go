// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/preload"
)

// everyone lets programs of other users have the library, and the daemon.
func (h *host) everyone(t testing.TB) {
	t.Helper()
	dir := filepath.Dir(h.Path)
	for path, mode := range map[string]os.FileMode{h.Path: 0o666, dir: 0o755, filepath.Dir(dir): 0o755, preload.Folder(): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// folderOf makes a folder that is a user's own, for what has to be.
func folderOf(t testing.TB, user string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "utipc-tcp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	run(t, "chown", user, dir)
	return dir
}

var transactions = regexp.MustCompile(`tps = ([0-9.]+) \(without`)

// PostgreSQL, a process a connection, of a user of its own, serves pgbench.
//
// Proves: tcp.postgresql
func TestPostgreSQL(t *testing.T) {
	const user = "postgres"
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		found = []string{""}
	}
	bin := found[len(found)-1]
	initdb, postgres := installed(t, filepath.Join(bin, "initdb"), "postgresql"), installed(t, filepath.Join(bin, "postgres"), "postgresql")
	pgbench := installed(t, filepath.Join(bin, "pgbench"), "postgresql")
	h := twoKernels(t)
	h[0].everyone(t)
	dir := folderOf(t, user)
	as := []string{"--reuid", user, "--regid", user, "--clear-groups"}
	run(t, "setpriv", append(as, initdb, "-D", filepath.Join(dir, "data"), "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C")...)
	h[0].serve(t, "ready to accept connections", "setpriv", append(as, postgres, "-D", filepath.Join(dir, "data"),
		"-c", "listen_addresses=0.0.0.0", "-c", "unix_socket_directories=", "-c", "fsync=off")...)
	out := filepath.Join(dir, "data", "pg_hba.conf")
	if err := os.WriteFile(out, []byte("host all all all trust\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	reload := "select pg_reload_conf()"
	h[0].run(t, installed(t, "psql", "postgresql-client"), "-h", "127.0.0.1", "-U", user, "-c", reload)
	through(t, h[0], h[1], 1, 1_000_000, func() { h[1].run(t, pgbench, "-h", h[0].address, "-U", user, "-i", "-q", user) })
	compare(t, h, 4, 100_000, "transactions/s", func(address string) float64 {
		out := h[1].run(t, pgbench, "-h", address, "-U", user, "-n", "-c", "4", "-t", "100", user)
		if !strings.Contains(out, "processed: 400/400") || !strings.Contains(out, "failed transactions: 0 ") {
			t.Error(out)
		}
		return figure(t, transactions, out)
	})
}
